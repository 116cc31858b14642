"""Ways in which the flow of a script leaves the straight line."""

from __future__ import annotations

from dataclasses import dataclass, field

from botlint.shell.process import Call, Leaf, Place, Possible, ServerStart, Solved
from botlint.shell.values import Value

_NAMES = (
    "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG "
    "XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"
)
SIGNALS = {name: number for number, name in enumerate(_NAMES.split(), start=1)}
"""The signals of Linux by name (signal(7))."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """An exit status that nobody knows before the run; a plain command is taken to succeed.

    `ends` says in which ways a subshell may have ended with a failure.
    """

    reason: str
    ends: tuple[Possible, ...] = field(default=(), compare=False)


Status = int | Undecided


def negate(status: Status) -> Status:
    """`!`."""
    if isinstance(status, Undecided):
        return Undecided(status.reason)
    return int(status == 0)


class Flow(Exception):  # noqa: N818 (control flow, not errors)
    """Base of everything that leaves the straight line."""


class ExitFlow(Flow):
    """The shell (or subshell) exits."""

    def __init__(
        self, code: Status, place: Place, message: Value | None = None, failed: tuple[Call, int] | None = None
    ) -> None:
        super().__init__()
        self.code = code
        self.place = place
        self.message = message
        self.call = failed[0] if failed is not None and failed[1] == code and code != 0 else None


class ReturnFlow(Flow):
    """`return`."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class DiscardFlow(Flow):
    """An expansion error: what was read together is dropped, the shell goes on with the next line (a subshell ends)."""


class BreakFlow(Flow):
    """`break N`; `status` is what the loop then gives."""

    def __init__(self, levels: int, status: int = 0) -> None:
        super().__init__()
        self.levels = levels
        self.status = status


class ContinueFlow(Flow):
    """`continue N`."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        self.levels = levels


class ServeFlow(Flow):
    """A server starts: the plan is found."""

    def __init__(self, server: ServerStart) -> None:
        super().__init__()
        self.server = server
        self.beside: list[Leaf] = []
        """Other servers that the same command starts."""
        self.elsewhere = False
        """Whether it starts on another node, so that the script goes on if the command runs in the background."""
        self.container: tuple[Value, ...] = ()
        """The words that start the container that it runs in."""


class CallFlow(Flow):
    """A script that was started serves, or could not be decided."""

    def __init__(self, call: Call, solved: Solved, place: Place) -> None:
        super().__init__()
        self.call = call
        self.solved = solved
        self.place = place
        self.beside: list[Leaf] = []
        self.elsewhere = False
        self.container: tuple[Value, ...] = ()


class StopFlow(Flow):
    """The interpretation cannot go on: a budget, or a construct that is not modelled."""

    def __init__(self, reason: str, place: Place) -> None:
        super().__init__()
        self.reason = reason
        self.place = place


class Scope:
    """A function call or a loop, at which an undecided test inside can be tried both ways as a whole."""

    __slots__ = ("kind", "subshells")

    def __init__(self, kind: str, subshells: int) -> None:
        self.kind = kind
        self.subshells = subshells


class HoistFlow(Flow):
    """An undecided test leaves its function or loop in one outcome only: it is tried again around the whole of it."""

    def __init__(self, scope: Scope, site: int, place: Place, reason: str) -> None:
        super().__init__()
        self.scope = scope
        self.site = site
        self.place = place
        self.reason = reason


def leaf_of(flow: ServeFlow | CallFlow) -> Leaf:
    """The end of a script with a server, or with another script that serves."""
    if isinstance(flow, ServeFlow):
        return Leaf("serves", place=flow.server.place, server=flow.server, beside=flow.beside, container=flow.container)
    return Leaf("call", place=flow.place, call=flow.call, beside=flow.beside, container=flow.container)


def serves(flow: ServeFlow | CallFlow) -> bool:
    """Whether a server starts for sure."""
    return isinstance(flow, ServeFlow) or flow.solved.outcome == "serves"
