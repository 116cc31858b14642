"""Running one script in the interpreter, for comparisons with real bash."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from botlint.shell.files import WORKSPACE
from botlint.shell.process import Context, Inputs, Process, Variable
from botlint.shell.values import Resolved, resolve
from botlint.shell.world import Programmes, World


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
        for path in self._files:
            parts = path.split("/")
            for depth in range(len(parts)):
                self._dirs.setdefault("/".join(parts[:depth]), set()).add(parts[depth])

    def read(self, path: str) -> bytes | None:
        """Content of a file."""
        return self._files.get(path)

    def is_file(self, path: str) -> bool:
        """Whether a file is there."""
        return path in self._files

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        return path in self._dirs

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory."""
        return sorted(self._dirs.get(path, ()))


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
    """Interprets one script in a directory of its own that holds `files`, with the environment `env`."""
    from botlint.shell.interpreter import Shell
    from botlint.shell.world import run

    files = {**(files or {}), name: text}
    world = World(MemoryFiles(files), Programmes(record=record, installed=installed or {}), strict_files=True)
    script = world.script(f"{WORKSPACE}/{name}", text)
    environment = dict(env or {})
    names = frozenset(environment)
    process = Process((name,), script, name, names, frozenset(), len(args), Context(WORKSPACE), "")
    inputs = Inputs()
    inputs.update(environment)
    inputs.update({str(k + 1): a for k, a in enumerate(args)})
    from botlint.shell.files import FileSystem

    shell = Shell(world, process, inputs, {}, 0, FileSystem(world.files, None))
    for variable, value in sorted(environment.items()):
        shell.vars[variable] = Variable(value, True)
    shell.positional = list(args)
    errors: list[object] = []
    shell.fds[2].chunks = errors  # type: ignore[union-attr,assignment]
    leaf, _ = run(shell)
    stdout = None if leaf.stdout is None else _plain(resolve(leaf.stdout, inputs))
    commands = [
        RecordedCommand([_plain(a) for a in r.argv], {k: _plain(v) for k, v in r.environment.items()})
        for r in world.recorded
    ]
    if leaf.kind != "exits":
        return ScriptResult("undecided", None, stdout, None, commands, leaf.reason)
    return ScriptResult("exits", leaf.code, stdout, None, commands)
