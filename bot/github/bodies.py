"""What the comment of one finding says, in Markdown in which nothing of the pull request is markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from botlint.core.finding import Finding
from botlint.core.markdown import block, code, prose
from botlint.core.ruleinfo import RuleInfo
from botlint.core.visible import visible_lines
from botlint.github.limits import MAX_BODY, fit, joined, units
from botlint.github.links import Links
from botlint.github.markers import MENDED, finding_marker
from botlint.github.models import NewComment
from botlint.github.patches import Diff, TextOf
from botlint.github.placing import STEP, Anchor, Placement
from botlint.github.suggestions import Suggestion, shown_fix, suggest
from botlint.github.wording import EN, Wording
from botlint.report.options import jobs_by_entry

MAX_LINE = 1_000
MAX_MESSAGE = 12_000
MAX_SECTION = 9_000
MAX_ENTRIES = 40
MAX_LINES = 60
"""Lines of one text that are shown; the time to write a comment is bounded with them."""

_SUGGESTION = re.compile(r"^(`{3,})suggestion$", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A comment that should be there: on lines, or without an anchor on a file as a whole."""

    fingerprint: str
    path: str
    body: str
    anchor: Anchor | None = None

    @property
    def on_file(self) -> Wanted:
        """The same on the file as a whole, where GitHub refused the lines."""
        return replace(self, body=without_suggestion(self.body), anchor=None)

    @property
    def comment(self) -> NewComment | None:
        """The comment on lines; None for one on a file."""
        anchor = self.anchor
        if anchor is None:
            return None
        several = anchor.first < anchor.last
        return NewComment(
            anchor.path,
            self.body,
            anchor.last,
            anchor.side,
            anchor.first if several else None,
            anchor.side if several else None,
        )


def wanted_comment(
    placement: Placement, diff: Diff, head: TextOf, links: Links, rules: Mapping[str, RuleInfo], wording: Wording = EN
) -> Wanted:
    """The comment of a finding that is told on lines or on a file."""
    finding = placement.finding
    suggestion = suggest(placement, diff, head)
    anchor = placement.anchor if suggestion is None else suggestion.anchor
    info = rules.get(finding.rule)
    sections = [
        fit(_message(finding, wording), MAX_MESSAGE, wording.and_more),
        fit(_places(placement, diff, links, wording), MAX_SECTION, wording.and_more),
        _remedy(finding, wording),
        _affected(finding, wording),
        _fix(finding, suggestion, head, wording),
        _proof(finding, info, links, wording),
    ]
    last = [_allow(finding, links, wording), "", finding_marker(finding.fingerprint)]
    # The longest texts are told last: of a body that is still too long they are left out.
    while len(sections) > 1 and units(joined(*sections, last)) > MAX_BODY:
        sections.pop()
    return Wanted(finding.fingerprint, placement.path, joined(*sections, last), anchor)


def without_suggestion(body: str) -> str:
    """The comment with its suggestion as plain text: on a file, or on lines that are others now, there is none."""
    return _SUGGESTION.sub(r"\1text", body)


def heading(finding: Finding, wording: Wording) -> str:
    """How bad a finding is, in words."""
    sure = f" ({wording.possible})" if finding.certainty == "possible" else ""
    return f"{wording.severity[finding.severity]}{sure}"


def sentence(text: str, limit: int = MAX_LINE) -> str:
    """A text of a rule as Markdown, in which only code in backticks is markup."""
    parts: list[str] = []
    at = 0
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    for match in _CODE.finditer(shown):
        parts += (prose(shown[at : match.start()], 0), code(match[1], 0))
        at = match.end()
    return "".join([*parts, prose(shown[at:], 0)])


def _message(finding: Finding, wording: Wording) -> Iterator[str]:
    first, *rest = finding.message.split("\n", MAX_LINES)
    yield f"**{heading(finding, wording)}:** {sentence(first)}"
    for line in rest[: MAX_LINES - 1]:
        yield f"<br>{sentence(line)}"


def _places(placement: Placement, diff: Diff, links: Links, wording: Wording) -> Iterator[str]:
    finding, anchor = placement.finding, placement.anchor
    span = finding.span
    covered = anchor is not None and anchor.side == "RIGHT" and anchor.path == span.path
    if span.path and not (covered and anchor and anchor.first <= span.line <= anchor.last):
        yield f"- {wording.found_at.format(place=links.place(span.path, span.line, span.end_line))}"
    if anchor is not None and anchor.side == "LEFT":
        old = diff.files[anchor.path].base_path
        yield f"- {links.place(old, anchor.first, base=True)} {wording.deleted}"
    for related in finding.related:
        if related.span.path:
            place = links.place(related.span.path, related.span.line, related.span.end_line)
            yield f"- {place} {sentence(related.message, 300)}"


def _remedy(finding: Finding, wording: Wording) -> list[str]:
    text = finding.remedy.strip()
    if not text:
        return []
    return [f"**{wording.remedy}** " + "<br>".join(sentence(line) for line in text.split("\n")[:6])]


def _affected(finding: Finding, wording: Wording) -> list[str]:
    by_entry = jobs_by_entry(finding)
    if not by_entry or not finding.jobs:
        return []
    jobs = wording.count(len(finding.jobs), wording.jobs)
    if len(by_entry) == 1:
        ((entry, listed),) = by_entry.items()
        return [wording.affected_jobs.format(jobs=jobs, entry=code(entry, 200), listed=prose("; ".join(listed), 400))]
    rows = [
        f"- {code(entry, 200)}" + (f": {prose('; '.join(listed), 400)}" if listed else "")
        for entry, listed in by_entry.items()
    ]
    if len(rows) > MAX_ENTRIES:
        rows = [*rows[:MAX_ENTRIES], wording.and_more(len(rows) - MAX_ENTRIES)]
    title = wording.affected.format(jobs=jobs, entries=wording.count(len(by_entry), wording.entries))
    return folded(title, fit(rows, MAX_SECTION, wording.and_more))


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that are shown at a click; the title is Markdown without links."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def _fix(finding: Finding, suggestion: Suggestion | None, head: TextOf, wording: Wording) -> list[str]:
    if finding.fix is None:
        return []
    title = (wording.fix if finding.fix.safe else wording.unsafe_fix).format(title=sentence(finding.fix.title, 300))
    if suggestion is not None:
        return [title, "", *suggestion.markdown]
    lines = shown_fix(finding, head)
    if not lines:
        return [title]
    fence, *rest = block(fit(lines, MAX_SECTION, lambda number: f"... {number}"))
    return [title, "", f"{fence}diff", *rest]


def _proof(finding: Finding, info: RuleInfo | None, links: Links, wording: Wording) -> list[str]:
    why = info.why.strip() if info is not None else ""
    if not finding.steps and not why:
        return []
    steps = [f"{number}. {_step(step, links)}" for number, step in enumerate(finding.steps, 1)]
    proof = wording.proof.format(steps=wording.count(len(steps), wording.steps))
    paragraphs = [sentence(" ".join(part.split())) for part in re.split(r"\n\s*\n", why) if part.strip()][:4]
    lines = joined(*([paragraph] for paragraph in paragraphs), fit(steps, MAX_SECTION, wording.and_more))
    return folded(proof if steps else wording.why, [lines])


def _step(step: str, links: Links) -> str:
    match = STEP.match(step)
    if match is None:
        return "<br>".join(prose(line) for line in visible_lines(step, MAX_LINE))
    first, *rest = step[match.end() :].split("\n", MAX_LINES)
    text, remark = first, ""
    if first.endswith(")") and "  (" in first:
        text, _, remark = first.rpartition("  (")
        remark = f" ({prose(remark, 300)}"
    lines = [f"{links.place(match['path'], int(match['line']))} {code(text.strip(), 400)}{remark}"]
    return "<br>".join([*lines, *(prose(line, 400) for line in rest[: MAX_LINES - 1])])


def _allow(finding: Finding, links: Links, wording: Wording) -> str:
    place = links.place(finding.span.path, finding.span.line) if finding.span.path else code(finding.rule, 100)
    return (
        "<sub>"
        + wording.allow.format(
            explain=code(f"botlint explain {finding.rule}", 200),
            place=place,
            comment=code(f"# botlint: ignore[{finding.rule}] -- reason", 200),
        )
        + "</sub>"
    )


def mended_body(body: str, said: str, wording: Wording = EN) -> str:
    """The comment of a finding that is no longer there: why, and what it said, struck out and folded.

    `said` is Markdown. The marker stays, so that the finding is known again if it comes back; a suggestion is no longer
    one, for its lines are others now.
    """
    *lines, marker = without_suggestion(body.replace("\r\n", "\n")).strip().split("\n")
    first, *rest = lines or [""]
    while rest and not rest[0].strip():
        rest.pop(0)
    told = (
        [f"~~{first}~~", "", *folded(wording.before, "\n".join(rest).rstrip().split("\n"))]
        if rest
        else [f"~~{first}~~"]
    )
    return joined([f"**{said}**"], told, [MENDED, marker.strip()])
