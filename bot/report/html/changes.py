"""What a change makes different in what is launched, as a section of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from botlint.plan.diff import DiffGroup, SharedChange
from botlint.plan.diffshow import summary_text
from botlint.plan.model import Exit, LaunchPlan
from botlint.plan.show import describe_jobs, first_line, varying_keys
from botlint.report.html.findings import entry_link
from botlint.report.html.markup import place, tag, text
from botlint.report.options import Page, counted

MAX_NAME = 200
"""Characters of the name of a change."""

MAX_GROUPS = 300
MAX_OPEN = 12
MAX_ENTRIES = 20
MAX_CHANGES = 120
MAX_VALUES = 8
MAX_EXITS = 6
"""Groups, groups that are open from the start, and entries, changes, values and exits of a group that are shown."""

_KINDS = {
    "outcome": "outcome",
    "job": "row",
    "runners": "runners",
    "launcher": "launcher",
    "recipe": "recipe",
    "framework": "framework",
    "version": "version",
    "variable": "variable",
    "runtime-variable": "set by the runtime",
    "command": "command",
    "flag": "option",
    "role": "role",
    "possible": "possible ending",
}

Rows = Mapping[str, Sequence[Mapping[str, object]]]


def render_changes(page: Page, entries: Mapping[str, int]) -> Iterator[str]:
    """The section of the plan diff; nothing without one."""
    diff = page.diff
    if diff is None:
        return
    rows = _rows(page.plans, ())
    old_rows = _rows((pair.old for group in diff.groups for pair in group.pairs), diff.removed)
    number = diff.changed + len(diff.added) + len(diff.removed)
    yield '<section id="changes" class="part" aria-labelledby="changes-title">\n'
    yield f'<h2 id="changes-title">Plan diff <span class="number">{number:,}</span></h2>\n'
    yield f'<p class="lead">{text(summary_text(diff))}.</p>\n'
    if diff.empty:
        yield '<p class="empty">Every job starts what it started before.</p>\n'
    for old, new in diff.renamed[:MAX_GROUPS]:
        yield f'<p class="renamed"><b>Renamed</b> <code>{text(old, 300)}</code> to {entry_link(new, entries)}</p>\n'
    opened = " open" if len(diff.groups) <= MAX_OPEN else ""
    for group in sorted(diff.groups, key=lambda group: not _is_worse(group))[:MAX_GROUPS]:
        yield "".join(_group(group, rows, entries, page, opened))
    if len(diff.groups) > MAX_GROUPS:
        yield f'<p class="more">and {counted(len(diff.groups) - MAX_GROUPS, "more group")}</p>\n'
    yield from _listed("added", diff.added, rows, entries)
    yield from _listed("removed", diff.removed, old_rows, {})
    yield "</section>\n"


def _rows(plans: object, more: Sequence[LaunchPlan]) -> Rows:
    found: dict[str, list[Mapping[str, object]]] = {}
    for plan in (*plans, *more):  # type: ignore[misc]
        found.setdefault(plan.entry, []).append(plan.job)
    return found


def _by_entry(plans: Sequence[LaunchPlan]) -> dict[str, list[LaunchPlan]]:
    found: dict[str, list[LaunchPlan]] = {}
    for plan in plans:
        found.setdefault(plan.entry, []).append(plan)
    return found


# ---------------------------------------------------------------------------------------------------------- one group


def _group(group: DiffGroup, rows: Rows, entries: Mapping[str, int], page: Page, opened: str) -> Iterator[str]:
    found = _by_entry([pair.new for pair in group.pairs])
    outcomes = dict.fromkeys(one.launch.outcome for pair in group.pairs for one in (pair.old, pair.new))
    yield f'<details class="item change" data-outcomes="{" ".join(outcomes)}"{opened}>\n<summary>'
    yield tag("worse", "no longer serves") if _is_worse(group) else tag("changed")
    name = next(iter(found)) if len(found) == 1 else counted(len(found), "entry", "entries")
    yield f'<span class="message"><b>{counted(len(group.pairs), "job")}</b> of {text(name, 300)}</span>'
    yield f'<span class="where faint">{text(_gist(group.changes), 200)}</span></summary>\n<div class="body">\n'
    yield "".join(_which(found, rows, entries))
    yield '<div class="wide"><table class="delta"><thead><tr><th scope="col">What</th><th scope="col">Before</th>'
    yield '<th scope="col">After</th></tr></thead><tbody>\n'
    for shared in group.changes[:MAX_CHANGES]:
        yield "".join(_change(shared, group, page))
    yield "</tbody></table></div>\n"
    if len(group.changes) > MAX_CHANGES:
        yield f'<p class="more">and {counted(len(group.changes) - MAX_CHANGES, "more change")}</p>\n'
    yield "</div></details>\n"


def _is_worse(group: DiffGroup) -> bool:
    """Whether a job that served does not any more."""
    return any(pair.old.launch.outcome == "serves" != pair.new.launch.outcome for pair in group.pairs)


def _gist(changes: Sequence[SharedChange]) -> str:
    names = list(dict.fromkeys(_short(shared) for shared in changes))
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _short(shared: SharedChange) -> str:
    """A change in a word; a possible ending is named by conditions, which are long."""
    change = shared.change
    return change.name if change.name and change.kind != "possible" else _KINDS[change.kind]


def _which(found: Mapping[str, Sequence[LaunchPlan]], rows: Rows, entries: Mapping[str, int]) -> Iterator[str]:
    yield '<ul class="which">'
    for entry, plans in list(found.items())[:MAX_ENTRIES]:
        yield f'<li>{entry_link(entry, entries)} <span class="faint">{_of(plans, rows.get(entry, ()))}</span></li>'
    if len(found) > MAX_ENTRIES:
        yield f'<li class="more">and {counted(len(found) - MAX_ENTRIES, "more entry", "more entries")}</li>'
    yield "</ul>\n"


def _of(plans: Sequence[LaunchPlan], rows: Sequence[Mapping[str, object]]) -> str:
    if len(plans) == len(rows):
        return "all of its jobs" if len(plans) > 1 else "its job"
    described = describe_jobs(plans, varying_keys(rows), limit=4)
    words = f"{len(plans)} of {counted(len(rows), 'job')}"
    return text(f"{words}: {'; '.join(described)}" if described else words)


def _change(shared: SharedChange, group: DiffGroup, page: Page) -> Iterator[str]:
    change = shared.change
    added = all(value is None for value in shared.old)
    removed = all(value is None for value in shared.new)
    kind = "added" if added else "removed" if removed else "changed"
    sign = {"added": "+", "removed": "−", "changed": "~"}[kind]
    name = f"<code>{text(_middle(change.name))}</code> " if change.name else ""
    role = f" of <code>{text(change.role, 100)}</code>" if change.role else ""
    on = f" on {text(change.runners, 200)}" if change.runners else ""
    yield f'<tr class="{kind}"><th scope="row"><span class="sign" aria-hidden="true">{sign}</span> {name}'
    yield f'<span class="faint">{_KINDS[change.kind]} {kind}{role}{on}</span></th>'
    first = group.pairs[0]
    for values, ends, plan, column, url in (
        (shared.old, shared.old_exits, first.old, "Before", page.base_url),
        (shared.new, shared.new_exits, first.new, "After", page.head_url),
    ):
        where = "" if all(value is None for value in values) else _written(plan, shared, url)
        yield f'<td data-column="{column}">{_values(values)}{_ends(ends, url)}{where}</td>'
    yield "</tr>\n"


def _written(plan: LaunchPlan, shared: SharedChange, url: str) -> str:
    """Where a value is written, for the first job of a group."""
    change = shared.change
    if change.kind == "job":
        at = plan.arm.path, plan.arm.line
    else:
        server = plan.launch.server
        name = f"{change.role} {change.name}" if change.role else change.name
        marks = () if server is None or change.runners or change.kind == "possible" else server.origins.get(name, ())
        if not marks or marks[-1][0] in ("row", "maybe"):
            return ""
        at = marks[-1][1:]
    return f'<span class="end">{place(*at, url)}</span>'


def _middle(name: str) -> str:
    """A name; of a long one, which lists conditions, the start and the end."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]} … {name[-MAX_NAME // 2 :]}"


def _values(values: Sequence[str | None]) -> str:
    if all(value is None for value in values):
        return '<span class="faint">not there</span>'
    distinct = list(dict.fromkeys(values))
    shown = [_value(value) for value in distinct[:MAX_VALUES]]
    if len(distinct) > MAX_VALUES:
        shown.append(f'<span class="faint">… {len(distinct)} in all</span>')
    return " ".join(shown)


def _value(value: str | None) -> str:
    if value is None:
        return '<span class="faint">not there</span>'
    return f"<code>{text(value)}</code>" if value else '<span class="faint">no value</span>'


def _ends(exits: Sequence[Exit], url: str) -> str:
    shown = [
        f'<span class="end">{place(end.path, end.line, url)} {text(first_line(end.message), 300)}</span>'
        for end in exits[:MAX_EXITS]
    ]
    return "".join(shown)


# ------------------------------------------------------------------------------------------------- added and removed


def _listed(kind: str, plans: Sequence[LaunchPlan], rows: Rows, entries: Mapping[str, int]) -> Iterator[str]:
    found = _by_entry(plans)
    if not found:
        return
    outcomes = dict.fromkeys(plan.launch.outcome for plan in plans)
    yield f'<details class="item change" data-outcomes="{" ".join(outcomes)}"><summary>{tag(kind)}'
    jobs, names = counted(len(plans), "job"), counted(len(found), "entry", "entries")
    yield f'<span class="message"><b>{jobs}</b> of {names}</span>'
    yield f'<span class="where">{outcome_words(plans)}</span></summary>\n<div class="body">'
    yield "".join(_which(found, rows, entries))
    yield "</div></details>\n"


def outcome_words(plans: Sequence[LaunchPlan]) -> str:
    """How many of some jobs end in which way."""
    counts: dict[str, int] = {}
    for plan in plans:
        counts[plan.launch.outcome] = counts.get(plan.launch.outcome, 0) + 1
    words = {"serves": ("serves", "serve"), "exits": ("exits", "exit"), "undecided": ("undecided", "undecided")}
    return " ".join(
        tag(outcome, f"{counts[outcome]:,} {words[outcome][counts[outcome] != 1]}")
        for outcome in words
        if outcome in counts
    )
