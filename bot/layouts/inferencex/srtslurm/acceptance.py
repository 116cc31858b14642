"""The synthetic-acceptance overlay that launchers put on a recipe before they submit it.

A throughput run may ask for a fixed mean acceptance length instead of what the draft model reaches. The injector
edits the recipe's text. Source: SemiAnalysisAI/InferenceX 843c6254f, runners/inject_synthetic_acceptance.py and
runners/synthetic_injectors/.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

# `speculative-config: '<json>'`; only the single-quoted form is found (synthetic_injectors/vllm.py line 21).
_SPECULATIVE = re.compile(r"speculative-config:\s*'([^']+)'")
# A role's environment block at two blanks with nothing behind (synthetic_injectors/sglang.py line 9).
_ENVIRONMENT = re.compile(r"(?m)^(  (?:aggregated|prefill|decode)_environment:\s*)$")
_MARKER = "SGLANG_SIMULATE_ACC_LEN"


@dataclass(frozen=True, slots=True)
class Injection:
    """The recipe after the overlay; with an `error`, the injector exits with status 1 and leaves the text alone."""

    text: str
    entries: int = 0
    error: str | None = None


def inject(text: str, framework: str, variables: Mapping[str, str]) -> Injection:
    """What the injector does to a recipe's text for a framework under these environment variables.

    It does nothing for an evaluation and where SYNTHETIC_ACCEPTANCE is not `true`.
    """
    if _enabled(variables, "EVAL_ONLY") or not _enabled(variables, "SYNTHETIC_ACCEPTANCE"):
        return Injection(text)
    rewrite = {"dynamo-vllm": _vllm, "dynamo-sglang": _sglang}.get(framework)
    if rewrite is None:
        return Injection(text, error=f"no synthetic-acceptance injector is registered for FRAMEWORK='{framework}'")
    written = variables.get("SYNTHETIC_ACCEPTANCE_LENGTH", "").strip()
    if not written:
        return Injection(text, error="SYNTHETIC_ACCEPTANCE_LENGTH not set")
    try:
        length = float(written)
    except ValueError:
        return Injection(text, error=f"could not convert string to float: {written!r}")
    done = rewrite(text, length)
    if done.error is None and done.entries == 0:
        return Injection(text, error="no speculative-config entries were found")
    return done


def _enabled(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "false").strip().lower() == "true"


def _vllm(text: str, length: float) -> Injection:
    """Adds the synthetic rejection sampler to the JSON of every speculative configuration."""
    error: str | None = None
    entries = 0

    def rewrite(match: re.Match[str]) -> str:
        nonlocal error, entries
        entries += 1
        try:
            value = json.loads(match[1])
        except (ValueError, RecursionError):
            error = "speculative-config is not JSON"
            return match[0]
        if not isinstance(value, dict):
            error = "speculative-config is no JSON object"
            return match[0]
        value |= {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": length}
        return f"speculative-config: '{json.dumps(value, separators=(',', ':'))}'"

    edited = _SPECULATIVE.sub(rewrite, text)
    return Injection(edited, entries) if error is None else Injection(text, error=error)


def _sglang(text: str, length: float) -> Injection:
    """Adds the acceptance simulator's variables to every role's environment block."""
    if _MARKER in text:
        return Injection(text, error="recipe already contains SGLANG_SIMULATE_ACC_* variables")
    shown = f"{length:g}" if math.isfinite(length) else str(length)
    lines = (
        f'\n    {_MARKER}: "{shown}"'
        '\n    SGLANG_SIMULATE_ACC_METHOD: "match-expected"'
        '\n    SGLANG_SIMULATE_ACC_TOKEN_MODE: "real-draft-token"'
    )
    edited, entries = _ENVIRONMENT.subn(lambda match: match[1] + lines, text)
    return Injection(edited, entries)
