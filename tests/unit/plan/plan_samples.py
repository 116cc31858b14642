"""Plans made by hand, for what compares and shows them."""

from __future__ import annotations

from typing import Any

from botlint.core.span import Span
from botlint.plan.model import Launch, LaunchPlan, Server, Word

CONFIG = "configs/demo-master.yaml"


def server(argv: list[Word], env: dict[str, Word] | None = None, **others: Any) -> Server:
    """A server that a recipe starts."""
    return Server(
        others.pop("framework", "vllm"), None, "recipe.sh", others.pop("line", 9), tuple(argv), env or {}, {}, **others
    )


def serving(argv: list[Word], env: dict[str, Word] | None = None, **others: Any) -> Launch:
    """A launch that serves."""
    return Launch(("demo_00",), "launch.sh", "recipe.sh", "serves", server=server(argv, env), **others)


def plan(
    launch: Launch, entry: str = "demo", *, line: int = 1, others: tuple[Launch, ...] = (), **row: Any
) -> LaunchPlan:
    """A plan; `row` holds row keys with underscores for dashes."""
    job = {"model": "demo/model", "framework": "vllm", "precision": "fp8", "runner": "demo"}
    job |= {key.replace("_", "-"): value for key, value in row.items()}
    scenario = str(job.pop("scenario", "fixed-seq-len"))
    return LaunchPlan(
        entry, Span(CONFIG, line, 1, line, 5), Span(CONFIG, line + 1, 1, line + 1, 5), scenario, 0, job, launch, others
    )
