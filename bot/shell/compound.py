"""Compound commands: lists, conditions, loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic_values, conditions, expansion
from botlint.shell.names import NAME
from botlint.shell.process import (
    Place,
    Test,
)
from botlint.shell.signals import (
    BreakFlow,
    ContinueFlow,
    ExitFlow,
    Status,
    StopFlow,
    Undecided,
    negate,
)
from botlint.shell.streams import In
from botlint.shell.values import Value

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

MAX_ITERATIONS = 5_000


def and_or(shell: Shell, node: bash.AndOr) -> Status:
    """`a && b || c`."""
    return _and_or_from(shell, node, 0, None)


def _and_or_from(shell: Shell, node: bash.AndOr, start: int, given: Status | None) -> Status:
    last = len(node.items) - 1
    status: Status = 0 if given is None else given
    for number in range(start, last + 1):
        if number > 0:
            operator = node.operators[number - 1]
            if isinstance(status, Undecided):
                return _and_or_choice(shell, node, number, operator, status)
            if (status == 0) != (operator == "&&"):
                continue
        if number == last:
            status = shell.execute(node.items[number])
        else:
            shell.lenient += 1
            try:
                status = shell.execute(node.items[number])
            finally:
                shell.lenient -= 1
    return status


def _and_or_choice(shell: Shell, node: bash.AndOr, number: int, operator: str, status: Undecided) -> Status:
    last = len(node.items) - 1

    def run_item() -> Status:
        if operator == "&&":
            shell.status = 0
        if number == last:
            inner = shell.execute(node.items[number])
        else:
            shell.lenient += 1
            try:
                inner = shell.execute(node.items[number])
            finally:
                shell.lenient -= 1
        return _and_or_from(shell, node, number + 1, inner)

    def skip(value: int) -> Callable[[], Status]:
        return lambda: _and_or_from(shell, node, number + 1, value)

    site = id(node) * 64 + number
    reason = shell.slice(node.items[number - 1], status.reason)
    place = Place(shell.source, node.items[number - 1].pos)
    if operator == "&&":
        return shell.choose(site, place, reason, run_item, skip(1))
    return shell.choose(site, place, reason, skip(0), run_item)


def if_(shell: Shell, node: bash.If) -> Status:
    """`if`."""
    return _if_from(shell, node, 0)


def _if_from(shell: Shell, node: bash.If, number: int) -> Status:
    if number == len(node.clauses):
        return shell.run(node.orelse) if node.orelse is not None else 0
    condition, body = node.clauses[number]
    mark = len(shell.tests)
    status = shell.condition(condition)
    place = Place(shell.source, condition[0].pos)
    tests = shell.tests[mark:]

    def taken() -> Status:
        shell.status = 0
        return shell.guarded(place, True, tests, lambda: shell.run(body)) if body else 0

    def rest() -> Status:
        return shell.guarded(place, False, tests, lambda: _if_from(shell, node, number + 1))

    if isinstance(status, Undecided):
        reason = " ".join(shell.source.text[condition[0].pos : condition[-1].end].split())[:120]
        return shell.choose(id(node) * 64 + number, place, reason, taken, rest)
    if status == 0:
        return taken()
    return rest() if tests else _if_from(shell, node, number + 1)


def case(shell: Shell, node: bash.Case) -> Status:
    """`case`."""
    word = expansion.string(shell, node.word)
    return _case_from(shell, node, word, 0)


def _case_from(shell: Shell, node: bash.Case, word: Value, start: int) -> Status:
    mark = len(shell.tests)
    for number in range(start, len(node.items)):
        undecided = False
        for pattern in node.items[number][0]:
            outcome = shell.match(word, expansion.pattern(shell, pattern))
            if outcome:
                return _case_item(shell, node, number, word, shell.tests[mark:])
            undecided = undecided or outcome is None
        if undecided:
            return _case_undecided(shell, node, word, number)
    return 0


def _case_undecided(shell: Shell, node: bash.Case, word: Value, number: int) -> Status:
    reason = f"{node.word.text} is {'|'.join(p.text for p in node.items[number][0])}"[:120]
    return shell.choose(
        id(node) * 64 + number,
        Place(shell.source, node.pos),
        reason,
        lambda: _case_item(shell, node, number, word, []),
        lambda: _case_from(shell, node, word, number + 1),
    )


def _case_item(shell: Shell, node: bash.Case, number: int, word: Value, tests: list[Test]) -> Status:
    place = Place(shell.source, node.pos)
    taken = "|".join(p.text for p in node.items[number][0])

    def run() -> Status:
        status: Status = 0
        at = number
        while True:
            _, body, terminator = node.items[at]
            status = shell.run(body)
            if terminator == ";&" and at + 1 < len(node.items):
                at += 1
                continue
            if terminator == ";;&":
                rest = _case_from(shell, node, word, at + 1)
                return rest if rest != 0 else status
            return status

    return shell.guarded(place, taken, tests, run)


def _body(shell: Shell, body: Sequence[bash.Statement]) -> tuple[Status, bool]:
    """One iteration: (status, whether the loop is left)."""
    try:
        return shell.run(body), False
    except BreakFlow as flow:
        if flow.levels > 1 and shell.loops > 1:
            raise BreakFlow(flow.levels - 1, flow.status) from None
        return flow.status, True
    except ContinueFlow as flow:
        if flow.levels > 1 and shell.loops > 1:
            raise ContinueFlow(flow.levels - 1) from None
        return 0, False


def for_(shell: Shell, node: bash.For) -> Status:
    """`for name in words`."""
    values: list[Value] = []
    if not NAME.fullmatch(node.name):
        shell.complain(f"`{node.name}': not a valid identifier")
        return shell.settle(1, node)
    if node.words is None:
        values = list(shell.positional)
    else:
        for word in node.words:
            values.extend(expansion.fields(shell, word))
    if len(values) > MAX_ITERATIONS:
        raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", shell.place())
    return shell._scoped("loop", lambda: _for_each(shell, node, values))


def _for_each(shell: Shell, node: bash.For, values: list[Value]) -> Status:
    status: Status = 0
    shell.loops += 1
    try:
        for value in values:
            shell.pos = node.pos
            if not _bind_loop(shell, node.name, value):
                return 1
            status, left = _body(shell, node.body)
            if left:
                break
    finally:
        shell.loops -= 1
    return status


def _bind_loop(shell: Shell, name: str, value: Value) -> bool:
    var = shell.vars.get(name)
    if var is not None and var.nameref and not var.readonly:
        shell.put(name, var.changed(value=value, place=shell.place(), guard=shell.guard))
        return True
    return shell.assign(name, value)


def while_(shell: Shell, node: bash.While) -> Status:
    """`while` and `until`."""
    return shell._scoped("loop", lambda: _while_loop(shell, node))


def _while_loop(shell: Shell, node: bash.While) -> Status:
    shell.loops += 1
    try:
        return _while_from(shell, node, 0, 0)
    finally:
        shell.loops -= 1


def _while_from(shell: Shell, node: bash.While, count: int, status: Status) -> Status:
    place = Place(shell.source, node.pos)
    while True:
        version, steps = shell.version, len(shell.tests)
        reads = _read_positions(shell)
        condition = shell.condition(node.condition)
        if node.until:
            condition = negate(condition)
        if isinstance(condition, Undecided):
            return _while_undecided(shell, node, status)
        if condition != 0:
            return status
        count += 1
        if count > MAX_ITERATIONS:
            raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", place)
        status, left = _body(shell, node.body)
        if left:
            return status
        same = version == shell.version and reads == _read_positions(shell)
        if same and not any(t.outcome is None for t in shell.tests[steps:]):
            raise StopFlow("endless loop", place)


def _while_undecided(shell: Shell, node: bash.While, status: Status) -> Status:
    """A loop on something that nobody knows: its body runs once, then it ends."""
    reason = " ".join(shell.source.text[node.condition[0].pos : node.condition[-1].end].split())[:120]

    def once() -> Status:
        shell.status = 0
        return _body(shell, node.body)[0]

    place = Place(shell.source, node.pos)
    return shell.choose(id(node) * 64, place, reason, once, lambda: status)


def _read_positions(shell: Shell) -> tuple[int, ...]:
    return tuple(s.pos for s in shell.fds.values() if isinstance(s, In))


def arith_for(shell: Shell, node: bash.ArithFor) -> Status:
    """`for ((;;))`."""
    status: Status = 0
    shell.loops += 1
    try:
        if node.init.text.strip():
            arithmetic_values.evaluate(shell, node.init)
        count = 0
        while True:
            shell.pos = node.pos
            if node.condition.text.strip():
                truth = arithmetic_values.truth(shell, arithmetic_values.evaluate(shell, node.condition))
                if truth is None:
                    return _body(shell, node.body)[0]
                if not truth:
                    return status
            count += 1
            if count > MAX_ITERATIONS:
                raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", Place(shell.source, node.pos))
            version = shell.version
            status, left = _body(shell, node.body)
            if left:
                return status
            if node.update.text.strip():
                arithmetic_values.evaluate(shell, node.update)
            if version == shell.version and not node.update.text.strip():
                raise StopFlow("endless loop", Place(shell.source, node.pos))
    except arithmetic_values.ArithmeticProblem as problem:
        shell.complain(str(problem))
        return 1
    finally:
        shell.loops -= 1


def function(shell: Shell, node: bash.Function) -> Status:
    """A function definition."""
    shell.version += 1
    shell.functions[node.name] = node
    return 0


def cond(shell: Shell, node: bash.Cond) -> Status:
    """`[[ ]]`."""
    outcome = conditions.evaluate(shell, node.expr)
    shell.pos = node.pos
    status: Status = Undecided(shell.slice(node, "a test")) if outcome is None else outcome
    return shell.settle(status, node)


def arith(shell: Shell, node: bash.Arith) -> Status:
    """`(( ))`."""
    try:
        truth = arithmetic_values.truth(shell, arithmetic_values.evaluate(shell, node.expr))
    except arithmetic_values.ArithmeticProblem as problem:
        shell.complain(f"((: {problem}")
        return shell.settle(1, node)
    status: Status = Undecided(shell.slice(node, "arithmetic")) if truth is None else int(not truth)
    return shell.settle(status, node)


def coproc(shell: Shell, node: bash.Coproc) -> Status:
    """`coproc`, which is not modelled."""
    raise StopFlow("coproc is not modelled", Place(shell.source, node.pos))


def bad(shell: Shell, node: bash.Bad) -> Status:
    """The place where a text stops being bash."""
    message = f"{shell.name}: line {shell.source.line(node.pos)}: {node.message}\n"
    shell.write(message, 2)
    raise ExitFlow(2, Place(shell.source, node.pos), message)
