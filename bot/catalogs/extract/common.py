"""What the extractors share: argument parsers, enums and literals as plain attributes."""

from __future__ import annotations

import argparse
import ast
import enum
import json
import re
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Attributes = dict[str, Any]
Records = dict[str, Attributes]

_MACHINE_PATH = re.compile(r"^(?:/tmp|/root|/home|/var|~)(?:/|$)|^/.*/\.cache\b")
_INSTEAD = re.compile(
    r"(?:\buse\b|replaced (?:by|with)|in favou?r of|renamed to|\binstead\b.{0,20}?)"
    r"[^.;]{0,60}?[`'\" ](?P<name>--[a-z][a-z0-9-]+|[A-Z]{2,}_[A-Z0-9_]{3,})",
    re.DOTALL,
)


def plain(value: Any) -> tuple[Any, bool]:
    """Return the value as JSON with True, or None with False when it is computed, machine-dependent or not plain."""
    if value is argparse.SUPPRESS:
        return None, True
    if isinstance(value, enum.Enum):
        return value.name, True
    if isinstance(value, str) and _MACHINE_PATH.match(value):
        return None, False
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    try:
        return json.loads(json.dumps(value)), True
    except (TypeError, ValueError):
        return None, False


def with_default(attributes: Attributes, value: Any) -> None:
    """Set `default` (absent: none) or, where the default is no plain value, `computed`."""
    default, known = plain(value)
    if not known:
        attributes["computed"] = True
    elif default is not None:
        attributes["default"] = default


def type_name(function: Any) -> str | None:
    """Return the name of an argparse type, looking through wrappers that make a value optional."""
    for _ in range(4):
        code = getattr(function, "__code__", None)
        closure = getattr(function, "__closure__", None)
        if code is None or not closure or "return_type" not in code.co_freevars:
            break
        function = closure[code.co_freevars.index("return_type")].cell_contents
    if function is None:
        return None
    name = getattr(function, "__name__", None) or type(function).__name__
    return None if name == "<lambda>" else _TYPE_NAMES.get(name, name)


_TYPE_NAMES = {
    "loads": "json",
    "parse_dataclass": "json",
    "json_list_type": "json",
    "union_dict_and_str": "json-or-str",
    "nullable_str": "str",
    "human_readable_int": "human-int",
    "human_readable_int_or_auto": "human-int-or-auto",
}


def parser_flags(parser: argparse.ArgumentParser, deprecated: Iterable[Any] = ()) -> Records:
    """Return every option of a parser with its spellings, kind, type, choices and default.

    The parser's own table of spellings is read because newer engines hide accepted spellings from the action.
    """
    spellings: dict[int, list[str]] = {}
    for spelling, action in parser._option_string_actions.items():
        spellings.setdefault(id(action), []).append(spelling)
    marked = {id(action) for action in deprecated}
    records: Records = {}
    for action in parser._actions:
        names = spellings.get(id(action), [])
        if not names or isinstance(action, argparse._HelpAction | argparse._VersionAction):
            continue
        key, attributes = _flag(action, names)
        if id(action) in marked:
            attributes["deprecated"] = "warns"
        records.setdefault(key, attributes)
    return dict(sorted(records.items()))


class _CapturedError(BaseException):
    """Carries a parser out of a program that was about to use it; no `except Exception` of the program may stop it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def captured_parser(program: Callable[[], Any]) -> argparse.ArgumentParser:
    """Return the parser that a program builds, by stopping it where it parses its arguments.

    Raises LookupError when the program ends without parsing.
    """

    def stop(self: argparse.ArgumentParser, *_: Any, **__: Any) -> Any:
        raise _CapturedError(self)

    real = argparse.ArgumentParser.parse_known_args
    argparse.ArgumentParser.parse_known_args = stop  # type: ignore[method-assign]
    try:
        program()
    except _CapturedError as captured:
        return captured.parser
    finally:
        argparse.ArgumentParser.parse_known_args = real  # type: ignore[method-assign]
    raise LookupError("the program parsed no arguments")


def _flag(action: argparse.Action, spellings: list[str]) -> tuple[str, Attributes]:
    negations = _negations(action, spellings)
    names = [name for name in spellings if name not in negations]
    key = next((name for name in names if name.startswith("--")), names[0])
    attributes: Attributes = {"kind": _kind(action, negations)}
    if len(names) > 1:
        attributes["aliases"] = sorted(name for name in names if name != key)
    if negations:
        attributes["negations"] = sorted(negations)
    if action.dest != key.lstrip("-").replace("-", "_"):
        attributes["dest"] = action.dest
    kind = type_name(action.type)
    if kind not in (None, "str"):
        attributes["type"] = kind
    if action.nargs not in (None, 0):
        attributes["nargs"] = action.nargs
    if action.choices is not None:
        choices = {str(plain(choice)[0]) for choice in action.choices}
        attributes["choices"] = sorted(choices - {"None"})
        if "None" in choices:
            attributes["none"] = True  # the word None is accepted for "not set"
    if action.required:
        attributes["required"] = True
    if type(action).__name__ == "_AppendAction":
        attributes["repeats"] = True
    with_default(attributes, action.default)
    help_text = action.help if isinstance(action.help, str) else ""
    if "deprecat" in type(action).__name__.lower():
        attributes["deprecated"] = "warns"
    elif "deprecated" in help_text.lower():
        attributes["deprecated"] = "help"
    if "deprecated" in attributes:
        new = getattr(action, "new_flag", None) or instead(help_text)
        if new and new != key:
            attributes["instead"] = new
    return key, attributes


def _negations(action: argparse.Action, spellings: list[str]) -> set[str]:
    explicit = getattr(action, "negative_option_strings", None)
    if explicit is not None:
        return set(explicit) & set(spellings)
    if isinstance(action, argparse.BooleanOptionalAction):
        return {name for name in spellings if name.startswith("--no-")}
    return set()


def _kind(action: argparse.Action, negations: set[str]) -> str:
    if negations:
        return "toggle"
    return "switch" if action.nargs == 0 else "value"


def instead(text: str) -> str | None:
    """Return the option or variable that a note tells the reader to use, or None."""
    match = _INSTEAD.search(text)
    return match["name"] if match else None


def guarded(problems: dict[str, str], part: str, read: Callable[[], Any], empty: Any) -> Any:
    """Return `read()`, or `empty` and a note in `problems` when the framework's code did not let itself be read."""
    try:
        return read()
    except (Exception, SystemExit) as error:
        problems[part] = f"{type(error).__name__}: {error}"[:300]
        return empty


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file; an empty one when it is missing or not Python.

    A byte-order mark at the start, as some frameworks have, is skipped.
    """
    try:
        return ast.parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """Return what a module-level name is assigned, or None."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.value
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return node.value
    return None


def literal(node: ast.expr | None) -> Any:
    """Return the literal value of an expression, or None when it is not one."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def texts(node: ast.AST | None) -> list[str]:
    """Return every text constant below a node, sorted and once each."""
    if node is None:
        return []
    return sorted({n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)})


def mentioned_variables(root: Path, prefixes: tuple[str, ...]) -> set[str]:
    """Return the variable names with one of the prefixes that a Python file below `root` has as a text."""
    pattern = re.compile(rf"""["']((?:{"|".join(prefixes)})[A-Z0-9_]+)["']""")
    found: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        if {"test", "tests"} & set(path.relative_to(root).parts):
            continue
        found.update(pattern.findall(path.read_text(encoding="utf-8", errors="replace")))
    return {name for name in found if not name.endswith("_")}


def as_names(names: Iterable[str]) -> Records:
    """Return names as records without attributes."""
    return {str(name): {} for name in sorted(set(map(str, names)))}


def stand_in_package(name: str, path: Path, **attributes: Any) -> types.ModuleType:
    """Return a package that only has a search path, to skip the side effects of the real `__init__`."""
    module = types.ModuleType(name)
    module.__path__ = [str(path)]
    for key, value in attributes.items():
        setattr(module, key, value)
    return module
