"""An evaluation through the server's own API: gsm8k by lm-eval, with a limit of questions."""

from __future__ import annotations

import json
import math
from pathlib import Path

from botlint.core.visible import visible
from botlint.smoke.jsonform import whole

TASK = "gsm8k"

MAX_FILE = 5_000_000

_CONCURRENT = 8
_SHOTS = 5
_LONGEST = 512


def options(model: str, port: int, limit: int, output: str) -> list[str]:
    """The options of `python -m lm_eval`, which asks for completions of texts, so that it needs no tokenizer."""
    settings = {
        "model": model,
        "base_url": f"http://127.0.0.1:{port}/v1/completions",
        "tokenizer_backend": "None",
        "tokenized_requests": "False",
        "num_concurrent": str(_CONCURRENT),
        "max_retries": "3",
        "max_gen_toks": str(_LONGEST),
    }
    arguments = ",".join(f"{name}={value}" for name, value in settings.items())
    return [
        *("--model", "local-completions", "--model_args", arguments, "--tasks", TASK),
        *("--num_fewshot", str(_SHOTS), "--limit", str(limit), "--output_path", output),
    ]


def read_scores(folder: Path) -> dict[str, float]:
    """The scores that lm-eval wrote, by metric (`exact_match,strict-match`), without their errors."""
    for path in sorted(folder.rglob("results*.json"), reverse=True)[:1]:
        try:
            with path.open("rb") as stream:
                text = stream.read(MAX_FILE + 1)
            results = json.loads(text, parse_int=whole)["results"][TASK] if len(text) <= MAX_FILE else {}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}
        if not isinstance(results, dict):
            return {}
        return {
            visible(name, 100): float(value)
            for name, value in list(results.items())[:50]
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if "stderr" not in name and name != "sample_len"
        }
    return {}
