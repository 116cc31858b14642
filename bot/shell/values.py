"""Values of the interpreter: text that remembers which inputs it was made of.

A value is a plain `str`, or a `Text`: pieces that are literal `str` or symbols. A symbol is an input of the process (an
environment variable), a text derived from such inputs by a pure function, or a hole whose content nobody can know before the run.
The concrete text of the job that is being interpreted is kept beside the pieces, so that the interpreter decides with real text
while the result stays a template that other jobs can fill in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from botlint.core.unknown import Unknown

MAX_TEXT = 1 << 20
"""Longest text that a value may hold."""

Resolved = str | tuple["str | Unknown", ...]
"""What a value is for one job: its text, or its pieces where something in it is unknown."""


class Symbol:
    """A piece of text that is not a literal; `text` is what it is for the job that is being interpreted (None: unknown)."""

    __slots__ = ("text",)

    text: str | None


class Input(Symbol):
    """An environment variable (or argument) of the process; `partial` holds its pieces when it is not wholly known."""

    __slots__ = ("name", "partial")

    def __init__(self, name: str, resolved: Resolved) -> None:
        self.name = name
        self.partial = None if isinstance(resolved, str) else resolved
        self.text = resolved if isinstance(resolved, str) else None


class Derived(Symbol):
    """`function(*arguments)`: known as soon as the arguments are."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., str], arguments: tuple[Value, ...], text: str | None) -> None:
        self.function = function
        self.arguments = arguments
        self.text = text


class Hole(Symbol):
    """Text that nobody knows before the run; `nonempty` says that it cannot be empty (a process id)."""

    __slots__ = ("nonempty", "reason")

    def __init__(self, reason: str, nonempty: bool = False) -> None:
        self.reason = reason
        self.nonempty = nonempty
        self.text = None


class Text:
    """A value with symbols. `symbolic` says that it depends on inputs; `text` is None when a part is unknown."""

    __slots__ = ("pieces", "symbolic", "text")

    def __init__(self, pieces: tuple[str | Symbol, ...]) -> None:
        self.pieces = pieces
        self.symbolic = False
        parts: list[str] | None = []
        for piece in pieces:
            if isinstance(piece, str):
                if parts is not None:
                    parts.append(piece)
                continue
            if piece.__class__ is not Hole:
                self.symbolic = True
            if piece.text is None:
                parts = None
            elif parts is not None:
                parts.append(piece.text)
        self.text: str | None = None if parts is None else "".join(parts)

    def __repr__(self) -> str:
        return f"Text({self.text!r})" if self.text is not None else f"Text(?{len(self.pieces)})"


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
    return Text(tuple(out))


def hole(reason: str, nonempty: bool = False) -> Text:
    """A wholly unknown value."""
    return Text((Hole(reason, nonempty),))


def derive(function: Callable[..., str], *arguments: Value) -> Value:
    """`function` over the texts of the arguments, kept as a template where they depend on inputs. The function must be total."""
    if all(isinstance(a, str) for a in arguments):
        return function(*arguments)
    texts = [text_of(a) for a in arguments]
    if any(t is None for t in texts):
        return hole(reason_of(next(a for a, t in zip(arguments, texts, strict=True) if t is None)))
    text = function(*texts)
    if not any(isinstance(a, Text) and a.symbolic for a in arguments):
        return text
    return Text((Derived(function, arguments, text),))


def reason_of(value: Value) -> str:
    """Why a value is not wholly known."""
    if isinstance(value, Text):
        for piece in value.pieces:
            if isinstance(piece, Hole):
                return piece.reason
            if isinstance(piece, Input) and piece.text is None:
                return next((p.reason for p in piece.partial or () if isinstance(p, Unknown)), piece.name)
            if isinstance(piece, Derived) and piece.text is None:
                return next((reason_of(a) for a in piece.arguments if text_of(a) is None), "a derived value")
    return "unknown"


def resolve(value: Value, inputs: Mapping[str, Resolved]) -> Resolved:
    """A value for the job whose inputs are given."""
    if isinstance(value, str):
        return value
    pieces = value.pieces
    if len(pieces) == 1 and pieces[0].__class__ is Input:
        return inputs[pieces[0].name]  # type: ignore[union-attr]
    out: list[str | Unknown] = []
    known = True
    for piece in pieces:
        part: Resolved
        if isinstance(piece, str):
            out.append(piece)
            continue
        if piece.__class__ is Input:
            part = inputs[piece.name]  # type: ignore[attr-defined]
        elif piece.__class__ is Hole:
            known = False
            out.append(Unknown(piece.reason, piece.nonempty))  # type: ignore[attr-defined]
            continue
        else:
            part = _resolve_derived(piece, inputs)  # type: ignore[arg-type]
        if isinstance(part, str):
            out.append(part)
        else:
            known = False
            out.extend(part)
    if known:
        return "".join(out)  # type: ignore[arg-type]
    return join_pieces(out)


def _resolve_derived(piece: Derived, inputs: Mapping[str, Resolved]) -> Resolved:
    arguments = [resolve(a, inputs) for a in piece.arguments]
    for argument in arguments:
        if not isinstance(argument, str):
            return (next((p for p in argument if isinstance(p, Unknown)), Unknown("a derived value")),)
    return piece.function(*arguments)


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

    visit(value)
    return list(names)
