"""Plans for commands that look at more than one revision, or again and again at one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from botlint.cli.common import Settings
from botlint.core.cachefile import cache_path
from botlint.plan.store import PlanStore, load_store, save_store

if TYPE_CHECKING:
    from botlint.layouts.base import Job
    from botlint.plan.build import Planner
    from botlint.plan.files import Question
    from botlint.plan.model import LaunchPlan


class KeptPlans:
    """Plans jobs; launches of another revision or run are taken where nothing changed that they depend on."""

    def __init__(self, repository: Path, settings: Settings) -> None:
        self._path = cache_path(repository, "plans") if settings.cache else None
        self._store = PlanStore() if self._path is None else load_store(self._path)
        self._settings = settings

    def __call__(self, planner: Planner, jobs: Sequence[Job]) -> list[LaunchPlan]:
        plans = self._store.plan(planner, jobs, self._make)
        if self._store.changed and self._path is not None:
            save_store(self._store, self._path)
            self._store.changed = False
        return plans

    def _make(self, planner: Planner, jobs: Sequence[Job]) -> list[tuple[LaunchPlan, frozenset[Question] | None]]:
        from botlint.cli.progress import with_bar
        from botlint.plan.parallel import plan_jobs_with_questions

        show = self._settings.show_progress()
        return with_bar(lambda step: plan_jobs_with_questions(planner, jobs, step), len(jobs), "planning", show=show)
