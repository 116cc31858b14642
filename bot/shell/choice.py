"""Undecided tests: both outcomes are tried, and joined, pruned or followed apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from botlint.documents import bash_nodes as bash
from botlint.shell.process import ChooseNode, Fork, Leaf, Place, Possible, Variable
from botlint.shell.signals import (
    BreakFlow,
    CallFlow,
    ContinueFlow,
    ExitFlow,
    Flow,
    HoistFlow,
    ReturnFlow,
    Scope,
    ServeFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.state import State
from botlint.shell.values import Either, Text, Value, concat

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

MAX_TRIALS = 8
"""Undecided tests inside undecided tests that are still tried both ways."""

MAX_TRIED = 400
"""Undecided tests of one run that are tried both ways."""


@dataclass(slots=True)
class _Attempt:
    """One outcome of an undecided test: what it came to, and what it left behind."""

    status: Status
    flow: Flow | None
    state: State
    possible: list[Possible]
    forks: list[Fork]
    reason: str
    message: Value | None
    strict: bool
    """Whether a function that returns a failure here ends the shell (`set -e`, and no condition around the call)."""

    @property
    def ends(self) -> bool:
        """Whether the shell ends here without a server."""
        return isinstance(self.flow, (ExitFlow, StopFlow)) or (self.strict and self.failure is not None)

    @property
    def failure(self) -> int | None:
        """The status with which a function returns a failure."""
        flow = self.flow
        return flow.status if isinstance(flow, ReturnFlow) and isinstance(flow.status, int) and flow.status else None

    @property
    def outcome(self) -> Status:
        """The status with which it goes on."""
        return self.flow.status if isinstance(self.flow, ReturnFlow) else self.status

    @property
    def way(self) -> str:
        """How the script goes on: straight ahead (''), or out of a function or loop."""
        flow = self.flow
        if flow is None:
            return ""
        if isinstance(flow, ReturnFlow):
            return "return"
        if isinstance(flow, BreakFlow):
            return f"break {flow.levels}"
        if isinstance(flow, ContinueFlow):
            return f"continue {flow.levels}"
        return type(flow).__name__

    @property
    def fails(self) -> bool:
        """Whether it ends, or leaves its function with a failure."""
        return self.ends or self.failure is not None


def choose(
    shell: Shell, site: int, place: Place, reason: str, yes: Callable[[], Status], no: Callable[[], Status]
) -> Status:
    """Goes on after a test that nobody can decide before the run.

    If one outcome only leads to an exit, the other goes on and the exit is listed as possible. If both go on in the
    same way, they join: the first in script order goes on, and the other is followed in a run of its own once somebody
    looks at a value in which they differ. If only one leaves its function or loop, all of that is tried both ways.
    """
    local = shell.decided.get(site)
    if local is not None:
        return yes() if local else no()
    asked = shell.forced.get(site, "free")
    shell.log.append((ChooseNode(site), asked))
    if asked is True:
        return yes()
    if asked is False:
        return no()
    return _both(shell, site, place, reason, yes, no, True)


def hoisted(shell: Shell, flow: HoistFlow, action: Callable[[], Status]) -> Status:
    """Tries a test both ways around the function call or loop that holds it."""

    def decided(outcome: bool) -> Callable[[], Status]:
        def run() -> Status:
            before, shell.decided = shell.decided, {**shell.decided, flow.site: outcome}
            try:
                return action()
            finally:
                shell.decided = before

        return run

    return _both(shell, flow.site, flow.place, flow.reason, decided(True), decided(False), False)


def _both(
    shell: Shell,
    site: int,
    place: Place,
    reason: str,
    yes: Callable[[], Status],
    no: Callable[[], Status],
    may_hoist: bool,
) -> Status:
    if shell.trials >= MAX_TRIALS or shell.tried >= MAX_TRIED:
        shell.truncated = True
        return yes()
    shell.tried += 1
    shell.trials += 1
    before = shell.snapshot()
    try:
        first = _attempt(shell, yes, reason)
        shell.restore(before)
        second = _attempt(shell, no, f"not: {reason}")
    finally:
        shell.trials -= 1
    if first.ends != second.ends:
        gone, stays = (first, second) if first.ends else (second, first)
        shell.possible.extend(_under(gone.possible, place, gone.reason))
        _may_end(shell, gone, place)
        return _go_on(shell, stays)
    if first.ends:
        if shell.subshells:
            _may_end(shell, first, place)
        _may_end(shell, second, place)
        return _go_on(shell, first)
    if first.way == second.way:
        return _join(shell, Fork(site, place, reason, True), first, second)
    scope = _scope(shell, first, second) if may_hoist else None
    if scope is not None:
        shell.restore(before)
        raise HoistFlow(scope, site, place, reason)
    swapped = first.fails and not second.fails
    shell.forks.append(Fork(site, place, reason, not swapped, True))
    return _go_on(shell, second if swapped else first)


def _scope(shell: Shell, first: _Attempt, second: _Attempt) -> Scope | None:
    """The function call or loop that only one of two outcomes leaves."""
    ways = {first.way, second.way}
    if not ways <= {"", "return", "break 1", "continue 1"}:
        return None
    wanted = "function" if "return" in ways else "loop"
    for scope in reversed(shell.scopes):
        if scope.subshells != shell.subshells:
            return None
        if scope.kind == wanted:
            return scope
        if scope.kind == "function":
            return None
    return None


def _join(shell: Shell, fork: Fork, first: _Attempt, second: _Attempt) -> Status:
    """Two outcomes that go on in the same way: values in which they differ are kept as such until somebody looks."""
    different = first.state.differences(second.state)
    outputs = first.state.outputs(second.state) if different is not None else []
    if different is None or isinstance(first.flow, (ServeFlow, CallFlow)):
        fork.needed = True
        shell.forks.append(fork)
        return _go_on(shell, first)
    if not different and not outputs:
        shell.possible.extend(_under(second.possible, fork.place, second.reason))
        shell.forks.extend(second.forks)
    else:
        shell.forks.append(fork)
    status = first.outcome if first.outcome == second.outcome else Undecided(fork.reason)
    shell.restore(first.state)
    shell.possible.extend(first.possible if different or outputs else _under(first.possible, fork.place, first.reason))
    shell.forks.extend(first.forks)
    others = second.state.vars
    for name in different:
        mine, other = shell.vars.get(name), others.get(name)
        if mine is not None and other is not None and _both_texts(mine, other):
            assert isinstance(mine.value, (str, Text))
            shell.vars[name] = mine.changed(value=Text((Either(mine.value, fork.need),)))
        else:
            shell.watches.setdefault(name, []).append(fork)
            if any(var is not None and var.exported for var in (mine, other)):
                shell.exported_watches.add(name)
    for chunks, both, rest in outputs:
        chunks[:] = [*both, Text((Either(concat(rest), fork.need),))]
    if isinstance(first.flow, ReturnFlow):
        raise ReturnFlow(status)
    if first.flow is not None:
        raise first.flow
    return status


def _both_texts(left: Variable, right: Variable) -> bool:
    return (
        isinstance(left.value, (str, Text))
        and isinstance(right.value, (str, Text))
        and left.exported == right.exported
        and left.kind == right.kind
        and left.integer == right.integer
        and left.nameref == right.nameref
    )


def _attempt(shell: Shell, action: Callable[[], Status], reason: str) -> _Attempt:
    loops, lenient = shell.loops, shell.lenient
    possible, forks = len(shell.possible), len(shell.forks)
    status: Status = 0
    flow: Flow | None = None
    try:
        status = action()
    except HoistFlow:
        raise
    except Flow as raised:
        shell.loops, shell.lenient = loops, lenient
        flow = raised
    strict = bool(shell.options.get("errexit")) and lenient == 0 and any(f.function for f in shell.frames[-1:])
    attempt = _Attempt(
        status, flow, shell.snapshot(), shell.possible[possible:], shell.forks[forks:], reason, shell.message(), strict
    )
    del shell.possible[possible:], shell.forks[forks:]
    return attempt


def _go_on(shell: Shell, attempt: _Attempt) -> Status:
    shell.restore(attempt.state)
    shell.possible.extend(attempt.possible)
    shell.forks.extend(attempt.forks)
    if attempt.flow is not None:
        raise attempt.flow
    return attempt.status


def _may_end(shell: Shell, attempt: _Attempt, place: Place) -> None:
    """Lists an exit that depends on the test."""
    flow = attempt.flow
    if isinstance(flow, ExitFlow):
        code = flow.code if isinstance(flow.code, int) else 1
        leaf = Leaf("exits", place=flow.place, code=code, message=flow.message)
    elif isinstance(flow, StopFlow):
        if shell.subshells:
            return
        leaf = Leaf("undecided", place=flow.place, reason=flow.reason)
    elif attempt.failure is not None:
        leaf = Leaf("exits", place=shell.frames[-1].call, code=attempt.failure, message=attempt.message)
    else:
        return
    shell.possible.append(Possible([(place, attempt.reason)], leaf, shell.subshells))


def subshell_status(shell: Shell, status: Status, mark: int) -> Status:
    """The status of a subshell that ends, given the number of possible exits that were known before it began.

    Those of the subshell itself are no exits of the script: they make its status one that nobody knows.
    """
    found = [p for p in shell.possible[mark:] if p.subshells > shell.subshells]
    if not found:
        return status
    shell.possible[mark:] = [p for p in shell.possible[mark:] if p.subshells <= shell.subshells]
    return mixed_status(shell, status, found)


def mixed_status(shell: Shell, status: Status, found: Sequence[Possible]) -> Status:
    """The status of a subshell or script that may have ended in other ways too."""
    ends = [p for p in found if p.leaf.code]
    if isinstance(status, int):
        if all(bool(p.leaf.code) == bool(status) for p in found):
            return status
        if status:
            passes = [p.conditions[0] for p in found if not p.leaf.code and len(p.conditions) == 1]
            leaf = Leaf("exits", place=shell.place(), code=status, message=shell.message())
            ends.append(Possible([(place, _opposite(reason)) for place, reason in passes], leaf))
    reason = found[0].conditions[0][1] if isinstance(status, int) else status.reason
    return Undecided(reason, tuple(ends))


def _opposite(reason: str) -> str:
    return reason.removeprefix("not: ") if reason.startswith("not: ") else f"not: {reason}"


def strict_failure(shell: Shell, node: bash.Statement, status: Undecided) -> None:
    """Lists the exits of `set -e` after a test, or a subshell, of which nobody knows whether it succeeds."""
    ends = status.ends
    if not ends and _is_test(node):
        place = Place(shell.source, node.pos)
        leaf = Leaf("exits", place=place, code=1, message=shell.message())
        ends = (Possible([(place, f"not: {shell.slice(node, status.reason)}")], leaf),)
    for end in ends:
        mine = replace(end, subshells=shell.subshells)
        if not any(p.conditions == mine.conditions and p.subshells == mine.subshells for p in shell.possible):
            shell.possible.append(mine)


def _is_test(node: bash.Statement) -> bool:
    if isinstance(node, bash.Command):
        return bool(node.words) and node.words[0].text in ("test", "[")
    return isinstance(node, (bash.Cond, bash.Arith))


def _under(possible: list[Possible], place: Place, reason: str) -> list[Possible]:
    return [replace(p, conditions=[(place, reason), *p.conditions]) for p in possible]
