"""Prefill and decode workers of one job, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botlint.core.span import Span
from botlint.engine.analysis.serving import PEERS
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactType, FactValue, View
from botlint.engine.views.server import VIEW as SERVER

_SIDES = ("prefill", "decode")
_SHARED: tuple[tuple[str, FactType, str], ...] = (
    ("tp", "int", "tensor-parallel size"),
    ("dp", "int", "data-parallel size"),
    ("attention_tp", "int", "ranks among which the attention heads of a replica are divided"),
    ("block_size", "int", "KV block (page) size that is given"),
    ("spec_method", "string", "speculative method"),
    ("draft_model", "string", "draft model"),
    ("transfer_backend", "string", "what passes KV blocks (SGLang)"),
    ("kv_connector", "string", "KV connector (vLLM)"),
    ("kv_roles", "list<string>", "roles of the connectors (vLLM)"),
)


def _facts() -> tuple[Fact, ...]:
    return (
        Fact("engine", "string", "engine of both"),
        *(Fact(f"{side}_{name}", kind, f"{doc}, {side} workers") for side in _SIDES for name, kind, doc in _SHARED),
        *(Fact(f"{side}_peers", "list<string>", f"connectors between workers, {side} workers") for side in _SIDES),
        *(Fact(f"{side}_peer_roles", "list<string>", f"their roles, {side} workers") for side in _SIDES),
        *(
            Fact(f"{side}_kv_dtype", "string", f"dtype of the KV cache, auto where none is given, {side} workers")
            for side in _SIDES
        ),
    )


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    servers = {core.values.get("server.role"): core for core in SERVER.build(context, chain)}
    prefill, decode = servers.get("prefill"), servers.get("decode")
    if prefill is None or decode is None or not prefill.values.get("server.versions"):
        # What an engine of a version that nobody knows compares when two workers meet is not known either.
        return
    if prefill.values.get("server.engine") != decode.values.get("server.engine"):
        return
    key = ("pair", id(prefill), id(decode))
    yield context.kept(key, lambda context: _pair(prefill, decode, context, chain))


def _pair(prefill: Core, decode: Core, context: Context, chain: Chain) -> Core:
    values: dict[str, FactValue] = {"pair.engine": prefill.values["server.engine"]}
    places: dict[str, Span | None] = {}
    for side, core in zip(_SIDES, (prefill, decode), strict=True):
        places[side] = core.span("server", (*chain, core), context)
        for name, _, _ in _SHARED:
            if f"server.{name}" in core.values:
                values[f"pair.{side}_{name}"] = core.values[f"server.{name}"]
        values.update((f"pair.{side}_{name}", value) for name, value in _transfer(core.values))
    return Core("pair", values, {"decode": places["decode"], "prefill": places["prefill"]}, source=(prefill, decode))


def _transfer(values: Mapping[str, FactValue]) -> Iterator[tuple[str, FactValue]]:
    dtype = values.get("server.kv_dtype")
    if isinstance(dtype, str):
        # `fp8` is e4m3 wherever it is taken.
        yield "kv_dtype", {"": "auto", "fp8_e4m3": "fp8", "bf16": "bfloat16"}.get(dtype, dtype)
    names, roles = values.get("server.kv_connectors"), values.get("server.kv_roles")
    if isinstance(names, list) and isinstance(roles, list):
        peers = [(name, role) for name, role in zip(names, roles, strict=True) if name in PEERS]
        yield "peers", [name for name, _ in peers]
        yield "peer_roles", [role for _, role in peers]


VIEW = View(
    name="pair",
    doc="The prefill and the decode workers of a job that has both.",
    facts=_facts(),
    anchors={"decode": "the decode workers", "prefill": "the prefill workers"},
    build=_build,
    parent="job",
)
