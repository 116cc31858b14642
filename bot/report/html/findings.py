"""The findings of a page, by rule; all of it is there without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from botlint.core.finding import SEVERITIES, Edit, Finding, Report
from botlint.core.span import Span
from botlint.report.excerpt import pieces
from botlint.report.html.markup import escaped, lines, place, safe_url, tag, text
from botlint.report.options import Options, Sources, counted, days_since, jobs_by_entry

MAX_FINDINGS = 1_000
"""Findings that are written out; the rest is counted. JSON has all."""

MAX_OPEN = 12
"""Findings that are open from the start, if there are not more."""

MAX_RELATED = 12
MAX_STEPS = 60
MAX_ENTRIES = 30
MAX_ARMS = 12
MAX_EDITS = 12
MAX_LINES = 40
"""Places, steps, entries, arms of an entry, edits and lines of an edit that are shown of one finding."""

CONTEXT = 2
"""Lines around an excerpt."""


def finding_id(finding: Finding) -> str:
    """The name of a finding's element, which a link to it ends with."""
    return f"f-{text(finding.fingerprint or 'none', 64)}"


def by_rule(report: Report) -> list[tuple[str, list[Finding]]]:
    """The findings of a report by rule, the worst rules first, those that are allowed behind those that count."""
    groups: dict[str, list[Finding]] = {}
    for finding in report.findings:
        groups.setdefault(finding.rule, []).append(finding)
    for group in groups.values():
        group.sort(key=lambda one: (not one.counts, SEVERITIES.index(one.severity), one.certainty != "certain"))
    return sorted(groups.items(), key=lambda item: (_rank(item[1]), item[0]))


def _rank(findings: Sequence[Finding]) -> tuple[bool, int, bool]:
    first = findings[0]
    return not first.counts, SEVERITIES.index(first.severity), first.certainty != "certain"


def render_findings(report: Report, sources: Sources, options: Options, entries: Mapping[str, int]) -> Iterator[str]:
    """The section of all findings; `entries` numbers the entries that the page shows."""
    total = len(report.findings)
    yield '<section id="findings" class="part" aria-labelledby="findings-title">\n'
    yield f'<h2 id="findings-title">Findings <span class="number">{total:,}</span></h2>\n'
    if not total:
        yield '<p class="empty">Nothing is wrong as far as the rules look.</p>\n'
    opened = " open" if total <= MAX_OPEN else ""
    left = MAX_FINDINGS
    for rule, findings in by_rule(report):
        if left <= 0:
            break
        shown = findings[:left]
        left -= len(shown)
        yield from _heading(rule, findings, options)
        for finding in shown:
            yield "".join(_finding(finding, sources, options, entries, opened if finding.counts else ""))
        yield "</section>\n"
    if total > MAX_FINDINGS:
        yield f'<p class="more">{counted(total - MAX_FINDINGS, "more finding")} not shown here; JSON has all.</p>\n'
    yield "</section>\n"


def _heading(rule: str, findings: Sequence[Finding], options: Options) -> Iterator[str]:
    info = options.rules.get(rule)
    number = f'<span class="number">{len(findings):,}</span>'
    ident = f' <span class="faint">{text(info.id, 40)}</span>' if info is not None else ""
    yield f'<section class="rule"><div class="rule-head"><h3><code>{text(rule, 200)}</code>{ident} {number}</h3>'
    if info is not None and info.why:
        yield f'<details class="why"><summary>Why this matters</summary><div><p>{lines(info.why)}</p>'
        if info.sources:
            yield "<ul>" + "".join(f"<li>{_source(one)}</li>" for one in info.sources[:MAX_STEPS]) + "</ul>"
        yield "</div></details>"
    yield "</div>\n"


def _source(source: str) -> str:
    url = safe_url(source)
    return f'<a href="{text(url)}" rel="noopener noreferrer">{text(url)}</a>' if url else text(source)


def _finding(
    finding: Finding, sources: Sources, options: Options, entries: Mapping[str, int], opened: str
) -> Iterator[str]:
    state = "counts" if finding.counts else "allowed"
    yield f'<details class="item finding" id="{finding_id(finding)}" data-severity="{finding.severity}"'
    yield f' data-state="{state}"{opened}>\n'
    yield from _summary(finding)
    yield '<div class="body">\n'
    yield from _rest_of_message(finding)
    yield from _allowed(finding, options)
    yield from _sides(finding, sources, options)
    yield from _steps(finding)
    yield from _jobs(finding, entries)
    if finding.remedy:
        yield f'<p class="remedy"><b>Remedy</b> {lines(finding.remedy)}</p>\n'
    yield from _fix(finding, sources)
    yield f'<p class="faint">Fingerprint <code class="whole">{text(finding.fingerprint, 64)}</code></p>\n'
    yield "</div></details>\n"


def _summary(finding: Finding) -> Iterator[str]:
    first = finding.message.partition("\n")[0]
    possible = ' <span class="tag possible">possible</span>' if finding.certainty == "possible" else ""
    allowed = "" if finding.counts else tag("allowed", "suppressed" if finding.suppressed is not None else "baseline")
    where = place(finding.span.path, finding.span.line) if finding.span.path else ""
    jobs = f'<span class="faint">{counted(len(finding.jobs), "job")}</span>' if finding.jobs else ""
    yield f'<summary>{tag(finding.severity)}{possible}{allowed}<span class="message">{text(first)}</span>'
    yield f'<span class="where">{where} {jobs}</span></summary>\n'


def _rest_of_message(finding: Finding) -> Iterator[str]:
    rest = finding.message.partition("\n")[2]
    if rest.strip():
        yield f'<p class="rest">{lines(rest)}</p>\n'


def _allowed(finding: Finding, options: Options) -> Iterator[str]:
    if finding.suppressed is not None:
        yield f"<p><b>Suppressed</b> {lines(finding.suppressed) or 'without a reason'}</p>\n"
    elif finding.baselined is not None:
        days = days_since(finding.baselined, options.today)
        age = "" if days is None else f", {counted(days, 'day')} ago"
        yield f"<p><b>In the baseline</b> since {text(finding.baselined, 40)}{age}</p>\n"


# ------------------------------------------------------------------------------------------------------------ excerpts


def _sides(finding: Finding, sources: Sources, options: Options) -> Iterator[str]:
    shown = [(finding.span, "", "here")] if finding.span.path else []
    shown += [(one.span, one.message, "related") for one in finding.related[:MAX_RELATED]]
    if not shown:
        return
    yield f'<div class="sides{" two" if len(shown) > 1 else ""}">\n'
    for span, message, kind in shown:
        yield "".join(_excerpt(span, message, kind, sources, options))
    yield "</div>\n"
    if len(finding.related) > MAX_RELATED:
        yield f'<p class="more">and {counted(len(finding.related) - MAX_RELATED, "more place")}</p>\n'


def _excerpt(span: Span, message: str, kind: str, sources: Sources, options: Options) -> Iterator[str]:
    words = f' <span class="why">{text(message)}</span>' if message else ""
    yield f'<figure class="excerpt {kind}"><figcaption>{place(span.path, span.line, options.page.head_url)}{words}'
    yield "</figcaption>"
    rows = pieces(span, sources, context=CONTEXT)
    if rows:
        yield "<pre><code>"
        for row in rows:
            covered = f"<mark>{escaped(row.covered)}</mark>" if row.covered else ""
            body = f"{escaped(row.before)}{covered}{escaped(row.after)}"
            number = f' data-n="{row.number}"' if row.number else ""
            yield f"<span{number}>{body}</span>"
        yield "</code></pre>"
    yield "</figure>\n"


# -------------------------------------------------------------------------------------------------- proof, jobs and fix


def _steps(finding: Finding) -> Iterator[str]:
    if not finding.steps:
        return
    yield '<section class="proof"><h4>Proof</h4><ol>'
    for step in finding.steps[:MAX_STEPS]:
        yield f"<li>{lines(step)}</li>"
    yield "</ol>"
    if len(finding.steps) > MAX_STEPS:
        yield f'<p class="more">and {counted(len(finding.steps) - MAX_STEPS, "more step")}</p>'
    yield "</section>\n"


def _jobs(finding: Finding, entries: Mapping[str, int]) -> Iterator[str]:
    found = jobs_by_entry(finding)
    if not found:
        return
    of = f"{counted(len(finding.jobs), 'job')} of " if finding.jobs else ""
    yield f'<section class="affected"><h4>{of}{counted(len(found), "entry", "entries")}</h4><ul>'
    for entry, arms in list(found.items())[:MAX_ENTRIES]:
        listed = "; ".join(text(arm, 200) for arm in arms[:MAX_ARMS])
        more = f"; and {len(arms) - MAX_ARMS:,} more" if len(arms) > MAX_ARMS else ""
        which = f' <span class="faint">{listed}{more}</span>' if arms else ""
        yield f"<li>{entry_link(entry, entries)}{which}</li>"
    if len(found) > MAX_ENTRIES:
        yield f'<li class="more">and {counted(len(found) - MAX_ENTRIES, "more entry", "more entries")}</li>'
    yield "</ul></section>\n"


def entry_link(entry: str, entries: Mapping[str, int]) -> str:
    """An entry's name, which leads to its jobs if the page has them."""
    number = entries.get(entry)
    if number is None:
        return f"<code>{text(entry, 300)}</code>"
    return f'<a href="#e-{number}"><code>{text(entry, 300)}</code></a>'


def _fix(finding: Finding, sources: Sources) -> Iterator[str]:
    fix = finding.fix
    if fix is None:
        return
    command = "botlint fix --apply" + ("" if fix.safe else " --unsafe")
    kind = "safe" if fix.safe else "changes what a job means"
    yield f'<section class="fix"><h4>Fix: {text(fix.title)}</h4><p class="faint">{kind}; <code>{command}</code></p>'
    for edit in fix.edits[:MAX_EDITS]:
        yield "".join(_edit(edit, sources))
    if len(fix.edits) > MAX_EDITS:
        yield f'<p class="more">and {counted(len(fix.edits) - MAX_EDITS, "more edit")}</p>'
    yield "</section>\n"


def _edit(edit: Edit, sources: Sources) -> Iterator[str]:
    old, new = edited_lines(edit, sources)
    yield f'<figure class="excerpt"><figcaption>{place(edit.span.path, edit.span.line)}</figcaption>'
    yield "<pre><code>"
    for sign, kind, texts in (("-", "del", old), ("+", "ins", new)):
        for line in texts[:MAX_LINES]:
            yield f"<{kind}>{sign} {text(line, 400)}</{kind}>"
        if len(texts) > MAX_LINES:
            yield f"<{kind}>{sign} and {len(texts) - MAX_LINES:,} more lines</{kind}>"
    yield "</code></pre></figure>"


def edited_lines(edit: Edit, sources: Sources) -> tuple[list[str], list[str]]:
    """The lines that an edit takes away and those that it puts there, without those that stay at both ends."""
    span = edit.span
    source = sources(span.path)
    if source is None or not 1 <= span.line <= len(source) or span.end_line < span.line:
        return [], edit.text.split("\n")
    old = list(source[span.line - 1 : span.end_line])
    ends_above = span.end_line > len(source)
    before = old[0][: span.column - 1]
    after = "" if ends_above else old[-1][span.end_column - 1 :]
    new = f"{before}{edit.text}{after}".split("\n")
    while old and new and old[-1] == new[-1]:
        old.pop()
        new.pop()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    if old and new == [""]:
        new = []
    return old, new
