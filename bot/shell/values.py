"""Values of the interpreter: text that remembers which inputs it was made of.

A value is a plain `str`, or a `Text`: pieces that are literal `str` or symbols. A symbol is an input of the process (an
environment variable), a text derived from such inputs by a pure function, or a hole whose content nobody can know
before the run. The concrete text of the job that is being interpreted is kept beside the pieces, so that the
interpreter decides with real text while the result stays a template that other jobs can fill in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from botlint.core.unknown import Unknown

MAX_TEXT = 1 << 20
"""Longest text that a value may hold."""

MAX_MEMO = 256
"""Texts of one derived piece that are remembered."""

MAX_PIECES = 20_000
"""Most pieces that a value may have."""

Resolved = str | tuple["str | Unknown", ...]
"""What a value is for one job: its text, or its pieces where something in it is unknown."""


class Given(dict[str, Resolved]):
    """The inputs of a process for one job; they do not change once something was resolved with them."""

    __slots__ = ("number",)

    _numbers = itertools.count(1)

    def __init__(self) -> None:
        super().__init__()
        self.number = next(self._numbers)
        """Tells it from the inputs of every other job and process."""


class Symbol:
    """A piece of text that is not a literal; `known` says whether `text` is, for the job that is being interpreted."""

    __slots__ = ("known",)

    known: bool

    @property
    def text(self) -> str | None:
        """The text for the current job, None if unknown."""
        raise NotImplementedError


class Input(Symbol):
    """An environment variable (or argument) of the process; `partial` holds its pieces when it is not wholly known."""

    __slots__ = ("_text", "name", "partial")

    def __init__(self, name: str, resolved: Resolved) -> None:
        self.name = name
        self.known = isinstance(resolved, str)
        self.partial = None if isinstance(resolved, str) else resolved
        self._text = resolved if isinstance(resolved, str) else None

    @property
    def text(self) -> str | None:
        """The job's value."""
        return self._text


class Derived(Symbol):
    """`function(*arguments)`: known as soon as the arguments are, computed when somebody looks."""

    __slots__ = ("_text", "arguments", "function", "given", "memo", "resolved")

    def __init__(self, function: Callable[..., str], arguments: tuple[Value, ...]) -> None:
        self.function = function
        self.arguments = arguments
        self.memo: dict[tuple[Resolved, ...], Resolved] | None = None
        self.known = all(isinstance(a, str) or a.known for a in arguments)
        self._text: str | None = None
        self.given = 0
        """The number of the job's inputs for which it was resolved last, and what it is for them."""
        self.resolved: Resolved = ""

    @property
    def text(self) -> str | None:
        """The function's value."""
        if self._text is None and self.known:
            self._text = self.function(*[a if isinstance(a, str) else a.text for a in self.arguments])
        return self._text


class Hole(Symbol):
    """Text that nobody knows before the run; `nonempty` says that it cannot be empty (a process id)."""

    __slots__ = ("nonempty", "reason")

    def __init__(self, reason: str, nonempty: bool = False) -> None:
        self.reason = reason
        self.nonempty = nonempty
        self.known = False

    @property
    def text(self) -> str | None:
        """Nothing is known."""
        return None


class Either(Symbol):
    """A value that an undecided test set in one of two ways.

    `value` is the first one; `asked` is called when it matters which.
    """

    __slots__ = ("asked", "value")

    def __init__(self, value: Value, asked: Callable[[], None]) -> None:
        self.value = value
        self.asked = asked
        self.known = isinstance(value, str) or value.known

    @property
    def text(self) -> str | None:
        """The first value's text; whoever looks makes the difference matter."""
        self.asked()
        return self.value if isinstance(self.value, str) else self.value.text


class Text:
    """A value with symbols. `symbolic` says that it depends on inputs; `text` is None when a part is unknown."""

    __slots__ = ("_text", "known", "pieces", "symbolic")

    def __init__(self, pieces: tuple[str | Symbol, ...]) -> None:
        self.pieces = pieces
        self.symbolic = False
        self.known = True
        self._text: str | None = None
        for piece in pieces:
            if piece.__class__ is str:
                continue
            if not piece.known:  # type: ignore[union-attr]
                self.known = False
            if piece.__class__ is Input:
                self.symbolic = True
            elif piece.__class__ is Either:
                self.symbolic = self.symbolic or (isinstance(piece.value, Text) and piece.value.symbolic)
            elif piece.__class__ is Derived and not self.symbolic:
                self.symbolic = any(isinstance(a, Text) and a.symbolic for a in piece.arguments)

    @property
    def text(self) -> str | None:
        """The text for the current job, None if a part is unknown."""
        if not self.known:
            touch(self)
        elif self._text is None:
            self._text = "".join([p if isinstance(p, str) else p.text or "" for p in self.pieces])
            if len(self._text) > MAX_TEXT:
                raise Budget("a text longer than 1 MiB")
        return self._text

    def __repr__(self) -> str:
        return f"Text({self.text!r})" if self.known else f"Text(?{len(self.pieces)})"


Value = str | Text


class Budget(Exception):  # noqa: N818 (it is a limit, not an error)
    """A bound of the interpreter was reached; the message says which."""


def text_of(value: Value) -> str | None:
    """The concrete text of a value for the current job, or None."""
    return value if isinstance(value, str) else value.text


def concat(values: Iterable[Value]) -> Value:
    """Values joined end to end, adjacent literals merged."""
    out: list[str | Symbol] = []
    for value in values:
        if isinstance(value, str):
            if value:
                if out and isinstance(out[-1], str):
                    out[-1] += value
                else:
                    out.append(value)
        else:
            for piece in value.pieces:
                if isinstance(piece, str) and out and isinstance(out[-1], str):
                    out[-1] += piece
                else:
                    out.append(piece)
    if not out:
        return ""
    if len(out) == 1 and isinstance(out[0], str):
        if len(out[0]) > MAX_TEXT:
            raise Budget("a text longer than 1 MiB")
        return out[0]
    if len(out) > MAX_PIECES:
        raise Budget(f"a text of more than {MAX_PIECES} pieces")
    return Text(tuple(out))


def hole(reason: str, nonempty: bool = False) -> Text:
    """A wholly unknown value."""
    return Text((Hole(reason, nonempty),))


def derive(function: Callable[..., str], *arguments: Value) -> Value:
    """`function` over the texts of the arguments, kept as a template where they depend on inputs; it must be total."""
    plain = True
    for argument in arguments:
        if argument.__class__ is not str:
            plain = False
            if not argument.known:  # type: ignore[union-attr]
                return hole(reason_of(argument))
    if plain:
        return function(*arguments)
    return Text((Derived(function, arguments),))


def later(function: Callable[..., str], *arguments: Value) -> Value:
    """As `derive`, but plain arguments too are not looked at before somebody asks for the text."""
    for argument in arguments:
        if isinstance(argument, Text) and not argument.known:
            return hole(reason_of(argument))
    return Text((Derived(function, arguments),))


def reason_of(value: Value) -> str:
    """Why a value is not wholly known."""
    if isinstance(value, Text):
        for piece in value.pieces:
            if isinstance(piece, Hole):
                return piece.reason
            if isinstance(piece, Either) and not piece.known:
                piece.asked()
                return reason_of(piece.value)
            if isinstance(piece, Input) and not piece.known:
                return next((p.reason for p in piece.partial or () if isinstance(p, Unknown)), piece.name)
            if isinstance(piece, Derived) and not piece.known:
                unknown = (reason_of(a) for a in piece.arguments if isinstance(a, Text) and not a.known)
                return next(unknown, "a derived value")
    return "unknown"


def resolve(value: Value, inputs: Given) -> Resolved:
    """A value for the job whose inputs are given."""
    if value.__class__ is str:
        return value
    pieces = value.pieces  # type: ignore[union-attr]
    if len(pieces) == 1:
        return _resolve_piece(pieces[0], inputs)
    out: list[str | Unknown] = []
    known = True
    for piece in pieces:
        if piece.__class__ is str:
            out.append(piece)
            continue
        part = _resolve_piece(piece, inputs)
        if part.__class__ is str:
            out.append(part)
        else:
            known = False
            out.extend(part)
    if known:
        return "".join(out)  # type: ignore[arg-type]
    return join_pieces(out)


def _resolve_piece(piece: str | Symbol, inputs: Given) -> Resolved:
    kind = piece.__class__
    if kind is Input:
        return inputs[piece.name]  # type: ignore[union-attr]
    if kind is Derived:
        return _resolve_derived(piece, inputs)  # type: ignore[arg-type]
    if kind is Hole:
        return (Unknown(piece.reason, piece.nonempty),)  # type: ignore[union-attr]
    if kind is Either:
        return resolve(piece.value, inputs)  # type: ignore[union-attr]
    return piece  # type: ignore[return-value]


def _resolve_derived(piece: Derived, inputs: Given) -> Resolved:
    number = inputs.number
    if piece.given == number:
        return piece.resolved
    arguments = tuple([a if a.__class__ is str else resolve(a, inputs) for a in piece.arguments])
    memo = piece.memo
    if memo is None:
        memo = piece.memo = {}
    found: Resolved | None = memo.get(arguments)
    if found is None:
        for argument in arguments:
            if argument.__class__ is not str:
                found = (next((p for p in argument if isinstance(p, Unknown)), Unknown("a derived value")),)
                break
        else:
            found = piece.function(*arguments)
        if len(memo) < MAX_MEMO:
            memo[arguments] = found
    piece.given, piece.resolved = number, found
    return found


def join_pieces(pieces: Iterable[str | Unknown]) -> Resolved:
    """Pieces with adjacent literals merged; a plain text if nothing in them is unknown."""
    out: list[str | Unknown] = []
    for piece in pieces:
        if isinstance(piece, str):
            if not piece:
                continue
            if out and isinstance(out[-1], str):
                out[-1] += piece
                continue
        out.append(piece)
    if not out:
        return ""
    if len(out) == 1 and isinstance(out[0], str):
        return out[0]
    return tuple(out)


def inputs_of(value: Value) -> list[str]:
    """Names of the inputs that a value was made of, in order, without repeats."""
    names: dict[str, None] = {}

    def visit(item: Value) -> None:
        if isinstance(item, Text):
            for piece in item.pieces:
                if isinstance(piece, Input):
                    names[piece.name] = None
                elif isinstance(piece, Derived):
                    for argument in piece.arguments:
                        visit(argument)
                elif isinstance(piece, Either):
                    visit(piece.value)

    visit(value)
    return list(names)


def touch(value: Value) -> None:
    """Says that it matters which of two ways a value was set in."""
    if isinstance(value, Text):
        for piece in value.pieces:
            if isinstance(piece, Either):
                piece.asked()
                touch(piece.value)
            elif isinstance(piece, Derived):
                for argument in piece.arguments:
                    touch(argument)


def undecided(value: Value) -> bool:
    """Whether an undecided test set the value, or a part of it."""
    return isinstance(value, Text) and any(
        isinstance(p, Either) or (isinstance(p, Derived) and any(undecided(a) for a in p.arguments))
        for p in value.pieces
    )
