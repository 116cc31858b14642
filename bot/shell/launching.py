"""External commands: wrappers around a command, scripts that are started, servers, models, and the unknown rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from botlint.core.unknown import Unknown
from botlint.shell import choice, conditions, filecommands, variables
from botlint.shell.builtins import BUILTINS
from botlint.shell.commands import MODELS, WITHOUT_INPUT
from botlint.shell.marks import words_of
from botlint.shell.paths import WORKSPACE, Context, canonical
from botlint.shell.process import (
    Call,
    CallNode,
    FileEntry,
    Leaf,
    Possible,
    ServerStart,
    Variable,
    unknown_names,
)
from botlint.shell.signals import CallFlow, ServeFlow, Status, StopFlow, Undecided
from botlint.shell.streams import In, Out
from botlint.shell.values import (
    Hole,
    Resolved,
    Symbol,
    Text,
    Value,
    concat,
    derive,
    hole,
    resolve,
    text_of,
    touch,
    undecided,
)
from botlint.shell.words import split_assignment, split_options, start_of, valued

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

Special = Callable[["Shell", str, list[Value], dict[str, Variable]], Status]


def command_name(shell: Shell, value: Value) -> str:
    """The text of a command's name; of a partly unknown path the last component."""
    text = shell.concrete(value)
    if text is not None:
        return text
    assert isinstance(value, Text)
    last = value.pieces[-1]
    if isinstance(last, str) and "/" in last:
        return last
    shell.skip("a command with an unknown name", 2)
    return ""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a programme that starts another one is called: options that take a value, and operands before the command."""

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assignments: bool = False
    positional_like: str = ""


WRAPPERS: dict[str, Wrapper] = {
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "numactl": Wrapper(valued("-m -N -C -i -p -P --membind --cpunodebind --physcpubind --interleave --preferred")),
    "timeout": Wrapper(valued("-s --signal -k --kill-after"), operands=1),
    "stdbuf": Wrapper(valued("-i -o -e")),
    "nice": Wrapper(valued("-n --adjustment")),
    "ionice": Wrapper(valued("-c -n -p")),
    "chrt": Wrapper(valued("-p"), operands=1),
    "taskset": Wrapper(valued("-c --cpu-list"), operands=0, positional_like=r"(?:0x)?[0-9a-f,]+|[0-9,-]+"),
    "sudo": Wrapper(valued("-u -g -h -p -C -r -t -U -D --user --group --host"), assignments=True),
    "time": Wrapper(valued("-f -o")),
    "unbuffer": Wrapper(),
    "catchsegv": Wrapper(),
    "flock": Wrapper(valued("-w --timeout -E --conflict-exit-code"), operands=1),
    "xvfb-run": Wrapper(valued("-s -n")),
    "mpirun": Wrapper(
        valued(
            "-n -np -c -N --npernode -H --host --hostfile -hostfile --machinefile -x --bind-to --map-by "
            "--report-bindings -wdir --wdir"
        )
    ),
    "mpiexec": Wrapper(valued("-n -np -c -N -H --host --hostfile -x --bind-to --map-by")),
    "trtllm-llmapi-launch": Wrapper(),
    "ninja-run": Wrapper(),
    "uvx": Wrapper(),
    "rlaunch": Wrapper(),
}
"""Programmes that run the rest of their arguments (coreutils, util-linux, numactl, Open MPI)."""

NO_OUTPUT = frozenset(
    "sleep sync chown chgrp renice modprobe sysctl ldconfig pkill killall scancel logger wall mount umount "
    "swapoff swapon fuser reset clear stty tput ulimit".split()
)
"""Programmes whose output nobody reads and whose status is taken to be a success."""

SHELLS = frozenset({"bash", "sh", "dash", "ash"})


def external(shell: Shell, name: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """Runs an external command with its arguments (the name included) and its temporary variables."""
    base = name.rpartition("/")[2]
    programmes = shell.world.programmes
    if base in programmes.record:
        _record(shell, base, values, overlay)
        return 0
    if "/" not in name and shell.world.has_command(base) is False:
        return _not_installed(shell, base, values, overlay)
    if "/" in name:
        refused = _not_executable(shell, values[0])
        if refused:
            return refused
        if base in _ALSO_PROGRAMMES:
            return BUILTINS[base](shell, values[1:])
    if programmes.may_serve(base) and programmes.is_server([base, *_first_words(values[1:])]):
        for value in values:
            touch(value)
        shell.sure()
        raise ServeFlow(
            ServerStart([base, *values[1:]], shell.environment(overlay), shell.place(), shell.guard, shell.context.cwd)
        )
    if base in SHELLS:
        return _shell(shell, base, values[1:], overlay)
    special = _special(base)
    if special is not None:
        return special(shell, base, values, overlay)
    wrapper = WRAPPERS.get(base)
    if wrapper is not None:
        return _wrapped(shell, base, wrapper, values[1:], overlay)
    if "/" in name and _is_script(shell, values[0]):
        return start_script(shell, values[0], values[1:], overlay, shell.context)
    file_command = filecommands.COMMANDS.get(base)
    if file_command is not None:
        status = file_command(shell, values[1:])
        if status is not None:
            return status
    if base in NO_OUTPUT:
        shell.slept = shell.slept or base == "sleep"
        return 0
    found = None if "/" in name or base in MODELS else on_path(shell, base, overlay)
    if found is not None:
        return start_script(shell, found, values[1:], overlay, shell.context)
    return _model(shell, base, values[1:])


def find_program(shell: Shell, name: str) -> tuple[bool | None, Value]:
    """Whether a programme is installed (None: only the machine knows), and where."""
    found = on_path(shell, name, {}) if name not in MODELS else None
    if found is not None:
        return True, found
    path = shell.world.programmes.path(name)
    return shell.world.has_command(name), path if path is not None else _somewhere(name)


def _somewhere(name: str) -> Value:
    """The path of an installed programme: its directory is not known, its name is."""
    return concat([hole(f"directory of {name}", True), f"/{name}"])


def on_path(shell: Shell, name: str, overlay: dict[str, Variable]) -> Value | None:
    """The script of the revision that a bare name stands for, where PATH has a directory of the checkout."""
    var = overlay.get("PATH") or shell.vars.get("PATH")
    if var is None or not name or not isinstance(var.value, (str, Text)) or text_of(var.value) is None:
        return None
    for folder in (shell.concrete(var.value) or "").split(":"):
        path = f"{folder}/{name}"
        where = shell.canonical(path) if folder else None
        if where is not None and where.startswith(WORKSPACE) and shell.entry(path)[1].kind == "file":
            return path
    return None


def _not_installed(shell: Shell, name: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    found = on_path(shell, name, overlay)
    if found is not None:
        return start_script(shell, found, values[1:], overlay, shell.context)
    handler = shell.functions.get("command_not_found_handle")
    if handler is not None:
        return shell.subshell(lambda: shell.call_function(handler, "command_not_found_handle", values))
    shell.complain(f"{name}: command not found")
    return 127


def _not_executable(shell: Shell, path: Value) -> int:
    """The status for a path that cannot be started, 0 if it can (or if nobody knows)."""
    _, entry = shell.entry(path)
    if entry.kind == "dir":
        shell.complain(f"{text_of(path)}: Is a directory")
        return 126
    if entry.kind == "missing" and shell.world.machine is not None:
        shell.complain(f"{text_of(path)}: No such file or directory")
        return 127
    if shell.world.machine is not None and entry.kind == "file" and conditions.file_test(shell, "-x", path) is False:
        shell.complain(f"{text_of(path)}: Permission denied")
        return 126
    return 0


def _first_words(values: list[Value]) -> list[str | None]:
    """The words by which a server is recognised: literals, and the first few others where they are known."""
    return [
        v if isinstance(v, str) else v.text if number < 4 and not undecided(v) else None
        for number, v in enumerate(values)
    ]


def _record(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> None:
    from botlint.shell.world import Recorded

    environment = {
        n: resolve(v.value, shell.inputs)
        for n, v in shell.environment(overlay).items()
        if isinstance(v.value, (str, Text))
    }
    argv = [base, *[resolve(v, shell.inputs) for v in values[1:]]]
    shell.world.recorded.append(Recorded(argv, environment))


# ------------------------------------------------------------------------------------------------------ models, unknown


def _model(shell: Shell, base: str, arguments: list[Value]) -> Status:
    """Runs a modelled command: a pure function of its arguments, its input and the files that it asks for."""
    if base not in MODELS:
        return unknown(shell, base, arguments)
    given = arguments
    # A path may be unknown as long as it is known what is there.
    arguments = [a if isinstance(a, str) or a.known else f"{_UNKNOWN_PATH}{number}" for number, a in enumerate(given)]
    asked = shell.observe(partial(_asked, base), *arguments)
    if not isinstance(asked, tuple) or any(
        a is not g and n not in asked for n, (a, g) in enumerate(zip(arguments, given, strict=True))
    ):
        return unknown(shell, base, given)
    contents: list[Value] = []
    missing = 0
    for found in asked:
        path: Value = given[found] if isinstance(found, int) else found
        _, entry = shell.entry(path)
        content = shell.read_file(path) if entry.kind != "missing" else None
        if content is not None:
            contents.append(content)
        elif entry.kind in ("missing", "dir"):
            shell.complain(concat([f"{base}: ", path, ": No such file or directory"]))
            missing += 1
        else:
            return unknown(shell, base, given)
    if missing:
        return unknown(shell, base, given) if missing < len(asked) else 2 if base in _MISSING_IS_2 else 1
    source = shell.fds.get(0)
    stdin: Value | None = ""
    if base not in WITHOUT_INPUT and isinstance(source, In) and (not asked or "-" in arguments):
        stdin = shell.drain(source)
        if isinstance(stdin, Text) and not stdin.known and base in _TRANSPARENT and not asked:
            return _through_marks(shell, base, given, stdin)
    function = _Model(base, asked, stdin is not None)
    inputs = [*arguments, "" if stdin is None else stdin, *contents]
    outcome = shell.observe(function.status, *inputs, partly=function.sure if base in _GREPS else None)
    if not isinstance(outcome, int) or outcome < 0:
        return unknown(shell, base, given)
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        output = derive(function.output, *inputs)
        if arguments != given and _UNKNOWN_PATH in (text_of(output) or ""):
            return unknown(shell, base, given)
        shell.write(output)
    return outcome


_TRANSPARENT = frozenset("head tail sed tr awk gawk mawk cut paste wc rev nl".split())
"""Filters that copy words of their input without looking at more than separators and known words."""


def _through_marks(shell: Shell, base: str, arguments: list[Value], stdin: Text) -> Status:
    """A filter over a text in which words are unknown: what it does must not depend on what they are."""
    found = words_of(shell, stdin)
    texts = [shell.concrete(a) for a in arguments]
    if found is None or any(t is None for t in texts):
        return unknown(shell, base, arguments)
    text, marks = found
    words = [t for t in texts if t is not None]
    plain, other = MODELS[base](words, text), MODELS[base](words, marks.disguise(text))
    if plain is None or other is None or (plain[0], plain[1]) != (other[0], marks.reveal(other[1])):
        return unknown(shell, base, arguments)
    shell.write(marks.unmark(plain[1]))
    return plain[0]


_UNKNOWN_PATH = "\ue002"
"""Stands for an unknown argument that is only used as the path of a known file."""

_MISSING_IS_2 = frozenset("grep egrep fgrep sed awk gawk mawk sort jq".split())


@lru_cache(maxsize=4096)
def _asked(base: str, *texts: str) -> tuple[int | str, ...]:
    """The files that a modelled command would read: numbers of arguments, or paths."""
    if base in WITHOUT_INPUT:
        return ()
    paths: dict[str, None] = {}

    def files(path: str) -> str:
        paths[path] = None
        return ""

    MODELS[base](texts, "", files)
    return tuple(len(texts) - 1 - texts[::-1].index(path) if path in texts else path for path in paths)


_GREPS = frozenset({"grep", "egrep", "fgrep"})


def _known_lines(value: Resolved) -> str:
    """The lines of a text in which nothing is unknown."""
    text = "".join(p if isinstance(p, str) else _UNKNOWN_PATH for p in value)
    return "".join(f"{line}\n" for line in text.split("\n") if _UNKNOWN_PATH not in line)


def _inverts(arguments: Sequence[str]) -> bool:
    """Whether what grep does with a match is more than to note it."""
    return not any(re.fullmatch(r"-[A-Za-z]*q[A-Za-z]*|--quiet|--silent", a) for a in arguments) or any(
        re.fullmatch(r"-[A-Za-z]*[vcLz][A-Za-z]*|--invert-match|--count|--files-without-match", a) for a in arguments
    )


@lru_cache(maxsize=4096)
def _run_model(
    base: str, paths: tuple[int | str, ...], has_input: bool, texts: tuple[str, ...]
) -> tuple[int, str] | None:
    split = len(texts) - len(paths)
    files = dict(zip([texts[p] if isinstance(p, int) else p for p in paths], texts[split:], strict=True))
    return MODELS[base](texts[: split - 1], texts[split - 1] if has_input else None, files.get)


class _Model:
    """Status and output of a modelled command, as pure functions of (arguments..., input, contents of files...)."""

    __slots__ = ("base", "has_input", "paths")

    def __init__(self, base: str, paths: tuple[int | str, ...], has_input: bool) -> None:
        self.base = base
        self.paths = paths
        self.has_input = has_input

    def _run(self, texts: tuple[str, ...]) -> tuple[int, str] | None:
        return _run_model(self.base, self.paths, self.has_input, texts)

    def status(self, *texts: str) -> int:
        """The exit status, -1 if it is not known."""
        found = self._run(texts)
        return -1 if found is None else found[0]

    def sure(self, *values: Resolved) -> int:
        """The exit status of grep where a part of its input is unknown: a match in a wholly known line is sure."""
        texts = [v if isinstance(v, str) else _known_lines(v) for v in values]
        inputs = len(self.paths) + 1
        plain = all(isinstance(v, str) for v in values[:-inputs])
        return 0 if plain and not _inverts(texts[:-inputs]) and self.status(*texts) == 0 else -1

    def output(self, *texts: str) -> str:
        """What is written."""
        found = self._run(texts)
        return "" if found is None else found[1]


def unknown(shell: Shell, base: str, arguments: Sequence[Value] = ()) -> Status:
    """A command that nobody knows: it reads its input, may make files that it is told of, and is taken to succeed."""
    _may_make(shell, arguments)
    stdin = shell.fds.get(0)
    if isinstance(stdin, In) and base not in ("nvidia-smi", "rocm-smi"):
        stdin.value, stdin.pos = "", 0
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        shell.write(hole(f"output of {base or 'an unknown command'}"))
    return Undecided(f"{base or 'an unknown command'} succeeds")


def _may_make(shell: Shell, arguments: Sequence[Value]) -> None:
    """What was missing at a path that an unknown command is given may be there after it."""
    for argument in arguments:
        if undecided(argument):
            continue
        if isinstance(argument, str) or argument.known:
            shape = shell.observe(_path_shape, argument)
            if shape == "":
                continue
            if shape == "=":
                argument = derive(_after_equals, argument)
        if argument == "":
            continue
        address, index, entry = shell.look(argument)
        if address is not None and index >= 0 and entry.kind == "missing":
            where = shell.place_of(argument)
            if where is not None:
                shell.put_file(where, FileEntry("unknown"))


def _path_shape(argument: str) -> str:
    """How an argument tells of a path: '/' as it is, '=' after an equals sign, '' not at all."""
    return "" if "/" not in argument else "=" if "=" in argument else "/"


def _after_equals(argument: str) -> str:
    return argument.rpartition("=")[2]


# ------------------------------------------------------------------------------------------------------------- wrappers


def _wrapped(shell: Shell, base: str, wrapper: Wrapper, arguments: list[Value], overlay: dict[str, Variable]) -> Status:
    overlay = dict(overlay)
    at = 0
    operands: list[Value] = []
    while at < len(arguments):
        value = arguments[at]
        text = start_of(value)
        if text == "--":
            at += 1
            break
        if text.startswith("-") and text != "-":
            at += 2 if text in wrapper.valued else 1
        elif wrapper.assignments and re.match(r"[A-Za-z_]\w*=", text):
            name, rest = split_assignment(value)
            overlay[name] = Variable(rest, True, shell.place(), shell.guard)
            at += 1
        elif len(operands) < wrapper.operands:
            operands.append(value)
            at += 1
        elif wrapper.positional_like and re.fullmatch(wrapper.positional_like, text) and at + 1 < len(arguments):
            at += 1
        else:
            break
    rest_arguments = arguments[at:]
    if not rest_arguments:
        return Undecided(f"{base} succeeds")
    if base == "timeout" and _outlasts(rest_arguments, operands):
        return 124
    return run_command(shell, rest_arguments, overlay)


def _outlasts(command: list[Value], operands: list[Value]) -> bool:
    """Whether a command is a `sleep` that is longer than the time which `timeout` gives it."""
    if command[0] != "sleep" or len(command) != 2 or not operands:
        return False
    spans = [_seconds(text_of(command[1])), _seconds(text_of(operands[0]))]
    return spans[0] is not None and spans[1] is not None and spans[0] > spans[1] > 0


def _seconds(text: str | None) -> float | None:
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)", text or "")
    units = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
    return None if match is None else float(match.group(1)) * units[match.group(2)]


def _env(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """`env [-i] [-u NAME] [-C DIR] [-S TEXT] [NAME=VALUE]... [COMMAND]` (env(1))."""
    overlay = dict(overlay)
    arguments = values[1:]
    context = shell.context
    at = 0
    while at < len(arguments):
        value = arguments[at]
        text = start_of(value)
        operand = arguments[at + 1] if at + 1 < len(arguments) else ""
        if text in ("-i", "-", "--ignore-environment"):
            overlay = {name: Variable(None, True) for name in (*shell.environment(), *overlay)}
        elif text in ("-u", "--unset"):
            overlay[shell.concrete(operand) or ""] = Variable(None, True)
            at += 1
        elif text.startswith("--unset="):
            overlay[text[8:]] = Variable(None, True)
        elif text in ("-C", "--chdir"):
            context = Context(shell.canonical(operand) or "/unknown", context.mounts)
            at += 1
        elif text in ("-S", "--split-string"):
            try:
                words = shlex.split(shell.concrete(operand) or "")
            except ValueError:
                return unknown(shell, base)
            return _env(shell, base, ["env", *words, *arguments[at + 2 :]], overlay)
        elif text == "--":
            at += 1
            break
        elif not text.startswith("-"):
            break
        at += 1
    while at < len(arguments) and re.match(r"[^=]+=", start_of(arguments[at])):
        name, rest = split_assignment(arguments[at])
        overlay[name] = Variable(rest, True, shell.place(), shell.guard)
        at += 1
    command = arguments[at:]
    if not command:
        for name, var in shell.environment(overlay).items():
            if isinstance(var.value, (str, Text)):
                shell.write(concat([f"{name}=", var.value, "\n"]))
        return 0
    keep, shell.context = shell.context, context
    try:
        return run_command(shell, command, overlay)
    finally:
        shell.context = keep


def _printenv(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    if len(values) == 1:
        return _env(shell, base, ["env"], overlay)
    environment = shell.environment(overlay)
    status = 0
    for value in values[1:]:
        var = environment.get(shell.concrete(value) or "")
        if var is not None and isinstance(var.value, (str, Text)):
            shell.write(concat([var.value, "\n"]))
        else:
            status = 1
    return status


def run_command(shell: Shell, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """Runs an external command line (no functions, no builtins of the shell)."""
    name = values[0] if isinstance(values[0], str) else command_name(shell, values[0])
    if name in _ALSO_PROGRAMMES:
        return BUILTINS[name](shell, values[1:])
    return external(shell, name, values, overlay)


_ALSO_PROGRAMMES = frozenset("echo printf true false test [ pwd kill".split())


# --------------------------------------------------------------------------------------------------------------- shells


_LONG_OPTION_LETTERS = {"errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "pipefail": "P"}


def _shell(shell: Shell, base: str, arguments: list[Value], overlay: dict[str, Variable]) -> Status:
    options = ""
    at = 0
    command = from_input = False
    while at < len(arguments):
        text = text_of(arguments[at])
        if text is None or not text or text[0] not in "-+" or text == "-":
            break
        at += 1
        if text == "--":
            break
        if text in ("-O", "+O", "--rcfile", "--init-file"):
            at += 1
            continue
        if text.startswith("--"):
            continue
        letters = text[1:]
        command = command or "c" in letters
        from_input = from_input or "s" in letters
        options += "".join(c for c in letters if c in "euxf")
        if letters.endswith("o"):
            options += _LONG_OPTION_LETTERS.get(text_of(arguments[at]) or "", "") if at < len(arguments) else ""
            at += 1
    rest = arguments[at:]
    if command:
        if not rest:
            return 2
        label = rest[1] if len(rest) > 1 else base
        return start(shell, rest[0], True, rest[2:], overlay, shell.context, label, "c" + options)
    if from_input or not rest or rest[0] == "-":
        return _from_stdin(shell, rest if from_input else rest[1:], overlay, options)
    return start_script(shell, rest[0], rest[1:], overlay, shell.context, options)


def _from_stdin(shell: Shell, arguments: list[Value], overlay: dict[str, Variable], options: str) -> Status:
    stdin = shell.fds.get(0)
    text = shell.drain(stdin) if isinstance(stdin, In) else None
    if text is None or (
        isinstance(text, Text) and not any(isinstance(p, str) and p.strip() for p in text.pieces) and not text.known
    ):
        return Undecided("a script from an unknown input")
    if text == "":
        return 0
    return start(shell, text, True, arguments, overlay, shell.context, "bash", "c" + options)


def _is_script(shell: Shell, path: Value) -> bool:
    _, entry = shell.entry(path)
    if entry.kind == "missing":
        return True
    if entry.kind != "file":
        return False
    content = shell.read_file(path)
    head = content if isinstance(content, str) else (text_of(content) if content is not None else None)
    if head is None:
        return False
    first = head.split("\n", 1)[0]
    return not first.startswith("#!") or bool(re.search(r"\b(?:ba|da|a)?sh\b", first))


def start_script(
    shell: Shell,
    path: Value,
    arguments: list[Value],
    overlay: dict[str, Variable],
    context: Context,
    options: str = "",
) -> Status:
    """Starts a script file in a shell of its own."""
    return start(shell, path, False, arguments, overlay, context, path, options)


def start(
    shell: Shell,
    script: Value,
    is_text: bool,
    arguments: list[Value],
    overlay: dict[str, Variable],
    context: Context,
    label: Value,
    options: str,
) -> Status:
    place = shell.place()
    for value in (script, *arguments):
        touch(value)
    context = shell.real_context(context)
    environment = {
        n: v for n, v in shell.environment(overlay).items() if v.value is not None and not isinstance(v.value, dict)
    }
    for function in shell.exported_functions:
        node = shell.functions.get(function)
        if node is not None:
            environment[f"BASH_FUNC_{function}%%"] = Variable(node.source.text[node.pos : node.end], True)
    source = shell.fds.get(0)
    stdin = shell.drain(source) if isinstance(source, In) and source.value else ""
    if stdin:
        options += "<"
    target: Value
    if is_text:
        target = script
    elif isinstance(script, str):
        where = canonical(script, context)
        if where is None:
            return 127
        target = where
    elif not script.known and not script.symbolic:
        where = canonical(resolve(script, shell.inputs), context)
        if where is None:
            shell.note_unknown(script)
            reason = f"a script with an unknown name ({variables.hole_name(script)})"
            shell.skip(reason, 3)
            return Undecided(reason)
        target = where
    else:
        target = derive_path(shell, script, context)
    label_text = text_of(label)
    call = Call(
        place=place,
        script=target,
        is_text=is_text,
        label=label_text if label_text is not None else "bash",
        label_value=None if isinstance(label, str) else label,
        arguments=tuple(arguments),
        environment=environment,
        context=context,
        files=shell.files.view(shell.context),
        guard=shell.guard,
        options=options,
        stdin=stdin or "",
        names=frozenset(environment),
        unknown=unknown_names(environment, shell.process.unknown),
        plain=shell.plain,
    )
    out = shell.fds.get(1)
    captured = isinstance(out, Out) and out.wanted
    outcome, solved = shell.world.outcome(call, shell.inputs, captured, shell.depth)
    shell.log.append((CallNode(call, captured), outcome))
    kind = outcome[0]
    if kind == "serves":
        assert solved is not None
        shell.sure()
        raise CallFlow(call, solved, place)
    if kind == "undecided":
        if solved is not None:
            raise CallFlow(call, solved, place)
        raise StopFlow(str(outcome[1]), place)
    if kind == "missing":
        shown = label_text or "the script"
        if label is script and not options:
            shell.complain(f"{shown}: No such file or directory")
        else:
            shell.write(f"bash: {shown}: No such file or directory\n", 2)
        shell.failed_call = (call, 127)
        return 127
    if kind == "unknown":
        shell.note_unknown(script)
        shell.skip(f"the content of {label_text or 'a script'} is not known", 3)
        shell.unfollowed = shell.unfollowed or f"the content of {label_text or 'a script'} is not known"
        return Undecided(f"{label_text or 'an unknown script'} succeeds")
    assert solved is not None
    shell.unfollowed = shell.unfollowed or solved.leaf.reason
    shell.keep_skipped(solved.leaf.skipped)
    return _ended(shell, call, outcome)


def _ended(shell: Shell, call: Call, outcome: tuple[Any, ...]) -> Status:
    """Goes on after a script that ended without a server."""
    _, code, output, others = outcome
    if code and not others:
        shell.failed_call = (call, code)
    if output is not None:
        shell.write(output if isinstance(output, str) else Text(tuple(_piece(p) for p in output)))
    if others:
        ends = [Possible(list(when), Leaf("exits", at, code=failure, message=m)) for when, at, failure, m in others]
        return choice.mixed_status(shell, code, ends)
    return int(code)


def _piece(piece: str | Unknown) -> str | Symbol:
    return Hole(piece.reason, piece.nonempty) if isinstance(piece, Unknown) else piece


def derive_path(shell: Shell, path: Text, context: Context) -> Value:
    """The canonical path of a script whose name is a template."""
    if not path.known:
        known = shell.canonical(path)
        shell.concrete(path)
        return known if known is not None else hole("a path")
    return derive(_Canonical(context), path)


class _Canonical:
    """`canonical` in a fixed context, as a total function."""

    __slots__ = ("context",)

    def __init__(self, context: Context) -> None:
        self.context = context

    def __call__(self, text: str) -> str:
        return canonical(text, self.context) or ""


def _xargs(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    options, rest = split_options(values[1:], valued("-n -I -P -L -d -a -s -E"))
    stdin = shell.fds.get(0)
    text = shell.drain(stdin) if isinstance(stdin, In) else None
    known = None if text is None else shell.concrete(text)
    zero = "-0" in options or "--null" in options
    if known is None or "-d" in options or (not zero and re.search(r"[\\'\"]", known)):
        return unknown(shell, base)
    words = known.rstrip("\0").split("\0") if zero else known.split()
    if not words and ("-r" in options or "--no-run-if-empty" in options):
        return 0
    command = rest or ["echo"]
    status: Status = 0
    if "-I" in options:
        marker = text_of(options["-I"][-1]) or "{}"
        for line in known.splitlines():
            replaced: list[Value] = [c.replace(marker, line.strip()) if isinstance(c, str) else c for c in command]
            status = run_command(shell, replaced, overlay)
        return status
    size = len(words) or 1
    if "-n" in options or "-L" in options:
        count = text_of((options.get("-n") or options["-L"])[-1]) or "1"
        size = int(count) if count.isdigit() and int(count) else 1
    for start in range(0, max(len(words), 1), size):
        status = run_command(shell, [*command, *words[start : start + size]], overlay)
        if isinstance(status, int) and status:
            return 123
    return status


def _which(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    del overlay
    name = text_of(values[1]) if len(values) > 1 else None
    known, path = shell.find_program(name) if name else (None, _somewhere(base))
    if known is False:
        return 1
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        shell.write(concat([path, "\n"]))
    return 0 if known else Undecided(f"whether {name} is installed")


_OWN: dict[str, Special] = {"xargs": _xargs, "which": _which, "env": _env, "printenv": _printenv}


def _special(name: str) -> Special | None:
    """What is known about a programme that starts or hands over something in a way of its own."""
    found = _OWN.get(name)
    if found is None:
        from botlint.shell import cluster, handover

        found = cluster.PROGRAMMES.get(name) or handover.PROGRAMMES.get(name)
    return found
