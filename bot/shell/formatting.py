"""Text that bash 5.2 itself formats: `printf`, `echo -e`, `$'...'`, `printf %q`, `${x@Q}` and `declare -p`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_RESULT = 1 << 20

_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
}
_HEX = {"x": re.compile("[0-9a-fA-F]{1,2}"), "u": re.compile("[0-9a-fA-F]{1,4}"), "U": re.compile("[0-9a-fA-F]{1,8}")}
_BRACED_HEX = re.compile(r"x\{([0-9a-fA-F]{1,8})\}?")
_OCTAL_3 = re.compile("[0-7]{1,3}")
_OCTAL_0_3 = re.compile("0[0-7]{0,3}")


@dataclass(frozen=True, slots=True)
class Printed:
    """What a formatting builtin writes and its exit status."""

    text: str
    status: int


def _byte(value: int) -> str:
    """One byte as a character; `_joined` puts the bytes of UTF-8 sequences together."""
    value &= 0xFF
    return chr(value) if value < 0x80 else chr(0xDC00 + value)


def _joined(pieces: Sequence[str]) -> str:
    text = "".join(pieces)
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _coded(text: str, at: int) -> tuple[str, int] | None:
    """The character of `\\xHH`, `\\uHHHH` or `\\UHHHHHHHH` whose letter is at `at`, and the place after it."""
    letter = text[at]
    digits = _HEX[letter].match(text, at + 1)
    if digits is None:
        return None
    value = int(digits[0], 16)
    if letter == "x":
        return _byte(value), digits.end()
    if value > 0x10FFFF or 0xD800 <= value < 0xE000:
        return None
    return chr(value), digits.end()


def echo_escapes(text: str) -> tuple[str, bool]:
    """The text after `echo -e` has read its escapes, and whether a `\\c` ends the output there (no newline follows)."""
    if "\\" not in text:
        return text, False
    pieces: list[str] = []
    at = 0
    while at < len(text):
        slash = text.find("\\", at)
        if slash < 0 or slash + 1 == len(text):
            pieces.append(text[at:])
            break
        pieces.append(text[at:slash])
        character, at = text[slash + 1], slash + 2
        if character == "c":
            return _joined(pieces), True
        if character in _SIMPLE_ESCAPES:
            pieces.append(_SIMPLE_ESCAPES[character])
        elif character == "0" and (digits := _OCTAL_0_3.match(text, slash + 1)):
            pieces.append(_byte(int(digits[0], 8)))
            at = digits.end()
        elif character in _HEX and (coded := _coded(text, slash + 1)):
            pieces.append(coded[0])
            at = coded[1]
        else:
            pieces.append("\\" + character)
    return _joined(pieces), False


def ansi_c_unquote(text: str) -> str:
    """The value of `$'text'` (the part between the quotes); it ends at a NUL."""
    if "\\" not in text:
        return text
    pieces: list[str] = []
    at = 0
    while at < len(text):
        slash = text.find("\\", at)
        if slash < 0 or slash + 1 == len(text):
            pieces.append(text[at:])
            break
        pieces.append(text[at:slash])
        piece, at = _ansi_c_escape(text, slash + 1)
        if piece == "\0":
            break
        pieces.append(piece)
    return _joined(pieces)


def _ansi_c_escape(text: str, at: int) -> tuple[str, int]:
    character = text[at]
    if character in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[character], at + 1
    if character in "'\"?":
        return character, at + 1
    if digits := _OCTAL_3.match(text, at):
        return _byte(int(digits[0], 8)), digits.end()
    if braced := _BRACED_HEX.match(text, at):
        return _byte(int(braced[1], 16)), braced.end()
    if character in _HEX and (coded := _coded(text, at)):
        return coded
    if character == "c" and at + 1 < len(text):
        control = text[at + 1]
        after = at + 3 if text.startswith("\\\\", at + 1) else at + 2
        return ("\x7f" if control == "?" else chr(ord(control.upper()) & 0x1F)), after
    return "\\" + character, at + 1


class _Stop(Exception):  # noqa: N818 (not an error)
    """Ends the output of printf: at `\\c` in a `%b` argument, or at a bad directive."""


class _NotKnown(Exception):  # noqa: N818 (not an error)
    """The output depends on something outside the arguments, or is too long."""


_DIRECTIVE = re.compile(r"%([-+ #0']*)(\*|[0-9]*)(?:(\.)(\*|-?[0-9]*))?([hlLjzt]*)(.?)", re.DOTALL)
_INTEGER = re.compile(r"\s*([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")


class _Printf:
    def __init__(self, args: Sequence[str], *, builtin: bool) -> None:
        self.args = args
        self.builtin = builtin
        self.next = 0
        self.pieces: list[str] = []
        self.size = 0
        self.status = 0

    def emit(self, piece: str) -> None:
        self.size += len(piece)
        if self.size > MAX_RESULT:
            raise _NotKnown
        self.pieces.append(piece)

    def argument(self) -> str | None:
        if self.next >= len(self.args):
            return None
        self.next += 1
        return self.args[self.next - 1]

    def run(self, template: str) -> None:
        while True:
            before = self.next
            self.once(template)
            if self.next >= len(self.args) or self.next == before:
                return

    def once(self, template: str) -> None:
        at = 0
        while at < len(template):
            character = template[at]
            if character == "\\":
                piece, at = self.escape(template, at + 1)
                self.emit(piece)
            elif character == "%":
                at = self.directive(template, at)
            else:
                stop = at + 1
                while stop < len(template) and template[stop] not in "\\%":
                    stop += 1
                self.emit(template[at:stop])
                at = stop

    def escape(self, text: str, at: int, *, in_argument: bool = False) -> tuple[str, int]:
        """The text of the escape after the backslash at `at - 1`, and the place after it."""
        character = text[at : at + 1]
        if character in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[character], at + 1
        if character in ("'", '"', "?") and not in_argument and (self.builtin or character == '"'):
            return character, at + 1
        if digits := (in_argument and _OCTAL_0_3.match(text, at)) or _OCTAL_3.match(text, at):
            return _byte(int(digits[0], 8)), digits.end()
        if character == "c" and (in_argument or not self.builtin):
            raise _Stop
        if character in _HEX:
            coded = _coded(text, at)
            if coded is not None:
                return coded
            if not self.builtin:
                raise _NotKnown
        return "\\", at

    def directive(self, template: str, at: int) -> int:
        if template.startswith("%%", at):
            self.emit("%")
            return at + 2
        if template.startswith("(", at + 1) or (found := _DIRECTIVE.match(template, at)) is None:
            raise _NotKnown
        flags = set(found[1])
        width = self.number_or_star(found[2]) or 0
        if width < 0:
            flags.add("-")
            width = -width
        precision: int | None = None
        if found[3]:
            precision = self.number_or_star(found[4] or "0")
            if precision is not None and precision < 0:
                precision = None
        if width > MAX_RESULT or (precision or 0) > MAX_RESULT:
            raise _NotKnown
        self.convert(found[6], flags, width, precision)
        return found.end()

    def number_or_star(self, text: str) -> int | None:
        if text != "*":
            return int(text[:9]) if text else None
        argument = self.argument()
        value = 0 if argument is None else self.integer(argument)
        return max(-MAX_RESULT - 1, min(value, MAX_RESULT + 1))

    def convert(self, conversion: str, flags: set[str], width: int, precision: int | None) -> None:
        if conversion in ("d", "i"):
            self.emit(_integer_text(self.integer(self.argument()), conversion, flags, width, precision))
        elif conversion in ("u", "o", "x", "X"):
            self.emit(_integer_text(self.integer(self.argument()) % (1 << 64), conversion, flags, width, precision))
        elif conversion in ("f", "F", "e", "E", "g", "G"):
            self.emit(self.floating(conversion, flags, width, precision))
        elif conversion == "c":
            self.emit(_padded(_cut(self.argument() or "", 1) or "\0", flags, width))
        elif conversion == "b":
            text, stopped = self.expanded(self.argument() or "")
            self.emit(_padded(_cut(text, precision), flags, width))
            if stopped:
                # bash forgets earlier errors here.
                self.status = 0
                raise _Stop
        elif conversion == "s":
            self.emit(_padded(_cut(self.argument() or "", precision), flags, width))
        elif conversion in ("q", "Q") and self.builtin:
            argument = self.argument()
            self.emit(_padded(_quoted_argument(argument, conversion, precision), flags, width))
        elif conversion in ("n", "a", "A"):
            raise _NotKnown
        else:
            self.status = 1
            raise _Stop

    def expanded(self, text: str) -> tuple[str, bool]:
        pieces: list[str] = []
        at = 0
        try:
            while at < len(text):
                if text[at] == "\\":
                    piece, at = self.escape(text, at + 1, in_argument=True)
                    pieces.append(piece)
                else:
                    pieces.append(text[at])
                    at += 1
        except _Stop:
            return "".join(pieces), True
        return "".join(pieces), False

    def integer(self, argument: str | None) -> int:
        if not argument:
            return 0
        if argument[0] in "'\"":
            return ord(argument[1]) if len(argument) > 1 else 0
        found = _INTEGER.match(argument)
        if found is None:
            self.status = 1
            return 0
        if found.end() < len(argument):
            self.status = 1
        digits = found[2]
        base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
        if len(digits) > 70:
            raise _NotKnown
        value = int(digits, base) * (-1 if found[1] == "-" else 1)
        if not -(1 << 63) <= value < 1 << 63:
            # strtoimax and strtoumax limit the value differently.
            raise _NotKnown
        return value

    def floating(self, conversion: str, flags: set[str], width: int, precision: int | None) -> str:
        # Decimal arithmetic is slow to import and seldom needed.
        from botlint.shell.floats import float_text

        argument = self.argument() or "0"
        if argument[0] in "'\"":
            argument = str(ord(argument[1]) if len(argument) > 1 else 0)
        formatted = float_text(argument, conversion, precision, keep_zeros="#" in flags)
        if formatted is None:
            raise _NotKnown
        self.status = 0 if formatted.complete and not self.status else 1
        sign = "-" if formatted.negative else "+" if "+" in flags else " " if " " in flags else ""
        body = formatted.text
        if "0" in flags and "-" not in flags and body[0].isdigit():
            body = body.rjust(width - len(sign), "0")
        return _padded(sign + body, flags, width)


def _padded(text: str, flags: set[str], width: int) -> str:
    if not text.isascii():
        # bash 5.2 counts bytes, not characters.
        width -= len(text.encode("utf-8", "surrogateescape")) - len(text)
    return text.ljust(width) if "-" in flags else text.rjust(width)


def _cut(text: str, length: int | None) -> str:
    if length is None or text.isascii():
        return text[:length]
    return text.encode("utf-8", "surrogateescape")[:length].decode("utf-8", "surrogateescape")


def _quoted_argument(argument: str | None, conversion: str, precision: int | None) -> str:
    text = argument or ""
    if conversion == "Q":
        return shell_quote(_cut(text, precision))
    return _cut(shell_quote(text), precision)


def _integer_text(value: int, conversion: str, flags: set[str], width: int, precision: int | None) -> str:
    digits = format(abs(value), "d" if conversion in "diu" else conversion)
    if precision is not None:
        digits = "" if precision == 0 and value == 0 else digits.rjust(precision, "0")
    sign = ""
    if conversion in "di":
        sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    elif "#" in flags:
        if conversion in "xX" and value:
            sign = "0" + conversion
        elif conversion == "o" and not digits.startswith("0"):
            digits = "0" + digits
    if "0" in flags and "-" not in flags and precision is None:
        digits = digits.rjust(width - len(sign), "0")
    return _padded(sign + digits, flags, width)


def bash_printf(template: str, args: Sequence[str], *, builtin: bool = True) -> Printed | None:
    """What `printf template args...` writes; None if it depends on the machine (`%(...)T`, `%n`, `%a`) or is too long.

    `builtin=False` is the coreutils programme, which has no `%q` here and ends at `\\c` in the template.
    """
    printer = _Printf(args, builtin=builtin)
    try:
        printer.run(template)
    except _Stop:
        pass
    except _NotKnown:
        return None
    return Printed(_joined(printer.pieces), printer.status)


_BACKSLASHED = frozenset(" !\"$&'()*,;<>?[\\]^`{|}")
_CONTROL_NAMES = {
    "\x1b": "\\E",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    "'": "\\'",
}


def _needs_ansi_c(text: str) -> bool:
    return not text.isprintable() and any(not _printable(character) for character in text)


def _printable(character: str) -> bool:
    # Unlike Python, C takes every kind of space but the controls as printable.
    return character.isprintable() or (
        character.isspace() and ord(character) >= 0xA0 and character not in "\u2028\u2029"
    )


def ansi_c_quote(text: str) -> str:
    """The text as `$'...'`."""
    pieces: list[str] = []
    for character in text:
        if character in _CONTROL_NAMES:
            pieces.append(_CONTROL_NAMES[character])
        elif _printable(character):
            pieces.append(character)
        else:
            pieces += [f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape")]
    return f"$'{''.join(pieces)}'"


def shell_quote(text: str) -> str:
    """The text as `printf %q` writes it."""
    if not text:
        return "''"
    if _needs_ansi_c(text):
        return ansi_c_quote(text)
    pieces: list[str] = []
    for at, character in enumerate(text):
        if (
            character in _BACKSLASHED
            or (character == "#" and at == 0)
            or (character == "~" and (at == 0 or text[at - 1] in ":="))
        ):
            pieces.append("\\")
        pieces.append(character)
    return "".join(pieces)


def single_quote(text: str) -> str:
    """The text between single quotes, as bash writes it."""
    if text == "'":
        return "\\'"
    return "'" + text.replace("'", "'\\''") + "'"


def double_quote(text: str) -> str:
    """The text between double quotes, as bash writes it."""
    return '"' + re.sub(r'[\\"$`]', r"\\\g<0>", text) + '"'


def quote_at_Q(text: str) -> str:  # noqa: N802 (the operator's own letter)
    """The text as `${x@Q}` gives it."""
    return ansi_c_quote(text) if _needs_ansi_c(text) else single_quote(text)


def _declared(text: str) -> str:
    return ansi_c_quote(text) if _needs_ansi_c(text) else double_quote(text)


_KEY_METAS = frozenset(" \t\n'\"\\|&;()<>!{}*[]?^$`")


def _declared_key(key: str) -> str:
    if _needs_ansi_c(key):
        return ansi_c_quote(key)
    special = any(character in _KEY_METAS for character in key) or key[:1] in ("~", "#") or re.search("[:=]~", key)
    return double_quote(key) if special or key in ("", "@", "*") else key


def declare_value(value: str | Mapping[int, str] | Mapping[str, str]) -> str:
    """The right side of `declare -p`: a quoted text, or elements in the mapping's order (bash: by index or hash)."""
    if isinstance(value, str):
        return _declared(value)
    if all(isinstance(key, int) for key in value):
        return "(" + " ".join(f"[{key}]={_declared(item)}" for key, item in value.items()) + ")"
    return "(" + "".join(f"[{_declared_key(str(key))}]={_declared(item)} " for key, item in value.items()) + ")"


def declare_form(name: str, attributes: str, value: str | Mapping[int, str] | Mapping[str, str] | None) -> str:
    """The line of `declare -p name`; `attributes` are letters in bash's order, a value of None is an unset one."""
    start = f"declare -{attributes or '-'} {name}"
    return start if value is None else f"{start}={declare_value(value)}"
