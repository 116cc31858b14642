"""The JSON forms of smoke runs: `botlint.smoke/1` (an answer) and `botlint.smoke-request/1` (a question)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from botlint.core.errors import UsageError
from botlint.engine.schema import schema_errors
from botlint.smoke import model
from botlint.smoke.model import SmokeRequest, Verdict

MAX_BYTES = 8_000_000
"""A document larger than this is not read."""

MAX_NUMBER = 10**18
"""Nothing that is counted or measured is larger; what is can neither be added up nor shown."""

T = TypeVar("T")


def verdict_form(verdict: Verdict) -> dict[str, Any]:
    """An answer."""
    form: dict[str, Any] = _form(verdict)
    return form


def request_form(request: SmokeRequest) -> dict[str, Any]:
    """A question."""
    return {"schema": model.REQUEST_SCHEMA, **_form(request)}


def read_verdict(text: str | bytes) -> Verdict:
    """The answer that a document holds.

    Raises UsageError for anything that does not follow `schemas/smoke.schema.json`.
    """
    value = document(text)
    checked("smoke.schema.json", value)
    return _read(Verdict, value)


def read_request(text: str | bytes) -> SmokeRequest:
    """The question that a document holds.

    Raises UsageError for anything that does not follow `schemas/smoke-request.schema.json`.
    """
    value = document(text)
    checked("smoke-request.schema.json", value)
    return _read(SmokeRequest, value)


def document(text: str | bytes) -> Any:
    """The value of a JSON text of bounded size, without `NaN` and the like and without numbers beyond all measure.

    Raises UsageError for other texts.
    """
    if len(text) > MAX_BYTES:
        raise UsageError(f"larger than {MAX_BYTES} bytes")
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=whole, parse_float=_real)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON: {error}") from error


def checked(schema: str, value: object) -> None:
    """Raise UsageError with the first place where a value does not follow one of the schemas that ship."""
    for path, message in schema_errors(schema, value):
        place = "/".join(map(str, path)) or "the document"
        raise UsageError(f"{place}: {message}")


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no number")


def whole(text: str) -> int:
    """The number of a JSON text. Raises ValueError for one beyond all measure."""
    number = int(text)
    if abs(number) > MAX_NUMBER:
        raise ValueError("a number is too large")
    return number


def _real(text: str) -> float:
    number = float(text)
    if abs(number) > MAX_NUMBER:
        raise ValueError("a number is too large")
    return number


def _key(name: str) -> str:
    return name.replace("_", "-")


def _form(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        form = {_key(one.name): _form(getattr(value, one.name)) for one in fields(value)}
        return {"schema": model.SCHEMA, **form} if isinstance(value, Verdict) else form
    if isinstance(value, Mapping):
        return {str(name): _form(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_form(one) for one in value]
    if isinstance(value, float):
        return _number(value)
    return value


def _number(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _read(cls: type[T], value: Mapping[str, Any]) -> T:
    """A dataclass of `model` from its form, which its schema has checked; what is missing has the default."""
    hints = get_type_hints(cls, vars(model))
    found = {
        one.name: _value(hints[one.name], value[_key(one.name)])
        for one in fields(cls)  # type: ignore[arg-type]
        if _key(one.name) in value
    }
    return cls(**found)


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(hint, UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))
    if is_dataclass(hint) and isinstance(hint, type):
        return _read(hint, value)
    if get_origin(hint) is tuple:
        return tuple(_value(get_args(hint)[0], one) for one in value)
    return value
