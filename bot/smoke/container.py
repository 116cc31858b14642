"""The command lines that start a smoke run inside of a job's own image: Docker, Podman, Slurm with Pyxis, or Enroot.

All words are ours but the image, which has to have the form of an image's name. What the run is asked lies in a file
of the folder that is mounted, so nothing that a stranger wrote is a word of a command, let alone of a shell.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

from botlint.core.errors import UsageError

Engine = Literal["docker", "podman", "slurm", "enroot", "none"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

WORK = "/botlint/work"
WHEELS = "/botlint/wheels"
"""Where the container sees the folder of the run, and packages to install from."""

REQUEST, BASE, VERDICT = "request.json", "base.json", "verdict.json"

MAX_IMAGE = 400

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d{1,5})?"
_IMAGE = re.compile(
    rf"(?:docker://)?(?:(?P<host>{_HOST})[/#])?(?P<name>{_PART}(?:/{_PART})*)"
    r"(?P<tag>(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?)",
    re.ASCII,
)
FOLDER = re.compile(r"/[A-Za-z0-9_./-]{1,400}")
_NAME = re.compile(r"botlint-smoke-[0-9a-f]{16}-[0-9a-f]{16}")
_PACKAGE = re.compile(r"botlint(?:\[[a-z,]+\])?(?:==[0-9A-Za-z.+]{1,40})?")
_OPTION = re.compile(r"[A-Za-z0-9_.,:/=-]{1,200}")

# The run is installed beside the image's own packages, and is not found by what it starts.
_SCRIPT = """\
set -eu
python=$(command -v python3 || command -v python)
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \\
    --target "$packages" {source} '{package}'
cd {work}
"$python" -P -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from botlint.cli import run; run()' "$packages" \\
    smoke run {request} --json {verdict} --output /dev/null {compare}
"""


@dataclass(frozen=True, slots=True)
class Image:
    """The name of an image: `host` is empty for Docker Hub, `tag` has its colon or at sign."""

    host: str
    name: str
    tag: str

    @property
    def docker(self) -> str:
        """As Docker and Podman take it."""
        return f"{self.host}/{self.name}{self.tag}" if self.host else f"docker.io/{_whole(self.name)}{self.tag}"

    @property
    def enroot(self) -> str:
        """As Enroot and Pyxis take it: the host is set off by `#`."""
        return f"{self.host}#{self.name}{self.tag}" if self.host else f"{self.name}{self.tag}"


@dataclass(frozen=True, slots=True)
class Container:
    """How jobs are started on a node.

    `work` is the folder of one job, `cache` that of a hub's models and `folders` others that may be read, `wheels` one
    with packages, for a container without a network. `slurm` are more options of `srun`, as `--partition=x`, and
    `options` those of the job's own launcher.
    """

    engine: Engine
    work: str
    name: str
    gpus: int
    minutes: int
    package: str = "botlint[smoke]"
    wheels: str = ""
    cache: str = ""
    folders: tuple[str, ...] = ()
    slurm: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    nvidia: bool = False
    compared: bool = False

    def __post_init__(self) -> None:
        for folder in (self.work, *self.folders, *filter(None, (self.wheels, self.cache))):
            if FOLDER.fullmatch(folder) is None or ".." in PurePosixPath(folder).parts:
                raise UsageError(f"a folder for the container is an absolute path without signs: {folder!r}")
        if _NAME.fullmatch(self.name) is None or _PACKAGE.fullmatch(self.package) is None:
            raise UsageError("the name of the container or of the package has another form")
        for option in (*self.slurm, *self.options):
            if not option.startswith("--") or _OPTION.fullmatch(option[2:]) is None:
                raise UsageError(f"an option has the form --name=value: {option!r}")


def read_image(text: str) -> Image:
    """The name of an image. Raises UsageError for what is none, also for a file of one machine."""
    found = _IMAGE.fullmatch(text) if len(text) <= MAX_IMAGE else None
    if found is None or not found["tag"]:
        raise UsageError(f"this is no image that can be pulled: {text[:80]!r}")
    return Image(found["host"] or "", found["name"], found["tag"])


def _whole(name: str) -> str:
    return name if "/" in name else f"library/{name}"


def find_engine(which: Callable[[str], str | None] = shutil.which) -> Engine:
    """The engine of this node. Raises UsageError where there is none."""
    known: Sequence[tuple[str, Engine]] = (
        ("srun", "slurm"),
        ("docker", "docker"),
        ("podman", "podman"),
        ("enroot", "enroot"),
    )
    for programme, engine in known:
        if which(programme):
            return engine
    raise UsageError("there is no srun, docker, podman or enroot here; --engine none starts jobs without a container")


def commands(box: Container, image: Image | None) -> list[list[str]]:
    """The commands that start a job and wait for its end, one after another; the last one is the run itself.

    Raises UsageError for a container without an image.
    """
    if box.engine == "none":
        return [_here(box)]
    if image is None:
        raise UsageError("the job has no image")
    match box.engine:
        case "docker" | "podman":
            return [_docker(box, image)]
        case "slurm":
            return [_srun(box, image)]
        case "enroot":
            return _enroot(box, image)


def cleanup(box: Container) -> list[list[str]]:
    """The commands that leave nothing of a job behind, however it ended; each may fail."""
    match box.engine:
        case "docker" | "podman":
            return [[box.engine, "rm", "--force", "--volumes", box.name]]
        case "slurm":
            return [["scancel", "--quiet", f"--name={box.name}"]]
        case "enroot":
            return [["enroot", "remove", "--force", box.name], ["rm", "-f", _squashed(box)]]
        case "none":
            return []


def _mounts(box: Container) -> list[tuple[str, str, bool]]:
    """Folders outside and inside, and whether the container may write."""
    found = [(box.work, WORK, True)]
    if box.wheels:
        found.append((box.wheels, WHEELS, False))
    folders = dict.fromkeys([*filter(None, [box.cache]), *box.folders])
    return [*found, *((folder, folder, False) for folder in folders)]


def _variables(box: Container) -> list[str]:
    """What the container is told of the node: where the models are that a plan names by their name."""
    return [f"HF_HUB_CACHE={box.cache}"] if box.cache else []


def _docker(box: Container, image: Image) -> list[str]:
    found = [
        box.engine, "run", "--rm", "--init", "--name", box.name, "--ipc", "host",
        "--security-opt", "no-new-privileges", "--ulimit", "core=0", "--pids-limit", "32768",
    ]  # fmt: skip
    if box.wheels:
        # Everything is there: what runs inside has nobody to talk to.
        found += ["--network", "none", "--env", "NCCL_SOCKET_IFNAME=lo", "--env", "GLOO_SOCKET_IFNAME=lo"]
    if box.nvidia:
        found += ["--gpus", "all"]
    else:
        found += ["--device", "/dev/kfd", "--device", "/dev/dri", "--group-add", "video"]
    found += [option for option in box.options if option not in found]
    for outside, inside, writable in _mounts(box):
        found += ["--volume", f"{outside}:{inside}" + ("" if writable else ":ro")]
    for variable in _variables(box):
        found += ["--env", variable]
    return [*found, "--workdir", WORK, "--entrypoint", "bash", image.docker, "-c", _inner(box)]


def _srun(box: Container, image: Image) -> list[str]:
    mounts = ",".join(f"{outside}:{inside}" + ("" if rw else ":ro") for outside, inside, rw in _mounts(box))
    return [
        "srun", f"--job-name={box.name}", "--nodes=1", "--ntasks=1", f"--gres=gpu:{box.gpus}",
        f"--time={box.minutes}", "--kill-on-bad-exit=1", *dict.fromkeys([*box.options, *box.slurm]),
        f"--container-image={image.enroot}", f"--container-mounts={mounts}", f"--container-workdir={WORK}",
        "--container-writable", "--container-remap-root", "--no-container-mount-home", "--no-container-entrypoint",
        f"--export={','.join(['NONE', *_variables(box)])}", "bash", "-c", _inner(box),
    ]  # fmt: skip


def _squashed(box: Container) -> str:
    return f"{box.work}/image.sqsh"


def _enroot(box: Container, image: Image) -> list[list[str]]:
    start = ["enroot", "start", "--root", "--rw"]
    for outside, inside, writable in _mounts(box):
        start += ["--mount", f"{outside}:{inside}" + ("" if writable else ":ro")]
    for variable in _variables(box):
        start += ["--env", variable]
    return [
        ["enroot", "import", "--output", _squashed(box), f"docker://{image.enroot}"],
        ["enroot", "create", "--force", "--name", box.name, _squashed(box)],
        [*start, box.name, "bash", "-c", _inner(box)],
    ]


def _here(box: Container) -> list[str]:
    """The run without a container: by the botlint that this is, which finds the engine's own Python."""
    found = [
        sys.executable, "-P", "-c", "from botlint.cli import run; run()", "smoke", "run", f"{box.work}/{REQUEST}",
        "--json", f"{box.work}/{VERDICT}", "--output", "/dev/null",
    ]  # fmt: skip
    return [*found, "--compare", f"{box.work}/{BASE}"] if box.compared else found


def _inner(box: Container) -> str:
    """What the container does: install botlint, and run what the mounted request asks for."""
    return _SCRIPT.format(
        source=f"--no-index --find-links {WHEELS}" if box.wheels else "",
        package=box.package,
        work=WORK,
        request=REQUEST,
        verdict=VERDICT,
        compare=f"--compare {BASE}" if box.compared else "",
    )
