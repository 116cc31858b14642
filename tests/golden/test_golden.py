"""What the renderers print, byte for byte.

`BOTLINT_UPDATE_GOLDEN=1 pytest tests/golden` writes the files anew; their difference is part of the review.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from golden_plans import PROBLEMS, changed_plans, plans

from botlint.cli import main
from botlint.plan.diff import diff_plans
from botlint.plan.diffshow import diff_document, diff_text, render_diff
from botlint.plan.jsonform import document, write_document
from botlint.plan.model import LaunchPlan
from botlint.plan.show import Counts, render_entry
from botlint.plan.style import Style

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
UPDATE = os.environ.get("BOTLINT_UPDATE_GOLDEN") == "1"


def by_entry(listed: Iterable[LaunchPlan]) -> dict[str, list[LaunchPlan]]:
    entries: dict[str, list[LaunchPlan]] = {}
    for plan in listed:
        entries.setdefault(plan.entry, []).append(plan)
    return entries


def rows(listed: Iterable[LaunchPlan]) -> dict[str, list[Mapping[str, object]]]:
    return {entry: [plan.job for plan in members] for entry, members in by_entry(listed).items()}


def plan_text(style: Style) -> str:
    listed, counts = plans(), Counts()
    for plan in listed:
        counts.count(plan)
    jobs = rows(listed)
    lines = [line for entry, group in by_entry(listed).items() for line in render_entry(group, jobs[entry], style)]
    return "\n".join([*lines, counts.text(), ""])


def plan_json() -> str:
    text = "".join(write_document(plans(), PROBLEMS))
    parsed = json.loads(text)
    assert parsed == json.loads(json.dumps(document(plans(), PROBLEMS)))
    validate(parsed, "plan")
    return json.dumps(parsed, indent=1) + "\n"


def validate(parsed: Any, name: str) -> None:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(parsed)


def the_diff_text(style: Style) -> str:
    old, new = plans(), changed_plans()
    return "\n".join([*render_diff(diff_plans(old, new), rows(old), rows(new), style), ""])


def the_diff_json() -> str:
    text = diff_text(diff_document(diff_plans(plans(), changed_plans()), "main", "the working tree", PROBLEMS, []))
    validate(json.loads(text), "diff")
    return text


MADE: dict[str, Callable[[], str]] = {
    "plan.txt": lambda: plan_text(Style()),
    "plan.ansi": lambda: plan_text(Style(True)),
    "plan.json": plan_json,
    "diff.txt": lambda: the_diff_text(Style()),
    "diff.ansi": lambda: the_diff_text(Style(True)),
    "diff.json": the_diff_json,
}


def compare(name: str, text: str) -> None:
    path = FOLDER / name
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), "BOTLINT_UPDATE_GOLDEN=1 writes it"
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(MADE))
def test_rendered(name: str) -> None:
    compare(name, MADE[name]())


AGENTIC = "minimaxm3-fp4-mi355x-vllm-agentic-mtp"
COMMANDS = {
    "examples-plan.txt": [AGENTIC, "gptoss-fp4-mi355x-vllm"],
    "examples-explain-variable.txt": [AGENTIC, "tp=2", "--explain", "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT"],
    "examples-explain-option.txt": [AGENTIC, "--explain=--kv-transfer-config"],
}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "r"
    shutil.copytree(ROOT / "examples", folder, ignore=shutil.ignore_patterns("demo"))
    shutil.copytree(ROOT / "examples" / "demo" / "healthy", folder, dirs_exist_ok=True)
    assert main(["plan", "--repo", str(folder), "--no-color", *COMMANDS[name]]) == 0
    compare(name, capsys.readouterr().out)
