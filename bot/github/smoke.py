"""Smoke runs on GitHub: how one is known again, what it has come to, and what is said about it.

A run is known by the check run that stands for it: its external id names the pull request, the commit, the mark that
the workflow was given and the run that it made. What the run itself says (its title, its artifact) may be anyone's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from botlint.core.markdown import block, code, prose
from botlint.core.redact import redact
from botlint.core.visible import visible
from botlint.engine.settings import LANGUAGES, Language
from botlint.github.bodies import folded
from botlint.github.limits import MAX_TITLE, cut, fit, joined
from botlint.github.markers import SUMMARY, has_marker, own
from botlint.github.models import CheckOutput, Conclusion, Identity, IssueComment, WorkflowJob, WorkflowRun
from botlint.github.smokewords import EN, SmokeWords, words_of
from botlint.github.wording import EN as WORDING_EN
from botlint.github.wording import WORDINGS
from botlint.smoke.model import Delta, Figures, Spread, Verdict
from botlint.smoke.result import JobResult, Result

NAME: Final = "botlint / smoke"
"""What branch protection knows the check by: it never changes."""

APPROVAL: Final = 24 * 60
"""Minutes that a run may wait for the reviewers of its environment."""

MAX_JOBS: Final = 8
MAX_ROW: Final = 300
MAX_LOG: Final = 60
MAX_CHANGES: Final = 40
MAX_FIGURES: Final = 12
MAX_SECTION: Final = 5_000
"""UTF-16 units of the part of the summary comment that is about a smoke run."""

_BEGIN = re.compile(r"<!-- botlint:v1 smoke=([0-9a-f]{40}) -->")
_END = "<!-- botlint:v1 smoke-end -->"
_MARK = re.compile(r"smoke:([1-9]\d{0,9}):([0-9a-f]{40}):([0-9a-f]{16}):(\d{1,19}):(\d)")
_AGAIN = re.compile(r"smoke-again:([1-9]\d{0,9}):([0-9a-f]{40})")
_TITLE = re.compile(r"botlint smoke #([1-9]\d{0,9}) ([0-9a-f]{40}) ([0-9a-f]{16})")
_ID = re.compile(r"[0-9a-f]{16}")
_SHA = re.compile(r"[0-9a-f]{40}")
_WORKFLOW = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.ya?ml")
_WAITING = frozenset(("queued", "waiting", "pending", "requested"))


# --------------------------------------------------------------------------------------------------- known again


@dataclass(frozen=True, slots=True)
class Mark:
    """One run that was asked for: `run` is 0 until it is known, `jobs` is how many were asked for."""

    number: int
    head: str
    nonce: str
    run: int = 0
    jobs: int = 0

    @property
    def external_id(self) -> str:
        """By what the check run is found again."""
        return f"smoke:{self.number}:{self.head}:{self.nonce}:{self.run}:{self.jobs}"

    @property
    def title(self) -> str:
        """What the `run-name` of the workflow makes of its inputs."""
        return f"botlint smoke #{self.number} {self.head} {self.nonce}"


def mark_of(external_id: str) -> Mark | None:
    """The mark that a check run has; None if it stands for no run."""
    found = _MARK.fullmatch(external_id)
    return None if found is None else Mark(int(found[1]), found[2], found[3], int(found[4]), int(found[5]))


def again_id(number: int, head: str) -> str:
    """The external id of a check that asks to be asked again."""
    return f"smoke-again:{number}:{head}"


def about(external_id: str) -> int | None:
    """The pull request that one of our smoke checks is about."""
    found = _MARK.fullmatch(external_id) or _AGAIN.fullmatch(external_id)
    return None if found is None else int(found[1])


def marked_title(title: str) -> Mark | None:
    """The mark in the title of a workflow run, which is only a hint: anybody may give a run any title."""
    found = _TITLE.fullmatch(title)
    return None if found is None else Mark(int(found[1]), found[2], found[3])


def nonce_of(task: str) -> str:
    """The mark of a run for the task that starts it: the same one when the task is done again."""
    return hashlib.sha256(f"botlint smoke {task}".encode()).hexdigest()[:16]


def inputs(mark: Mark, base: str, jobs: Sequence[str]) -> dict[str, str]:
    """What the workflow is given: data of a narrow form, nothing that a stranger wrote."""
    return {
        "pr": str(mark.number),
        "head_sha": mark.head,
        "base_sha": base,
        "jobs": ",".join(jobs),
        "nonce": mark.nonce,
    }


# ------------------------------------------------------------------------------------------------- what was picked


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings of the base say about smoke runs."""

    workflow: str
    label: str
    automatic: bool
    queue_timeout: int
    timeout: int
    fail_closed: bool
    languages: tuple[Language, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A job that was picked: `text` says which, `shows` what its run tells."""

    id: str
    text: str
    gpus: int
    shows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """What a run starts: jobs of the head, planned again on the node from the same commits."""

    base: str
    jobs: tuple[Job, ...]
    left: tuple[tuple[str, str], ...]


def read_rules(value: object) -> Rules | None:
    """The rules that a reviewing process found; None where there are none. Raises ValueError for another form."""
    if value is None:
        return None
    data = _mapping(value)
    workflow = _text(data, "workflow", 120)
    if _WORKFLOW.fullmatch(workflow) is None:
        raise ValueError("no name of a workflow")
    return Rules(
        workflow,
        _text(data, "label", 50),
        data.get("automatic") is True,
        _minutes(data, "queue_timeout"),
        _minutes(data, "timeout"),
        data.get("fail_closed") is True,
        tuple(one for name in _list(data, "languages") for one in LANGUAGES if one == name),
    )


def read_picked(value: object) -> Picked:
    """The jobs that a reviewing process picked. Raises ValueError for another form: it read what strangers wrote."""
    data = _mapping(value)
    base = _text(data, "base", 40)
    jobs = [_job(one) for one in _list(data, "jobs")]
    if _SHA.fullmatch(base) is None or len(jobs) > MAX_JOBS:
        raise ValueError("no picked jobs")
    left = [(_text(_mapping(one), "text", 1_000), _text(_mapping(one), "why", 1_000)) for one in _list(data, "left")]
    return Picked(base, tuple(jobs), tuple(left[:100]))


def _job(value: object) -> Job:
    data = _mapping(value)
    identifier, gpus = _text(data, "id", 16), data.get("gpus")
    if _ID.fullmatch(identifier) is None or type(gpus) is not int:
        raise ValueError("no job")
    shows = [one[:1_000] for one in _list(data, "shows") if isinstance(one, str)]
    return Job(identifier, _text(data, "text", 1_000), gpus, tuple(shows[:20]))


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("no mapping")
    return value


def _list(data: Mapping[str, Any], key: str) -> Sequence[object]:
    value = data.get(key)
    if not isinstance(value, list | tuple):
        raise ValueError(f"no list {key}")
    return value


def _text(data: Mapping[str, Any], key: str, limit: int) -> str:
    value = data.get(key)
    if not isinstance(value, str) or len(value) > limit:
        raise ValueError(f"no text {key}")
    return value


def _minutes(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    if type(value) is not int or not 1 <= value <= 10_000:
        raise ValueError(f"no minutes {key}")
    return value


# ------------------------------------------------------------------------------------------------------ decisions

Step = Literal["waits", "runs", "ended", "no runner", "not approved"]


def step_of(run: WorkflowRun, rules: Rules, now: datetime) -> Step:
    """What a run has come to, by the times that the settings give it."""
    if run.status == "completed":
        return "ended"
    minutes = minutes_since(run.created_at, now)
    if run.status == "waiting":
        return "not approved" if minutes > APPROVAL else "waits"
    if run.status in _WAITING:
        # Since it was approved, where it had to be.
        free = min(minutes, minutes_since(run.updated_at or run.created_at, now))
        late = free > rules.queue_timeout or minutes > APPROVAL + rules.queue_timeout
        return "no runner" if late else "waits"
    return "runs"


def may_be_late(run: WorkflowRun, rules: Rules, now: datetime) -> bool:
    """Whether a run is old enough for `is_late` to be asked."""
    return minutes_since(run.created_at, now) > rules.timeout


def is_late(jobs: Iterable[WorkflowJob], rules: Rules, now: datetime) -> bool:
    """Whether a run has had its time since a runner took it."""
    return any(job.runner and minutes_since(job.started_at, now) > rules.timeout for job in jobs)


def is_evidence(run: WorkflowRun, workflow: str, branch: str) -> bool:
    """Whether a run is one of the default branch's workflow: any other may leave an artifact of that name too."""
    return bool(branch) and (run.path, run.event, run.branch) == (
        f".github/workflows/{workflow}",
        "workflow_dispatch",
        branch,
    )


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: the conclusion of its check, the words of it, and the result if there is one that counts."""

    conclusion: Conclusion
    title: str
    result: Result | None = None
    reason: str = ""


def undecided(rules: Rules) -> Conclusion:
    """The conclusion of a run that tells nothing; `neutral` satisfies a required check."""
    return "action_required" if rules.fail_closed else "neutral"


def ending(
    run: WorkflowRun,
    jobs: Sequence[WorkflowJob],
    read: Result | str | None,
    mark: Mark,
    rules: Rules,
    branch: str,
    words: SmokeWords = EN,
) -> Ending:
    """What a run that has ended comes to; `read` is its result, why it cannot be read, or None where it left none."""
    open_ = undecided(rules)
    if not is_evidence(run, rules.workflow, branch):
        return Ending(open_, words.not_evidence)
    if run.conclusion == "cancelled":
        return Ending("cancelled", words.cancelled)
    if run.conclusion == "timed_out":
        return Ending("timed_out", words.timed_out)
    if read is None:
        taken = any(job.runner for job in jobs)
        return Ending(open_, words.no_verdict if taken else words.not_taken)
    if isinstance(read, str):
        return Ending(open_, words.unreadable, reason=read)
    if (read.nonce, read.head) != (mark.nonce, mark.head):
        return Ending(open_, words.other_run)
    return _by_verdict(run, read, mark, open_, words)


def _by_verdict(run: WorkflowRun, result: Result, mark: Mark, open_: Conclusion, words: SmokeWords) -> Ending:
    told = len({one.id for one in result.jobs})
    verdict = result.verdict
    if verdict == "fail":
        return Ending("failure", words.verdicts["fail"], result)
    if verdict != "pass":
        return Ending(open_, words.verdicts[verdict], result)
    if told < mark.jobs:
        return Ending(open_, words.missing.format(missing=mark.jobs - told, asked=mark.jobs), result)
    if run.conclusion != "success":
        return Ending(open_, words.broken_end, result)
    return Ending("success", words.verdicts["pass"], result)


def minutes_since(text: str, now: datetime) -> float:
    """Minutes since a time of GitHub; 0 for one that is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (now - (found if found.tzinfo is not None else found.replace(tzinfo=UTC))).total_seconds() / 60


# ------------------------------------------------------------------------------------------------------ check runs


def asked_output(picked: Picked, mark: Mark, actor: str, rules: Rules) -> CheckOutput:
    """What the check of a run shows until it ends."""
    parts: list[Sequence[str]] = []
    for words, jobs in zip(words_of(rules.languages), _jobs(len(picked.jobs), rules.languages), strict=True):
        parts.append([words.asked.format(actor=code(actor, 100), head=code(mark.head[:12]), jobs=jobs)])
        parts.append([words.waits.format(queue=rules.queue_timeout)])
    first = words_of(rules.languages)[0]
    parts.append([f"### {first.jobs}", "", *_picked(picked)])
    if picked.left:
        parts.append([f"### {first.left}", "", *(_left(text, why) for text, why in picked.left[:30])])
    return CheckOutput(cut(asked_titles(picked, rules)[0], MAX_TITLE), joined(*parts))


def asked_titles(picked: Picked, rules: Rules) -> list[str]:
    """What was asked for in a few words, in each language."""
    counts = _jobs(len(picked.jobs), rules.languages)
    return [words.asked_title.format(jobs=jobs) for words, jobs in zip(words_of(rules.languages), counts, strict=True)]


def _jobs(number: int, languages: Sequence[Language]) -> list[str]:
    wordings = [WORDINGS[language] for language in dict.fromkeys(languages)] or [WORDING_EN]
    return [one.count(number, one.jobs) for one in wordings]


def _picked(picked: Picked) -> Iterator[str]:
    for job in picked.jobs:
        yield f"- {code(job.text, MAX_ROW)} ({job.gpus} GPU): {code(job.id)}"
        yield from (f"  - {prose(text, MAX_ROW)}" for text in job.shows[:6])


def _left(text: str, why: str) -> str:
    return f"- {prose(text, MAX_ROW)}" + (f" ({prose(why, MAX_ROW)})" if why else "")


def plain_output(title: str, text: str = "") -> CheckOutput:
    """A check that says one thing; the text is Markdown already."""
    return CheckOutput(cut(title, MAX_TITLE), text or f"{title}.")


def ended_output(end: Ending, mark: Mark, url: str, rules: Rules) -> CheckOutput:
    """What the check of a run shows when it has ended."""
    words = words_of(rules.languages)[0]
    parts: list[Sequence[str]] = [[f"{end.title}."], [prose(end.reason, 500)] if end.reason else []]
    parts += _report(end.result, words, whole=True) if end.result is not None else []
    parts.append([_about(mark, url, words)])
    return CheckOutput(cut(_title(end), MAX_TITLE), joined(*parts))


def _title(end: Ending) -> str:
    if end.result is None:
        return end.title
    reasons = [one.verdict.reason for one in end.result.jobs if one.verdict.verdict == end.result.verdict]
    if end.conclusion != "failure" or not reasons:
        return end.title
    return f"{end.title}: {visible(redact(reasons[0]), 160)}"


def _about(mark: Mark, url: str, words: SmokeWords) -> str:
    run = f" [{words.run}]({url})" if url.startswith("https://") and not set(url) & set("()<> \n\\") else ""
    return f"<sub>{code(mark.head[:12])}{run}</sub>"


# ------------------------------------------------------------------------------------- the summary comment's part


def section(end: Ending, mark: Mark, url: str, rules: Rules) -> str:
    """The part of the summary comment about a run, between two lines by which it is known again."""
    parts: list[str] = []
    for words in words_of(rules.languages)[:1]:
        lines = joined(
            [f"### {NAME}: {prose(end.title)}"],
            *(_report(end.result, words, whole=False) if end.result is not None else ()),
            [_about(mark, url, words)],
        )
        parts.append(lines)
    kept = fit(joined(parts).split("\n"), MAX_SECTION, lambda _: "…")
    return "\n".join((f"<!-- botlint:v1 smoke={mark.head} -->", *kept, _END))


def section_of(body: str, head: str) -> str:
    """The part of an own comment about a smoke run of this head; empty without one."""
    lines = body.replace("\r\n", "\n").split("\n")
    for start, line in enumerate(lines):
        begun = _BEGIN.fullmatch(line.strip())
        if begun is not None and _END in lines[start:]:
            found = "\n".join(lines[start : lines.index(_END, start) + 1])
            return found if begun[1] == head else ""
    return ""


def with_section(body: str, part: str) -> str:
    """A summary comment with this part about a smoke run, in the place of what it has, above its marker."""
    lines = body.replace("\r\n", "\n").rstrip().split("\n")
    for start, line in enumerate(lines):
        if _BEGIN.fullmatch(line.strip()) and _END in lines[start:]:
            del lines[start : lines.index(_END, start) + 1]
            break
    while lines and (not lines[-1].strip() or lines[-1].strip() == SUMMARY):
        lines.pop()
    return joined(lines, part.split("\n") if part else (), [SUMMARY])


def carried(body: str, comments: Iterable[IssueComment], me: Identity, head: str) -> str:
    """A new summary with what the one that is there says about a smoke run of this head."""
    known = next((one for one in own(comments, me) if has_marker(one.body, SUMMARY)), None)
    part = "" if known is None else section_of(known.body, head)
    return with_section(body, part) if part else body


# ---------------------------------------------------------------------------------------------------- the report


def _report(result: Result, words: SmokeWords, *, whole: bool) -> list[Sequence[str]]:
    parts: list[Sequence[str]] = [_table(result, words)]
    for one in result.jobs:
        parts += [list(_figures(one, words)), list(_causes(one.verdict, words))]
        if whole:
            parts += [_changes(one.verdict, words), _log(one.verdict, words)]
    return parts


def _table(result: Result, words: SmokeWords) -> list[str]:
    rows = ["| " + " | ".join(words.columns) + " |", "| --- | --- | --- |"]
    for one in result.jobs:
        verdict = one.verdict
        stage = f" ({verdict.stage})" if verdict.stage else ""
        rows.append(f"| {_name(verdict)} | {words.verdicts[verdict.verdict]}{stage} | {_said(verdict.reason)} |")
    rows += [f"| {code(one.id)} | {words.unstarted} | {_said(one.reason)} |" for one in result.unstarted]
    return rows


def _name(verdict: Verdict) -> str:
    job = verdict.job
    conc = "" if job.concurrency is None else f", conc {job.concurrency}"
    return _said(f"{job.entry} ({job.scenario}{conc})")


def _quoted(text: str, limit: int = 160) -> str:
    """The same as code."""
    return code(redact(text), limit)


def _said(text: str) -> str:
    """A text of the node as Markdown; tokens that a log may show are none of anybody's business."""
    return prose(redact(text), MAX_ROW)


def _figures(one: JobResult, words: SmokeWords) -> Iterator[str]:
    listed = one.verdict.figures[:MAX_FIGURES]
    if not listed:
        return
    deltas = {(delta.mode, delta.concurrency): delta for delta in one.verdict.deltas}
    heads = list(words.figures)
    columns = [*heads[:3]]
    for head in heads[3:]:
        columns += [head, words.delta] if deltas else [head]
    yield f"{_name(one.verdict)}:"
    yield ""
    yield "| " + " | ".join(columns) + " |"
    yield "| --- | --- |" + " --: |" * (len(columns) - 2)
    for figures in listed:
        cells = _cells(figures, deltas.get((figures.mode, figures.concurrency)), bool(deltas))
        yield "| " + " | ".join(cells) + " |"
    for figures in listed:
        if figures.acceptance is not None and figures.acceptance.rate is not None:
            positions = figures.acceptance.positions
            listed_positions = ", ".join(f"{share:.3f}" for share in positions[:16]) if positions else ""
            yield ""
            yield words.acceptance.format(
                rate=f"{figures.acceptance.rate:.1%}",
                drafted=f"{figures.acceptance.draft_tokens:,}",
                positions=f" ({listed_positions})" if listed_positions else "",
            )


def _cells(figures: Figures, delta: Delta | None, with_deltas: bool) -> list[str]:
    values: list[tuple[str, float | None]] = [
        (_number(figures.requests_per_second, 3), delta.requests_per_second if delta else None),
        (_number(figures.total_tokens_per_second, 1), delta.total_tokens_per_second if delta else None),
        (_number(figures.output_tokens_per_second, 1), delta.output_tokens_per_second if delta else None),
        (_number(figures.ttft_ms.median, 1), delta.ttft_ms_median if delta else None),
        (_spread(figures.tpot_ms), delta.tpot_ms_mean if delta else None),
        (_spread(figures.itl_ms), delta.itl_ms_mean if delta else None),
    ]
    cells = [figures.mode, f"{figures.isl:.0f}/{figures.osl:.0f}", f"{figures.concurrency}"]
    for text, change in values:
        cells += [text, "-" if change is None else f"{change:+.1%}"] if with_deltas else [text]
    return cells


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if abs(value) < 1e12 else f"{value:.3g}"


def _spread(value: Spread | None) -> str:
    return "-" if value is None else "/".join(_number(one, 2) for one in (value.mean, value.median, value.p99))


def _causes(verdict: Verdict, words: SmokeWords) -> Iterator[str]:
    if not verdict.causes:
        return
    yield f"**{words.causes}**"
    yield ""
    for cause in verdict.causes[:5]:
        rule = f" ({words.rule.format(rule=code(cause.rule, 100))})" if cause.rule else ""
        yield f"- {_said(cause.text)}{rule}: {_quoted(cause.line, MAX_ROW)}"


def _changes(verdict: Verdict, words: SmokeWords) -> list[str]:
    rows = []
    for one in verdict.changes[:MAX_CHANGES]:
        old = "-" if one.old is None else _quoted(one.old) or code('""')
        new = "-" if one.new is None else _quoted(one.new) or code('""')
        rows.append(f"- {_quoted(one.what)}: {old} → {new} ({_said(one.why)})")
    title = f"{_name(verdict)}: {words.changes.format(number=len(verdict.changes))}"
    return folded(title, fit(rows, 12_000, lambda number: f"- … {number}")) if rows else []


def _log(verdict: Verdict, words: SmokeWords) -> list[str]:
    lines = [visible(redact(line), MAX_ROW) for line in verdict.log.tail[-MAX_LOG:]]
    if not lines:
        return []
    kept = fit(list(reversed(lines)), 12_000, lambda number: f"... {number}")
    return folded(f"{_name(verdict)}: {words.log}", block(list(reversed(kept))))
