"""The model of `awk`: the language that mawk and gawk share, without files, pipes, functions and hash order."""

from __future__ import annotations

import re

from botlint.shell.commands.awk_actions import Break, Continue, Exit, Next
from botlint.shell.commands.awk_machine import Input, Machine, unescaped
from botlint.shell.commands.awk_reader import Program, read_program
from botlint.shell.commands.base import Call, Output, Unmodelled, read_options
from botlint.shell.regex_nodes import PatternError


def awk(call: Call) -> Output:
    """What a program writes for its input; a program with only BEGIN rules reads none."""
    options = read_options(call.args, "F:v:", {"field-separator": "F", "assign": "v"}, permute=False)
    if not options.operands:
        raise Unmodelled("no program")
    program = read_program(options.operands[0])
    files = options.operands[1:]
    if any(re.match(r"[A-Za-z_]\w*=", operand) for operand in files):
        raise Unmodelled("an assignment among the files")
    reads = bool(program.rules or program.end)
    text = call.text(files) if reads else ""
    if files and len(files) > 1 and "FNR" in options.operands[0]:
        raise Unmodelled("several files")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    machine = Machine(iter(lines))
    separator = options.last("F")
    if separator is not None:
        if separator in ("t", ""):
            raise Unmodelled("a field separator")
        machine.variables["FS"] = unescaped(separator)
    for assignment in options.every("v"):
        name, equals, value = assignment.partition("=")
        if not equals or not name.isidentifier() or name in ("NR", "FNR", "NF", "RS", "OFMT", "CONVFMT"):
            raise Unmodelled("an assignment")
        machine.variables[name] = Input(unescaped(value))
    try:
        _run(program, machine)
    except PatternError as error:
        raise Unmodelled(str(error)) from error
    return machine.status, "".join(machine.out)


def _run(program: Program, machine: Machine) -> None:
    try:
        try:
            for action in program.begin:
                action(machine)
            if program.rules or program.end:
                _run_rules(program, machine)
        except Exit:
            # Exit still runs the END rules.
            pass
        for action in program.end:
            action(machine)
    except Exit:
        return
    except (Next, Break, Continue) as error:
        raise Unmodelled("a jump out of place") from error


def _run_rules(program: Program, machine: Machine) -> None:
    while machine.next_record():
        try:
            for selects, action in program.rules:
                if selects(machine):
                    action(machine)
        except Next:
            continue
