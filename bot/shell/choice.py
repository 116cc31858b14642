"""Undecided tests: both outcomes are tried, and joined, pruned or followed apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.shell.process import ChooseNode, Fork, Leaf, Place, Possible, Variable
from botlint.shell.signals import (
    BreakFlow,
    CallFlow,
    ContinueFlow,
    ExitFlow,
    Flow,
    ReturnFlow,
    ServeFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.values import Text, Value

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

MAX_TRIALS = 8
"""Undecided tests inside undecided tests that are still tried both ways."""

MAX_TRIED = 400
"""Undecided tests of one run that are tried both ways."""

Conditions = tuple[Place, str]


@dataclass(slots=True)
class _Attempt:
    """One outcome of an undecided test: what it came to, and what it left behind."""

    status: Status
    flow: Flow | None
    state: tuple[object, ...]
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
    def fails(self) -> bool:
        """Whether it ends, or leaves its function with a failure."""
        return self.ends or self.failure is not None


def choose(
    shell: Shell, site: int, place: Place, reason: str, yes: Callable[[], Status], no: Callable[[], Status]
) -> Status:
    """Goes on after a test that nobody can decide before the run.

    If one outcome only leads to an exit, the other goes on and the exit is listed as possible. If both leave the same state, they
    join. Otherwise the first in script order goes on (but not one that returns a failure), and the other is followed in a run of its
    own if the difference matters.
    """
    asked = shell.forced.get(site, "free")
    shell.log.append((ChooseNode(site), asked))
    if asked is True:
        return yes()
    if asked is False:
        return no()
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
        _may_end(shell, second, place)
        return _go_on(shell, first)
    different: set[str] | None = None
    if first.flow is None and second.flow is None:
        different = _differences(first.state, second.state)
        if different is not None and not different:
            shell.possible.extend(_under(first.possible, place, first.reason))
            shell.possible.extend(_under(second.possible, place, second.reason))
            shell.forks.extend(first.forks)
            shell.forks.extend(second.forks)
            return first.status if first.status == second.status else Undecided(reason)
    swapped = first.fails and not second.fails
    fork = Fork(site, place, reason, taken=not swapped)
    if different is None or first.status != second.status:
        fork.needed = True
    for name in different or ():
        shell.watches.setdefault(name, []).append(fork)
    shell.forks.append(fork)
    return _go_on(shell, second if swapped else first)


def _attempt(shell: Shell, action: Callable[[], Status], reason: str) -> _Attempt:
    loops, lenient = shell.loops, shell.lenient
    possible, forks = len(shell.possible), len(shell.forks)
    status: Status = 0
    flow: Flow | None = None
    try:
        status = action()
    except (ExitFlow, ReturnFlow, BreakFlow, ContinueFlow, ServeFlow, CallFlow, StopFlow) as raised:
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
    """Lists an exit that depends on the test; in a subshell it only ends that."""
    flow = attempt.flow
    if shell.subshells:
        return
    if isinstance(flow, ExitFlow):
        code = flow.code if isinstance(flow.code, int) else 1
        leaf = Leaf("exits", place=flow.place, code=code, message=flow.message)
    elif isinstance(flow, StopFlow):
        leaf = Leaf("undecided", place=flow.place, reason=flow.reason)
    elif attempt.failure is not None:
        leaf = Leaf("exits", place=shell.frames[-1].call, code=attempt.failure, message=attempt.message)
    else:
        return
    shell.possible.append(Possible([(place, attempt.reason)], leaf))


def _under(possible: list[Possible], place: Place, reason: str) -> list[Possible]:
    return [Possible([(place, reason), *p.conditions], p.leaf) for p in possible]


def _same(left: object, right: object) -> bool:
    if left is right:
        return True
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    if isinstance(left, Text) and isinstance(right, Text):
        return len(left.pieces) == len(right.pieces) and all(
            a is b or (isinstance(a, str) and a == b) or (type(a) is type(b) and _symbol(a) is not None and _symbol(a) == _symbol(b))
            for a, b in zip(left.pieces, right.pieces, strict=True)
        )
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(v, right[k]) for k, v in left.items())
    return left == right


def _symbol(piece: object) -> object:
    return getattr(piece, "name", None) or getattr(piece, "reason", None)


def _same_variable(left: Variable | None, right: Variable | None) -> bool:
    if left is right:
        return True
    if left is None or right is None:
        return False
    return left.exported == right.exported and left.kind == right.kind and _same(left.value, right.value)


def _differences(left: tuple[object, ...], right: tuple[object, ...]) -> set[str] | None:
    """Names of the variables in which two states differ; None if they differ in something else."""
    left_vars: dict[str, Variable] = left[0]  # type: ignore[assignment]
    right_vars: dict[str, Variable] = right[0]  # type: ignore[assignment]
    if left[1] != right[1] or left[3] != right[3] or left[4] != right[4] or left[5] != right[5] or left[6] != right[6]:
        return None
    if not all(_same(a, b) for a, b in zip(left[2], right[2], strict=False)) or len(left[2]) != len(right[2]):  # type: ignore[call-overload,arg-type]
        return None
    left_chunks: list[list[Value]] = left[16]  # type: ignore[assignment]
    right_chunks: list[list[Value]] = right[16]  # type: ignore[assignment]
    if len(left_chunks) != len(right_chunks) or any(
        len(a) != len(b) or not all(_same(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(left_chunks, right_chunks, strict=True)
    ):
        return None
    return {
        name
        for name in left_vars.keys() | right_vars.keys()
        if not _same_variable(left_vars.get(name), right_vars.get(name))
    }
