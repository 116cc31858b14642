"""Small launch plans of two revisions."""

from __future__ import annotations

from dataclasses import replace

from review_samples import CONFIG, ENTRY, SCRIPT, spot

from botlint.plan.diff import PlanDiff, diff_plans
from botlint.plan.model import Exit, Launch, LaunchPlan, Server

Jobs = list[LaunchPlan]


def plan(
    entry: str = ENTRY,
    tp: int = 4,
    conc: int = 1,
    env: dict[str, str] | None = None,
    argv: tuple[str, ...] = (),
    end: Exit | None = None,
) -> LaunchPlan:
    """The plan of one job."""
    server = Server("vllm", "0.27.1", SCRIPT, 30, ("vllm", "serve", "acme/Demo", *argv), env or {}, {})
    launch = Launch(("mi355x_01",), "runners/launch.sh", SCRIPT, "serves", server=server)
    if end is not None:
        launch = replace(launch, outcome="exits", exit=end, server=None)
    job = {"exp-name": "demo", "tp": tp, "conc": conc, "framework": "vllm", "image": "demo:1"}
    return LaunchPlan(entry, spot(CONFIG, 2), spot(CONFIG, 6), "agentic-coding", 0, job, launch)


def rows(plans: Jobs) -> dict[str, list[dict[str, object]]]:
    """The rows of all jobs by entry."""
    found: dict[str, list[dict[str, object]]] = {}
    for one in plans:
        found.setdefault(one.entry, []).append(dict(one.job))
    return found


UNSUPPORTED = Exit(1, SCRIPT, 15, "Error: lmcache is not supported\nsecond line")
BEFORE = [
    *(plan(conc=conc) for conc in (1, 2)),
    *(plan(tp=2, conc=conc, env={"LAYOUT": "0"}) for conc in (1, 2, 5)),
    *(plan(conc=conc) for conc in (32, 40)),
    plan("gone-entry"),
]
AFTER = [
    *(plan(conc=conc) for conc in (1, 2)),
    *(plan(tp=2, conc=conc, env={"LAYOUT": "1"}, argv=("--block-size", "128")) for conc in (1, 2, 5)),
    *(plan(conc=conc, end=UNSUPPORTED) for conc in (32, 40)),
    plan("new-entry", tp=8, conc=7),
]
ROWS = rows(AFTER)


def seed_diff() -> PlanDiff:
    """Three jobs that launch something else, two that exit now, one added and one removed."""
    return diff_plans(BEFORE, AFTER)
