"""Runs one small script in real bash and in the abstract interpreter and says where the two differ.

Real bash is the truth, at test time, every time: nothing it printed is stored. A script calls `rec` (or another name
that its case lists under `record`) wherever argv and exported environment matter: on the real side that is a stub
which writes both to a log, in the interpreter it is a recorded command. Both print nothing and exit 0.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from botlint.shell import run_script

CASES_FOLDER = Path(__file__).parent / "cases"
BASH = shutil.which("bash") or "bash"
TIMEOUT_S = 10.0
# What every case starts from. The folders of a case are written as /case and /stubs on both sides, so that their random
# names never show.
FOLDER = "/case"
STUBS = "/stubs"
PROGRAMS = "/usr/bin:/bin"
BASE_ENV = {"PATH": f"{STUBS}:{PROGRAMS}", "HOME": "/home/tester", "LC_ALL": "C.UTF-8"}
# Bookkeeping of the shells that the stub runs under, not something a script decides.
IGNORED_ENV = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})
MAX_SHOWN = 600

# /proc is exact: a shell between bash and the log would add and drop variables of its own.
STUB = """#!/bin/sh
exec >>"${0%/*}/log" </dev/null
printf 'argv\\0%s\\0%s\\0' "$#" "${0##*/}"
[ "$#" -eq 0 ] || printf '%s\\0' "$@"
/bin/cat "/proc/$$/environ"
printf '\\0'
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One script with everything that both sides need to run it."""

    name: str
    script: str
    group: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    args: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    record: Sequence[str] = ("rec",)
    stderr: bool = False
    expect_undecided: bool = False
    # For what the interpreter need not know (the machine, a rare program): it may say unknown, never something else.
    may_be_unknown: bool = False
    # Why the interpreter does something else than bash here: known, and told by the test once it is no longer so.
    differs: str = ""

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"


@dataclass(frozen=True, slots=True)
class Command:
    """A recorded command: its words and the variables that it was given, None where one is not known."""

    argv: tuple[str | None, ...]
    env: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one side did. None stands for a piece that the interpreter calls unknown."""

    status: int | None
    stdout: str | None
    stderr: str | None
    commands: tuple[Command, ...]
    undecided: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One piece that differs: `wrong` when the interpreter claims something else, `unknown` when it claims nothing."""

    kind: str
    piece: str
    real: str
    ours: str

    def __str__(self) -> str:
        return f"{self.kind} {self.piece}\n    bash: {self.real[:MAX_SHOWN]}\n    ours: {self.ours[:MAX_SHOWN]}"


def load_cases(folder: Path = CASES_FOLDER) -> list[Case]:
    """Reads every case of the corpus; raises ValueError for a case that is badly written."""
    return [case for path in sorted(folder.glob("*.yaml")) for case in load_file(path)]


def load_file(path: Path) -> list[Case]:
    """Reads the cases of one file, whose stem is their group."""
    rows = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return [_case(path.stem, row) for row in rows]


def _case(group: str, row: Mapping[str, Any]) -> Case:
    known = {
        "name",
        "script",
        "env",
        "args",
        "files",
        "record",
        "stderr",
        "expect-undecided",
        "may-be-unknown",
        "differs",
    }
    if unknown := set(row) - known:
        raise ValueError(f"{group}: case {row.get('name')!r} has unknown keys {sorted(unknown)}")
    texts = [row["name"], row["script"], *row.get("args", ()), *row.get("record", ())]
    texts += [text for key in ("env", "files") for pair in row.get(key, {}).items() for text in pair]
    if wrong := [text for text in texts if not isinstance(text, str)]:
        raise ValueError(f"{group}: case {row['name']!r} has values that are not text: {wrong}")
    return Case(
        name=row["name"],
        script=row["script"],
        group=group,
        env=row.get("env", {}),
        args=tuple(row.get("args", ())),
        files=row.get("files", {}),
        record=("rec", *row.get("record", ())),
        stderr=row.get("stderr", False),
        expect_undecided=row.get("expect-undecided", False),
        may_be_unknown=row.get("may-be-unknown", False),
        differs=row.get("differs", ""),
    )


def run_real(case: Case) -> Observed:
    """Runs the case in real bash, in a folder of its own; raises subprocess.TimeoutExpired when it does not finish."""
    with tempfile.TemporaryDirectory(prefix="case-") as name:
        root = Path(name).resolve()
        folder, stubs = root / "case", root / "stubs"
        _write_files(folder, {**case.files, "script.sh": case.script})
        stubs.mkdir()
        for stub in case.record:
            (stubs / stub).write_text(STUB, encoding="ascii")
            (stubs / stub).chmod(0o755)
        env = {key: value.replace(STUBS, str(stubs)) for key, value in {**BASE_ENV, **case.env}.items()}
        done = subprocess.run(
            [BASH, "script.sh", *case.args],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            preexec_fn=_default_signals,
        )
        log = stubs / "log"
        recorded = log.read_bytes() if log.exists() else b""

    def text(raw: bytes) -> str:
        return raw.decode("utf-8", "surrogateescape").replace(str(folder), FOLDER).replace(str(stubs), STUBS)

    return Observed(done.returncode, text(done.stdout), text(done.stderr), tuple(_commands(text(recorded))))


def _default_signals() -> None:
    """Undoes what whoever started the tests ignores: a shell tells an ignored signal as a trap."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        if content.startswith("#!"):
            path.chmod(0o755)


def _commands(log: str) -> Iterable[Command]:
    """Reads the stub's log: `argv`, the number of words, the name, the words, the environment, and an empty field."""
    fields = iter(log.split("\0"))
    for mark in fields:
        if mark != "argv":
            continue
        count = int(next(fields))
        argv = tuple(next(fields) for _ in range(count + 1))
        env: dict[str, str | None] = {}
        while pair := next(fields):
            key, _, value = pair.partition("=")
            env[key] = value
        yield Command(argv, _relevant(env))


def _relevant(env: Mapping[str, str | None]) -> dict[str, str | None]:
    return {
        key: value for key, value in sorted(env.items()) if key not in IGNORED_ENV and not key.startswith("BASH_FUNC_")
    }


class Installed(Mapping[str, bool]):
    """Which programs there are, for any name: the machine is an input of the interpreter, it does not look itself."""

    def __init__(self, record: Sequence[str]) -> None:
        self.record = record

    def __getitem__(self, name: str) -> bool:
        return name in self.record or shutil.which(name, path=PROGRAMS) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.record)

    def __len__(self) -> int:
        return len(self.record)


def run_ours(case: Case) -> Observed:
    """Runs the case in the interpreter."""
    result = run_script(
        case.script,
        env={**BASE_ENV, **case.env},
        args=case.args,
        files={**case.files, "script.sh": case.script},
        name="script.sh",
        record=frozenset(case.record),
        installed=Installed(case.record),
    )
    commands = tuple(Command(tuple(command.argv), _relevant(command.env)) for command in result.commands)
    undecided = (result.reason or "no reason given") if result.outcome == "undecided" else None
    return Observed(result.status, result.stdout, result.stderr, commands, undecided)


def differences(case: Case, real: Observed, ours: Observed) -> list[Difference]:
    """Compares the two sides of a case, the truth first; an empty list means that they agree."""
    if case.expect_undecided:
        if ours.undecided is None:
            return [Difference("wrong", "outcome", f"status {real.status}", f"exits {ours.status}, not undecided")]
        return []
    if ours.undecided is not None:
        if case.may_be_unknown:
            return []
        return [Difference("unknown", "outcome", f"status {real.status}", f"undecided: {ours.undecided}")]
    found = [_piece("status", real.status, ours.status), _piece("stdout", real.stdout, ours.stdout)]
    if case.stderr:
        found.append(_piece("stderr", real.stderr, ours.stderr))
    found.append(_piece("number of commands", len(real.commands), len(ours.commands)))
    for number, (wanted, got) in enumerate(zip(real.commands, ours.commands, strict=False), start=1):
        found.append(_argv(number, wanted, got))
        found.append(_env(number, wanted, got))
    tolerated = {"unknown"} if case.may_be_unknown else set()
    return [difference for difference in found if difference is not None and difference.kind not in tolerated]


def _piece(piece: str, real: object, ours: object) -> Difference | None:
    if real == ours:
        return None
    return Difference("unknown" if ours is None else "wrong", piece, repr(real), repr(ours))


def _argv(number: int, real: Command, ours: Command) -> Difference | None:
    if real.argv == ours.argv:
        return None
    return Difference(
        "unknown" if _covers(ours.argv, real.argv) else "wrong",
        f"argv of command {number}",
        repr(real.argv),
        repr(ours.argv),
    )


def _covers(ours: Sequence[str | None], real: Sequence[str | None]) -> bool:
    """Whether the known words are right; an unknown one may stand for several, as it was not quoted."""
    if not ours or not real:
        return not ours and not real
    if ours[0] is not None:
        return ours[0] == real[0] and _covers(ours[1:], real[1:])
    return any(_covers(ours[1:], real[count:]) for count in range(1, len(real) + 1))


def _env(number: int, real: Command, ours: Command) -> Difference | None:
    if real.env == ours.env:
        return None
    absent = "(absent)"
    changed = sorted(key for key in {*real.env, *ours.env} if real.env.get(key, absent) != ours.env.get(key, absent))
    kind = "unknown" if all(key in real.env and ours.env.get(key, absent) is None for key in changed) else "wrong"

    def show(env: Mapping[str, str | None]) -> str:
        return repr({key: env.get(key, absent) for key in changed})

    return Difference(kind, f"environment of command {number}", show(real.env), show(ours.env))
