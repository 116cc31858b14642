"""The page about layouts: its example is a layout that passes its own case."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from botlint.documents.plain import load_plain
from botlint.layouts.choose import NAMES, Choice, Kind, load_jobs
from botlint.layouts.plain import OPTIONS
from botlint.plan.build import Planner
from botlint.repo.memory import MemoryFiles

PAGE = (Path(__file__).parents[2] / "docs" / "layouts.md").read_text(encoding="utf-8")


def test_the_example_passes_its_case() -> None:
    module = ModuleType("fleet")
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], module.__dict__)
    (case,) = load_plain(next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "jobs:" in text))
    files = MemoryFiles(case["files"])
    kind = Kind(module.recognise, module.load)
    assert kind.recognise(files)
    jobs = kind.load(files, {}).jobs
    (plan,) = Planner(files).plans(jobs)
    assert plan.launch.server is not None
    assert (plan.entry, dict(plan.job)) == (case["jobs"][0]["entry"], case["jobs"][0]["row"])
    assert " ".join(map(str, plan.launch.server.argv)) == case["jobs"][0]["argv"]
    assert jobs[0].facts["tp"] == 2
    broken = kind.load(MemoryFiles({"fleet.json": '{"servers": [{}, 3]}'}), {})
    assert (len(broken.jobs), len(broken.problems)) == (0, 2)


def test_it_names_what_there_is() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)) == {*NAMES, *OPTIONS}
    settings = next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "layout: plain" in text)
    options = load_plain(settings)["layout-options"]
    files = MemoryFiles({"serve/a.sh": 'vllm serve "$MODEL" -tp "$TP"\n', ".botlint.yaml": settings})
    assert [dict(job.row)["TP"] for job in load_jobs(files, Choice("plain", options))[1].jobs] == [4, 8]
