"""Which command lines start an inference server, and of which framework."""

from __future__ import annotations

import re
from collections.abc import Sequence

MODULES = {
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.cli.main": "vllm",
    "sglang.launch_server": "sglang",
    "atom.entrypoints.openai_server": "atom",
    "tensorrt_llm.commands.serve": "trtllm",
    "dynamo.vllm": "dynamo-vllm",
    "dynamo.sglang": "dynamo-sglang",
    "dynamo.trtllm": "dynamo-trt",
    "tilert.pd_vllm.decode_server": "tilert",
}
"""Python modules that are servers when run with `python -m`."""

PROGRAMMES = {"trtllm-serve": "trtllm", "sglang": "sglang", "atom": "atom", "tilert": "tilert"}
"""Programmes that are servers whatever their arguments, questions for help or version aside."""

_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_LAUNCHERS = frozenset({"mpirun", "mpiexec", "trtllm-llmapi-launch"})
_QUESTIONS = frozenset({"--help", "-h", "--version", "-V", "version"})


def may_serve(name: str) -> bool:
    """Whether a programme of this name can start a server at all."""
    return name == "vllm" or name in PROGRAMMES or name in _LAUNCHERS or _PYTHON.fullmatch(name) is not None


def identify(argv: Sequence[str | None]) -> str | None:
    """The framework whose server a command line starts, or None; unknown words are None."""
    if not argv or argv[0] is None:
        return None
    name = argv[0]
    rest = argv[1:]
    if name == "vllm":
        return "vllm" if rest and rest[0] == "serve" and not _QUESTIONS & set(rest[1:2]) else None
    if name in PROGRAMMES:
        return None if rest and rest[0] in _QUESTIONS else PROGRAMMES[name]
    if _PYTHON.fullmatch(name):
        return _python(rest)
    if name in _LAUNCHERS and "trtllm-serve" in rest:
        return "trtllm"
    return None


def _python(rest: Sequence[str | None]) -> str | None:
    """The server that a `python` command line runs as a module or as a script."""
    for index, word in enumerate(rest):
        if word == "-m":
            module = rest[index + 1] if index + 1 < len(rest) else None
            return MODULES.get(module) if module is not None else None
        if word == "-c" or word is None or word == "-":
            return None
        if not word.startswith("-"):
            return "trtllm" if word.rpartition("/")[2] == "trtllm-serve" else None
    return None
