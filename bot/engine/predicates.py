"""CEL expressions over facts: compiled against the declared types, evaluated with unknown facts left out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any, Literal

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from botlint.core.visible import ELLIPSIS
from botlint.engine.views.base import Fact, FactType

MAX_EXPRESSION = 4_000
"""Characters of one expression."""

MAX_TEXT = 4_000
"""Characters of a text with values; a longer one is cut."""

MAX_SECONDS = 20.0
"""Time that the expressions of all custom rules take together."""

MAX_MEMORY = 256 << 20
"""Bytes that one evaluation of a custom rule's expression takes: CEL bounds the steps, not the sizes of values."""

MAX_FAULT = 120
"""Characters of an expression that a fault quotes."""

MAX_UNKNOWN_KEYS = 2
"""Keys with an unknown value for which samples are tried."""

MAX_KNOWN = 50_000
"""Values of one expression that are remembered."""

MAX_SAMPLES = 16
"""Texts that are tried for a key."""

_SAMPLES = ("", "0", "1", "\ufffd")
"""Stand for an unknown text: what holds for all of them is taken to hold for any."""

_TOKEN = re.compile(
    r"""(?:[rR]?"(?:\\.|[^"\\])*"|[rR]?'(?:\\.|[^'\\])*')|(?P<name>[A-Za-z_]\w*(?:\.\??[A-Za-z_]\w*)*)""", re.DOTALL
)
_STRING = r"""(?:"([^"\\]*)"|'([^'\\]*)')"""
_LITERAL = re.compile(_STRING)
_PLAIN = r"[^\"\\,\[\]]"
_GUARD = re.compile(
    rf"""(?P<not>!?)(?P<name>[a-z_]+\.[a-z_]+)
    (?:\s*==\s*(?P<equal>"{_PLAIN}*")|\s+in\s+\[(?P<list>\s*"{_PLAIN}*"(?:\s*,\s*"{_PLAIN}*")*\s*)\]
    |\s*(?P<other>!=\s*"{_PLAIN}*"|(?:[<>]=?|[!=]=)\s*-?[0-9]+))?""",
    re.VERBOSE,
)
"""A part of a condition that compares a fact with a value."""

_MISSING = ("No value with name", "Key not found", "not found in Activation", "key not found", "no such key")
_OTHER_KIND = "No matching overloads"
"""A value that may be of any type (parsed JSON) and is not of the one that the expression takes."""

_LOCATION = re.compile(r"<input>:(\d+):(\d+): (.*)")


Part = Literal["whole", "list"] | tuple[str, ...]
"""What of a fact an expression depends on: all of it, the items of a list, or keys of a map."""

_ABSENT = object()


class ExpressionError(Exception):
    """An expression that cannot be compiled; `line` and `column` count from 1 within the expression."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class RuleFault(Exception):  # noqa: N818 - a fault of the rule, told as such
    """An expression that cannot be evaluated for a reason other than an unknown fact (division by zero)."""


@dataclass(slots=True)
class Meter:
    """What the expressions of custom rules may still take together, whatever they say."""

    seconds: float = MAX_SECONDS

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Takes the time of what runs in it; raises RuleFault when none is left or memory runs out."""
        if self.seconds <= 0:
            raise RuleFault("the custom rules have taken the time or the memory that all of them may take")
        start = time.perf_counter()
        try:
            with _little_memory():
                yield
        except MemoryError:
            self.seconds = 0
            raise RuleFault(f"takes more than {MAX_MEMORY >> 20} MiB of memory") from None
        finally:
            self.seconds -= time.perf_counter() - start


@contextmanager
def _little_memory() -> Iterator[None]:
    """Bounds the memory that the process may get beside what it has, where the system can do that."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - short, and called often
            has = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [has + MAX_MEMORY, *(one for one in (soft, hard) if one != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@cache
def _type(name: FactType) -> Any:
    kinds: dict[str, Any] = {
        "string": cel.Type.STRING,
        "int": cel.Type.INT,
        "double": cel.Type.DOUBLE,
        "bool": cel.Type.BOOL,
        "list<string>": cel.Type.List(cel.Type.STRING),
        "list<int>": cel.Type.List(cel.Type.INT),
        "list<dyn>": cel.Type.List(cel.Type.DYN),
        "map<string,string>": cel.Type.Map(cel.Type.STRING, cel.Type.STRING),
        "map<string,dyn>": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    }
    return kinds[name]


class Vocabulary:
    """The facts that the expressions of one view may use, by their full names."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        self.facts = facts
        extensions = [
            ext_strings.ExtStrings(),
            ext_math.ExtMath(),
            ext_optional.ExtOptional(),
            ext_bindings.ExtBindings(),
        ]
        self.environment = cel.NewEnv(
            variables={name: _type(fact.type) for name, fact in facts.items()}, extensions=extensions
        )

    def compile(self, text: str, result: str | None = None) -> Expression:
        """An expression, checked against the types; `result` is the type that it must have (`bool`).

        Raises ExpressionError.
        """
        if len(text) > MAX_EXPRESSION:
            raise ExpressionError(f"longer than {MAX_EXPRESSION} characters")
        try:
            compiled = self.environment.compile(text)
        except Exception as error:
            raise _compile_error(str(error)) from None
        if result is not None:
            kind = compiled.return_type().name().lower()
            if kind not in (result, "dyn"):
                raise ExpressionError(f"must be a {result}, is a {kind}")
        names, keys = _mentions(text, self.facts)
        parts = _parts(text, names, keys, self.facts)
        return Expression(text, compiled, names, keys, self.environment, parts)


def _compile_error(text: str) -> ExpressionError:
    found = _LOCATION.search(text)
    if found is None:
        return ExpressionError(text.splitlines()[0] if text else "cannot be compiled")
    return ExpressionError(found[3].strip(), int(found[1]), int(found[2]))


def _mentions(text: str, facts: Mapping[str, Fact]) -> tuple[tuple[str, ...], Mapping[str, frozenset[str]]]:
    """The facts that an expression names, and per map fact the keys that it names."""
    names: dict[str, None] = {}
    keys: dict[str, set[str]] = {}
    for match in _TOKEN.finditer(text):
        parts = (match["name"] or "").split(".")
        name = ".".join(parts[:2])
        if name in facts:
            names[name] = None
            if facts[name].type.startswith("map"):
                found = keys.setdefault(name, set())
                if len(parts) > 2:
                    found.add(parts[2].lstrip("?"))
                follows = re.match(rf"\[\??{_STRING}", text[match.end() :])
                if follows:
                    found.add(follows[1] or follows[2] or "")
                before = re.search(rf"{_STRING}\s+in\s+$", text[: match.start()])
                if before:
                    found.add(before[1] or before[2] or "")
    return tuple(names), {name: frozenset(found) for name, found in keys.items()}


def _parts(
    text: str, names: Sequence[str], keys: Mapping[str, frozenset[str]], facts: Mapping[str, Fact]
) -> tuple[tuple[str, Part], ...] | None:
    """What the value of an expression depends on: each fact, or the keys of a map that it names.

    None if a part cannot be compared: a value of any type, or a map that is looked at as a whole.
    """
    found: list[tuple[str, Part]] = []
    for name in names:
        kind = facts[name].type
        if kind in ("string", "int", "double", "bool"):
            found.append((name, "whole"))
        elif kind in ("list<string>", "list<int>"):
            found.append((name, "list"))
        elif kind == "map<string,string>" and _only_keys(text, name):
            found.append((name, tuple(sorted(keys.get(name, ())))))
        else:
            return None
    return tuple(found)


def guards(text: str) -> list[tuple[str, frozenset[object] | None]]:
    """Facts without which a condition is never true, each with the values that it must have, None for any.

    They are what the condition's parts say that all have to hold, where such a part only compares a fact with a value.
    """
    found: list[tuple[str, frozenset[object] | None]] = []
    for part in _conjuncts(text):
        match = _GUARD.fullmatch(part)
        if match is None:
            continue
        name, negated = match["name"], match["not"]
        if match["equal"]:
            found.append((name, frozenset({match["equal"].strip('"')})))
        elif match["list"]:
            found.append((name, frozenset(one.strip().strip('"') for one in match["list"].split(","))))
        elif match["other"]:
            found.append((name, None))
        else:
            found.append((name, frozenset({not negated})))
    return found


def _conjuncts(text: str) -> list[str]:
    """The parts of a condition that all have to hold; none where they are not told apart."""
    parts, start, depth, quote = [], 0, 0, ""
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[index - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 0 and (text.startswith("||", index) or (char == "?" and text[index - 1] != ".")):
            return []
        elif depth == 0 and text.startswith("&&", index):
            parts.append(text[start:index].strip())
            start = index + 2
    return [*parts, text[start:].strip()]


def _only_keys(text: str, name: str) -> bool:
    """Whether an expression looks at single keys of a map only."""
    for match in _TOKEN.finditer(text):
        parts = (match["name"] or "").split(".")
        if ".".join(parts[:2]) != name:
            continue
        after, before = text[match.end() :], text[: match.start()]
        if len(parts) > 3 or (len(parts) == 3 and not after.lstrip().startswith("(")):
            continue
        if len(parts) == 3 or not (re.match(rf"\[\??{_STRING}\]", after) or re.search(rf"{_STRING}\s+in\s+$", before)):
            return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A compiled expression: `names` are the facts that it uses, `keys` the keys of map facts that it names."""

    text: str
    compiled: Any
    names: tuple[str, ...]
    keys: Mapping[str, frozenset[str]]
    environment: Any
    parts: tuple[tuple[str, Part], ...] | None = None
    meter: Meter | None = None
    known: dict[tuple[object, ...], object | None] = field(default_factory=dict, repr=False)
    """Values that the expression had, by what they depend on."""

    def measured_by(self, meter: Meter | None) -> Expression:
        """The expression, each evaluation of which takes from a meter."""
        return replace(self, meter=meter)

    @property
    def _samples(self) -> Iterable[str]:
        """Texts that an unknown one may be: among them those that the expression itself compares with."""
        texts = dict.fromkeys(_SAMPLES)
        for quoted in _LITERAL.finditer(self.text):
            if len(texts) < MAX_SAMPLES:
                texts[quoted[1] or quoted[2] or ""] = None
        return texts

    def evaluate(self, values: Mapping[str, object], unknown: Mapping[str, frozenset[str]]) -> object | None:
        """The value of the expression, None if an unknown fact leaves it open.

        Raises RuleFault when it cannot be evaluated for another reason.
        """
        open_keys = [
            (name, key)
            for name, keys in (self.keys.items() if unknown else ())
            if name in unknown
            for key in sorted(keys & unknown[name])
        ]
        if not open_keys and self.parts is not None and self.meter is None:
            return self._known(values, self.parts)
        data = {name: values[name] for name in self.names if name in values}
        if not open_keys:
            return self._once(data)
        if len(open_keys) > MAX_UNKNOWN_KEYS:
            return None
        results: list[object] = []
        for sample in product(self._samples, repeat=len(open_keys)):
            tried = dict(data)
            for (name, key), text in zip(open_keys, sample, strict=True):
                inner = tried.get(name)
                tried[name] = {**(inner if isinstance(inner, dict) else {}), key: text}
            results.append(self._once(tried))
            if results[-1] is None or results[-1] != results[0]:
                return None
        return results[0]

    def _known(self, values: Mapping[str, object], parts: tuple[tuple[str, Part], ...]) -> object | None:
        key = tuple([value_part(values.get(name), part) for name, part in parts])
        found = self.known.get(key, _ABSENT)
        if found is _ABSENT:
            found = self._once({name: values[name] for name in self.names if name in values})
            if len(self.known) < MAX_KNOWN:
                self.known[key] = found
        return found

    def _once(self, data: Mapping[str, object]) -> object | None:
        if self.meter is None:
            return self._evaluated(data)
        with self.meter.measured():
            return self._evaluated(data)

    def _evaluated(self, data: Mapping[str, object]) -> object | None:
        try:
            value = self.compiled.eval(data=data)
        except RuntimeError as error:
            # The budget of one evaluation is spent.
            raise self._fault(str(error)) from None
        try:
            if value.type().name() != "ERROR":
                return _plain(value)
            text = str(value.value())
        except (TypeError, SystemError):
            # A type, an optional: CEL has values that are no text, number, list or map.
            raise self._fault("gives no value that a rule can use") from None
        if any(part in text for part in (*_MISSING, _OTHER_KIND)):
            return None
        raise self._fault(text)

    def _fault(self, message: str) -> RuleFault:
        text = " ".join(self.text.split())
        return RuleFault(f"{text if len(text) <= MAX_FAULT else text[:MAX_FAULT] + ELLIPSIS}: {message}")


def value_part(value: Any, part: Part) -> object:
    """What an expression depends on of a fact's value, None without one, in a form that can be compared."""
    if part == "whole" or value is None:
        return value
    return tuple(value) if part == "list" else tuple([value.get(key) for key in part])


def _plain(value: Any) -> object:
    return value.plain_value()


@dataclass(frozen=True, slots=True)
class Template:
    """A text with `{CEL}` in it; two braces stand for one."""

    parts: tuple[str | Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The facts that the text needs."""
        return tuple(dict.fromkeys(n for part in self.parts if isinstance(part, Expression) for n in part.names))

    def render(self, values: Mapping[str, object], unknown: Mapping[str, frozenset[str]]) -> str:
        """The text with its values; what is unknown is shown as `?`. One that is too long is cut after MAX_TEXT."""
        text = "".join(
            (part if isinstance(part, str) else shown(part.evaluate(values, unknown)))[: MAX_TEXT + 1]
            for part in self.parts
        )
        return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + ELLIPSIS


def shown(value: object) -> str:
    """A value for people."""
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={shown(inner)}" for key, inner in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(shown(inner) for inner in value)
    return str(value)


def mentioned(texts: Iterable[str], facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """The facts that expressions name."""
    return tuple(dict.fromkeys(name for text in texts for name in _mentions(text, facts)[0]))


def template_expressions(text: str) -> list[str]:
    """The expressions of a template as texts; nothing after a brace that is not closed."""
    found: list[str] = []
    index = 0
    while (index := text.find("{", index)) >= 0:
        if text.startswith("{{", index):
            index += 2
            continue
        end = _closing(text, index + 1)
        if end is None:
            break
        found.append(text[index + 1 : end])
        index = end + 1
    return found


def compile_template(text: str, compile_expression: Callable[[str], Expression]) -> Template:
    """A text with expressions in braces.

    Raises ExpressionError with the place in the text.
    """
    parts: list[str | Expression] = []
    plain = ""
    index = 0
    while index < len(text):
        char = text[index]
        if char in "{}" and text[index : index + 2] == char * 2:
            plain += char
            index += 2
        elif char == "{":
            end = _closing(text, index + 1)
            if end is None:
                raise ExpressionError("a brace is not closed", *_place(text, index))
            if plain:
                parts.append(plain)
                plain = ""
            try:
                parts.append(compile_expression(text[index + 1 : end]))
            except ExpressionError as error:
                raise ExpressionError(error.message, *_place(text, index + 1)) from None
            index = end + 1
        else:
            plain += char
            index += 1
    return Template((*parts, plain) if plain or not parts else tuple(parts))


def _closing(text: str, start: int) -> int | None:
    """The index of the brace that ends the expression which begins at `start`."""
    depth = 0
    quote = ""
    for index in range(start, len(text)):
        char = text[index]
        if quote:
            quote = "" if char == quote and text[index - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            if depth == 0:
                return index
            depth -= 1
    return None


def _place(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def full_names(view: str, facts: Iterable[Fact]) -> dict[str, Fact]:
    """The facts of a view by their full names: `view.fact`, unless the fact's name has a dot itself."""
    return {fact.name if "." in fact.name else f"{view}.{fact.name}": fact for fact in facts}
