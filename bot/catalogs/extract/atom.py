"""What one ATOM revision accepts, from its own argument parser, its table of variables and its syntax trees."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any

from botlint.catalogs.extract import mocks
from botlint.catalogs.extract.common import (
    Records,
    as_names,
    assigned,
    captured_parser,
    guarded,
    literal,
    mentioned_variables,
    parse_file,
    parser_flags,
    stand_in_package,
)
from botlint.catalogs.extract.variables import read_variables

_STOOD_IN = (
    "aiter",
    "atom.distributed",
    "atom.model_engine.engine_core_mgr",
    "atom.model_loader",
    "atom.model_ops",
    "atom.models",
    "torch",
    "transformers",
    "triton",
)
_SERVERS = ("atom.entrypoints.openai.api_server", "atom.entrypoints.openai_server")

# Groups of names whose members are the choices of a flag; the first flag that exists counts.
_CHOICE_GROUPS = {
    "all2all_backend": ("--all2all-backend",),
    "dp_load_balance": ("--dp-load-balance-strategy", "--dp-lb-strategy"),
    "kv_cache_dtype": ("--kv-cache-dtype", "--kv_cache_dtype"),
    "moe_backend": ("--moe-backend",),
    "speculative_method": ("--method",),
}


def extract(source: Path, version: str) -> dict[str, Any]:
    """Return the snapshot of the ATOM checkout in `source`."""
    sys.path.insert(0, str(source))
    mocks.install("atom", always=_STOOD_IN, absent=())
    stub = {"LLMEngine": object, "SamplingParams": object}
    sys.modules["atom"] = stand_in_package("atom", source / "atom", **stub)
    problems: dict[str, str] = {}
    root = source / "atom"
    flags = guarded(problems, "flags", lambda: _flags(root), {})
    names = {
        group: as_names(next((flags[f]["choices"] for f in group_flags if flags.get(f, {}).get("choices")), ()))
        for group, group_flags in _CHOICE_GROUPS.items()
    }
    names["architecture"] = guarded(problems, "architectures", lambda: _architectures(root), {})
    names["kv_connector"] = guarded(problems, "connectors", lambda: _connectors(root), {})
    return {
        "framework": "atom",
        "version": version,
        "flags": flags,
        "environment": guarded(problems, "environment", lambda: _environment(root), {}),
        "options": {},
        "names": {group: records for group, records in names.items() if records},
        "problems": problems,
    }


def _flags(root: Path) -> Records:
    """Return the options of the OpenAI server: those of the engine and its own."""
    manager = importlib.import_module("atom.model_engine.engine_core_mgr")
    values = _constants(root / "model_engine/engine_core_mgr.py")
    for name in ("DP_LB_DEFAULT", "DP_LB_STRATEGIES"):
        if name in values:
            setattr(manager, name, values[name])
    for name in _SERVERS:
        if (root.parent / Path(*name.split("."))).with_suffix(".py").exists():
            server = importlib.import_module(name)
            if hasattr(server, "main"):
                return parser_flags(captured_parser(server.main))
    raise ModuleNotFoundError("no OpenAI server module with a main function")


def _constants(path: Path) -> dict[str, Any]:
    """Return module-level constants, also those that are made of other constants."""
    values: dict[str, Any] = {}
    for node in parse_file(path).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or value is None:
            continue
        if isinstance(value, ast.Name) and value.id in values:
            values[target.id] = values[value.id]
        elif isinstance(value, ast.Tuple | ast.List):
            parts = [values.get(p.id) if isinstance(p, ast.Name) else literal(p) for p in value.elts]
            if None not in parts:
                values[target.id] = parts
        elif literal(value) is not None:
            values[target.id] = literal(value)
    return values


def _environment(root: Path) -> Records:
    table = importlib.import_module("atom.utils.envs").environment_variables
    records = read_variables(table, {})
    for name in mentioned_variables(root, ("ATOM_",)) - records.keys():
        records[name] = {"undeclared": True}
    return dict(sorted(records.items()))


def _architectures(root: Path) -> Records:
    table = assigned(parse_file(root / "model_engine/model_runner.py"), "support_model_arch_dict")
    keys = table.keys if isinstance(table, ast.Dict) else []
    return as_names(str(key.value) for key in keys if isinstance(key, ast.Constant))


def _connectors(root: Path) -> Records:
    found: set[str] = set()
    for path in sorted((root / "kv_transfer").rglob("*.py")):
        for node in ast.walk(parse_file(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("register_connector") and node.args:
                name = literal(node.args[0])
                found.update({name} if isinstance(name, str) else ())
    return as_names(found)
