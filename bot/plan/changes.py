"""What is different between two launches: variables and options, scripts, outcome, possible other endings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from botlint.plan.arguments import Argument, argument_words, quoted, read_arguments
from botlint.plan.model import Alternative, Exit, Launch, Role, Server, Word, word_text

Kind = Literal[
    "outcome",
    "job",
    "runners",
    "launcher",
    "recipe",
    "framework",
    "version",
    "variable",
    "runtime-variable",
    "command",
    "flag",
    "role",
    "possible",
]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: `old` is None for what was added, `new` is None for what was removed.

    `role` names the kind of worker that has it, where a server has several; `runners` the only ones that see it, where
    a job starts different things on different runners. Of an outcome, `ends` are the two launches' exits.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None
    role: str = ""
    runners: str = ""
    ends: tuple[Exit | None, Exit | None] = (None, None)

    @property
    def action(self) -> Literal["added", "removed", "changed"]:
        """`added`, `removed` or `changed`."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def launch_changes(old: Launch, new: Launch) -> list[Change]:
    """What is different between two launches; lines that only moved are no difference."""
    changes = [
        change
        for kind, before, after in (
            ("launcher", old.launcher, new.launcher),
            ("recipe", old.recipe, new.recipe),
        )
        for change in _text_change(kind, before, after)  # type: ignore[arg-type]
    ]
    if outcome_text(old) != outcome_text(new):
        changes.insert(0, Change("outcome", "", _ending(old), _ending(new), ends=(old.exit, new.exit)))
    if old.server is not None and new.server is not None:
        changes.extend(server_changes(old.server, new.server))
    if old.outcome == new.outcome:
        changes.extend(_possible_changes(old.possible, new.possible))
    return changes


def _ending(launch: Launch) -> str:
    return outcome_text(launch) if launch.exit is None else f"exits {launch.exit.code}"


def outcome_text(launch: Launch | Alternative) -> str:
    """How a launch ends, without line numbers."""
    if launch.outcome == "exits" and launch.exit is not None:
        return exit_text(launch.exit)
    if launch.outcome == "undecided":
        return f"undecided: {launch.reason or 'unknown'}"
    return launch.outcome


def exit_text(value: Exit) -> str:
    """An exit without its line number."""
    message = f": {value.message}" if value.message else ""
    return f"exits {value.code} in {value.path}{message}"


def server_changes(old: Server, new: Server) -> list[Change]:
    """What is different between two servers' starts."""
    changes = [
        *_text_change("framework", old.framework, new.framework),
        *_text_change("version", old.version, new.version),
    ]
    changes.extend(_variables("runtime-variable", old.runtime_env, new.runtime_env))
    before, after = {role.name: role for role in old.roles}, {role.name: role for role in new.roles}
    if not before and not after:
        changes.extend(_variables("variable", old.env, new.env))
        changes.extend(argv_changes(old.argv, new.argv))
        return changes
    changes.extend(_variables("variable", old.env, new.env))
    if not before or not after:
        changes.extend(argv_changes(old.argv, new.argv))
    for name in [*before, *(name for name in after if name not in before)]:
        changes.extend(_role_changes(name, before.get(name), after.get(name)))
    return changes


def _role_changes(name: str, old: Role | None, new: Role | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change("role", name, None if old is None else _role_text(old), None if new is None else _role_text(new))
        return
    if _size(old) != _size(new):
        yield Change("role", name, _size(old), _size(new))
    yield from _variables("variable", old.env, new.env, name)
    yield from argv_changes(old.argv, new.argv, name)


def _size(role: Role) -> str:
    workers = "workers" if role.workers is None else f"{role.workers} worker{'' if role.workers == 1 else 's'}"
    gpus = "" if role.gpus is None else f" of {role.gpus} GPU{'' if role.gpus == 1 else 's'}"
    return f"{workers}{gpus}"


def _role_text(role: Role) -> str:
    return f"{_size(role)}: {' '.join(quoted(word) for word in role.argv)}"


def _text_change(kind: Kind, old: str | None, new: str | None) -> Iterator[Change]:
    if old != new:
        yield Change(kind, "", old, new)


def _variables(kind: Kind, old: Mapping[str, Word], new: Mapping[str, Word], role: str = "") -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before != after:
            yield Change(kind, name, _text(before), _text(after), role)


def _text(word: Word | None) -> str | None:
    return None if word is None else word_text(word)


def argv_changes(old: Sequence[Word], new: Sequence[Word], role: str = "") -> Iterator[Change]:
    """What is different between two command lines; an option's place among the others does not matter."""
    if tuple(old) == tuple(new):
        return
    before, after = _by_name(read_arguments(old)), _by_name(read_arguments(new))
    for name in [*before, *(name for name in after if name not in before)]:
        left, right = before.get(name), after.get(name)
        if left != right:
            yield Change("flag" if name else "command", name, left, right, role)


def _by_name(arguments: Sequence[Argument]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for argument in arguments:
        words = argument_words(argument)
        if argument.joined:
            words = [quoted(argument.words[0])]
        elif argument.name:
            words = words[1:]
        values.setdefault(argument.name, []).append(" ".join(words))
    return {name: " | ".join(texts) for name, texts in values.items()}


def _possible_changes(old: Sequence[Alternative], new: Sequence[Alternative]) -> Iterator[Change]:
    before, after = _by_condition(old), _by_condition(new)
    for name in [*before, *(name for name in after if name not in before)]:
        left, right = before.get(name, []), after.get(name, [])
        texts = [[outcome_text(one) for one in side] for side in (left, right)]
        if texts[0] != texts[1]:
            yield Change("possible", name, _several(texts[0]), _several(texts[1]))
            continue
        for one, other in zip(left, right, strict=True):
            if one.server is not None and other.server is not None:
                for change in server_changes(one.server, other.server):
                    yield Change(
                        "possible", f"{name}: {change.name or change.kind}", change.old, change.new, change.role
                    )


def _by_condition(alternatives: Sequence[Alternative]) -> dict[str, list[Alternative]]:
    """Other ways by the conditions that lead to them: a loop's body ends in several, each with another text."""
    found: dict[str, list[Alternative]] = {}
    for one in alternatives:
        found.setdefault(" and ".join(condition_text(when) for when in one.when), []).append(one)
    return found


def _several(texts: Sequence[str]) -> str | None:
    if not texts:
        return None
    return texts[0] if len(texts) == 1 else f"{texts[0]} (and {len(texts) - 1} more)"


def condition_text(when: str) -> str:
    """A condition (`path:line: text`) without its line number."""
    path, separator, rest = when.partition(":")
    line, _, text = rest.partition(": ")
    return f"{path}: {text}" if separator and line.isdigit() else when
