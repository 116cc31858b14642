"""The model of `grep` (GNU grep 3), with `-P` for expressions that Python reads the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from botlint.shell.commands.base import (
    Call,
    Options,
    Output,
    Unmodelled,
    join_lines,
    read_options,
    split_lines,
)
from botlint.shell.regex import Regex, Scanner, compile_regex
from botlint.shell.regex_nodes import PatternError
from botlint.shell.regex_sets import Budget

_LONG = {
    "extended-regexp": "E",
    "fixed-strings": "F",
    "basic-regexp": "G",
    "perl-regexp": "P",
    "only-matching": "o",
    "quiet": "q",
    "silent": "q",
    "invert-match": "v",
    "ignore-case": "i",
    "count": "c",
    "word-regexp": "w",
    "line-regexp": "x",
    "line-number": "n",
    "max-count": "m",
    "regexp": "e",
    "no-filename": "h",
    "no-messages": "s",
    "text": "a",
    "files-with-matches": "l",
    "after-context": "A",
    "before-context": "B",
    "context": "C",
    "color": "z",
    "line-buffered": "u",
}

_Spans = Callable[[str], Iterator[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    selected: bool


def egrep(call: Call) -> Output:
    """`grep -E`."""
    return grep(Call(("-E", *call.args), call.stdin, call.files))


def fgrep(call: Call) -> Output:
    """`grep -F`."""
    return grep(Call(("-F", *call.args), call.stdin, call.files))


def grep(call: Call) -> Output:
    """The lines, or their parts, that match."""
    args = ["-C" + arg[1:] if re.fullmatch("-[0-9]+", arg) else arg for arg in call.args]
    args = [arg for arg in args if arg not in ("--color=never", "--colour=never", "--color=auto", "--line-buffered")]
    options = read_options(args, "EFGPoqviyce:wxnm:hsalA:B:C:", _LONG)
    patterns, operands = options.every("e"), list(options.operands)
    if not patterns:
        if not operands:
            return 2, ""
        patterns = [operands.pop(0)]
    if len(operands) > 1 or (options.has("l") and operands in ([], ["-"])):
        raise Unmodelled("grep of several files")
    patterns = [line for pattern in patterns for line in pattern.split("\n")]
    try:
        spans = _finder(patterns, options)
        return _run(options, spans, split_lines(call.text(operands)), operands)
    except PatternError as error:
        raise Unmodelled(str(error)) from error


def _run(options: Options, spans: _Spans, lines: list[str], operands: list[str]) -> Output:
    limit = _count(options.last("m")) if options.has("m") else len(lines)
    invert = options.has("v")
    selected: list[_Line] = []
    for number, line in enumerate(lines, 1):
        if len(selected) >= limit:
            break
        if (next(spans(line), None) is not None) != invert:
            selected.append(_Line(number, line, selected=True))
    status = 0 if selected else 1
    if options.has("q"):
        return status, ""
    if options.has("l"):
        return status, f"{operands[0]}\n" if selected else ""
    if options.has("c"):
        return status, f"{len(selected)}\n"
    numbered = options.has("n")
    if options.has("o"):
        pieces = (
            []
            if invert
            else [(item.number, item.text[start:end]) for item in selected for start, end in spans(item.text)]
        )
        return status, join_lines([f"{number}:{piece}" if numbered else piece for number, piece in pieces if piece])
    if options.has("A") or options.has("B") or options.has("C"):
        return status, _with_context(options, lines, selected)
    return status, join_lines([f"{item.number}:{item.text}" if numbered else item.text for item in selected])


def _with_context(options: Options, lines: list[str], selected: list[_Line]) -> str:
    around = options.last("C") or "0"
    before, after = _count(options.last("B") or around), _count(options.last("A") or around)
    chosen = {item.number for item in selected}
    if options.has("m") and selected:
        # After the last line that counts only lines that do not match would be context.
        raise Unmodelled("grep -m with context")
    shown: list[str] = []
    last = 0
    for item in selected:
        for number in range(max(last + 1, item.number - before), min(len(lines), item.number + after) + 1):
            if last and number > last + 1:
                shown.append("--")
            last = number
            mark = ":" if number in chosen else "-"
            shown.append(f"{number}{mark}{lines[number - 1]}" if options.has("n") else lines[number - 1])
    return join_lines(shown)


def _count(text: str | None) -> int:
    if text is None or not re.fullmatch("[0-9]{1,9}", text):
        raise Unmodelled("a number of grep")
    return int(text)


def _finder(patterns: list[str], options: Options) -> _Spans:
    """Gives the matches of a line in order, as -w and -x limit them."""
    kinds = [name for name, _ in options.given if name in "EFGP"]
    kind = kinds[-1] if kinds else "G"
    if len(set(kinds)) > 1 and "P" in kinds:
        raise Unmodelled("conflicting matchers")
    ignore_case = options.has("i") or options.has("y")
    if kind == "P":
        if len(patterns) != 1 or options.has("w") or options.has("x"):
            raise Unmodelled("grep -P with several expressions")
        return _perl_spans(patterns[0], ignore_case)
    if kind == "F":
        source = "|".join(_escaped(pattern) for pattern in patterns)
    else:
        if any(_differs(pattern, extended=kind == "E") for pattern in patterns):
            raise Unmodelled("an expression that grep reads in its own way")
        joint = "|" if kind == "E" else "\\|"
        source = joint.join(patterns)
        if len(patterns) > 1 and re.search(r"\\[1-9]", source):
            raise Unmodelled("back references in several expressions")
    extended = kind != "G"
    if options.has("x"):
        source = f"^({source})$" if extended else f"^\\({source}\\)$"
        if re.search(r"\\[1-9]", source):
            raise Unmodelled("back references with -x")
    regex = compile_regex(source, extended=extended, ignore_case=ignore_case)
    word = options.has("w") and not options.has("x")
    if word and kind != "F" and "$" in source:
        raise Unmodelled("an end of line in a word")
    budget = Budget()

    def spans(line: str) -> Iterator[tuple[int, int]]:
        scanner = Scanner(regex, line, budget)
        at = 0
        while at <= len(line) and (found := scanner.search(at)) is not None:
            start, end = found.start, found.end
            if word and not _is_word(line, start, end):
                shorter = _shorter_word(regex, line, start, end, budget)
                if shorter is None:
                    at = start + 1
                    continue
                end = shorter
            yield start, end
            at = end if end > start else end + 1

    return spans


def _shorter_word(regex: Regex, line: str, start: int, end: int, budget: Budget) -> int | None:
    """The longest shorter match at `start` that is a word: grep tries those before it moves on."""
    for stop in range(end - 1, start, -1):
        if _is_word(line, start, stop):
            found = regex.search(line[:stop], start, budget)
            if found is not None and (found.start, found.end) == (start, stop):
                return stop
    return None


def _is_word(line: str, start: int, end: int) -> bool:
    return not (start and _is_word_character(line[start - 1])) and not (
        end < len(line) and _is_word_character(line[end])
    )


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"


def _escaped(text: str) -> str:
    return re.sub(r"[\\^$.*+?()\[\]{}|]", r"\\\g<0>", text)


def _differs(pattern: str, *, extended: bool) -> bool:
    """True for what grep's own matcher takes otherwise than regcomp: leading operators and stray braces."""
    if not extended:
        return bool(re.search(r"\\[+?{]", pattern[:2]))
    return bool(re.search(r"(?:^|[(|])[*+?{]", pattern) or re.search(r"\{(?![0-9]*,?[0-9]*\})", pattern))


_PERL_REFUSED = re.compile(r"\\[QEXRNpPCgkKGhHvVz]|\(\?[^:=!<i]|\(\?<[^=!]|\(\*|[*+?}]\+|\[\[?:")


def _may_blow_up(pattern: str) -> bool:
    """True when a repeated group holds a repetition or a choice, or the expression is nested beyond reading."""
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "x", pattern)
    busy = [False]
    for found in re.finditer(r"\((?:\?[:=!<]+)?|\)([*+?{]?)|[*+{|?]", plain):
        if found[0].startswith("("):
            busy.append(False)
        elif found[0].startswith(")"):
            if len(busy) < 2:
                return True
            inner = busy.pop()
            if inner and found[1] not in ("", "?"):
                return True
            busy[-1] = busy[-1] or inner or bool(found[1])
        else:
            busy[-1] = True
    return False


def _perl_spans(pattern: str, ignore_case: bool) -> _Spans:
    """Perl expressions that Python reads alike; `\\K` is allowed once, outside of any group."""
    head, keep, tail = pattern.partition("\\K")
    if keep and (
        head.endswith("\\") or _PERL_REFUSED.search(tail) or head.count("(") != head.count(")") or "|" in tail
    ):
        raise Unmodelled("a perl expression")
    if _PERL_REFUSED.search(head) or _may_blow_up(pattern):
        raise Unmodelled("a perl expression")
    if keep and "|" in re.sub(r"\([^()]*\)", "", head):
        raise Unmodelled("a perl expression")
    unbounded = len(re.findall(r"[*+}]", pattern))
    try:
        compiled = re.compile(f"(?:{head})(?P<kept>{tail})" if keep else pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unmodelled("a perl expression") from error

    budget = Budget()

    def spans(line: str) -> Iterator[tuple[int, int]]:
        cost = (len(line) + 1) ** (unbounded + 1)
        if cost > 20_000_000:
            raise Unmodelled("a perl expression on a long line")
        budget.spend(1 + cost // 2_000)
        for found in compiled.finditer(line):
            yield found.span("kept") if keep else found.span()

    return spans
