"""What one SGLang version accepts, from its own argument parser, its table of variables and its syntax trees."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.metadata
import sys
from pathlib import Path
from typing import Any

from botlint.catalogs.extract import mocks
from botlint.catalogs.extract.common import (
    Attributes,
    Records,
    as_names,
    assigned,
    guarded,
    instead,
    literal,
    mentioned_variables,
    parse_file,
    parser_flags,
    stand_in_package,
    with_default,
)

_ABSENT = (
    "aiter",
    "amdsmi",
    "habana_frameworks",
    "intel_extension_for_pytorch",
    "libtpu",
    "mlx",
    "pynvml",
    "sgl_kernel_npu",
    "torch_musa",
    "torch_npu",
    "torch_xla",
    "uvloop",
)
_STOOD_IN = (
    "sgl_kernel",
    "sglang.kernels.ops.attention",
    "sglang.srt.configs",
    "sglang.srt.layers",
    "sglang.srt.utils.hf_transformers_utils",
    "torch",
    "transformers",
    "triton",
)
_PREFIXES = ("SGLANG_", "SGL_")

# Groups of names whose members are the choices of a flag; the first flag that exists counts.
_CHOICE_GROUPS = {
    "attention_backend": ("--attention-backend",),
    "disaggregation_transfer_backend": ("--disaggregation-transfer-backend",),
    "dsa_backend": ("--dsa-prefill-backend", "--nsa-prefill-backend", "--nsa-prefill"),
    "fp4_gemm_backend": ("--fp4-gemm-backend", "--fp4-gemm-runner-backend"),
    "fp8_gemm_backend": ("--fp8-gemm-backend", "--fp8-gemm-runner-backend"),
    "hicache_io_backend": ("--hicache-io-backend",),
    "hicache_mem_layout": ("--hicache-mem-layout",),
    "hicache_storage_backend": ("--hicache-storage-backend",),
    "kv_cache_dtype": ("--kv-cache-dtype",),
    "linear_attention_backend": ("--linear-attn-backend",),
    "mamba_backend": ("--mamba-backend",),
    "moe_a2a_backend": ("--moe-a2a-backend",),
    "moe_runner_backend": ("--moe-runner-backend",),
    "quantization": ("--quantization",),
    "reasoning_parser": ("--reasoning-parser",),
    "sampling_backend": ("--sampling-backend",),
    "speculative_algorithm": ("--speculative-algorithm",),
    "tool_parser": ("--tool-call-parser",),
}


def extract(source: Path, version: str) -> dict[str, Any]:
    """Return the snapshot of the SGLang that is unpacked in `source`."""
    _prepare(source, version)
    problems: dict[str, str] = {}
    root = source / "sglang"
    flags = guarded(problems, "flags", _flags, {})
    names = {
        group: as_names(next((flags[f]["choices"] for f in group_flags if flags.get(f, {}).get("choices")), ()))
        for group, group_flags in _CHOICE_GROUPS.items()
    }
    names["speculative_algorithm"] |= guarded(problems, "speculation", lambda: _algorithms(root), {})
    algorithm = flags.get("--speculative-algorithm", {})
    if algorithm and "choices" not in algorithm:
        algorithm["values"] = "@speculative_algorithm"
    names["architecture"] = guarded(problems, "architectures", lambda: _architectures(root), {})
    return {
        "framework": "sglang",
        "version": version,
        "flags": flags,
        "environment": guarded(problems, "environment", lambda: _environment(root), {}),
        "options": {},
        "names": {group: records for group, records in names.items() if records},
        "problems": problems,
    }


def _prepare(source: Path, version: str) -> None:
    real = importlib.metadata.version

    def answer(name: str) -> str:
        try:
            return real(name)
        except importlib.metadata.PackageNotFoundError:
            return "99.0.0"

    importlib.metadata.version = answer  # type: ignore[assignment]
    sys.path.insert(0, str(source))
    mocks.install("sglang", always=_STOOD_IN, absent=_ABSENT)
    # The real package patches transformers when it is imported.
    sys.modules["sglang"] = stand_in_package("sglang", source / "sglang", __version__=version)


def _flags() -> Records:
    server_args = importlib.import_module("sglang.srt.server_args")
    parser = argparse.ArgumentParser(prog="sglang.launch_server", add_help=False)
    server_args.ServerArgs.add_cli_args(parser)
    return parser_flags(parser)


def _algorithms(root: Path) -> Records:
    """Return the algorithms by their registry: from 0.5.12 on the flag has no choices."""
    found: set[str] = set()
    for path in sorted((root / "srt/speculative").glob("*.py")):
        tree = parse_file(path)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == "SpeculativeAlgorithm":
                targets = [item.targets[0] for item in node.body if isinstance(item, ast.Assign)]
                found.update(t.id for t in targets if isinstance(t, ast.Name) and t.id.isupper())
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and "RESERVED_ALIASES" in target.id:
                value = getattr(node, "value", None)
                inner = value.args[0] if isinstance(value, ast.Call) and value.args else value
                found.update(map(str, literal(inner) or ()))
    return as_names(found - {"NONE"})


def _architectures(root: Path) -> Records:
    found: set[str] = set()
    for path in sorted((root / "srt/models").rglob("*.py")):
        entry = assigned(parse_file(path), "EntryClass")
        parts = entry.elts if isinstance(entry, ast.List | ast.Tuple) else [entry]
        found.update(part.id for part in parts if isinstance(part, ast.Name))
    return as_names(found)


_TYPES = {"Bool": "bool", "Int": "int", "Float": "float", "Str": "str", "Tuple": "list", "JSON": "json"}


def _environment(root: Path) -> Records:
    tree = parse_file(root / "srt/environ.py")
    records: Records = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "Envs":
            for item in node.body:
                if (
                    isinstance(item, ast.Assign)
                    and isinstance(item.value, ast.Call)
                    and isinstance(item.targets[0], ast.Name)
                ):
                    records[item.targets[0].id] = _variable(item.value)
    for name, note in _deprecated(tree).items():
        records[name] = {**records.get(name, {}), **note}
    for name in mentioned_variables(root, _PREFIXES) - records.keys():
        records[name] = {"undeclared": True}
    return dict(sorted(records.items()))


def _variable(call: ast.Call) -> Attributes:
    kind = ast.unparse(call.func).removeprefix("Env").removesuffix("WithAlias")
    attributes: Attributes = {"type": _TYPES.get(kind, "str")}
    if call.args:
        try:
            with_default(attributes, ast.literal_eval(call.args[0]))
        except (ValueError, TypeError, SyntaxError):
            attributes["computed"] = True
    return attributes


def _deprecated(tree: ast.Module) -> dict[str, Attributes]:
    """Return old variable names with what replaces them; SGLang wrote this down in four ways over the versions."""
    found: dict[str, Attributes] = {}
    order = next(
        (
            [a.arg for a in n.args.args]
            for n in tree.body
            if isinstance(n, ast.FunctionDef) and n.name == "_print_deprecated_env"
        ),
        ["new_name", "old_name"],
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _deprecated_by_call(node, order, found)
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_DEPRECATED_ENVS":
            _deprecated_by_table(node.value, found)
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name)
        ):
            for keyword in node.value.keywords:
                if keyword.arg == "deprecated_name" and isinstance(keyword.value, ast.Constant):
                    found[str(keyword.value.value)] = _note(node.targets[0].id)
    return found


def _deprecated_by_call(node: ast.Call, order: list[str], found: dict[str, Attributes]) -> None:
    function = ast.unparse(node.func)
    values = [str(a.value) if isinstance(a, ast.Constant) and a.value is not None else None for a in node.args]
    if function == "_print_deprecated_env" and values:
        given = dict(zip(order, values, strict=False))
        given |= {k.arg: str(literal(k.value)) for k in node.keywords if k.arg and literal(k.value) is not None}
        if given.get("old_name"):
            found[str(given["old_name"])] = _note(given.get("new_name"))
    elif function == "_warn_deprecated_env_to_cli_flag" and values and values[0]:
        found[values[0]] = _note(instead(values[1] or "") if len(values) > 1 else None)


def _deprecated_by_table(table: ast.expr | None, found: dict[str, Attributes]) -> None:
    if not isinstance(table, ast.Dict):
        return
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(value, ast.Call):
            continue
        given = {k.arg: literal(k.value) for k in value.keywords}
        replacement = literal(value.args[0]) if value.args else given.get("replacement")
        found[str(key.value)] = _note(replacement or instead(str(given.get("note") or "")))


def _note(replacement: str | None) -> Attributes:
    note: Attributes = {"deprecated": "warns"}
    return note | ({"instead": replacement} if replacement else {})
