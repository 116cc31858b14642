"""Floating-point numbers as bash's printf writes them: read and rounded as x86 `long double`, then written exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

MAX_PRECISION = 1_000
MAX_EXPONENT = 300

_FLOAT = re.compile(
    r"\s*([-+]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?)"
    r"|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(infinity|inf|nan(?:\([0-9A-Za-z_]*\))?))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FloatText:
    """A magnitude with its sign apart; `complete` when the whole argument was a number."""

    text: str
    negative: bool
    complete: bool


def float_text(argument: str, conversion: str, precision: int | None, *, keep_zeros: bool) -> FloatText | None:
    """The number at the start of `argument` (0 without one) for `f e g` or their capitals; None when it is large."""
    if (precision or 0) > MAX_PRECISION:
        return None
    found = _FLOAT.match(argument)
    complete = found is not None and found.end() == len(argument)
    negative = found is not None and found[1] == "-"
    if found is not None and found[4]:
        body = found[4][:3].lower()
        return FloatText(body.upper() if conversion.isupper() else body, negative, complete)
    value = Decimal(0) if found is None else _long_double(found)
    if value is None:
        return None
    return FloatText(_body(value, conversion, 6 if precision is None else precision, keep_zeros), negative, complete)


def _long_double(found: re.Match[str]) -> Decimal | None:
    """The magnitude as an x86 `long double` (a significand of 64 bits), which is what bash computes with."""
    if found[2]:
        mantissa, _, exponent = found[2][2:].lower().partition("p")
        whole, _, part = mantissa.partition(".")
        power = int(exponent or 0) - 4 * len(part)
        if abs(power) > 900 or len(mantissa) > 200:
            return None
        exact = Fraction(int((whole + part) or "0", 16)) * (Fraction(2) ** power)
    else:
        mantissa, _, exponent = found[3].lower().partition("e")
        if len(exponent) > 5 or abs(int(exponent or 0)) > MAX_EXPONENT or len(mantissa) > MAX_EXPONENT:
            return None
        exact = Fraction(Decimal(found[3]))
    return _decimal(_rounded(exact))


def _rounded(exact: Fraction) -> Fraction:
    if not exact:
        return exact
    shift = 64 - (exact.numerator.bit_length() - exact.denominator.bit_length())
    scaled = exact * Fraction(2) ** shift
    while scaled >= 1 << 64:
        scaled /= 2
        shift -= 1
    return Fraction(round(scaled)) / Fraction(2) ** shift


def _decimal(value: Fraction) -> Decimal:
    """The exact decimal of a fraction whose denominator is a power of two."""
    twos = value.denominator.bit_length() - 1
    return Decimal(value.numerator * 5**twos).scaleb(-twos, Context(prec=20_000, Emax=999_999, Emin=-999_999))


def _body(value: Decimal, conversion: str, precision: int, keep_zeros: bool) -> str:
    kind = conversion.lower()
    if kind == "f":
        body = _fixed(value, precision)
    elif kind == "e":
        body = _scientific(value, precision)
    else:
        precision = precision or 1
        scientific = _scientific(value, precision - 1)
        exponent = int(scientific.partition("e")[2])
        body = _fixed(value, precision - 1 - exponent) if -4 <= exponent < precision else scientific
        if not keep_zeros:
            mantissa, mark, rest = body.partition("e")
            if "." in mantissa:
                mantissa = mantissa.rstrip("0").rstrip(".")
            body = mantissa + mark + rest
    if keep_zeros and "." not in body:
        mantissa, mark, rest = body.partition("e")
        body = f"{mantissa}.{mark}{rest}"
    return body.upper() if conversion.isupper() else body


def _fixed(value: Decimal, places: int) -> str:
    context = Context(prec=20_000, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999)
    return format(value.quantize(Decimal(1).scaleb(-places), context=context), "f")


def _scientific(value: Decimal, places: int) -> str:
    if not value:
        return "0" + ("." + "0" * places if places else "") + "e+00"
    rounded = Context(prec=places + 1, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999).plus(value)
    digits = "".join(map(str, rounded.as_tuple().digits)).ljust(places + 1, "0")
    exponent = rounded.adjusted()
    return (
        f"{digits[0]}{'.' + digits[1 : places + 1] if places else ''}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    )
