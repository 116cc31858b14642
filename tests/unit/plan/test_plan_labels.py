"""Labels that the runner table does not list, and evals of rows that the generator chooses for none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plan_fixtures import AGENTIC, AGENTIC_RECIPE, CONFIG, ENTRY, EXAMPLES, RECIPE, make_repository, plans_of

from botlint.plan.build import Planner
from botlint.repo.open import open_files

MANUAL = ".github/workflows/e2e-tests.yml"
SWEEP = ".github/workflows/run-sweep.yml"


@pytest.mark.parametrize(
    ("label", "outcome", "reason"),
    [
        pytest.param("mi355x-demo", "serves", None, id="a launcher of that name"),
        pytest.param("mi355x-demo_07", "serves", None, id="a runner that is not in the table"),
        pytest.param("mi399x", "undecided", "no runner has the label mi399x", id="nothing of that name"),
    ],
)
def test_a_label_that_the_table_does_not_list(tmp_path: Path, label: str, outcome: str, reason: str | None) -> None:
    config = (EXAMPLES / CONFIG).read_text().replace("runner: mi355x\n", f"runner: {label}\n", 1)
    launch = plans_of(make_repository(tmp_path / "r", {CONFIG: config}), limit=1)[0].launch
    assert (launch.outcome, launch.reason) == (outcome, reason)
    assert launch.runners == (label,)


@pytest.mark.parametrize("entry", [ENTRY, AGENTIC])
def test_every_eval_plans_the_rows_of_the_throughput_sweep(tmp_path: Path, entry: str) -> None:
    path = RECIPE if entry == ENTRY else AGENTIC_RECIPE
    recipe = '[ "$EVAL_ONLY" = true ] && vllm serve --evaluate "$RUN_EVAL" --kind "$SCENARIO_TYPE"\nvllm serve\n'
    changes: dict[str, str | bytes | None] = {path: recipe}
    for repository in (
        make_repository(tmp_path / "with", changes),
        make_repository(tmp_path / "without", changes | _without_evals()),
    ):
        with open_files(repository) as files:
            rows = [job.row for job in Planner(files).jobs if job.entry == entry]
            planner = Planner(files, "every-eval")
            plans = [planner.plan(job) for job in planner.jobs if job.entry == entry]
        assert [{**row, "eval-only": True} for row in rows] == [dict(plan.job) for plan in plans]
        kind = "fixed-seq-len" if entry == ENTRY else "agentic-coding"
        for plan in plans:
            assert plan.launch.server is not None
            assert plan.launch.server.argv == ("vllm", "serve", "--evaluate", "true", "--kind", kind)


def _without_evals() -> dict[str, str | bytes | None]:
    """The workflows without the jobs that run evals."""
    out: dict[str, str | bytes | None] = {}
    for path in (SWEEP, MANUAL):
        jobs = re.split(r"^(?=  [\w-]+:\n)", (EXAMPLES / path).read_text(), flags=re.MULTILINE)
        out[path] = "".join(job for job in jobs if "eval-only: true" not in job)
    return out
