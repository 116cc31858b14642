"""A script that is not there is named as the cause, also where the launcher goes on and only the step notices."""

from __future__ import annotations

import pytest

from botlint.engine.examples import example_files
from botlint.plan.build import Planner
from botlint.repo.memory import MemoryFiles

TEMPLATE = ".github/workflows/benchmark-tmpl.yml"
LAUNCHER = "runners/launch_mi355x-demo.sh"


@pytest.mark.parametrize(
    ("launcher", "wanted"),
    [
        (
            'export PORT=8888\nsrun --jobid=1 bash "benchmarks/single_node/${EXP_NAME%%_*}.sh"\nscancel 1\n',
            (LAUNCHER, 2, "benchmarks/single_node/demo.sh: No such file or directory"),
        ),
        (
            'docker run -v "$GITHUB_WORKSPACE:/workspace" i bash /workspace/benchmarks/gone.sh || true\nrm -f x\n',
            (LAUNCHER, 1, "benchmarks/gone.sh: No such file or directory"),
        ),
        ("echo nothing to do\n", (TEMPLATE, 0, "no result")),
    ],
)
def test_the_missing_script_is_why(launcher: str, wanted: tuple[str, int, str]) -> None:
    texts = example_files({"arm": {"tp": 8}})
    texts[LAUNCHER] = launcher
    texts[TEMPLATE] = texts[TEMPLATE].replace(
        "        run: bash ./runners/launch_${RUNNER_NAME%%_*}.sh\n",
        "        run: |\n          bash ./runners/launch_${RUNNER_NAME%%_*}.sh\n"
        '          found=\n          if [ -z "$found" ]; then echo "no result" >&2; exit 1; fi\n',
    )
    plans = list(Planner(MemoryFiles(texts)).plans())
    assert [plan.launch.outcome for plan in plans] == ["exits"]
    found = plans[0].launch.exit
    assert found is not None
    assert found.code == 1
    path, line, message = wanted
    assert (found.path, found.message) == (path, message)
    assert line in (0, found.line)
