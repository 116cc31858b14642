"""What a model is: shapes from `schemas/catalogs/models.json`, each with its source; what is not known is None."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from botlint.catalogs.catalog import read_data

Attention = Literal["mha", "gqa", "mqa", "mla", "compressed-mqa"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The shape of one model.

    `exact` facts come from the model's own configuration file. A re-quantised or re-released checkpoint has the shape
    of its `base`, and nothing else of it. For MLA models the number of KV heads is no limit to tensor parallelism.
    """

    name: str
    known: bool
    exact: bool = False
    source: str | None = None
    base: str | None = None
    note: str | None = None
    architectures: tuple[str, ...] | None = None
    model_type: str | None = None
    attention: Attention | None = None
    layers: int | None = None
    hidden_size: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    shared_experts: int | None = None
    dense_layers: int | None = None
    intermediate_size: int | None = None
    moe_intermediate_size: int | None = None
    kv_lora_rank: int | None = None
    q_lora_rank: int | None = None
    qk_nope_head_dim: int | None = None
    qk_rope_head_dim: int | None = None
    v_head_dim: int | None = None
    index_heads: int | None = None
    index_head_dim: int | None = None
    index_topk: int | None = None
    linear_key_heads: int | None = None
    linear_value_heads: int | None = None
    full_attention_layers: int | None = None
    sparse_block_size: int | None = None
    mtp_layers: int | None = None
    sliding_window: int | None = None
    vocabulary: int | None = None
    context: int | None = None
    dtype: str | None = None
    quantization: str | None = None
    quantization_algorithm: str | None = None
    kv_cache_quantization: str | None = None
    weight_block: tuple[int, ...] | None = None
    group_size: int | None = None

    @property
    def mla(self) -> bool | None:
        """Whether attention is multi-head latent attention; None when the attention is not known."""
        return None if self.attention is None else self.attention == "mla"

    @property
    def moe(self) -> bool | None:
        """Whether the model has routed experts; None when the model is not known."""
        return None if not self.known else self.experts is not None

    def source_of(self, fact: str) -> str | None:
        """Return where a fact comes from, or None when it is not known."""
        if getattr(self, fact) is None:
            return None
        return f"{self.source}, by its base {self.base}" if self.base else self.source


_OWN = frozenset(
    {
        "context",
        "dtype",
        "group_size",
        "kv_cache_quantization",
        "quantization",
        "quantization_algorithm",
        "weight_block",
    }
)
_LABELS = frozenset({"base", "exact", "known", "name", "note", "source"})
SHAPE = frozenset(field.name for field in fields(ModelFacts)) - _OWN - _LABELS
"""Facts that a re-quantised checkpoint shares with its base."""

# Names of a fact in configuration files, the usual first.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "model_type": ("model_type",),
    "layers": ("num_hidden_layers", "n_layers"),
    "hidden_size": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "experts": ("n_routed_experts", "num_experts", "num_local_experts"),
    "experts_per_token": ("num_experts_per_tok", "num_experts_per_token"),
    "shared_experts": ("n_shared_experts", "num_shared_experts"),
    "dense_layers": ("first_k_dense_replace",),
    "intermediate_size": ("intermediate_size",),
    "moe_intermediate_size": ("moe_intermediate_size",),
    "kv_lora_rank": ("kv_lora_rank",),
    "q_lora_rank": ("q_lora_rank",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "v_head_dim": ("v_head_dim",),
    "index_heads": ("index_n_heads",),
    "index_head_dim": ("index_head_dim",),
    "index_topk": ("index_topk",),
    "linear_key_heads": ("linear_num_key_heads",),
    "linear_value_heads": ("linear_num_value_heads",),
    "mtp_layers": ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"),
    "sliding_window": ("sliding_window",),
    "vocabulary": ("vocab_size",),
    "context": ("max_position_embeddings",),
    "dtype": ("dtype", "torch_dtype"),
}
_NESTED = ("text_config", "language_config", "llm_config")
_MAX_TEXT = 200


def facts_from_config(config: Mapping[str, Any], quantization: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the facts that a model's `config.json` (and `hf_quant_config.json`) states; absent ones are not known.

    Values of an unexpected type are left out, never trusted.
    """
    nested: dict[str, Any] = next((config[key] for key in _NESTED if isinstance(config.get(key), dict)), {})
    text: dict[str, Any] = {**config, **nested}
    facts: dict[str, Any] = {}
    for fact, keys in _KEYS.items():
        wanted: type = str if fact in ("model_type", "dtype") else int
        found = (text[key] for key in keys if isinstance(text.get(key), wanted) and not isinstance(text[key], bool))
        value = next(found, None)
        if value is not None and not (isinstance(value, str) and len(value) > _MAX_TEXT):
            facts[fact] = value
    facts |= {"model_type": config["model_type"]} if isinstance(config.get("model_type"), str) else {}
    architectures = config.get("architectures")
    if isinstance(architectures, list) and all(isinstance(name, str) for name in architectures):
        facts["architectures"] = [name[:_MAX_TEXT] for name in architectures[:8]]
    return facts | _layer_facts(text) | _attention(facts) | _quantization(config, text, quantization or {})


def _layer_facts(text: Mapping[str, Any]) -> dict[str, Any]:
    kinds = text.get("layer_types")
    facts: dict[str, Any] = {}
    if isinstance(kinds, list) and "linear_attention" in kinds:
        facts["full_attention_layers"] = kinds.count("full_attention")
    linear = text.get("linear_attn_config")
    if isinstance(linear, dict) and isinstance(linear.get("full_attn_layers"), list):
        facts["full_attention_layers"] = len(linear["full_attn_layers"])
    sparse = text.get("sparse_attention_config")
    if isinstance(sparse, dict) and isinstance(sparse.get("sparse_block_size"), int):
        facts["sparse_block_size"] = sparse["sparse_block_size"]
    return facts


def _attention(facts: Mapping[str, Any]) -> dict[str, Attention]:
    heads, kv_heads = facts.get("heads"), facts.get("kv_heads")
    if facts.get("kv_lora_rank"):
        return {"attention": "mla"}
    if any(name.startswith("DeepseekV4") for name in facts.get("architectures", ())):
        return {"attention": "compressed-mqa"}
    if heads is None:
        return {}
    if kv_heads is None or kv_heads == heads:
        return {"attention": "mha"}
    return {"attention": "mqa" if kv_heads == 1 else "gqa"}


def _quantization(config: Mapping[str, Any], text: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    stated = config.get("quantization_config") or text.get("quantization_config")
    stated = stated if isinstance(stated, dict) else {}
    separate = other.get("quantization")
    separate = separate if isinstance(separate, dict) else {}
    facts: dict[str, Any] = {}
    for fact, sources in {
        "quantization": (stated.get("quant_method"), "modelopt" if separate else None),
        "quantization_algorithm": (separate.get("quant_algo"), stated.get("quant_algo")),
        "kv_cache_quantization": (separate.get("kv_cache_quant_algo"), stated.get("kv_cache_quant_algo")),
    }.items():
        value = next((item for item in sources if isinstance(item, str)), None)
        facts |= {fact: value[:_MAX_TEXT]} if value else {}
    block = stated.get("weight_block_size")
    if isinstance(block, list) and block and all(isinstance(item, int) for item in block):
        facts["weight_block"] = block[:4]
    if isinstance(separate.get("group_size"), int):
        facts["group_size"] = separate["group_size"]
    return facts


def model_facts(name: str, facts: Mapping[str, Any], source: str, *, exact: bool = True) -> ModelFacts:
    """Return typed facts from plain ones, as `facts_from_config` returns them."""
    typed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    return ModelFacts(name=name, known=True, exact=exact, source=source, **typed)


@cache
def all_models() -> Mapping[str, ModelFacts]:
    """Return every model of the catalog by its id."""
    data = read_data("models.json")
    found: dict[str, ModelFacts] = {}
    for name, record in data["models"].items():
        if "source" in record:
            facts = {key: value for key, value in record.items() if key != "source"}
            found[name] = model_facts(
                name, facts, f"{data['sources'][record['source']]}{name.replace('/', '--', 1)}_config.json"
            )
    for name, record in data["models"].items():
        if "base" in record:
            found[name] = _derived(name, found[record["base"]], record["note"])
        elif "source" not in record:
            found[name] = ModelFacts(name=name, known=False, note=record["note"])
    return found


def _derived(name: str, base: ModelFacts, note: str) -> ModelFacts:
    """Return the shape of the base under another name, without what a checkpoint has of its own."""
    shape: dict[str, Any] = {key: getattr(base, key) for key in SHAPE}
    return ModelFacts(name=name, known=True, source=base.source, base=base.name, note=note, **shape)


@cache
def _by_folded_name() -> Mapping[str, ModelFacts]:
    """The models by their ids in small letters; of two that differ in letters only the first."""
    return {name.lower(): facts for name, facts in reversed([*all_models().items()])}


def find_model(name: str, cached: Mapping[str, ModelFacts] | None = None) -> ModelFacts:
    """Return what is known of a model by its id (the case of letters does not matter), or facts that are not `known`.

    `cached` are models that were fetched (`botlint.catalogs.cards`); they come second.
    """
    for table in (all_models(), cached or {}):
        if name in table:
            return table[name]
    found = _by_folded_name().get(name.strip().lower())
    return found if found is not None else ModelFacts(name=name, known=False, note="not in the catalog")
