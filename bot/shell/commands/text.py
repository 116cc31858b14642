"""Models of the small GNU text tools (coreutils 9), in the C locale."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from botlint.shell.commands.base import (
    MAX_TEXT,
    Call,
    Output,
    Unmodelled,
    join_lines,
    read_options,
    split_lines,
    to_bytes,
    to_text,
    whole_number,
)
from botlint.shell.formatting import bash_printf, echo_escapes

MAX_COUNT = 100_000


def basename(call: Call) -> Output:
    """The last part of each path, without a suffix."""
    options = read_options(call.args, "as:", {"multiple": "a", "suffix": "s"}, permute=False)
    names, suffix = options.operands, options.last("s") or ""
    if not options.given:
        if not 1 <= len(names) <= 2:
            return 1, ""
        suffix = names[1] if len(names) == 2 else ""
        names = names[:1]
    if not names:
        return 1, ""
    return 0, join_lines([_basename(name, suffix) for name in names])


def _basename(path: str, suffix: str) -> str:
    name = path.rstrip("/").rpartition("/")[2] or ("/" if path else "")
    return name[: -len(suffix)] if suffix and name != suffix and name.endswith(suffix) else name


def dirname(call: Call) -> Output:
    """Each path without its last part."""
    names = read_options(call.args, "", permute=False).operands
    if not names:
        return 1, ""
    return 0, join_lines([_dirname(name) for name in names])


def _dirname(path: str) -> str:
    head, slash, _ = path.rstrip("/").rpartition("/")
    if not path.rstrip("/"):
        return "/" if path else "."
    return head.rstrip("/") or ("/" if slash else ".")


_SEQ_NUMBER = re.compile(r"\+?(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))")


def seq(call: Call) -> Output:
    """Numbers from first to last; exact decimals where seq computes with long doubles."""
    split = _seq_options_end(call.args)
    options = read_options(
        call.args[:split], "s:f:w", {"separator": "s", "format": "f", "equal-width": "w"}, permute=False
    )
    separator = options.last("s")
    if separator is None:
        separator = "\n"
    template, equal_width = options.last("f"), options.has("w")
    args = [*options.operands, *call.args[split:]]
    if not 1 <= len(args) <= 3:
        return 1, ""
    operands = [found[1] for arg in args if (found := _SEQ_NUMBER.fullmatch(arg))]
    if len(operands) != len(args):
        if any(re.search(r"[eExXpPiInN]", arg) for arg in args):
            raise Unmodelled("a number that is not plain decimal")
        return 1, ""
    first = operands[0] if len(operands) > 1 else "1"
    step = operands[1] if len(operands) > 2 else "1"
    last = operands[-1]
    numbers = _seq_numbers(Decimal(first), Decimal(step), Decimal(last))
    if numbers is None:
        return 1, ""
    places = max(_places(first), _places(step))
    if template is not None:
        texts = _seq_formatted(template, numbers)
    else:
        width = max(_seq_width(first, places), _seq_width(last, places)) if equal_width else 0
        texts = [f"{number:.{places}f}".zfill(width) for number in numbers]
    return 0, separator.join(texts) + "\n" if texts else ""


def _seq_options_end(args: Sequence[str]) -> int:
    """Where the numbers begin: a negative one would read as an option."""
    value_follows = False
    for index, arg in enumerate(args):
        if not value_follows and (not arg.startswith("-") or _SEQ_NUMBER.fullmatch(arg)):
            return index
        value_follows = not value_follows and arg in ("-s", "-f", "--separator", "--format")
    return len(args)


def _places(number: str) -> int:
    return len(number.partition(".")[2])


def _seq_width(number: str, places: int) -> int:
    whole = number.partition(".")[0]
    return len(whole if whole.strip("-") else whole + "0") + (places + 1 if places else 0)


def _seq_numbers(first: Decimal, step: Decimal, last: Decimal) -> list[Decimal] | None:
    if not step:
        return None
    count = int((last - first) / step) + 1 if (last - first) / step >= 0 else 0
    if count > MAX_COUNT:
        raise Unmodelled("seq gives too many numbers")
    return [first + index * step for index in range(count)]


def _seq_formatted(template: str, numbers: list[Decimal]) -> list[str]:
    if not re.fullmatch(r"(?:[^%\\]|%%)*%[-+ #0']*[0-9]{0,3}(?:\.[0-9]{0,3})?[efgEFG](?:[^%\\]|%%)*", template):
        raise Unmodelled("the format of seq")
    texts: list[str] = []
    size = 0
    for number in numbers:
        printed = bash_printf(template, [str(number)])
        if printed is None or size > MAX_TEXT:
            raise Unmodelled("the format of seq")
        texts.append(printed.text)
        size += len(printed.text)
    return texts


def cut(call: Call) -> Output:
    """Chosen fields, characters or bytes of each line."""
    options = read_options(
        call.args,
        "b:c:d:f:snCO:",
        {
            "bytes": "b",
            "characters": "c",
            "delimiter": "d",
            "fields": "f",
            "only-delimited": "s",
            "complement": "C",
            "output-delimiter": "O",
        },
    )
    kinds = [name for name, _ in options.given if name in "bcf"]
    if len(kinds) != 1 or options.has("n") or any(arg.startswith(("-C", "-O")) for arg in call.args):
        return 1, ""
    kind = kinds[0]
    ranges = _cut_ranges(options.last(kind) or "")
    delimiter = options.last("d")
    if ranges is None or (delimiter is not None and (len(delimiter) != 1 or kind != "f")):
        return 1, ""
    glue = options.last("O")
    text = call.text(options.operands)
    if kind != "f" and not text.isascii():
        raise Unmodelled("bytes of characters that are not ASCII")
    if options.has("C"):
        ranges = _complement(ranges)
    lines = split_lines(text)
    if kind != "f":
        return 0, join_lines(
            [(glue or "").join(line[low - 1 : high] for low, high in ranges if low <= len(line)) for line in lines]
        )
    between = "\t" if delimiter is None else delimiter
    kept: list[str] = []
    for line in lines:
        if between not in line:
            if not options.has("s"):
                kept.append(line)
            continue
        fields = line.split(between)
        chosen = [field for low, high in ranges for field in fields[low - 1 : high]]
        kept.append((between if glue is None else glue).join(chosen))
    return 0, join_lines(kept)


def _complement(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    low = 1
    for start, end in ranges:
        if low < start:
            result.append((low, start - 1))
        low = end + 1
    return [*result, (low, MAX_TEXT)] if low <= MAX_TEXT else result


def _cut_ranges(text: str) -> list[tuple[int, int]] | None:
    """Sorted ranges with the overlapping ones joined; None when the list is not valid."""
    ranges: list[tuple[int, int]] = []
    for part in re.split("[, ]", text):
        found = re.fullmatch(r"([0-9]{0,9})(-?)([0-9]{0,9})", part)
        if found is None or not (found[1] or found[3]):
            return None
        low = int(found[1] or 1)
        high = int(found[3]) if found[3] else (MAX_TEXT if found[2] else low)
        if low < 1 or high < low:
            return None
        ranges.append((low, high))
    ranges.sort()
    joined = [ranges[0]]
    for low, high in ranges[1:]:
        if low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


_TR_CLASSES: dict[str, Callable[[int], bool]] = {
    "alnum": lambda code: chr(code).isalnum(),
    "alpha": lambda code: chr(code).isalpha(),
    "blank": lambda code: code in (9, 32),
    "cntrl": lambda code: code < 32 or code == 127,
    "digit": lambda code: 48 <= code <= 57,
    "graph": lambda code: 33 <= code <= 126,
    "lower": lambda code: 97 <= code <= 122,
    "print": lambda code: 32 <= code <= 126,
    "punct": lambda code: 33 <= code <= 126 and not chr(code).isalnum(),
    "space": lambda code: code == 32 or 9 <= code <= 13,
    "upper": lambda code: 65 <= code <= 90,
    "xdigit": lambda code: chr(code) in "0123456789abcdefABCDEF",
}
_TR_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class _TrSet:
    """One set of tr: its bytes in order, and where `[x*]` may be stretched."""

    def __init__(self, text: str) -> None:
        self.codes: list[int] = []
        self.classes: set[str] = set()
        self.stretch: tuple[int, int] | None = None
        data = to_bytes(text)
        at = 0
        while at < len(data):
            at = self._item(data, at)

    def _item(self, data: bytes, at: int) -> int:
        if found := re.compile(rb"\[:([a-z]+):\]").match(data, at):
            name = found[1].decode()
            if name not in _TR_CLASSES:
                raise Unmodelled("a class of tr")
            self.classes.add(name)
            self.codes += [code for code in range(128) if _TR_CLASSES[name](code)]
            return found.end()
        if found := re.compile(rb"\[=(.)=\]", re.DOTALL).match(data, at):
            self.codes.append(found[1][0])
            return found.end()
        if found := re.compile(rb"\[([^\\])\*([0-9]{0,5})\]", re.DOTALL).match(data, at):
            count = int(found[2] or b"0", 8 if found[2].startswith(b"0") else 10)
            if count:
                self.codes += [found[1][0]] * count
            else:
                self.stretch = (len(self.codes), found[1][0])
            return found.end()
        code, after = _tr_code(data, at)
        if data[after : after + 1] == b"-" and after + 1 < len(data):
            end, after = _tr_code(data, after + 1)
            if end < code:
                raise Unmodelled("a reversed range of tr")
            self.codes += range(code, end + 1)
        else:
            self.codes.append(code)
        return after


def _tr_code(data: bytes, at: int) -> tuple[int, int]:
    if data[at : at + 1] != b"\\" or at + 1 == len(data):
        return data[at], at + 1
    if found := re.compile(rb"[0-7]{1,3}").match(data, at + 1):
        code = int(found[0], 8)
        if code > 255:
            raise Unmodelled("an octal escape of tr")
        return code, found.end()
    character = chr(data[at + 1])
    return _TR_ESCAPES.get(character, data[at + 1]), at + 2


def tr(call: Call) -> Output:
    """Bytes translated, deleted or squeezed."""
    options = read_options(
        call.args,
        "cCdst",
        {"complement": "c", "delete": "d", "squeeze-repeats": "s", "truncate-set1": "t"},
        permute=False,
    )
    delete, squeeze = options.has("d"), options.has("s")
    wanted = (1, 1) if delete and not squeeze else (2, 2) if delete else (1, 2) if squeeze else (2, 2)
    if not wanted[0] <= len(options.operands) <= wanted[1]:
        return 1, ""
    first = _TrSet(options.operands[0])
    complement = options.has("c") or options.has("C")
    source = first.codes
    if complement:
        known = set(source)
        source = [code for code in range(256) if code not in known]
    data = to_bytes(call.text())
    second = _TrSet(options.operands[1]) if len(options.operands) == 2 else None
    squeezed = set(second.codes if second is not None else source)
    if delete:
        data = data.translate(None, bytes(set(source)))
    elif second is not None:
        if first.classes - {"lower", "upper"} and second.classes:
            raise Unmodelled("classes of tr in both sets")
        if second.classes - {"lower", "upper"} or (complement and second.classes):
            return 1, ""
        data = data.translate(_tr_table(source, second, truncate=options.has("t")))
    if squeeze:
        squeezable = bytes(sorted(squeezed))
        data = re.sub(b"([" + re.escape(squeezable) + rb"])\1+", rb"\1", data) if squeezable else data
    return 0, to_text(data)


def _tr_table(source: list[int], second: _TrSet, *, truncate: bool) -> bytes:
    target = list(second.codes)
    missing = len(source) - len(target)
    if second.stretch is not None:
        at, code = second.stretch
        target[at:at] = [code] * max(missing, 0)
    elif truncate:
        source = source[: len(target)]
    elif missing > 0:
        if not target:
            raise Unmodelled("tr with an empty second set")
        target += [target[-1]] * missing
    table = bytearray(range(256))
    for old, new in zip(source, target, strict=False):
        table[old] = new
    return bytes(table)


def head(call: Call) -> Output:
    """The first lines or bytes."""
    args = list(call.args)
    if args and re.fullmatch(r"-[0-9]+", args[0]):
        args[:1] = ["-n", args[0][1:]]
    options = read_options(args, "n:c:qv", {"lines": "n", "bytes": "c", "quiet": "q", "silent": "q"})
    kind, count = _counted(options.given)
    if len(options.operands) > 1 or options.has("v"):
        raise Unmodelled("head with names")
    text = call.text(options.operands)
    amount = whole_number(count.removeprefix("-").removeprefix("+"))
    if kind == "c":
        data = to_bytes(text)
        return 0, to_text(data[: max(len(data) - amount, 0)] if count.startswith("-") else data[:amount])
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return 0, "".join(lines[: max(len(lines) - amount, 0)] if count.startswith("-") else lines[:amount])


def tail(call: Call) -> Output:
    """The last lines or bytes, or those from a number on."""
    args = list(call.args)
    if args and re.fullmatch(r"[-+][0-9]+", args[0]):
        args[:1] = ["-n", args[0].removeprefix("-")]
    options = read_options(args, "n:c:q", {"lines": "n", "bytes": "c", "quiet": "q", "silent": "q"})
    kind, count = _counted(options.given)
    if len(options.operands) > 1:
        raise Unmodelled("tail with names")
    text = call.text(options.operands)
    amount = whole_number(count.removeprefix("-").removeprefix("+"))
    units = to_bytes(text) if kind == "c" else re.findall(r"[^\n]*\n|[^\n]+", text)
    start = max(amount - 1, 0) if count.startswith("+") else max(len(units) - amount, 0)
    chosen = units[start:]
    return 0, to_text(chosen) if isinstance(chosen, bytes) else "".join(chosen)


def _counted(given: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    counted = [(name, value) for name, value in given if name in "nc"]
    return counted[-1] if counted else ("n", "10")


def wc(call: Call) -> Output:
    """Counts of lines, words, characters and bytes."""
    options = read_options(call.args, "lwcm", {"lines": "l", "words": "w", "bytes": "c", "chars": "m"})
    if len(options.operands) > 1:
        raise Unmodelled("wc of several files")
    text = call.text(options.operands)
    letters = {name for name, _ in options.given} or set("lwc")
    counts = {
        "l": text.count("\n"),
        "w": len(re.findall(r"[^ \t\n\r\f\v]+", text)),
        "m": len(text),
        "c": len(to_bytes(text)),
    }
    chosen = [counts[letter] for letter in "lwmc" if letter in letters]
    if len(chosen) == 1:
        line = str(chosen[0])
    elif options.operands and options.operands[0] != "-":
        width = len(str(counts["c"]))
        line = " ".join(str(count).rjust(width) for count in chosen)
    else:
        line = " ".join(str(count).rjust(7) for count in chosen)
    name = f" {options.operands[0]}" if options.operands else ""
    return 0, f"{line}{name}\n"


def uniq(call: Call) -> Output:
    """Adjacent equal lines once, with counts, or only the repeated or unrepeated ones."""
    options = read_options(call.args, "cdui", {"count": "c", "repeated": "d", "unique": "u", "ignore-case": "i"})
    if len(options.operands) > 1:
        raise Unmodelled("uniq with an output file")
    groups: list[tuple[str, int]] = []
    for line in split_lines(call.text(options.operands)):
        same = groups and (groups[-1][0].lower() == line.lower() if options.has("i") else groups[-1][0] == line)
        if same:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    kept = [
        f"{count:7d} {line}" if options.has("c") else line
        for line, count in groups
        if not (options.has("d") and count == 1) and not (options.has("u") and count > 1)
    ]
    return 0, join_lines(kept)


def rev(call: Call) -> Output:
    """Each line reversed."""
    text = call.text(read_options(call.args, "").operands)
    reversed_text = join_lines([line[::-1] for line in split_lines(text)])
    return 0, reversed_text if text.endswith("\n") or not text else reversed_text[:-1]


def tac(call: Call) -> Output:
    """The lines in reverse order."""
    operands = read_options(call.args, "").operands
    if len(operands) > 1:
        raise Unmodelled("tac of several files")
    return 0, "".join(reversed(re.findall(r"[^\n]*\n|[^\n]+", call.text(operands))))


def paste(call: Call) -> Output:
    """Lines joined: of each file (`-s`), or of all files side by side."""
    options = read_options(call.args, "sd:", {"serial": "s", "delimiters": "d"})
    delimiters = _paste_delimiters(options.last("d"))
    operands = options.operands or ("-",)
    if options.has("s"):
        rows = []
        seen_stdin = False
        for operand in operands:
            rows.append([] if operand == "-" and seen_stdin else split_lines(call.text([operand])))
            seen_stdin = seen_stdin or operand == "-"
    else:
        rows = _paste_rows(call, operands)
    lines = []
    for row in rows:
        pieces = row[:1]
        for index, item in enumerate(row[1:]):
            pieces += [delimiters[index % len(delimiters)], item]
        lines.append("".join(pieces))
    return 0, join_lines(lines)


def _paste_rows(call: Call, operands: tuple[str, ...]) -> list[list[str]]:
    inputs = {operand: iter(split_lines(call.text([operand]))) for operand in set(operands)}
    rows: list[list[str]] = []
    while True:
        row = [next(inputs[operand], None) for operand in operands]
        if all(item is None for item in row):
            return rows
        rows.append(["" if item is None else item for item in row])


def _paste_delimiters(text: str | None) -> list[str]:
    if text is None:
        return ["\t"]
    escapes = {"n": "\n", "t": "\t", "\\": "\\", "0": ""}
    items: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            items.append(escapes.get(text[at + 1], text[at + 1]))
            at += 2
        else:
            items.append(text[at])
            at += 1
    return items or [""]


def nl(call: Call) -> Output:
    """Lines that are not empty with their numbers."""
    text = call.text(read_options(call.args, "").operands)
    if "\\:" in text:
        raise Unmodelled("pages of nl")
    lines: list[str] = []
    number = 0
    for line in split_lines(text):
        number += bool(line)
        lines.append(f"{number:6d}\t{line}" if line else "       ")
    return 0, join_lines(lines)


def echo(call: Call) -> Output:
    """The arguments, as bash's builtin writes them."""
    args = list(call.args)
    newline, escapes = True, False
    while args and re.fullmatch("-[neE]+", args[0]):
        for letter in args.pop(0)[1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
    text = " ".join(args)
    if escapes:
        text, stopped = echo_escapes(text)
        newline = newline and not stopped
    return 0, text + ("\n" if newline else "")


def printf(call: Call) -> Output:
    """The formatted arguments, as the coreutils programme writes them."""
    args = list(call.args)
    if args[:1] == ["--"]:
        del args[0]
    if not args:
        return 1, ""
    if any(name in args[0] for name in ("%q", "%c", "%y")):
        raise Unmodelled("a directive that differs from bash's")
    printed = bash_printf(args[0], args[1:], builtin=False)
    if printed is None:
        raise Unmodelled("the format of printf")
    return printed.status, printed.text


def cat(call: Call) -> Output:
    """The text of the files."""
    return 0, call.text(read_options(call.args, "u").operands)


def tee(call: Call) -> Output:
    """The input; the files are the caller's affair."""
    read_options(call.args, "aip", {"append": "a", "ignore-interrupts": "i"})
    return 0, call.text()


def true(call: Call) -> Output:
    """Success."""
    del call
    return 0, ""


def false(call: Call) -> Output:
    """Failure."""
    del call
    return 1, ""
