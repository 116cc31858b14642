"""Asks the server whether it is there, and writes scores as lm-eval does."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


settings = dict(pair.split("=", 1) for pair in option("--model_args").split(","))
with urllib.request.urlopen(settings["base_url"].replace("completions", "models"), timeout=60) as answer:
    assert json.load(answer)["data"][0]["id"] == settings["model"]
scores = {"alias": "gsm8k", "exact_match,strict-match": 0.5, "exact_match_stderr,strict-match": 0.1}
scores["questions"] = int(option("--limit"))
folder = Path(option("--output_path")) / "model"
folder.mkdir(parents=True)
(folder / "results_1.json").write_text(json.dumps({"results": {option("--tasks"): scores}}), encoding="utf-8")
