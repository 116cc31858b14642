"""The model of `jq` (1.6 and later, where they agree) on known JSON."""

from __future__ import annotations

from collections.abc import Sequence

from botlint.shell.commands.base import (
    MAX_TEXT,
    Call,
    Options,
    Output,
    Unmodelled,
    read_options,
)
from botlint.shell.commands.jq_reader import compiled
from botlint.shell.commands.jq_values import Environment, Failure, Json, documents_of, dumped, is_true

_LONG = {
    "raw-output": "r",
    "compact-output": "c",
    "null-input": "n",
    "exit-status": "e",
    "slurp": "s",
    "join-output": "j",
    "sort-keys": "S",
    "monochrome-output": "M",
    "raw-input": "R",
}


def _arguments(args: Sequence[str]) -> tuple[list[str], dict[str, Json]]:
    """The arguments without --arg and --argjson, and the variables that those set."""
    rest: list[str] = []
    variables: dict[str, Json] = {}
    queue = list(reversed(args))
    while queue:
        arg = queue.pop()
        if arg in ("--arg", "--argjson"):
            if len(queue) < 2:
                raise Unmodelled(f"the option {arg}")
            name, text = queue.pop(), queue.pop()
            if arg == "--arg":
                variables[name] = text
            else:
                values = documents_of(text)
                if len(values) != 1:
                    raise Unmodelled("the value of --argjson")
                variables[name] = values[0]
        else:
            rest.append(arg)
    return rest, variables


def jq(call: Call) -> Output:
    """What a filter writes for the input's values."""
    args, variables = _arguments(call.args)
    options = read_options(args, "rcnesjSMR", _LONG)
    if not options.operands:
        raise Unmodelled("no filter")
    program = compiled(options.operands[0])
    inputs = _inputs(call, options)
    environment = Environment(variables, [0])
    pieces: list[str] = []
    size = 0
    last: Json = None
    status = 0
    for value in inputs:
        try:
            for result in program(environment, value):
                pieces.append(_written(result, options))
                size += len(pieces[-1])
                if size > MAX_TEXT:
                    raise Unmodelled("the output is too long")
                last = result
        except Failure:
            status = 5
    if not status and options.has("e"):
        status = (0 if is_true(last) else 1) if pieces else 4
    return status, "".join(pieces)


def _inputs(call: Call, options: Options) -> list[Json]:
    if options.has("n"):
        return [None]
    text = call.text(options.operands[1:])
    if options.has("R"):
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return [text] if options.has("s") else list[Json](lines)
    documents = documents_of(text)
    return [documents] if options.has("s") else documents


def _written(value: Json, options: Options) -> str:
    raw = options.has("r") or options.has("j")
    if raw and isinstance(value, str):
        text = value
    else:
        text = dumped(value, None if options.has("c") else 2, sort_keys=options.has("S"))
    return text if options.has("j") else text + "\n"
