"""What a launcher's own container line tells of a node: its engine, its devices, where its models are.

It is that of the base, which was merged, and even so only what is known to do no harm is taken over: a line of a pull
request could mount the whole machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from botlint.plan.model import Word
from botlint.smoke.container import FOLDER, Engine

_ENGINES: dict[str, Engine] = {"srun": "slurm", "docker": "docker", "podman": "podman"}

_TAKEN = {
    "--shm-size": re.compile(r"\d{1,5}[kKmMgG]?[bB]?"),
    "--ulimit": re.compile(r"(?:memlock|stack|nofile)=-?\d{1,12}(?::-?\d{1,12})?"),
    "--group-add": re.compile(r"video|render|\d{1,6}"),
    "--device": re.compile(r"/dev/(?:kfd|dri|infiniband)(?:/[A-Za-z0-9_]{1,40})?"),
    "--cpus-per-task": re.compile(r"\d{1,4}"),
    "--mem": re.compile(r"\d{1,8}[KMGT]?"),
}
"""Options that are taken over, with the values that they may have."""

_FLAGS = frozenset({"--exclusive"})
_NVIDIA = re.compile(r"--gpus(?:=.*)?|--runtime=nvidia")
_MOUNTS = ("-v", "--volume", "--container-mounts")
_CACHE = re.compile(r"hf[_-]?(?:hub[_-]?)?cache|huggingface", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hints:
    """What is taken over: `options` are words of the engine, `cache` is the folder of a hub's models on the node."""

    engine: Engine | None = None
    options: tuple[str, ...] = ()
    cache: str = ""
    nvidia: bool = False


def read_hints(container: Sequence[Word]) -> Hints:
    """What a container line tells; nothing where there is none, or one of an engine that is not known."""
    words = [_known(word) for word in container]
    engine = _ENGINES.get(PurePosixPath(words[0]).name) if words else None
    if engine is None:
        return Hints()
    options: dict[str, None] = {}
    cache = ""
    for name, value in _pairs(words[1:]):
        if name in _MOUNTS and value:
            cache = cache or _cache(value)
        elif value is None and name in _FLAGS:
            options[name] = None
        elif value is not None and name in _TAKEN and _TAKEN[name].fullmatch(value):
            options[f"{name}={value}"] = None
    nvidia = any(_NVIDIA.fullmatch(word) for word in words)
    return Hints(engine, tuple(options), cache, nvidia)


def _known(word: Word) -> str:
    """A word in which a part that nobody knows is a character that fits nothing."""
    return word if isinstance(word, str) else "".join(part if isinstance(part, str) else "\0" for part in word)


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Options with their values, written as one word or as two."""
    for place, word in enumerate(words):
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        following = words[place + 1] if place + 1 < len(words) else None
        two = not equals and following is not None and not following.startswith("-")
        yield name, value if equals else following if two else None


def _cache(mounts: str) -> str:
    """The folder of the node that is mounted where a hub's models are looked for."""
    for spec in mounts.split(","):
        outside, _, inside = spec.partition(":")
        if _CACHE.search(inside) and FOLDER.fullmatch(outside) and ".." not in PurePosixPath(outside).parts:
            return outside.rstrip("/") or outside
    return ""
