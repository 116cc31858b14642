"""The jobs of a revision: the rows that its own matrix generator prints for a full sweep, in the same order.

`throughput` is the generator's output without eval options, `unmarked` the rows before any is chosen for an eval
(`--no-evals`), `evals` is `--evals-only` and `all-evals` is `--all-evals`. `every-eval` is no output of the generator:
each row of `throughput` as a job that only runs its eval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from botlint.core.span import Problem
from botlint.layouts.inferencex import evals
from botlint.layouts.inferencex.configs import Configs, Runners, load_configs, load_runners
from botlint.layouts.inferencex.expand import base_jobs
from botlint.layouts.inferencex.job import Job

__all__ = ["Expansion", "Job", "Mode", "expand", "expand_all", "load_configs", "load_runners"]

Mode = Literal["throughput", "unmarked", "evals", "all-evals", "every-eval"]


@dataclass(frozen=True, slots=True)
class Expansion:
    """The jobs, and a problem for each arm that could not become jobs."""

    jobs: list[Job]
    problems: list[Problem]


def expand(configs: Configs, runners: Runners, mode: Mode = "throughput") -> list[Job]:
    """The jobs of all entries; a mode that the revision's generator does not know gives no job."""
    return expand_all(configs, runners, mode).jobs


def expand_all(configs: Configs, runners: Runners, mode: Mode = "throughput") -> Expansion:
    """As `expand`, with the problems of the arms that the generator would refuse to expand."""
    facts = configs.facts.evals
    if (mode == "evals" and not facts.evals_only) or (mode == "all-evals" and not facts.all_evals):
        return Expansion([], [])
    problems: list[Problem] = []
    jobs = base_jobs(configs, runners, problems)
    selecting = mode in ("evals", "all-evals")
    if selecting or (mode in ("throughput", "every-eval") and facts.marked_by_default):
        evals.mark(jobs, facts, with_agentic=selecting)
    if mode == "every-eval":
        evals.evaluate_only(jobs)
    if mode == "all-evals":
        jobs = evals.expand_to_all(jobs, facts)
    return Expansion(evals.select(jobs, facts) if selecting else jobs, problems)
