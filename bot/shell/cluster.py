"""Slurm and containers: commands that start another one on other nodes, in a batch job or in a container."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botlint.shell import launching, variables
from botlint.shell.paths import WORKSPACE, Context, Mount, canonical, marked
from botlint.shell.process import Variable
from botlint.shell.signals import CallFlow, ServeFlow, Status, Undecided, leaf_of, serves
from botlint.shell.streams import Out
from botlint.shell.values import Text, Value, concat, hole, resolve, text_of
from botlint.shell.words import AllBut, after, split_assignment, split_options, split_value, valued

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


_SRUN_VALUED = valued(
    "-A --account -c --cpus-per-task -D --chdir -e --error -i --input -J --job-name -K -m -N --nodes -n --ntasks "
    "-o --output -p --partition -t --time -w --nodelist -x --exclude --jobid --gres --gpus --gpus-per-node "
    "--gpus-per-task --ntasks-per-node --mem --mpi --overcommit-x --container-image --container-mounts "
    "--container-workdir --container-name --container-env --export --qos --reservation --segment --signal "
    "--comment --time-min --cpu-bind --gpu-bind --distribution --het-group --relative --threads-per-core --wait "
    "--kill-on-bad-exit-x --mem-bind --network --open-mode --constraint -C --dependency -d --licenses -L "
    "--mail-type --mail-user --nice-x --priority --profile --switches --task-epilog --task-prolog --uid --gid"
)
"""Options of Slurm's srun, salloc and sbatch that take a value (srun(1)), and those of the pyxis plugin."""


def _mounts(shell: Shell, specs: list[Value]) -> tuple[Mount, ...]:
    """`outside:inside[:flags]` specifications; what is not the checkout keeps its own name inside."""
    out: list[Mount] = []
    for spec in specs:
        parts = split_value(shell, spec, ":")
        if len(parts) < 2:
            continue
        inside = shell.concrete(parts[1])
        if inside is None or not inside.startswith("/"):
            continue
        outside = shell.canonical(parts[0])
        if outside is None and isinstance(parts[0], Text):
            outside = marked(resolve(parts[0], shell.inputs))
        inside = re.sub(r"/+$", "", inside) or "/"
        is_checkout = outside is not None and outside.startswith(WORKSPACE)
        out.append(Mount(inside, outside if outside is not None and is_checkout else f"@mount{inside}"))
    return tuple(out)


def _container(shell: Shell, mounts: tuple[Mount, ...], workdir: Value | None) -> Context:
    """Where a container's command runs.

    The working directory of a job's container holds the repository: if no mount of the checkout covers it, what is
    mounted there is a copy of the checkout that the launcher made on the node.
    """
    if workdir is None:
        return Context("/", mounts)
    if isinstance(workdir, Text):
        shell.concrete(workdir)
    where = canonical(resolve(workdir, shell.inputs), Context("/", mounts))
    if where is None:
        return Context("/unknown", mounts)
    if where.startswith("@mount") and not any(m.outside.startswith(WORKSPACE) for m in mounts):
        mounts = tuple(Mount(m.inside, WORKSPACE) if where.startswith(m.outside) else m for m in mounts)
        where = canonical(resolve(workdir, shell.inputs), Context("/", mounts))
        assert where is not None
    return Context(where, mounts)


def srun(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    options, rest = split_options(values[1:], _SRUN_VALUED)
    if not rest:
        return Undecided(f"{base} succeeds")
    overlay = _exports(shell, options, overlay)
    context = shell.context
    if "--container-image" in options or "--container-name" in options:
        specs = [s for v in options.get("--container-mounts", []) for s in split_value(shell, v, ",")]
        mounts = _mounts(shell, specs)
        workdir = options.get("--container-workdir") or options.get("-D") or options.get("--chdir")
        context = _container(shell, mounts, workdir[-1] if workdir else None)
        with _inside([base, *values[1 : len(values) - len(rest)]]):
            return _tasks(shell, rest, overlay, context, _count_tasks(shell, options))
    elif options.get("-D") or options.get("--chdir"):
        where = shell.canonical((options.get("-D") or options["--chdir"])[-1])
        context = Context(where or "/unknown", context.mounts)
    return _tasks(shell, rest, overlay, context, _count_tasks(shell, options))


@contextmanager
def _inside(words: Sequence[Value]) -> Iterator[None]:
    """What starts inside of the block runs in the container that these words start; the innermost one counts."""
    try:
        yield
    except (ServeFlow, CallFlow) as flow:
        flow.container = flow.container or tuple(words)
        raise


def _exports(shell: Shell, options: dict[str, list[Value]], overlay: dict[str, Variable]) -> dict[str, Variable]:
    """The variables that `--export` adds to the environment, or leaves of it."""
    overlay = dict(overlay)
    cleared = False
    for export in options.get("--export", []):
        for number, item in enumerate(split_value(shell, export, ",")):
            text = text_of(item)
            if number == 0 and text in ("ALL", "NONE", "NIL"):
                cleared = text != "ALL"
                continue
            first = item if isinstance(item, str) else item.pieces[0]
            if isinstance(first, str) and "=" in first:
                name, value = split_assignment(item)
                overlay[name] = _given(shell, value)
            elif number == 0:
                cleared = True
    if cleared:
        for name in shell.environment():
            overlay.setdefault(name, Variable(None, True))
    return overlay


def _given(shell: Shell, value: Value) -> Variable:
    """A variable that the command line of a scheduler or container engine sets."""
    return Variable(value, True, shell.place(), shell.guard, by_runtime=True)


def _last(options: dict[str, list[Value]], *names: str) -> Value | None:
    """The value of an option that has several names."""
    return next((options[n][-1] for n in names if options.get(n)), None)


def _number(shell: Shell, value: Value | None) -> int | None:
    """A whole number that the decisions from here on depend on."""
    text = None if value is None else shell.concrete(value)
    return int(text) if text is not None and text.isdecimal() and len(text) < 6 else None


def _nodes(shell: Shell) -> Value | None:
    """How many nodes the allocation has in which the shell runs, None if there is none or nobody knows."""
    for name in ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"):
        var = shell.vars.get(name)
        if var is not None and isinstance(var.value, (str, Text)):
            return var.value
    return shell.allocated


def _count_tasks(shell: Shell, options: dict[str, list[Value]]) -> int:
    """How many tasks `srun` starts, 1 if nobody knows."""
    tasks = _number(shell, _last(options, "-n", "--ntasks"))
    if tasks is None:
        nodes = _number(shell, _last(options, "-N", "--nodes") or _nodes(shell))
        each = _number(shell, _last(options, "--ntasks-per-node") or "1")
        tasks = (nodes or 1) * (each or 1)
    return min(tasks, MAX_TASKS)


def _tasks(shell: Shell, command: list[Value], overlay: dict[str, Variable], context: Context, count: int) -> Status:
    """Runs a command on other nodes, once for each task: the first server is the plan's, the others are beside it."""
    first: ServeFlow | CallFlow | None = None
    status: Status = 0
    for rank in range(count):
        ranked = dict(overlay)
        if count > 1:
            ranked["SLURM_PROCID"] = _given(shell, str(rank))
        keep, shell.plain = shell.plain, shell.plain or rank > 0
        try:
            status = in_context(shell, command, ranked, context)
        except (ServeFlow, CallFlow) as flow:
            flow.elsewhere = True
            if not serves(flow):
                raise
            if first is None:
                first = flow
            else:
                first.beside.append(leaf_of(flow))
        finally:
            shell.plain = keep
        if first is None:
            break
    if first is not None:
        raise first
    return status


def in_context(shell: Shell, command: list[Value], overlay: dict[str, Variable], context: Context) -> Status:
    """Runs a command in another place; what it does to the shell is undone."""
    keep, shell.context = shell.context, context
    try:
        if _only_prepares(shell, command):
            return Undecided("the preparation succeeds")
        return launching.run_command(shell, command, overlay)
    finally:
        shell.context = keep


_MAY_LAUNCH = re.compile(r"vllm|sglang|atom|trtllm|tensorrt|tilert|dynamo|launch|serve|\.sh\b|bash|exec|source|python")


def _only_prepares(shell: Shell, command: list[Value]) -> bool:
    """Whether a `bash -c` string in a container or on a node has nothing in it that could start a server."""
    if len(command) < 3 or command[0] not in ("bash", "sh") or not isinstance(command[1], str):
        return False
    if not re.fullmatch(r"-[a-z]*c", command[1]):
        return False
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        return False
    script = command[2]
    literal = script if isinstance(script, str) else "".join(p for p in script.pieces if isinstance(p, str))
    if _MAY_LAUNCH.search(literal):
        return False
    if isinstance(script, str):
        return True
    for piece in script.pieces:
        if not isinstance(piece, str):
            value = Text((piece,))
            if value.known and shell.observe(_may_run, value):
                return False
    return True


def _may_run(text: str) -> bool:
    """Whether a text that is inserted into a command string could add a command to it."""
    return re.search(r"[;&|`\n]|\$\(", text) is not None


_DOCKER_VALUED = AllBut(
    "-d -i -P -q -t --detach --help --init --interactive --no-healthcheck --oom-kill-disable --privileged "
    "--publish-all --quiet --read-only --rm --sig-proxy --tty --use-api-socket"
)
"""Options of `docker run` and `docker exec`: these are all that take no value (docker-run(1))."""


MAX_TASKS = 64
"""Tasks of one `srun`, and nodes of one allocation, that are followed."""


def docker(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    if len(values) < 2:
        return Undecided(f"{base} succeeds")
    verb = text_of(values[1])
    if verb == "container" and len(values) > 2:
        values = values[1:]
        verb = text_of(values[1])
    if verb not in ("run", "exec"):
        out = shell.fds.get(1)
        quiet = not (isinstance(out, Out) and out.wanted)
        return 0 if quiet and verb in ("ps", "info", "version", "images") else launching.unknown(shell, base)
    options, rest = split_options(values[2:], _DOCKER_VALUED)
    if not rest:
        return launching.unknown(shell, base)
    words = [base, *values[1 : len(values) - len(rest) + 1]]
    rest = rest[1:]
    entrypoint = options.get("--entrypoint")
    if entrypoint and entrypoint[-1] != "":
        rest = [entrypoint[-1], *rest]
    inherited = shell.environment(overlay)
    inside = _of_file(shell, options.get("--env-file", []))
    for spec in [*options.get("-e", []), *options.get("--env", [])]:
        first = spec if isinstance(spec, str) else spec.pieces[0]
        if isinstance(first, str) and "=" in first:
            name, value = split_assignment(spec)
            inside[name] = Variable(value, True, shell.place(), shell.guard, by_runtime=True)
        else:
            known = shell.concrete(spec)
            if known is not None and known in inherited:
                inside[known] = inherited[known]
    if verb == "exec":
        inside = {**shell.exec_environment, **inside}
    elif not rest:
        shell.exec_environment = inside.copy()
    for name in inherited:
        inside.setdefault(name, Variable(None, True))
    mounts = _mounts(shell, [*options.get("-v", []), *options.get("--volume", [])])
    mounts = (*mounts, *_mount_options(shell, options.get("--mount", [])))
    workdir = options.get("-w") or options.get("--workdir")
    context = _container(shell, mounts, workdir[-1] if workdir else None)
    if verb == "exec" and not workdir:
        context = Context(shell.exec_cwd or "/", mounts or shell.exec_mounts)
    if verb == "run":
        shell.exec_mounts, shell.exec_cwd, shell.exec_words = mounts, context.cwd, tuple(words)
    if not rest:
        return Undecided(f"{base} {verb} succeeds")
    with _inside(words if verb == "run" else shell.exec_words):
        return in_context(shell, rest, inside, context)


def _of_file(shell: Shell, paths: list[Value]) -> dict[str, Variable]:
    """The variables of files with a `NAME=VALUE` on each line, as far as the files are known."""
    found: dict[str, Variable] = {}
    for path in paths:
        content = shell.read_file(path)
        for line in [] if content is None else split_value(shell, content, "\n"):
            start = (line if isinstance(line, str) else line.pieces[0]) if line else ""
            if isinstance(start, str) and "=" in start and not start.startswith("#"):
                name, value = split_assignment(line)
                found[name] = Variable(value, True, shell.place(), shell.guard)
    return found


def _mount_options(shell: Shell, specs: list[Value]) -> tuple[Mount, ...]:
    pairs: list[Value] = []
    for spec in specs:
        source: Value | None = None
        target: Value | None = None
        for item in split_value(shell, spec, ","):
            first = item if isinstance(item, str) else item.pieces[0]
            if not isinstance(first, str):
                continue
            key = first.partition("=")[0]
            if key in ("source", "src"):
                source = after(item, len(key) + 1)
            elif key in ("target", "dst", "destination"):
                target = after(item, len(key) + 1)
        if source is not None and target is not None:
            pairs.append(concat([source, ":", target]))
    return _mounts(shell, pairs)


def sbatch(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """`sbatch [options] script args`: the job script runs with the exported environment, its output goes elsewhere."""
    options, rest = split_options(values[1:], _SRUN_VALUED | valued("--wrap --array -a --begin -b"))
    out = shell.fds.get(1)
    overlay = _exports(shell, options, overlay)
    job = _given(shell, hole("SLURM_JOB_ID", True))
    for name in ("SLURM_JOB_ID", "SLURM_JOBID"):
        overlay.setdefault(name, job)
    overlay["SLURM_JOB_NODELIST"] = overlay["SLURM_NODELIST"] = _given(shell, hole(NODE_LIST, True))
    overlay["SLURM_SUBMIT_DIR"] = _given(shell, variables.path_value(shell, shell.context.cwd))
    nodes = _last(options, "-N", "--nodes")
    if nodes is not None:
        overlay["SLURM_NNODES"] = overlay["SLURM_JOB_NUM_NODES"] = _given(shell, nodes)
    tasks = _last(options, "-n", "--ntasks")
    if tasks is not None:
        overlay["SLURM_NTASKS"] = overlay["SLURM_NPROCS"] = _given(shell, tasks)
    keep = shell.fds
    shell.fds = {**keep, 1: Out()}
    try:
        if "--wrap" in options:
            launching.start(shell, options["--wrap"][-1], True, [], overlay, shell.context, "bash", "c")
        elif rest:
            launching.start_script(shell, rest[0], rest[1:], overlay, shell.context)
    finally:
        shell.fds = keep
    if isinstance(out, Out) and out.wanted:
        said = "" if "--parsable" in options else "Submitted batch job "
        shell.write(concat([said, hole("job id", True), "\n"]))
    return Undecided(f"{base} succeeds")


def ssh(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    options, rest = split_options(values[1:], valued("-p -i -o -l -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w"))
    del options, overlay
    if len(rest) < 2:
        return launching.unknown(shell, base)
    script = concat(variables.spaced(rest[1:]))
    cleared = {n: Variable(None, True) for n in shell.environment()}
    return launching.start(shell, script, True, [], cleared, Context("/unknown", None), "bash", "c")


def salloc(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """`salloc [options] [command]`: with `--no-shell` the allocation is used by later commands."""
    options, rest = split_options(values[1:], _SRUN_VALUED)
    nodes = _last(options, "-N", "--nodes")
    if not rest:
        shell.allocated = nodes
        return launching.unknown(shell, base)
    overlay = dict(overlay)
    overlay["SLURM_JOB_ID"] = _given(shell, hole("SLURM_JOB_ID", True))
    if nodes is not None:
        overlay["SLURM_NNODES"] = overlay["SLURM_JOB_NUM_NODES"] = _given(shell, nodes)
    return launching.run_command(shell, rest, overlay)


NODE_LIST = "SLURM_JOB_NODELIST"


def scontrol(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """`scontrol show hostnames [LIST]`: the nodes of a list, or of the allocation, one a line."""
    del overlay
    if len(values) < 3 or values[1] != "show" or values[2] not in ("hostnames", "hostname"):
        return launching.unknown(shell, base, values[1:])
    listed = split_value(shell, values[3], ",") if len(values) > 3 else []
    if len(listed) == 1 and isinstance(listed[0], Text) and not listed[0].known:
        listed = []
    if not listed:
        count = _number(shell, _nodes(shell))
        if count is None or count > MAX_TASKS:
            return launching.unknown(shell, base, values[1:])
        listed = [hole(f"node {number}", True) for number in range(1, count + 1)]
    if any(isinstance(node, str) and "[" in node for node in listed):
        return launching.unknown(shell, base, values[1:])
    for node in listed:
        shell.write(concat([node, "\n"]))
    return 0


def ip(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """`ip route get ADDRESS`: the route, in which the node's own address is the seventh word (ip-route(8))."""
    del overlay
    words = [v for v in values[1:] if not (isinstance(v, str) and v.startswith("-"))]
    if len(words) != 3 or words[0] not in ("route", "r", "ro") or words[1] != "get":
        return launching.unknown(shell, base, values[1:])
    known = [hole(name, True) for name in ("gateway", "interface", "address of the node", "user id")]
    line = [words[2], " via ", known[0], " dev ", known[1], " src ", known[2], " uid ", known[3], " \n    cache \n"]
    shell.write(concat(line))
    return 0


PROGRAMMES = {
    "ip": ip,
    "salloc": salloc,
    "scontrol": scontrol,
    "srun": srun,
    "docker": docker,
    "podman": docker,
    "nvidia-docker": docker,
    "sbatch": sbatch,
    "ssh": ssh,
}
"""Programmes by name."""
