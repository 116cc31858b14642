"""A verdict for people: Markdown for a step summary or a comment, and plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from botlint.core.markdown import block, code, prose
from botlint.core.visible import visible, without_commands
from botlint.smoke.model import Delta, Figures, Spread, Verdict

MAX_CHANGES = 60
MAX_LOG_LINES = 30

_SIGNS = {"pass": "✅", "fail": "❌", "infrastructure": "🔧", "inconclusive": "❔"}
_STATUS = {"ok": "✅", "failed": "❌", "skipped": "–", "timeout": "⏱"}
_SHOWN = 300
_NONE = "-"


def render_markdown(verdict: Verdict) -> str:
    """A verdict as GitHub-flavoured Markdown in which no text of a plan or log can make markup."""
    return without_commands("\n".join(_markdown(verdict)) + "\n")


def render_text(verdict: Verdict) -> str:
    """A verdict as plain text."""
    return without_commands("\n".join(_text(verdict)) + "\n")


def _markdown(verdict: Verdict) -> Iterator[str]:
    job = verdict.job
    yield f"### {_SIGNS[verdict.verdict]} botlint smoke: {verdict.verdict}"
    yield ""
    yield f"{code(job.entry)} {prose(job_words(verdict))}"
    yield ""
    yield prose(verdict.reason)
    yield ""
    yield from _stages(verdict)
    if verdict.figures:
        yield from _figures(verdict)
    if verdict.evaluation:
        yield "| metric | value |"
        yield "|---|--:|"
        yield from (f"| {prose(name, 100)} | {value:.4f} |" for name, value in verdict.evaluation.items())
        yield ""
    if verdict.causes:
        yield "**Probable causes**"
        yield ""
        for cause in verdict.causes:
            rule = f" (rule {code(cause.rule)})" if cause.rule else ""
            yield f"- {prose(cause.text)}{rule}: {code(cause.line, _SHOWN)}"
            yield f"  <br>known from {prose(cause.source)}"
        yield ""
    if verdict.changes:
        yield from _changes(verdict)
    if verdict.verdict != "pass" and verdict.log.tail:
        yield "<details><summary>The end of the server's log</summary>"
        yield ""
        yield from block([visible(line, 1_000) for line in verdict.log.tail[-MAX_LOG_LINES:]])
        yield ""
        yield "</details>"
        yield ""
    versions = ", ".join(f"{name} {number}" for name, number in verdict.versions.items())
    if versions:
        yield prose(f"Found there: {versions}.")


def _stages(verdict: Verdict) -> Iterator[str]:
    yield "| stage | | seconds | limit | |"
    yield "|---|---|--:|--:|---|"
    for stage in verdict.stages:
        yield (
            f"| {stage.name} | {_STATUS[stage.status]} {stage.status} | {stage.seconds:.1f} | {stage.limit:.0f} "
            f"| {prose(stage.message, _SHOWN)} |"
        )
    yield ""


def _figures(verdict: Verdict) -> Iterator[str]:
    """The table that reviewers of serving engines know: a row per load, with deltas against the base revision."""
    against = {(one.mode, one.concurrency): one for one in verdict.deltas}
    names = ["Mode", "ISL/OSL", "Conc", "Spec"]
    measured = ["Req/s", "Total tok/s", "Output tok/s", "median TTFT (ms)", "TPOT mean/med/p99 (ms)"]
    measured.append("ITL mean/med/p99 (ms)")
    compared = verdict.compared is not None and bool(verdict.deltas)
    columns = [*names, *(name for one in measured for name in ((one, "delta") if compared else (one,)))]
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "|".join("---" if name in names[:2] else "--:" for name in columns) + "|"
    if verdict.compared is not None and compared:
        for one in verdict.compared.figures:
            yield _row(f"base {one.mode}", one, None, True)
    for one in verdict.figures:
        name = f"head {one.mode}" if compared else one.mode
        yield _row(name, one, against.get((one.mode, one.concurrency)), compared)
    yield ""
    accepted = [one for one in verdict.figures if one.acceptance is not None and one.acceptance.positions]
    for one in accepted:
        assert one.acceptance is not None
        positions = ", ".join(f"{share:.3f}" for share in one.acceptance.positions or ())
        rate = one.acceptance.rate
        average = "" if rate is None else f"; {rate:.1%} of the drafted tokens"
        yield f"- {one.mode}, concurrency {one.concurrency}: acceptance per position {positions}{average}"
    if accepted:
        yield ""


def _row(name: str, one: Figures, delta: Delta | None, compared: bool) -> str:
    cells = [name, f"{one.isl:.0f}/{one.osl:.0f}", str(one.concurrency), _speculation(one)]
    values = [
        (f"{one.requests_per_second:.3f}", delta and delta.requests_per_second),
        (f"{one.total_tokens_per_second:.1f}", delta and delta.total_tokens_per_second),
        (f"{one.output_tokens_per_second:.1f}", delta and delta.output_tokens_per_second),
        (f"{one.ttft_ms.median:.0f}", delta and delta.ttft_ms_median),
        (_spread(one.tpot_ms), delta and delta.tpot_ms_mean),
        (_spread(one.itl_ms), delta and delta.itl_ms_mean),
    ]
    for value, share in values:
        cells.append(value)
        if compared:
            cells.append(_NONE if not isinstance(share, float) else f"{share:+.1%}")
    return "| " + " | ".join(cells) + " |"


def _speculation(one: Figures) -> str:
    if one.acceptance is None:
        return "no"
    return f"{len(one.acceptance.positions)} tokens" if one.acceptance.positions else "yes"


def _spread(value: Spread | None) -> str:
    return _NONE if value is None else f"{value.mean:.2f}/{value.median:.2f}/{value.p99:.2f}"


def _changes(verdict: Verdict) -> Iterator[str]:
    yield f"<details><summary>{len(verdict.changes)} differences from what the plan starts</summary>"
    yield ""
    yield "| what | plan | run | why |"
    yield "|---|---|---|---|"
    for change in verdict.changes[:MAX_CHANGES]:
        old, new = (_NONE if text is None else _cell(text) for text in (change.old, change.new))
        yield f"| {_cell(change.what)} | {old} | {new} | {prose(change.why, _SHOWN)} |"
    yield ""
    if len(verdict.changes) > MAX_CHANGES:
        yield f"{len(verdict.changes) - MAX_CHANGES} more are in the JSON form."
        yield ""
    yield "</details>"
    yield ""


def _cell(text: str) -> str:
    """A text as code in a cell of a table: a bar would end the cell, in code too."""
    return code(text, _SHOWN).replace("|", "\\|") or "given"


def job_words(verdict: Verdict) -> str:
    """What tells the job from others of its entry."""
    job = verdict.job
    words: Sequence[str | None] = (
        job.scenario,
        None if job.arm is None else f"arm {job.arm}",
        None if job.concurrency is None else f"conc {job.concurrency}",
        None if verdict.framework is None else f"on {verdict.framework}",
        verdict.planned_version,
        None if verdict.head is None else f"at {verdict.head[:12]}",
    )
    return " ".join(word for word in words if word)


def _text(verdict: Verdict) -> Iterator[str]:
    yield f"{verdict.verdict}: {verdict.reason}"
    yield f"  {verdict.job.entry} {job_words(verdict)}"
    for stage in verdict.stages:
        yield f"  {stage.name:<9} {stage.status:<8} {stage.seconds:8.1f} s  {visible(stage.message, _SHOWN)}"
    for one in verdict.figures:
        rates = f"{one.requests_per_second:.3f} req/s  {one.output_tokens_per_second:.1f} tok/s"
        times = f"TTFT {one.ttft_ms.median:.0f} ms  TPOT {_spread(one.tpot_ms)} ms"
        yield f"  {one.mode:<11} conc {one.concurrency:<3} {one.isl:.0f}/{one.osl:.0f}  {rates}  {times}"
        if one.acceptance is not None and one.acceptance.positions:
            yield "              acceptance per position " + ", ".join(f"{s:.3f}" for s in one.acceptance.positions)
    for delta in verdict.deltas:
        share = delta.output_tokens_per_second
        yield f"  {delta.mode:<11} conc {delta.concurrency:<3} against the base: " + (
            _NONE if share is None else f"{share:+.1%} output tokens per second"
        )
    for cause in verdict.causes:
        yield f"  cause: {cause.text}" + (f" [{cause.rule}]" if cause.rule else "")
        yield f"    {cause.line}"
    for change in verdict.changes:
        old, new = (visible(_NONE if text is None else text or "given", _SHOWN) for text in (change.old, change.new))
        yield f"  changed {visible(change.what, _SHOWN)}: {old} -> {new} ({change.why})"
    if verdict.verdict != "pass":
        yield from (f"  | {line}" for line in verdict.log.tail[-MAX_LOG_LINES:])
