"""The words with which a launcher starts the container of a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from botlint.plan.build import Planner
from botlint.plan.jsonform import document
from botlint.plan.model import LaunchPlan, word_text
from botlint.plan.parallel import plan_jobs
from botlint.repo.open import open_files

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plans() -> list[LaunchPlan]:
    planner = Planner(open_files(ROOT / "examples", None))
    return plan_jobs(planner, planner.jobs)


def of(plans: list[LaunchPlan], part: str) -> LaunchPlan:
    return next(plan for plan in plans if part in plan.entry and plan.launch.outcome == "serves")


def test_slurm_with_a_container(plans: list[LaunchPlan]) -> None:
    words = [word_text(word) for word in of(plans, "mi355x-vllm").launch.container]
    assert words[0] == "srun"
    image = next(word for word in words if word.startswith("--container-image="))
    assert image.endswith(".sqsh")
    assert "vllm" in image, "the values of the job are in it"
    assert not any(word.endswith(".sh") for word in words), "its command is not"


def test_docker(plans: list[LaunchPlan]) -> None:
    plan = of(plans, "b200-vllm")
    words = [word_text(word) for word in plan.launch.container]
    assert words[:2] == ["docker", "run"]
    assert words[-1] == plan.job["image"]


def test_the_json_form(plans: list[LaunchPlan]) -> None:
    schema = json.loads((ROOT / "schemas" / "plan.schema.json").read_text(encoding="utf-8"))
    form: dict[str, Any] = document(plans, ())
    jsonschema.Draft202012Validator(schema).validate(form)
    with_container = [one for one in form["plans"] if "container" in one]
    assert with_container
    assert all(one["outcome"] == "serves" for one in with_container)
