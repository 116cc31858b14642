"""A Python file of the repository as a syntax tree with its constants: read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

MAX_SOURCE_CHARACTERS = 1_000_000

# Where a statement of the module begins; a line of a text or in a bracket may look like one, so `parse` tries twice.
_TOP_LEVEL = re.compile(r"^(?:(?:async )?def (?P<function>\w+)|class (?P<class>\w+)|@|[A-Za-z_]\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PythonSource:
    """The top level of one module: functions, classes, constants and members of enumerations."""

    functions: Mapping[str, ast.FunctionDef]
    classes: Mapping[str, ast.ClassDef]
    constants: Mapping[str, object]
    members: Mapping[str, object]
    sequence_table: str
    sequences: Mapping[str, tuple[int, int]]
    text: str = field(default="", repr=False)

    @staticmethod
    def parse(text: str, imported: PythonSource | None = None, unneeded: str = r"(?!)") -> PythonSource | None:
        """Read a module; names that it takes from `imported` resolve too. None when the text is not Python.

        Functions and classes whose name matches `unneeded` are left out: parsing costs more than all that is read here.
        """
        if len(text) > MAX_SOURCE_CHARACTERS:
            return None
        module = _module(_without(text, re.compile(unneeded))) or _module(text)
        if module is None:
            return None
        functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
        classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        constants = dict(imported.constants) if imported else {}
        members = dict(imported.members) if imported else {}
        table = ""
        sequences: dict[str, tuple[int, int]] = {}
        for node in module.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                    constants[name] = value
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys, values=values)):
                    pairs = dict(_pairs(keys, values))
                    if pairs and not sequences:
                        table, sequences = name, pairs
                case ast.ClassDef(bases=[ast.Name(id="Enum")], body=body):
                    for statement in body:
                        match statement:
                            case ast.Assign(targets=[ast.Name(id=member)], value=ast.Constant(value=value)):
                                members[member] = value
        return PythonSource(functions, classes, constants, members, table, sequences, text)

    def quotes(self, word: str) -> bool:
        """Whether the source has this word as a text of its own."""
        return f"'{word}'" in self.text or f'"{word}"' in self.text

    def resolve(self, node: ast.AST | None) -> object:
        """What a literal, a module constant or a member of an enumeration stands for; None for any other expression."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.constants.get(name)
            case ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=member), attr="value"):
                return self.members.get(member)
            case ast.Attribute(value=ast.Name(), attr=member):
                return self.members.get(member)
        return None

    def integer(self, name: str) -> int | None:
        """The integer constant of that name."""
        value = self.constants.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def all_functions(self) -> Iterator[ast.FunctionDef]:
        """Functions of the module and those directly inside one of them."""
        for function in self.functions.values():
            yield function
            yield from (inner for inner in function.body if isinstance(inner, ast.FunctionDef))


def _module(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _without(text: str, unneeded: re.Pattern[str]) -> str:
    starts = list(_TOP_LEVEL.finditer(text))
    kept, position = [], 0
    for start, following in zip_longest(starts, starts[1:]):
        name = start["function"] or start["class"]
        if name and unneeded.fullmatch(name):
            kept.append(text[position : start.start()])
            position = following.start() if following else len(text)
    return "".join([*kept, text[position:]])


def _pairs(keys: list[ast.expr | None], values: list[ast.expr]) -> Iterator[tuple[str, tuple[int, int]]]:
    for key, value in zip(keys, values, strict=True):
        match key, value:
            case (
                ast.Constant(value=str(name)),
                ast.Tuple(elts=[ast.Constant(value=int(first)), ast.Constant(value=int(second))]),
            ):
                yield name, (first, second)
