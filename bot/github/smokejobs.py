"""The jobs of a pull request that deserve a smoke run, and what the settings of its base say about such runs.

This is done where reviews are, beside the App, which gets plain values only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botlint.engine.settings import Settings, SmokeSettings
from botlint.github.port import GitHub
from botlint.github.review import Options, analyse_commits
from botlint.plan.show import describe_jobs
from botlint.smoke.select import Budget, Chosen, Selection, Selector, find, select

MAX_LEFT = 30
MAX_SHOWN = 6
MAX_TEXT = 400


def rules_form(settings: Settings) -> dict[str, Any] | None:
    """What `botlint.github.smoke.read_rules` reads; None where the repository asks for no smoke jobs."""
    smoke = settings.smoke
    if smoke is None:
        return None
    return {
        "workflow": smoke.workflow,
        "label": smoke.label,
        "automatic": smoke.automatic,
        "queue_timeout": smoke.queue_timeout,
        "timeout": smoke.timeout,
        "fail_closed": settings.review.fail_closed,
        "languages": list(settings.languages),
    }


def pick(github: GitHub, number: int, head: str, words: Sequence[str], options: Options) -> dict[str, Any]:
    """What `botlint.github.smoke.read_picked` reads: the jobs of a head to start, and what they leave open.

    Raises UsageError for words that are no selector.
    """
    selector = Selector.of(words)
    pull = github.pull(number)
    base = github.merge_base(pull.base.name, head)
    changed = [one.path for one in github.files(number)]
    analysis = analyse_commits(github, base, head, changed, {}, options)
    smoke = analysis.settings.smoke
    if smoke is None or analysis.context is None:
        return {"base": base, "jobs": [], "left": []}
    plans = analysis.context.plans
    budget = budget_of(smoke)
    if selector.ids:
        selection = find(plans, selector.ids[: smoke.max_jobs], budget)
    else:
        selection = select(
            plans, analysis.diff, analysis.report.findings, budget, selector.conditions, selector.entries
        )
    return picked_form(selection, base)


def budget_of(smoke: SmokeSettings) -> Budget:
    """The budget that settings give."""
    return Budget(smoke.max_jobs, smoke.max_gpus, smoke.runners, smoke.images)


def picked_form(selection: Selection, base: str) -> dict[str, Any]:
    """A selection as plain values."""
    return {
        "base": base,
        "jobs": [
            {
                "id": one.id,
                "text": _job_text(one),
                "gpus": one.gpus,
                "shows": [text[:MAX_TEXT] for text in one.shows[:MAX_SHOWN]],
            }
            for one in selection.chosen
        ],
        "left": [
            {"text": one.text[:MAX_TEXT], "why": "; ".join(one.reasons)[:MAX_TEXT]} for one in selection.left[:MAX_LEFT]
        ],
    }


def _job_text(one: Chosen) -> str:
    keys = [key for key in ("tp", "ep", "dp-attn", "conc", "isl", "osl", "spec-decoding") if key in one.plan.job]
    described = describe_jobs([one.plan], keys)
    return f"{one.plan.entry} ({one.plan.scenario}" + (f", {described[0]}" if described else "") + ")"
