"""Which command lines start an inference server, and of which framework."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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


_MODES = frozenset({"prefill", "decode"})
_KV_ROLES = {"kv_producer": "prefill", "kv_consumer": "decode", "kv_both": "aggregate"}
_KV_ROLE = re.compile(r'"kv_role"\s*:\s*"(\w+)"')


def role(argv: Sequence[str], variables: Mapping[str, object]) -> str:
    """What a server does among several: `prefill`, `decode`, or `aggregate` where nothing says which of them."""
    for number, word in enumerate(argv):
        following = argv[number + 1] if number + 1 < len(argv) else None
        if word == "--disaggregation-mode" and following in _MODES:
            return following
        found = _KV_ROLE.search(word)
        if found is not None and found[1] in _KV_ROLES:
            return _KV_ROLES[found[1]]
        if word == "-m" and following is not None and following.endswith("decode_server"):
            return "decode"
    for name, value in variables.items():
        if name.endswith("_ROLE") and value in _MODES:
            return str(value)
    return "aggregate"


_TENSOR = frozenset({"--tensor-parallel-size", "--tp-size", "--tp", "-tp"})
_DATA = frozenset({"--data-parallel-size", "-dp"})
_LOCAL = frozenset({"--data-parallel-size-local", "-dpl"})


def option(argv: Sequence[str | None], names: frozenset[str]) -> int | None:
    """The number that an option of a server is given."""
    for number, word in enumerate(argv):
        name, equals, value = (word or "").partition("=")
        if name in names:
            text = value if equals else argv[number + 1] if number + 1 < len(argv) else None
            return int(text) if text is not None and text.isdecimal() and len(text) < 6 else None
    return None


def gpus(argv: Sequence[str | None]) -> int | None:
    """GPUs of one worker as its command line says it, None if it does not."""
    tensor = option(argv, _TENSOR)
    return None if tensor is None else tensor * (option(argv, _DATA) or 1)


def nodes(argv: Sequence[str | None]) -> int:
    """Nodes of one worker."""
    every, local = option(argv, _DATA), option(argv, _LOCAL)
    spread = every // local if every and local else 1
    return max(option(argv, frozenset({"--nnodes"})) or 1, spread)


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


CLIENTS = {
    "lm_eval": "lm_eval",
    "lm-eval": "lm_eval",
    "sglang.bench_serving": "sglang-bench",
    "vllm.benchmarks.serve": "vllm-bench",
    "atom.benchmarks.benchmark_serving": "atom-bench",
}
"""Programmes and Python modules that ask a server."""


def identify_client(argv: Sequence[str | None]) -> str | None:
    """The client that a command line starts, or None."""
    name = (argv[0] or "").rpartition("/")[2] if argv else ""
    if name == "vllm":
        return "vllm-bench" if argv[1:3] == ["bench", "serve"] else None
    if _PYTHON.fullmatch(name):
        for index, word in enumerate(argv[1:], 1):
            if word == "-m":
                following = argv[index + 1] if index + 1 < len(argv) else None
                return CLIENTS.get(following or "")
            if word is None or not word.startswith("-"):
                return "benchmark" if (word or "").endswith("benchmark_serving.py") else None
    return CLIENTS.get(name)


def may_ask(name: str) -> bool:
    """Whether a programme of this name can be a client at all."""
    return name == "vllm" or name in CLIENTS or _PYTHON.fullmatch(name) is not None


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
