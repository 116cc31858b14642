"""What one LMCache version accepts: settings, their variables and the options of `lmcache server`."""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from pathlib import Path
from typing import Any

from botlint.catalogs.extract import mocks
from botlint.catalogs.extract.common import (
    Attributes,
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
    with_default,
)

_STOOD_IN = ("msgspec", "torch", "transformers", "triton", "vllm")


def extract(source: Path, version: str) -> dict[str, Any]:
    """Return the snapshot of the LMCache that is unpacked in `source`."""
    sys.path.insert(0, str(source))
    mocks.install("lmcache", always=_STOOD_IN, absent=("cufile",), compiled=True)
    devices = {name: mocks.Stand(f"lmcache.{name}") for name in ("device_ops", "torch_dev", "torch_device_type")}
    sys.modules["lmcache"] = stand_in_package("lmcache", source / "lmcache", __version__=version, **devices)
    problems: dict[str, str] = {}
    root = source / "lmcache"
    options = guarded(problems, "options", lambda: _options(root), {})
    backends = guarded(problems, "storage", lambda: _storage_schemes(root), {})
    return {
        "framework": "lmcache",
        "version": version,
        "flags": guarded(problems, "flags", lambda: _flags(root), {}),
        "environment": guarded(problems, "environment", lambda: _environment(root, options), {}),
        "options": options,
        "names": {"remote_scheme": backends} if backends else {},
        "problems": problems,
    }


def _flags(root: Path) -> Records:
    """Return the options of `lmcache server`, or of the HTTP server module where that command did not exist yet."""
    if (root / "cli/commands/server.py").exists():
        command = importlib.import_module("lmcache.cli.commands.server").ServerCommand()
        parser = argparse.ArgumentParser(add_help=False)
        command.register(parser.add_subparsers())
        choices: Any = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
        return parser_flags(choices["server"])
    if (root / "v1/multiprocess/http_server.py").exists():
        module = importlib.import_module("lmcache.v1.multiprocess.http_server")
        return parser_flags(captured_parser(module.parse_args))
    return {}


def _options(root: Path) -> Records:
    tree = parse_file(root / "v1/config.py")
    table = assigned(tree, "_CONFIG_DEFINITIONS")
    records: Records = {}
    if not isinstance(table, ast.Dict):
        return records
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(value, ast.Dict):
            records[str(key.value)] = _option(value)
    notes = literal(assigned(tree, "_DEPRECATED_CONFIGS")) or {}
    for old, new in (literal(assigned(tree, "_CONFIG_ALIASES")) or {}).items():
        records.setdefault(str(old), {"type": records.get(str(new), {}).get("type", "str")})
        records[str(old)] |= {"deprecated": "warns" if old in notes else "alias", "instead": str(new)}
    return dict(sorted(records.items()))


def _option(value: ast.Dict) -> Attributes:
    given = {k.value: v for k, v in zip(value.keys, value.values, strict=True) if isinstance(k, ast.Constant)}
    kind = ast.unparse(given["type"]) if "type" in given else "str"
    inner = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    attributes: Attributes = {
        "type": "list" if inner.startswith("list") else "json" if inner.startswith("dict") else inner
    }
    if "default" in given:
        try:
            with_default(attributes, ast.literal_eval(given["default"]))
        except (ValueError, TypeError, SyntaxError):
            attributes["computed"] = True
    return attributes


def _environment(root: Path, options: Records) -> Records:
    """Each setting has a variable; others are read by name."""
    records = {f"LMCACHE_{name.upper()}": dict(attributes) for name, attributes in options.items()}
    for attributes in records.values():
        if "instead" in attributes:
            attributes["instead"] = f"LMCACHE_{attributes['instead'].upper()}"
    for name in mentioned_variables(root, ("LMCACHE_",)) - records.keys():
        records[name] = {"undeclared": True}
    return dict(sorted(records.items()))


def _storage_schemes(root: Path) -> Records:
    """Return the URL schemes of remote storage, as the connector adapters name them."""
    found: set[str] = set()
    for path in sorted((root / "v1/storage_backend/connector").glob("*_adapter.py")):
        for node in ast.walk(parse_file(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__" and node.args:
                scheme = literal(node.args[0])
                if isinstance(scheme, str) and scheme.endswith("://"):
                    found.add(scheme.removesuffix("://"))
    return as_names(found)
