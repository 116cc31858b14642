"""Comments that allow findings: `# botlint: ignore[rule] -- reason`, in YAML files and shell scripts.

    tp: 3  # botlint: ignore[rule]                    this line
    # botlint: ignore[rule, BL201] -- reason          the next line of code
    # botlint: ignore-file[family]                    the whole file
    # botlint: begin-ignore[rule] ... # botlint: end-ignore

A comment allows the findings of the rules that it names (by name, id or family) with a span, primary or related, on
those lines. One that allows nothing, names no rule, or gives no reason where one is asked for is itself a finding.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from botlint.core.finding import Edit, Finding, Fix, Related, with_fingerprints
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span
from botlint.documents.comments import Comment, shell_comments, yaml_comments
from botlint.repo.files import Files

UNUSED = RuleInfo(
    "BL001",
    "unused-suppression",
    "suppression",
    "warning",
    why="A comment allows a finding that is not there. It hides the finding if that ever comes back.",
    remedy="Remove the comment.",
)
UNKNOWN = RuleInfo(
    "BL002",
    "unknown-suppression",
    "suppression",
    "warning",
    why="A comment that botlint cannot obey (it names no rule that exists, or is not of a known form) allows nothing.",
    remedy="Write `# botlint: ignore[RULE] -- reason` with the name, id or family of a rule.",
)
REASONLESS = RuleInfo(
    "BL003",
    "suppression-without-reason",
    "suppression",
    "error",
    why="The settings ask that each suppression says why (`require-suppression-reason`).",
    remedy="Write the reason behind two dashes: `# botlint: ignore[RULE] -- reason`.",
)
SUPPRESSION_RULES = (UNUSED, UNKNOWN, REASONLESS)

MAX_DIRECTIVES = 1_000
"""Suppressions of one file that are obeyed."""

MAX_NAMES = 50

_MARK = "botlint:"
# A text about such a comment quotes it, and is none.
_DIRECTIVE = re.compile(r"(?<![`'\"])#[ \t]*botlint:[ \t]*(?P<verb>[\w-]+)[ \t]*(?P<rest>.*)")
_REST = re.compile(r"(?:\[(?P<names>[^\]]*)\])?[ \t]*(?:--[ \t]*(?P<reason>.*))?")
_VERBS = ("ignore", "ignore-file", "begin-ignore", "end-ignore")
_YAML = (".yaml", ".yml")
_SHELL = (".sh", ".bash")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment that allows findings of `names` in the lines from `first` to `last`.

    `removals` are the places to delete to be rid of it, `listed` is where its names are written; `fault` says why it
    cannot be obeyed, and is empty if it can.
    """

    span: Span
    first: int
    last: int
    names: tuple[str, ...] = ()
    reason: str = ""
    listed: Span | None = None
    removals: tuple[Span, ...] = ()
    fault: str = ""

    def covers(self, finding: Finding) -> bool:
        """Whether a span of the finding lies on the lines."""
        spans = (finding.span, *(related.span for related in finding.related))
        return any(
            span.path == self.span.path and span.line <= self.last and _last_line(span) >= self.first for span in spans
        )


def read_suppressions(files: Files, also: Iterable[str] = ()) -> list[Suppression]:
    """The suppressions of all YAML files and shell scripts of a revision, and of other files by their first line."""
    paths = dict.fromkeys([*(path for path in files.paths() if path.endswith((*_YAML, *_SHELL))), *also])
    found: list[Suppression] = []
    for path in paths:
        content = files.read(path)
        if content is None or _MARK.encode() not in content:
            continue
        source = files.text(path)
        if source is not None:
            found.extend(suppressions_of(source.text, path))
    return found


def suppressions_of(text: str, path: str) -> list[Suppression]:
    """The suppressions of one file, none if it is neither YAML nor a shell script."""
    if _MARK not in text:
        return []
    shell = path.endswith(_SHELL) or (not path.endswith(_YAML) and re.match(r"#!.*\b(?:ba|da)?sh\b", text) is not None)
    if not shell and not path.endswith(_YAML):
        return []
    comments = [one for one in (shell_comments if shell else yaml_comments)(text, path) if _MARK in one.text]
    return list(_Reader(path, text.split("\n"), shell).read(comments))


@dataclass
class _Reader:
    """Reads the suppressions of one file; `open` are the blocks that have begun."""

    path: str
    lines: Sequence[str]
    shell: bool
    open: list[Suppression] = field(default_factory=list)
    _code: int = 0
    _statements: dict[int, tuple[int, int]] = field(default_factory=dict)

    def read(self, comments: Iterable[Comment]) -> Iterator[Suppression]:
        count = 0
        for comment in comments:
            match = _DIRECTIVE.search(comment.text)
            if match is None:
                continue
            count += 1
            if count > MAX_DIRECTIVES:
                span = comment.span
                fault = f"a file may have {MAX_DIRECTIVES:,}; this one and those below are not obeyed"
                yield Suppression(span, span.line, span.line, fault=fault)
                break
            yield from self._directive(comment, match)
        for begun in self.open:
            yield replace(begun, fault="`begin-ignore` without `end-ignore`")

    def _directive(self, comment: Comment, match: re.Match[str]) -> Iterator[Suppression]:
        line = comment.span.line
        column = comment.span.column + match.start()
        span = replace(comment.span, column=column)
        removal = self._removal(comment, match.start())
        found = Suppression(span, line, line, removals=(removal,))
        verb = match["verb"]
        rest = _REST.fullmatch(match["rest"])
        if verb not in _VERBS:
            # Only what was meant as one: prose may speak of botlint too.
            if "ignore" in verb or difflib.get_close_matches(verb, _VERBS, n=1, cutoff=0.8):
                yield replace(found, fault=f"`{verb}` is none of {', '.join(_VERBS)}")
            return
        names = tuple(name.strip() for name in (rest["names"] or "").split(",") if name.strip()) if rest else ()
        if verb == "end-ignore":
            if rest is None:
                yield replace(found, fault="expected `end-ignore`")
            elif not self.open:
                yield replace(found, fault="`end-ignore` without `begin-ignore`")
            else:
                begun = self.open.pop()
                yield replace(begun, last=line, removals=(*begun.removals, removal))
            return
        if rest is None or not names or len(names) > MAX_NAMES:
            yield replace(found, fault=f"expected `{verb}[RULE, ...] -- reason`")
            return
        start = comment.span.column + match.start("rest") + rest.start("names")
        listed = Span(self.path, line, start, line, start + len(rest["names"]))
        found = replace(found, names=names, reason=(rest["reason"] or "").strip(), listed=listed)
        if verb == "begin-ignore":
            self.open.append(found)
            return
        if verb == "ignore-file":
            first, last = 1, max(1, len(self.lines))
        else:
            first, last = self._statement(self._next_code(line) if comment.alone else line)
        yield replace(found, first=first, last=last)

    def _removal(self, comment: Comment, start: int) -> Span:
        """The text to delete: the whole line of a comment that says nothing else, with its end."""
        line = comment.span.line
        if comment.alone and start == 0:
            return Span(self.path, line, 1, line + 1, 1)
        before = self.lines[line - 1][: comment.span.column - 1 + start].rstrip()
        return Span(self.path, line, len(before) + 1, line, comment.span.end_column)

    def _next_code(self, line: int) -> int:
        """The next line that is neither empty nor a comment; the comment's own line at the end of a file."""
        # Comments come in their order: what follows the last one may follow this one too.
        if self._code <= line:
            self._code = len(self.lines) + 1
            for number in range(line + 1, len(self.lines) + 1):
                text = self.lines[number - 1].strip()
                if text and not text.startswith("#"):
                    self._code = number
                    break
        return self._code if self._code <= len(self.lines) else line

    def _statement(self, line: int) -> tuple[int, int]:
        """The lines of a command that goes on over several by backslashes, for no comment can stand between them."""
        found = self._statements.get(line)
        if found is None:
            found = self._statements[line] = self._continued(line)
        return found

    def _continued(self, line: int) -> tuple[int, int]:
        first = last = line
        while self.shell and first > 1 and _continues(self.lines[first - 2]):
            first -= 1
        while self.shell and last < len(self.lines) and _continues(self.lines[last - 1]):
            last += 1
        return first, last


def _continues(line: str) -> bool:
    line = line.removesuffix("\r")
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _last_line(span: Span) -> int:
    """The last line with a character of the span."""
    return span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line


def suppress(
    findings: Iterable[Finding],
    suppressions: Sequence[Suppression],
    rules: Iterable[RuleInfo],
    *,
    ran: Collection[str] | None,
    require_reason: bool = False,
) -> list[Finding]:
    """The findings with the reasons that allow them, and the findings about the comments, in order.

    `rules` are all that exist. `ran` names the rules whose silence means that there is nothing to find, so that a
    comment for them is unused; with None no comment is called unused.
    """
    known = _known([*rules, *SUPPRESSION_RULES])
    by_rule: dict[tuple[str, str], dict[int, None]] = {}
    for number, one in enumerate(suppressions):
        for name in () if one.fault else one.names:
            for rule in known.get(name, ()):
                by_rule.setdefault((one.span.path, rule), {})[number] = None
    used: set[tuple[int, str]] = set()
    silent = {*(ran or ()), *(rule.name for rule in SUPPRESSION_RULES)}

    def allowed(finding: Finding) -> Finding:
        paths = {finding.span.path, *(related.span.path for related in finding.related)}
        reasons = []
        for number in sorted({number for path in paths for number in by_rule.get((path, finding.rule), ())}):
            one = suppressions[number]
            if one.covers(finding):
                used.update((number, name) for name in one.names if finding.rule in known.get(name, ()))
                reasons.append(one.reason)
        if not reasons:
            return finding
        return replace(finding, suppressed=next((reason for reason in reasons if reason), ""))

    def judged(name: str, last: bool) -> bool:
        meant = known.get(name)
        return meant is not None and meant <= silent and (UNUSED.name in meant) is last

    done = [allowed(finding) for finding in findings]
    done += with_fingerprints(found for one in suppressions for found in _reasonless(one, known, require_reason))
    done += map(allowed, with_fingerprints(found for one in suppressions for found in _unknown(one, known)))
    if ran is not None:
        # Comments that allow unused comments are judged last, when it is known whether there are any.
        for last in (False, True):
            unused = [
                _unused(one, names)
                for number, one in enumerate(suppressions)
                if not one.fault
                and (names := [name for name in one.names if (number, name) not in used and judged(name, last)])
            ]
            done += map(allowed, with_fingerprints(unused))
    return sorted(done, key=lambda one: one.order)


def _known(rules: Iterable[RuleInfo]) -> dict[str, set[str]]:
    """The names of rules by everything that they may be called."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        for name in rule.names:
            found.setdefault(name, set()).add(rule.name)
    return found


def _unknown(one: Suppression, known: dict[str, set[str]]) -> Iterator[Finding]:
    if one.fault:
        fix = Fix("remove the comment", True, _removed(one))
        yield _finding(UNKNOWN, one, one.names, f"botlint cannot obey this comment: {one.fault}", one.span, fix)
        return
    unknown = [name for name in one.names if name not in known]
    if unknown:
        message = f"no rule or family is called {', '.join(_hint(name, known) for name in unknown)}"
        yield _finding(UNKNOWN, one, unknown, message, one.listed or one.span, _without(one, unknown))


def _reasonless(one: Suppression, known: dict[str, set[str]], required: bool) -> Iterator[Finding]:
    """A comment that owes a reason. No comment can allow that; without the comment the finding would be back."""
    if required and not one.fault and not one.reason and any(name in known for name in one.names):
        message = f"this comment allows {', '.join(one.names)} without a reason"
        yield _finding(REASONLESS, one, one.names, message, one.span, None)


def _unused(one: Suppression, names: Sequence[str]) -> Finding:
    message = f"this comment allows {', '.join(names)}, and there is no such finding"
    return _finding(UNUSED, one, names, message, one.span, _without(one, names))


def _finding(
    rule: RuleInfo, one: Suppression, names: Sequence[str], message: str, span: Span, fix: Fix | None
) -> Finding:
    related = tuple(Related(removal, "it ends here") for removal in one.removals[1:])
    subject = ", ".join(names)
    return Finding(
        rule.name, rule.severity, "certain", message, span, subject, related=related, remedy=rule.remedy, fix=fix
    )


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name[:80], sorted(known), n=1)
    return f"{name!r} (did you mean {close[0]!r}?)" if close else repr(name)


def _without(one: Suppression, names: Sequence[str]) -> Fix:
    """The fix that takes names out of a comment, and the comment away when it has no other."""
    left = [name for name in one.names if name not in names]
    if not left or one.listed is None:
        return Fix("remove the comment", True, _removed(one))
    return Fix(f"remove {', '.join(names)} from the comment", True, (Edit(one.listed, ", ".join(left)),))


def _removed(one: Suppression) -> tuple[Edit, ...]:
    return tuple(Edit(span, "") for span in one.removals)
