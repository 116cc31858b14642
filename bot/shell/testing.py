"""Running one script in the interpreter, for comparisons with real bash."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from botlint.shell.files import FileSystem
from botlint.shell.interpreter import Shell
from botlint.shell.paths import WORKSPACE, Context, Mount
from botlint.shell.process import Inputs, Kind, Process, Variable
from botlint.shell.streams import Out
from botlint.shell.values import Resolved, Value, concat, resolve
from botlint.shell.world import Programmes, World, run


@dataclass(slots=True)
class RecordedCommand:
    """An external command as it would be started; None stands for an unknown word."""

    argv: list[str | None]
    env: dict[str, str | None]


@dataclass(slots=True)
class ScriptResult:
    """What a script does: `status` and `stdout` are None when unknown."""

    outcome: Literal["exits", "undecided"]
    status: int | None
    stdout: str | None
    stderr: str | None
    commands: list[RecordedCommand] = field(default_factory=list)
    reason: str = ""


class MemoryFiles:
    """Files given as a mapping."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {k: v.encode("utf-8", "surrogateescape") for k, v in files.items()}
        self._dirs: dict[str, set[str]] = {"": set()}
        self.asked: set[object] = set()
        for path in self._files:
            parts = path.split("/")
            for depth in range(len(parts)):
                self._dirs.setdefault("/".join(parts[:depth]), set()).add(parts[depth])

    def text(self, path: str) -> str | None:
        """Content of a file."""
        data = self._files.get(path)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def is_file(self, path: str) -> bool:
        """Whether a file is there."""
        return path in self._files

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        return path in self._dirs

    def is_foreign(self, path: str) -> bool:  # noqa: ARG002 - a mapping of texts has no nested repository
        """Whether the path is inside a nested repository."""
        return False

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory."""
        return sorted(self._dirs.get(path, ()))


FOLDER = "/case"
STUBS = "/stubs"
_DIRECTORIES = frozenset(
    "/ /bin /dev /etc /home /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/bin /usr/lib /usr/local /var".split()
)


class Machine:
    """What lies outside of the script's directory: a bare Linux machine with some programmes."""

    def __init__(self, record: Collection[str], installed: Mapping[str, bool]) -> None:
        self.record = record
        self.installed = installed

    def path(self, name: str) -> str | None:
        """Where a programme is."""
        if name in self.record:
            return f"{STUBS}/{name}"
        return f"/usr/bin/{name}" if self.installed.get(name) else None

    def __call__(self, path: str) -> Kind:
        """What is at a canonical path."""
        if path in _DIRECTORIES or path == STUBS:
            return "dir"
        folder, _, name = path.rpartition("/")
        if folder == STUBS:
            return "file" if name in self.record else "missing"
        if folder in ("/usr/bin", "/bin") and name in self.installed:
            return "file" if self.installed[name] else "missing"
        return "unknown" if folder in ("/etc", "/proc", "/usr/bin", "/bin") or path.startswith("/dev/") else "missing"


def _plain(value: Resolved) -> str | None:
    return value if isinstance(value, str) else None


def run_script(
    text: str,
    *,
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    files: Mapping[str, str] | None = None,
    name: str = "script.sh",
    record: Collection[str] = (),
    installed: Mapping[str, bool] | None = None,
) -> ScriptResult:
    """Interprets one script in the directory FOLDER that holds `files`, with the environment `env`.

    `installed` says which programmes the machine has; those in `record` lie in STUBS.
    """
    files = {**(files or {}), name: text}
    machine = Machine(record, installed or {})
    programmes = Programmes(record=record, installed=installed or {}, path=machine.path)
    world = World(MemoryFiles(files), programmes, machine)
    # Commands are recorded as they run, so each has to.
    world.segments = None
    script = world.script(f"{WORKSPACE}/{name}", text)
    environment = dict(env or {})
    context = Context(WORKSPACE, (Mount(FOLDER, WORKSPACE),))
    process = Process((name,), script, name, frozenset(environment), frozenset(), len(args), context, "o")
    inputs = Inputs()
    inputs.update(environment)
    inputs.update({str(k + 1): a for k, a in enumerate(args)})
    shell = Shell(world, process, inputs, {}, 0, FileSystem(world.revision, None))
    for variable, value in sorted(environment.items()):
        shell.vars[variable] = Variable(value, True)
    shell.positional = list(args)
    errors: list[Value] = []
    shell.fds[2] = Out(errors, role="stderr")
    leaf, _ = run(shell)
    stdout = None if leaf.stdout is None else _plain(resolve(leaf.stdout, inputs))
    stderr = _plain(resolve(concat(errors), inputs))
    commands = [
        RecordedCommand([_plain(a) for a in r.argv], {k: _plain(v) for k, v in r.environment.items()})
        for r in world.recorded
    ]
    if leaf.kind != "exits":
        return ScriptResult("undecided", None, stdout, stderr, commands, leaf.reason)
    return ScriptResult("exits", leaf.code, stdout, stderr, commands)
