"""Environment variables described by what their own readers answer when they are set to the usual words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from botlint.catalogs.extract.common import Attributes, Records, plain, with_default

Reader = Callable[[], Any]

_RANDOM = re.compile(r"[0-9a-f]{16}")
_PROBES = ("1", "0", "true", "false", "True", "False")
# What a reader makes of the probes, in their order (None: it raises, or the value is no truth value).
_BOOLEAN_READERS: dict[tuple[bool | None, ...], str] = {
    (True, False, None, None, None, None): "bool-int",
    (True, False, True, False, True, False): "bool",
    (True, False, False, False, False, False): "bool-1",
    (False, False, True, False, True, False): "bool-true",
    (True, True, True, True, True, True): "bool-set",
}


def read_variables(table: Mapping[str, Reader], annotations: Mapping[str, str]) -> Records:
    """Describe each variable of an engine's table of readers; `annotations` are its declared types, if any."""
    return {name: _variable(name, read, annotations.get(name, "")) for name, read in table.items()}


def _variable(name: str, read: Reader, annotation: str) -> Attributes:
    attributes: Attributes = {}
    os.environ.pop(name, None)
    default = None
    try:
        default = read()
    except Exception:
        attributes["computed"] = True
    if isinstance(default, str) and _RANDOM.search(default):
        attributes["computed"] = True
    elif "computed" not in attributes:
        with_default(attributes, default)
    attributes["type"] = _type(name, read, annotation, default)
    return attributes | _choices(read)


def _type(name: str, read: Reader, annotation: str, default: Any) -> str:
    reader = _BOOLEAN_READERS.get(tuple(_probe(name, read, text) for text in _PROBES))
    if reader:
        return reader
    hinted = annotation.replace(" | None", "")
    if hinted == "bool" or isinstance(default, bool):
        return "bool-other"
    if hinted.startswith(("list", "set")) or isinstance(default, list | set | tuple):
        return "list"
    if hinted in ("int", "float"):
        return hinted
    return type(default).__name__ if isinstance(default, int | float) else "str"


def _probe(name: str, read: Reader, text: str) -> bool | None:
    os.environ[name] = text
    try:
        value = read()
    except Exception:
        return None
    finally:
        os.environ.pop(name, None)
    return value if isinstance(value, bool) else None


def _choices(read: Reader) -> Attributes:
    """Return the allowed values of a reader that closes over `choices`, as vLLM's `env_with_choices` does."""
    code, closure = getattr(read, "__code__", None), getattr(read, "__closure__", None)
    if code is None or not closure or "choices" not in code.co_freevars:
        return {}
    cells = {name: cell.cell_contents for name, cell in zip(code.co_freevars, closure, strict=True)}
    choices = cells["choices"]() if callable(cells["choices"]) else cells["choices"]
    result: Attributes = {"choices": sorted(str(plain(choice)[0]) for choice in choices)}
    if cells.get("case_sensitive") is False:
        result["any_case"] = True
    return result
