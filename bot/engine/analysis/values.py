"""How frameworks read the text of an environment variable, by the types of the catalogs."""

from __future__ import annotations

import re

_ON = frozenset({"1", "true", "yes", "y", "on", "t"})
_OFF = frozenset({"0", "false", "no", "n", "off", "f"})
_NUMBER = re.compile(r"\s*[+-]?\d+(?:_\d+)*\s*")


def truth(value: str) -> str:
    """`true` or `false` for a value by which a person means a switch, empty for anything else."""
    word = value.strip().lower()
    return "true" if word in _ON else "false" if word in _OFF else ""


def refuses(kind: str, value: str) -> bool:
    """Whether the value cannot be read as this type; an empty one may stand for nothing."""
    if not value.strip():
        return False
    if kind in ("int", "bool-int"):
        return _NUMBER.fullmatch(value) is None
    if kind == "float":
        try:
            float(value)
        except ValueError:
            return True
    return False


def read_as(kind: str, value: str, framework: str) -> str:
    """What a switch of this type is read as: `true`, `false`, or empty where that is not known."""
    if kind == "bool-1":
        return _text(value == "1")
    if kind == "bool-true":
        # Which letters may be capital differs.
        return "" if value.lower() == "true" != value else _text(value == "true")
    if kind == "bool-set":
        return _text(value != "")
    if kind == "bool-int":
        return _text(int(value) != 0) if _NUMBER.fullmatch(value) and len(value) < 20 else ""
    if kind == "bool":
        # SGLang's declared variables also take yes and no; what it does not understand gives the default.
        if value.lower() in ("true", "1"):
            return "true"
        return "false" if framework == "vllm" or value.lower() in ("false", "0") else ""
    return ""


def _text(value: bool) -> str:
    return "true" if value else "false"
