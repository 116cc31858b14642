"""Launch plans as text for people: one block per group of jobs of an entry, and what differs inside the group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from botlint.plan.arguments import argument_words, read_arguments
from botlint.plan.changes import Change, outcome_text, server_changes
from botlint.plan.model import Alternative, Launch, LaunchPlan, Server, Word, word_text
from botlint.plan.select import plain
from botlint.plan.style import Style

MAX_DIFFERENCES = 4
"""Lines in which two arms may differ and still share a block."""

MAX_VALUES = 12
"""Values of one line that are listed."""

MAX_LONG = 4
"""Values of one line that are listed where they are long."""

MAX_SHOWN = 60
"""Characters of each of several values."""

MAX_WORDS = 3
"""Different words that stand in the middle of a text."""

MAX_CHANGES = 12
"""Differences of another launch or path that are listed."""

CONCURRENCY = "conc"
"""The row key that tells the jobs of one arm apart."""

NAMES = frozenset(
    {
        "exp-name",
        "run-eval",
        "eval-conc",
        "max-model-len",
        "total-cpu-dram-gb",
        "eval-only",
        "deploy_type",
        "docker_image",
        "shown_for",
    }
)
"""Row keys that follow from others, and say nothing of their own about a job."""

_MINOR = frozenset({"exp-name", "run-eval", "eval-only", "eval-conc", CONCURRENCY})

MIN_TOKENS = 6
"""Shortest text, in words, whose words are compared one by one."""

_TOKENS = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]+")

Line = tuple[str, str, str]
"""Section, name and value of one line of a block."""


@dataclass(slots=True)
class Group:
    """Jobs of one entry whose plans have the same lines, a few values aside."""

    plans: list[LaunchPlan]
    lines: list[tuple[Line, ...]] = field(repr=False)

    def add(self, other: Group) -> None:
        """Takes over the jobs of another group."""
        self.plans.extend(other.plans)
        self.lines.extend(other.lines)


# ------------------------------------------------------------------------------------------------------------ grouping


def group_plans(plans: Sequence[LaunchPlan]) -> list[Group]:
    """The plans of one entry in groups, in the order of their first jobs."""
    arms: dict[object, Group] = {}
    for plan in plans:
        lines = plan_lines(plan)
        key = (arm_key(plan.job), plan.scenario, tuple((section, name) for section, name, _ in lines))
        group = arms.get(key)
        if group is None:
            group = arms[key] = Group([], [])
        group.plans.append(plan)
        group.lines.append(lines)
    groups: list[Group] = []
    for group in arms.values():
        home = next((other for other in groups if _alike(other, group)), None)
        if home is None:
            groups.append(group)
        else:
            home.add(group)
    return groups


def arm_key(job: Mapping[str, object]) -> str:
    """What jobs that differ in their concurrency alone have in common."""
    return repr(sorted((key, repr(value)) for key, value in job.items() if key not in _MINOR))


def _alike(left: Group, right: Group) -> bool:
    """Whether two groups have the same lines, and differ in few values beside those that follow the concurrency."""
    first, second = left.lines[0], right.lines[0]
    if len(first) != len(second) or any(a[0] != b[0] or a[1] != b[1] for a, b in zip(first, second, strict=True)):
        return False
    plans = [*left.plans, *right.plans]
    lines = [*left.lines, *right.lines]
    different = 0
    for at in range(len(first)):
        values = [line[at][2] for line in lines]
        if any(value != values[0] for value in values) and not _follows(plans, values, (CONCURRENCY,)):
            different += 1
            if different > MAX_DIFFERENCES:
                return False
    return True


def _follows(plans: Sequence[LaunchPlan], values: Sequence[str], keys: tuple[str, ...]) -> bool:
    """Whether the values are a function of some row keys."""
    seen: dict[tuple[str, ...], str] = {}
    for plan, value in zip(plans, values, strict=True):
        key = tuple(plain(plan.job.get(name)) for name in keys)
        if seen.setdefault(key, value) != value:
            return False
    return True


# --------------------------------------------------------------------------------------------------------------- lines


def plan_lines(plan: LaunchPlan) -> tuple[Line, ...]:
    """Everything that a plan says, line by line."""
    lines = list(_launch_lines(plan.launch))
    for number, other in enumerate(plan.others):
        lines.extend(_other_lines(number, other, plan.launch))
    return tuple(lines)


def runners_text(runners: Sequence[str]) -> str:
    """The names of runners, the first one where they are many."""
    if len(runners) <= 3:
        return ", ".join(runners)
    return f"{runners[0]} and {len(runners) - 1} more"


def _launch_lines(launch: Launch) -> Iterator[Line]:
    yield "outcome", launch.outcome, ""
    if any(launch.runners):
        yield "runner", "runner", runners_text(launch.runners)
    if launch.launcher is not None:
        yield "script", "launcher", launch.launcher
    if launch.recipe is not None:
        line = f":{launch.server.line}" if launch.server is not None and launch.server.path == launch.recipe else ""
        yield "script", "recipe", f"{launch.recipe}{line}"
    if launch.server is not None:
        yield from _server_lines(launch.server, launch.recipe)
    elif launch.exit is not None:
        end = launch.exit
        yield "exit", "exits", f"{end.code} at {end.path}:{end.line}"
        if end.message:
            yield "exit", "message", end.message
    else:
        at = f" at {launch.reason_at.path}:{launch.reason_at.line}" if launch.reason_at is not None else ""
        yield "exit", "undecided", f"{launch.reason or 'unknown'}{at}"
    yield from _possible(launch)


def _server_lines(server: Server, recipe: str | None) -> Iterator[Line]:
    place = "" if server.path == recipe else f" at {server.path}:{server.line}"
    yield "script", "server", f"{server.framework}{f' {server.version}' if server.version else ''}{place}"
    for name, value in sorted(server.runtime_env.items()):
        yield "runtime", name, word_text(value)
    for name, value in sorted(server.env.items()):
        yield "environment", name, word_text(value)
    if not server.roles:
        yield from _argument_lines("argv", server.argv)
    for role in server.roles:
        workers = "" if role.workers is None else f"{role.workers} worker{'' if role.workers == 1 else 's'}"
        gpus = "" if role.gpus is None else f"{role.gpus} GPU{'' if role.gpus == 1 else 's'} each"
        size = ", ".join(text for text in (workers, gpus) if text)
        yield f"role {role.name}", "", f"{size}{' at ' if size else ''}{role.path}:{role.line}"
        for name, value in sorted(role.env.items()):
            yield f"role {role.name} environment", name, word_text(value)
        yield from _argument_lines(f"role {role.name} argv", role.argv)


def _argument_lines(section: str, argv: Sequence[Word]) -> Iterator[Line]:
    for argument in read_arguments(argv):
        words = argument_words(argument)
        if argument.name and not argument.joined:
            yield section, argument.name, " ".join(words[1:])
        elif argument.joined:
            yield section, f"{argument.name}=", words[0][len(argument.name) + 1 :]
        else:
            yield section, "", " ".join(words)


def _possible(launch: Launch) -> Iterator[Line]:
    """Other ways that a job may go; exits at one place under one condition, as in a loop, are one."""
    places: dict[object, list[Alternative]] = {}
    for one in launch.possible:
        end = one.exit
        key = id(one) if end is None else (end.code, end.path, end.line, one.when)
        places.setdefault(key, []).append(one)
    for alike in places.values():
        yield from _possible_lines(alike[0], len(alike), launch.server)


def _possible_lines(one: Alternative, count: int, server: Server | None) -> Iterator[Line]:
    if one.exit is not None:
        text = f"exits {one.exit.code} at {one.exit.path}:{one.exit.line}"
        if one.exit.message:
            text += f": {first_line(one.exit.message)}"
        if count > 1:
            text += f" (and {count - 1} more like it)"
    else:
        text = outcome_text(one)
    yield "possible", "or", text
    if one.when:
        yield "possible", "when", when_text(one.when)
    if one.recipe is not None and one.server is not None:
        yield "possible", "recipe", one.recipe
    if one.server is not None and server is not None:
        yield from (("possible", "with", text) for text in change_texts(server_changes(server, one.server)))


def when_text(when: Sequence[str]) -> str:
    """Conditions (`path:line: text`) in one line, a path that repeats being named once."""
    texts: list[str] = []
    path = ""
    for condition in when:
        here, _, rest = condition.partition(":")
        texts.append(f"line {rest}" if path and here == path and rest[:1].isdigit() else condition)
        path = here
    return " and ".join(texts)


def _other_lines(number: int, other: Launch, main: Launch) -> Iterator[Line]:
    section = f"other {number}"
    yield section, "on", runners_text(other.runners)
    if other.launcher != main.launcher:
        yield section, "launcher", str(other.launcher)
    if other.recipe != main.recipe and other.recipe is not None:
        yield section, "recipe", other.recipe
    if other.exit is not None:
        yield section, "exits", f"{other.exit.code} at {other.exit.path}:{other.exit.line}"
        if other.exit.message:
            yield section, "message", other.exit.message
    elif other.server is None:
        yield section, "undecided", other.reason or "unknown"
    elif main.server is None:
        yield section, "serves", f"{other.server.framework} at {other.server.path}:{other.server.line}"
    else:
        changes = change_texts(server_changes(main.server, other.server))
        yield section, "serves", "with:" if changes else "the same"
        yield from ((section, "with", text) for text in changes)


def change_texts(changes: Sequence[Change]) -> list[str]:
    """Differences between two launches of one revision, in short."""
    texts = [_change_text(change) for change in changes[:MAX_CHANGES]]
    if len(changes) > MAX_CHANGES:
        texts.append(f"and {len(changes) - MAX_CHANGES} more differences")
    return texts


def _change_text(change: Change) -> str:
    name = change.name or change.kind
    if change.role:
        name = f"{change.role}: {name}"
    joint = "=" if "variable" in change.kind else " "
    if change.new is None:
        return f"no {name}"
    return f"{name}{joint}{change.new}".rstrip()


def first_line(message: str) -> str:
    """The first line of a message."""
    lines = message.strip().splitlines()
    return lines[0] if lines else ""


# ----------------------------------------------------------------------------------------------------------- rendering


def varying_keys(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Row keys (nested ones dotted) in which jobs differ, in the row's order, without those that follow from others."""
    if len(rows) < 2:
        return []
    flat = [flatten(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    varying = [name for name in names if any(row.get(name, "") != flat[0].get(name, "") for row in flat)]
    return [name for name in varying if name.partition(".")[0] not in NAMES]


def flatten(job: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """A row as texts by dotted key."""
    flat: dict[str, str] = {}
    for key, value in job.items():
        name = prefix + key
        if value.__class__ is str:
            flat[name] = str(value)
        elif not isinstance(value, dict):
            flat[name] = plain(value)
        elif "name" in value:
            flat[name] = " ".join(plain(part) for part in value.values())
        else:
            flat.update(flatten(value, f"{name}."))
    return flat


def describe_jobs(plans: Sequence[LaunchPlan], keys: Sequence[str], limit: int = 6) -> list[str]:
    """What tells some jobs apart from the others of their entry: one text per combination, concurrencies listed."""
    combinations: dict[tuple[str, ...], dict[str, None]] = {}
    for plan in plans:
        flat = flatten(plan.job)
        key = tuple(f"{name} {flat[name]}" for name in keys if name != CONCURRENCY and flat.get(name))
        combinations.setdefault(key, {})[flat.get(CONCURRENCY, "")] = None
    texts = []
    for key, concurrencies in combinations.items():
        conc = [f"conc {', '.join(concurrencies)}"] if CONCURRENCY in keys else []
        texts.append(", ".join([*key, *conc]))
    if len(texts) > limit:
        return [*texts[:limit], f"and {len(texts) - limit} more combinations"]
    return [text for text in texts if text]


def collapse(rows: Sequence[Mapping[str, str]], values: Sequence[str], keys: Sequence[str]) -> tuple[str, str]:
    """A line's values over the jobs of a group: a text with the alternatives in braces, and what decides among them."""
    distinct = list(dict.fromkeys(values))
    if len(distinct) == 1:
        return distinct[0], ""
    pattern = _pattern(rows, values, keys)
    if pattern is not None:
        return pattern, ""
    prefix, middles, suffix = _affixes(distinct)
    limit = MAX_VALUES if max(map(len, middles)) <= MAX_SHOWN else MAX_LONG
    shown = [text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..." for text in middles[:limit]]
    more = f", ... {len(distinct)} in all" if len(distinct) > limit else ""
    text = f"{prefix}{{{', '.join(shown)}{more}}}{suffix}"
    return text, _deciding(rows, values, distinct, middles, keys)


def _deciding(
    rows: Sequence[Mapping[str, str]],
    values: Sequence[str],
    distinct: list[str],
    middles: list[str],
    keys: Sequence[str],
) -> str:
    ranked = sorted(keys, key=lambda key: len({row.get(key, "") for row in rows}))
    for key in ranked:
        of_value: dict[str, dict[str, None]] = {}
        value_of: dict[str, str] = {}
        for row, value in zip(rows, values, strict=True):
            here = row.get(key, "")
            if value_of.setdefault(here, value) != value:
                break
            of_value.setdefault(value, {})[here] = None
        else:
            if [list(of_value[value]) for value in distinct] == [[middle] for middle in middles]:
                return key
            if len(distinct) > MAX_VALUES:
                return f"by {key}"
            if all(len(of_value[value]) == 1 for value in distinct):
                return f"{key} {', '.join(next(iter(of_value[value])) or '-' for value in distinct)}"
            return f"{key} {' | '.join(', '.join(of_value[value]) for value in distinct)}"
    for at, first in enumerate(ranked):
        for second in ranked[at + 1 :]:
            pairs: dict[tuple[str, str], str] = {}
            if all(
                pairs.setdefault((row.get(first, ""), row.get(second, "")), value) == value
                for row, value in zip(rows, values, strict=True)
            ):
                return f"by {first} and {second}"
    return "varies"


def _pattern(rows: Sequence[Mapping[str, str]], values: Sequence[str], keys: Sequence[str]) -> str | None:
    """Long texts that differ in several words: the text with the row keys that these words are in braces."""
    tokens = [_TOKENS.findall(value) for value in values]
    if min(map(len, tokens)) < MIN_TOKENS or len(set(map(len, tokens))) > 1:
        return None
    columns = list(zip(*tokens, strict=True))
    differing = [column for column in columns if len(set(column)) > 1]
    if len(differing) < 2:
        return None
    name_of: dict[tuple[str, ...], str] = {tuple(row.get(key, "") for row in rows): key for key in reversed(keys)}
    if any(column not in name_of and len(set(column)) > MAX_WORDS for column in differing):
        return None
    shown = {column: name_of.get(column) or ", ".join(dict.fromkeys(column)) for column in differing}
    return "".join(f"{{{shown[column]}}}" if column in shown else column[0] for column in columns)


def _affixes(texts: Sequence[str]) -> tuple[str, list[str], str]:
    """Common words at the start and end of texts; nothing for short texts."""
    tokens = [_TOKENS.findall(text) for text in texts]
    shortest = min(map(len, tokens))
    if shortest < MIN_TOKENS:
        return "", list(texts), ""
    first = tokens[0]
    start = 0
    while start < shortest and all(words[start] == first[start] for words in tokens):
        start += 1
    end = 0
    while end < shortest - start and all(words[-1 - end] == first[-1 - end] for words in tokens):
        end += 1
    if start + end < shortest // 3:
        return "", list(texts), ""
    middles = ["".join(words[start : len(words) - end]) for words in tokens]
    return "".join(first[:start]), middles, "".join(first[len(first) - end :])


_TITLES = {"runtime": "set by the runtime", "environment": "environment", "argv": "argv"}


@dataclass(slots=True)
class Counts:
    """Jobs by outcome."""

    jobs: int = 0
    serves: int = 0
    exits: int = 0
    undecided: int = 0

    def count(self, plan: LaunchPlan) -> None:
        """Counts one plan."""
        self.jobs += 1
        if plan.launch.outcome == "serves":
            self.serves += 1
        elif plan.launch.outcome == "exits":
            self.exits += 1
        else:
            self.undecided += 1

    def text(self) -> str:
        """The summary line."""
        noun = "job" if self.jobs == 1 else "jobs"
        return f"{self.jobs} {noun}: {self.serves} serve, {self.exits} exit, {self.undecided} undecided"


def render_entry(plans: Sequence[LaunchPlan], siblings: Sequence[Mapping[str, object]], style: Style) -> Iterator[str]:
    """The blocks of one entry's selected plans; `siblings` are the rows of all its jobs."""
    first = plans[0]
    yield f"{style.strong(first.entry)}  {style.faint(f'{first.config.path}:{first.config.line}')}"
    keys = varying_keys(siblings)
    for group in group_plans(plans):
        yield ""
        yield from _render_group(group, keys, len(siblings), style)
    yield ""


def _render_group(group: Group, keys: Sequence[str], total: int, style: Style) -> Iterator[str]:
    outcome = group.plans[0].launch.outcome
    colour = {"serves": style.good, "exits": style.bad}.get(outcome, style.unsure)
    count = len(group.plans)
    of = f"{count} of {total} jobs" if count != total else f"{count} job{'' if count == 1 else 's'}"
    arms = dict.fromkeys(f"{plan.arm.path}:{plan.arm.line}" for plan in group.plans)
    places = ", ".join(list(arms)[:4]) + (f" and {len(arms) - 4} more" if len(arms) > 4 else "")
    described = describe_jobs(group.plans, keys)
    head = f"  {colour(outcome)}  {of}"
    if len(described) == 1:
        yield f"{head}: {described[0]}  {style.faint(places)}"
    else:
        yield f"{head}  {style.faint(places)}"
        yield from (f"    {text}" for text in described)
    inner = varying_keys([plan.job for plan in group.plans])
    rows = [flatten(plan.job) for plan in group.plans]
    section = ""
    for at, (kind, name, _) in enumerate(group.lines[0]):
        values = [lines[at][2] for lines in group.lines]
        text, why = collapse(rows, values, inner)
        if kind == "outcome":
            continue
        if kind != section:
            section = kind
            yield from _title(kind, text, why, style)
            if kind.startswith("role ") and kind.count(" ") == 1:
                continue
        yield from _line(kind, name, text, why, style)


def _title(kind: str, text: str, why: str, style: Style) -> Iterator[str]:
    if kind in _TITLES:
        yield f"    {style.strong(_TITLES[kind])}"
    elif kind == "possible":
        yield f"    {style.strong('possible')}"
    elif kind.startswith("role "):
        name, _, part = kind.removeprefix("role ").rpartition(" ")
        if part in _TITLES and name:
            yield f"      {style.strong(part)}"
        else:
            yield f"    {style.strong(kind)}  {_with_reason(text, why, style)}"


def _line(kind: str, name: str, text: str, why: str, style: Style) -> Iterator[str]:
    value = _with_reason(text, why, style)
    if kind in ("runner", "script", "exit"):
        lines = value.splitlines() or [""]
        yield f"    {name:<10} {lines[0]}"
        yield from (f"               {line}" for line in lines[1:])
    elif kind in ("runtime", "environment") or kind.endswith(" environment"):
        indent = "        " if kind.startswith("role ") else "      "
        yield f"{indent}{style.name(name)}={value}"
    elif kind == "argv" or kind.endswith(" argv"):
        indent = "        " if kind.startswith("role ") else "      "
        shown = style.name(name) + ("" if name.endswith("=") or not name else " ")
        yield f"{indent}{shown}{value}".rstrip()
    elif kind == "possible":
        indent = "      " if name == "or" else "        "
        yield f"{indent}{'' if name == 'or' else f'{name} '}{value}"
    elif name == "on":
        yield f"    {style.strong('other launch')} on {value}"
    else:
        yield from (f"      {name:<10} {line}" for line in value.splitlines() or [""])


def _with_reason(text: str, why: str, style: Style) -> str:
    return f"{text}  {style.faint(f'({why})')}" if why else text
