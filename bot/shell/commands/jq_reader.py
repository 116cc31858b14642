"""Reads a jq filter into functions."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from botlint.shell.commands.base import (
    MAX_DEPTH,
    Unmodelled,
)
from botlint.shell.commands.jq_filters import (
    alternative_to,
    binary_of,
    both_of,
    bound,
    caught,
    collected,
    conditional_of,
    constantly,
    identity,
    iterated,
    logical_of,
    negated_of,
    per_value,
    pipe_index,
    piped,
    recurse,
    reduced,
    sliced,
    to_string,
    variable_of,
    with_entry,
)
from botlint.shell.commands.jq_functions import LITERALS, MAKERS, PLAIN, format_of
from botlint.shell.commands.jq_values import Filter, number_of

MAX_PROGRAM = 10_000

_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    |(?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
    |(?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
    |(?P<format>@[a-z0-9]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quote>")
    |(?P<operator>\?//|//=|//|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|\.\.|[-+*/%|,<>=?.:;(){}\[\]])
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)

_KEYWORDS = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "end",
        "and",
        "or",
        "as",
        "reduce",
        "foreach",
        "try",
        "catch",
        "def",
        "label",
        "import",
    }
)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.kind = ""
        self.word = ""
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.source, self.at)
        if found is None:
            raise Unmodelled("a character in the filter")
        self.at = found.end()
        self.kind = found.lastgroup or ""
        self.word = found[self.kind]
        if self.kind == "name" and self.word in _KEYWORDS:
            self.kind = "keyword"

    def accept(self, word: str) -> bool:
        if self.word == word and self.kind in ("operator", "keyword"):
            self.advance()
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise Unmodelled(f"the filter lacks {word}")

    def whole(self) -> Filter:
        if self.kind == "end":
            return identity
        result = self.pipe()
        if self.kind != "end":
            raise Unmodelled("the rest of the filter")
        return result

    def pipe(self, *, comma: bool = True) -> Filter:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("the filter is nested too deeply")
        if self.kind == "keyword" and self.word in ("def", "label", "import", "foreach"):
            raise Unmodelled(f"the filter's {self.word}")
        left = self.comma() if comma else self.alternative()
        if self.accept("as"):
            name = self.variable()
            self.expect("|")
            left = bound(left, name, self.pipe(comma=comma))
        elif self.accept("|"):
            left = piped(left, self.pipe(comma=comma))
        self.depth -= 1
        return left

    def variable(self) -> str:
        if self.kind != "variable":
            raise Unmodelled("a pattern")
        name = self.word[1:]
        self.advance()
        return name

    def comma(self) -> Filter:
        left = self.alternative()
        while self.accept(","):
            left = both_of(left, self.alternative())
        return left

    def alternative(self) -> Filter:
        left = self.either()
        if self.word in ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "?//") and self.kind == "operator":
            raise Unmodelled("an update")
        if self.accept("//"):
            return alternative_to(left, self.alternative())
        return left

    def either(self) -> Filter:
        left = self.both()
        while self.accept("or"):
            left = logical_of(left, self.both(), stop=True)
        return left

    def both(self) -> Filter:
        left = self.comparison()
        while self.accept("and"):
            left = logical_of(left, self.comparison(), stop=False)
        return left

    def comparison(self) -> Filter:
        left = self.sum()
        if self.kind == "operator" and self.word in ("==", "!=", "<", "<=", ">", ">="):
            operator = self.word
            self.advance()
            return binary_of(operator, left, self.sum())
        return left

    def sum(self) -> Filter:
        left = self.product()
        while self.kind == "operator" and self.word in ("+", "-"):
            operator = self.word
            self.advance()
            left = binary_of(operator, left, self.product())
        return left

    def product(self) -> Filter:
        left = self.postfix()
        while self.kind == "operator" and self.word in ("*", "/", "%"):
            operator = self.word
            self.advance()
            left = binary_of(operator, left, self.postfix())
        return left

    def postfix(self) -> Filter:
        if self.kind == "keyword" and self.word == "reduce":
            return self.reduce()
        if self.accept("-"):
            return negated_of(self.postfix())
        if self.accept("try"):
            body = self.postfix()
            return caught(body, self.postfix() if self.accept("catch") else None)
        result = self.term()
        while True:
            if self.kind == "field":
                result = pipe_index(result, constantly(self.word[1:]))
                self.advance()
            elif self.kind == "operator" and self.word == "." and self.source.startswith(('"', "["), self.at):
                self.advance()
                if self.kind == "quote":
                    result = pipe_index(result, self.string())
            elif self.accept("["):
                result = self.index(result)
            elif self.accept("?"):
                result = caught(result, None)
            else:
                return result

    def index(self, subject: Filter) -> Filter:
        if self.accept("]"):
            return piped(subject, iterated)
        if self.accept(":"):
            high = self.pipe()
            self.expect("]")
            return sliced(subject, None, high)
        low = self.pipe()
        if self.accept(":"):
            high_or_none = None if self.word == "]" else self.pipe()
            self.expect("]")
            return sliced(subject, low, high_or_none)
        self.expect("]")
        return pipe_index(subject, low)

    def term(self) -> Filter:
        kind, word = self.kind, self.word
        match kind:
            case "number":
                self.advance()
                return constantly(number_of(word))
            case "quote":
                return self.string()
            case "format":
                self.advance()
                if self.kind == "quote":
                    raise Unmodelled("a formatted string")
                return format_of(word)
            case "field":
                self.advance()
                return pipe_index(identity, constantly(word[1:]))
            case "variable":
                name = self.variable()
                if name in ("ENV", "__loc__"):
                    raise Unmodelled(f"the variable {name}")
                return variable_of(name)
            case "name":
                return self.call(word)
            case "keyword" if word == "if":
                return self.condition()
            case _:
                return self.punctuation(word)

    def punctuation(self, word: str) -> Filter:
        self.advance()
        match word:
            case ".":
                return self.string_index() if self.kind == "quote" else identity
            case "..":
                return recurse
            case "(":
                inner = self.pipe()
                self.expect(")")
                return inner
            case "[":
                if self.accept("]"):
                    return constantly([])
                inner = self.pipe()
                self.expect("]")
                return collected(inner)
            case "{":
                return self.object()
            case _:
                raise Unmodelled("a part of the filter")

    def string_index(self) -> Filter:
        return pipe_index(identity, self.string())

    def string(self) -> Filter:
        """A string with its interpolations; the current word is its opening quote."""
        parts: list[Filter] = []
        pieces: list[str] = []
        while True:
            character = self.source[self.at : self.at + 1]
            self.at += 1
            if character == '"':
                break
            if not character:
                raise Unmodelled("a string without an end")
            if character != "\\":
                pieces.append(character)
                continue
            if self.source.startswith("(", self.at):
                parts.append(constantly("".join(pieces)))
                pieces.clear()
                self.at += 1
                self.advance()
                parts.append(piped(self.pipe(), to_string))
                if self.word != ")" or self.kind != "operator":
                    raise Unmodelled("an interpolation without an end")
                continue
            pieces.append(self.escape())
        self.advance()
        parts.append(constantly("".join(pieces)))
        result = parts[0]
        for part in parts[1:]:
            result = binary_of("+", result, part)
        return result

    def escape(self) -> str:
        found = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})?').match(self.source, self.at)
        if found is None:
            raise Unmodelled("an escape in a string")
        self.at = found.end()
        decoded: str = json.loads(f'"\\{found[0]}"')
        if any(0xD800 <= ord(one) < 0xE000 for one in decoded):
            raise Unmodelled("half a character")
        return decoded

    def condition(self) -> Filter:
        self.advance()
        test = self.pipe()
        self.expect("then")
        then = self.pipe()
        if self.kind == "keyword" and self.word == "elif":
            return conditional_of(test, then, self.condition())
        # An if without else arrived with 1.7.
        self.expect("else")
        otherwise = self.pipe()
        self.expect("end")
        return conditional_of(test, then, otherwise)

    def reduce(self) -> Filter:
        self.advance()
        source = self.postfix()
        self.expect("as")
        name = self.variable()
        self.expect("(")
        start = self.pipe()
        self.expect(";")
        update = self.pipe()
        self.expect(")")
        return reduced(source, name, start, update)

    def object(self) -> Filter:
        result: Filter = constantly({})
        while not self.accept("}"):
            result = with_entry(result, *self.entry())
            if not self.accept(","):
                self.expect("}")
                break
        return result

    def entry(self) -> tuple[Filter, Filter]:
        if self.kind == "variable":
            name = self.variable()
            return constantly(name), variable_of(name)
        if self.accept("("):
            key = self.pipe()
            self.expect(")")
            self.expect(":")
            return key, self.entry_value()
        if self.kind == "quote":
            key = self.string()
        elif self.kind in ("name", "keyword"):
            key = constantly(self.word)
            self.advance()
        else:
            raise Unmodelled("the key of an object")
        if self.accept(":"):
            return key, self.entry_value()
        return key, pipe_index(identity, key)

    def entry_value(self) -> Filter:
        result = self.postfix()
        while self.accept("|"):
            result = piped(result, self.postfix())
        if self.kind == "operator" and self.word not in (",", "}"):
            raise Unmodelled("an operator in an object without parentheses")
        return result

    def call(self, name: str) -> Filter:
        self.advance()
        arguments: list[Filter] = []
        if self.accept("("):
            arguments.append(self.pipe())
            while self.accept(";"):
                arguments.append(self.pipe())
            self.expect(")")
        if name in LITERALS and not arguments:
            return constantly(LITERALS[name])
        if name in PLAIN and not arguments:
            return per_value(PLAIN[name])
        maker = MAKERS.get((name, len(arguments)))
        if maker is None:
            raise Unmodelled(f"the function {name}/{len(arguments)}")
        return maker(*arguments)


@lru_cache(maxsize=256)
def compiled(source: str) -> Filter:
    """The filter that a text says; raises Unmodelled on what is not read."""
    if len(source) > MAX_PROGRAM:
        raise Unmodelled("the filter is too long")
    return _Reader(source).whole()
