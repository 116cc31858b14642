"""The one comment on the whole pull request: verdict, findings without a place, and what is launched differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from botlint.core.finding import Finding, Report
from botlint.core.markdown import code, prose
from botlint.engine.settings import Language
from botlint.github.bodies import folded, heading
from botlint.github.limits import MAX_BODY, MAX_TITLE, cut, fit, joined, units
from botlint.github.links import Links
from botlint.github.markers import SUMMARY
from botlint.github.placing import Placement
from botlint.github.wording import WORDINGS, Wording
from botlint.plan.diff import DiffGroup, PlanDiff, SharedChange
from botlint.plan.model import LaunchPlan
from botlint.plan.show import describe_jobs, varying_keys

MAX_TABLE = 22_000
MAX_LAUNCHED = 20_000
MAX_NOTES = 6_000
MAX_FAILURES = 3_000
"""UTF-16 units of the parts; together with the sentences they stay below the limit of a comment."""

MAX_CHANGES = 20
"""Changes of one group of jobs that are listed."""

MAX_ENTRIES = 6
MAX_VALUES = 4
MAX_VALUE = 160
MAX_CELL = 400

Rows = Mapping[str, Sequence[Mapping[str, object]]]
"""The rows of all jobs of the head by entry: they tell the jobs of an entry apart."""

Verdict = Literal["fails", "failed", "may-fail", "informs", "clean", "irrelevant"]


@dataclass(frozen=True)
class Reviewed:
    """What a review came to.

    `fails` says that a certain finding reaches the fail level, `relevant` that the change touches something that is
    checked, `no_lines` is the number of changed files whose lines GitHub does not give, `many_files` says that the
    change has more files than GitHub lists.
    """

    report: Report
    placements: Sequence[Placement] = ()
    diff: PlanDiff | None = None
    rows: Rows = field(default_factory=dict)
    fails: bool = False
    relevant: bool = True
    no_lines: int = 0
    many_files: bool = False
    details_url: str = ""

    @property
    def verdict(self) -> Verdict:
        """What it comes to, the worst first."""
        summary = self.report.summary
        if self.fails:
            return "fails"
        if self.report.failures:
            return "failed"
        if summary.errors or summary.warnings:
            return "may-fail"
        if summary.infos:
            return "informs"
        return "clean" if self.relevant else "irrelevant"

    @property
    def news(self) -> bool:
        """Whether there is anything to say to someone who did not ask."""
        launched = self.diff is not None and not self.diff.empty
        return self.verdict not in ("clean", "irrelevant") or launched


def summary_body(reviewed: Reviewed, links: Links, languages: Sequence[Language] = ("en",)) -> str:
    """The summary comment, with its marker."""
    return f"{summary_markdown(reviewed, links, languages)}\n\n{SUMMARY}"


def summary_markdown(reviewed: Reviewed, links: Links, languages: Sequence[Language] = ("en",)) -> str:
    """What the comment and the check run say: all of it in the first language, the sentences in the others too."""
    first, *others = [WORDINGS[language] for language in dict.fromkeys(languages or ("en",))]
    end = [[_checked(reviewed, links, first)], *(_translated(reviewed, links, wording) for wording in others)]
    parts = [
        [f"## botlint: {title(reviewed, first)}"],
        [first.space.join(_verdict(reviewed, first))],
        _failures(reviewed),
        _table(reviewed, links, first),
        _launched(reviewed, links, first),
        _notes(reviewed, first),
    ]
    while len(parts) > 2 and units(joined(*parts, *end)) > MAX_BODY:
        parts.pop()
    return joined(*parts, *end)


def title(reviewed: Reviewed, wording: Wording) -> str:
    """The verdict in a few words, without markup."""
    verdict = reviewed.verdict
    said = counts(reviewed.report, wording)
    if verdict in ("clean", "irrelevant"):
        said = wording.clean_title if verdict == "clean" else wording.irrelevant_title
    elif reviewed.report.failures:
        said = wording.list(said, wording.failed_title)
    changed = 0 if reviewed.diff is None else reviewed.diff.changed
    launched = wording.launched_title.format(jobs=wording.count(changed, wording.jobs)) if changed else ""
    return cut(wording.list(said, launched), MAX_TITLE)


def counts(report: Report, wording: Wording) -> str:
    """How many findings there are, by severity; empty without any."""
    summary = report.summary
    numbers = (
        (summary.errors, wording.errors),
        (summary.warnings, wording.warnings),
        (summary.infos, wording.infos),
    )
    return wording.list(*(wording.count(number, noun) for number, noun in numbers if number))


# ----------------------------------------------------------------------------------------------------------- sentences


def _verdict(reviewed: Reviewed, wording: Wording) -> Iterator[str]:
    said = counts(reviewed.report, wording)
    sentences: dict[Verdict, str] = {
        "fails": wording.fails,
        "may-fail": wording.may_fail,
        "informs": wording.informs,
        "clean": wording.clean,
        "irrelevant": wording.irrelevant,
    }
    if reviewed.verdict in sentences:
        yield sentences[reviewed.verdict].format(counts=said)
    if reviewed.report.failures:
        yield wording.failed
    commented = sum(one.kind != "summary" for one in reviewed.placements)
    if commented:
        yield wording.commented.format(findings=wording.count(commented, wording.findings))
    accepted = sum(not one.counts for one in reviewed.report.findings)
    if accepted:
        yield wording.accepted.format(findings=wording.count(accepted, wording.findings))
    if reviewed.no_lines:
        yield wording.no_lines.format(files=wording.count(reviewed.no_lines, wording.files))
    if reviewed.many_files:
        yield wording.too_many_files


def _launched_sentence(diff: PlanDiff, wording: Wording) -> str:
    if diff.empty:
        return wording.launched_same
    return wording.launched_changed.format(
        total=wording.count(diff.changed + diff.unchanged, wording.jobs),
        changed=f"{diff.changed:,}",
        added=f"{len(diff.added):,}",
        removed=f"{len(diff.removed):,}",
    )


def _not_read(report: Report, wording: Wording) -> str:
    kinds = {str(kind): noun for kind, noun in wording.note_kinds.items()}
    numbers = [wording.count(number, kinds[kind]) for kind, number in report.summary.notes if number and kind in kinds]
    return wording.not_read.format(counts=wording.list(*numbers)) if numbers else ""


def _checked(reviewed: Reviewed, links: Links, wording: Wording) -> str:
    checked = wording.checked.format(head=links.commit(links.head), base=links.commit(links.base))
    url = reviewed.details_url
    details = f" [{wording.details}]({url})" if url and not set(url) & set("()<> \n\\") else ""
    return f"<sub>{checked}{details}</sub>"


def _translated(reviewed: Reviewed, links: Links, wording: Wording) -> list[str]:
    """The sentences in another language, folded."""
    lines = [wording.space.join(_verdict(reviewed, wording))]
    unplaced = sum(one.kind == "summary" for one in reviewed.placements)
    if unplaced:
        lines.append(wording.unplaced_count.format(findings=wording.count(unplaced, wording.findings)))
    if reviewed.relevant:
        lines.append(wording.not_compared if reviewed.diff is None else _launched_sentence(reviewed.diff, wording))
    lines += [_not_read(reviewed.report, wording), _checked(reviewed, links, wording)]
    heads = f"**{title(reviewed, wording)}**"
    return folded(wording.language, [joined([heads], *([line] for line in lines if line))])


# ------------------------------------------------------------------------------------------------------------ findings


def _failures(reviewed: Reviewed) -> list[str]:
    lines = [f"- {prose(failure, 300)}" for failure in reviewed.report.failures]
    return fit(lines, MAX_FAILURES, lambda number: f"- … {number}")


def _table(reviewed: Reviewed, links: Links, wording: Wording) -> list[str]:
    """The findings that have no comment of their own."""
    rows = [_row(one.finding, links, wording) for one in reviewed.placements if one.kind == "summary"]
    if not rows:
        return []
    more = wording.more_in_check

    def left_out(number: int) -> str:
        return f"| | | {more.format(number=f'{number:,}')} | |"

    head = [f"### {wording.unplaced}", "", "| " + " | ".join(wording.columns) + " |", "| --- | --- | --- | --: |"]
    return [*head, *fit(rows, MAX_TABLE, left_out)]


def _row(finding: Finding, links: Links, wording: Wording) -> str:
    """A row of a table. A bar inside of code would end the cell, so that text with one is no code."""
    span = finding.span
    place = ""
    if span.path:
        shown = f"{span.path}:{span.line}"
        place = prose(shown, 300) if "|" in shown else links.place(span.path, span.line)
    rule = prose(finding.rule, 100)
    jobs = f"{len(finding.jobs):,}" if finding.jobs else ""
    return f"| {heading(finding, wording)} | {place} | {prose(finding.message, MAX_CELL)} ({rule}) | {jobs} |"


def _notes(reviewed: Reviewed, wording: Wording) -> list[str]:
    said = _not_read(reviewed.report, wording)
    if not said:
        return []
    lines = []
    for note in reviewed.report.notes:
        place = code(note.path + (f":{note.line}" if note.line else ""), 300) + " " if note.path else ""
        lines.append(f"- {place}{prose(note.message, 300)}")
    return folded(said, fit(lines, MAX_NOTES, wording.and_more))


# ----------------------------------------------------------------------------------------------------- launched plans


def _launched(reviewed: Reviewed, links: Links, wording: Wording) -> list[str]:
    diff = reviewed.diff
    if not reviewed.relevant:
        return []
    head = [f"### {wording.launched}", ""]
    if diff is None:
        return [*head, wording.not_compared]
    said = [*head, _launched_sentence(diff, wording)]
    items = [
        *("\n".join(_group(group, reviewed.rows, links, wording)) for group in sorted(diff.groups, key=_weight)),
        *_jobs(diff.added, wording.jobs_added, wording),
        *_jobs(diff.removed, wording.jobs_removed, wording),
        *(f"- {wording.renamed.format(old=code(old, 200), new=code(new, 200))}" for old, new in diff.renamed),
    ]
    if not items:
        return said

    def left_out(number: int) -> str:
        return f"- {wording.more_in_check.format(number=f'{number:,}')}"

    return [*said, "", *fit(items, MAX_LAUNCHED, left_out)]


def _weight(group: DiffGroup) -> tuple[bool, int]:
    """What to tell first: jobs that end otherwise, then the most jobs."""
    return not any(shared.change.kind == "outcome" for shared in group.changes), -len(group.pairs)


def _by_entry(plans: Sequence[LaunchPlan]) -> dict[str, list[LaunchPlan]]:
    entries: dict[str, list[LaunchPlan]] = {}
    for plan in plans:
        entries.setdefault(plan.entry, []).append(plan)
    return entries


def _group(group: DiffGroup, rows: Rows, links: Links, wording: Wording) -> Iterator[str]:
    entries = _by_entry([pair.new for pair in group.pairs])
    jobs = f"**{wording.count(len(group.pairs), wording.jobs)}**"
    if len(entries) == 1:
        ((entry, plans),) = entries.items()
        known = rows.get(entry, ())
        which = describe_jobs(plans, varying_keys(known), limit=3) if len(known) != len(plans) else []
        described = f" ({prose('; '.join(which), 300)})" if which else ""
        yield f"- {wording.changed_jobs.format(jobs=jobs, entry=code(entry, 200))}{described}"
    else:
        names = [code(entry, 200) for entry in list(entries)[:MAX_ENTRIES]]
        if len(entries) > MAX_ENTRIES:
            names.append(wording.more.format(number=f"{len(entries) - MAX_ENTRIES:,}"))
        count = wording.count(len(entries), wording.entries)
        yield f"- {wording.changed_entries.format(jobs=jobs, entries=count, listed=wording.list(*names))}"
    for shared in group.changes[:MAX_CHANGES]:
        yield f"  - {_change(shared, links, wording)}"
    if len(group.changes) > MAX_CHANGES:
        yield f"  {wording.and_more(len(group.changes) - MAX_CHANGES)}"


def _change(shared: SharedChange, links: Links, wording: Wording) -> str:
    change = shared.change
    name = wording.outcome if change.kind == "outcome" else code(change.name, 200) or prose(change.kind)
    remarks = wording.list(
        prose(change.role, 100),
        wording.set_by_runtime if change.kind == "runtime-variable" else "",
        wording.on_runners.format(runners=prose(change.runners, 200)) if change.runners else "",
    )
    remark = f" ({remarks})" if remarks else ""
    line = f"{name}{remark}: {_values(shared.old, wording)} → {_values(shared.new, wording)}"
    for end in shared.new_exits[:MAX_VALUES]:
        message = prose(end.message.split("\n")[0], 300)
        line += "<br>" + wording.now_at.format(place=links.place(end.path, end.line), message=message)
    return line


def _values(values: Sequence[str | None], wording: Wording) -> str:
    """The different values of the jobs of a group."""
    distinct = list(dict.fromkeys(values))
    shown = [wording.nothing if one is None else code(one or '""', MAX_VALUE) for one in distinct[:MAX_VALUES]]
    if len(distinct) > MAX_VALUES:
        shown.append(wording.more.format(number=f"{len(distinct) - MAX_VALUES:,}"))
    return wording.list(*shown)


def _jobs(plans: Sequence[LaunchPlan], sentence: str, wording: Wording) -> Iterator[str]:
    for entry, members in _by_entry(plans).items():
        outcomes = sorted({plan.launch.outcome for plan in members} - {"serves"})
        told = f" ({wording.outcome}: {', '.join(outcomes)})" if outcomes else ""
        jobs = wording.count(len(members), wording.jobs)
        yield f"- {sentence.format(jobs=jobs, entry=code(entry, 200))}{told}"
