"""What a check could not look at: files, frameworks, versions, models, exceeded bounds and open outcomes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from botlint.catalogs.models import find_model
from botlint.core.finding import Note, NoteKind
from botlint.engine.analysis.command import CATALOGS
from botlint.engine.analysis.job_image import job_image
from botlint.engine.context import Context
from botlint.layouts.base import Job
from botlint.plan.model import LaunchPlan

_BOUND = re.compile(r"\b(more than|longer than|too deep|too deeply|costs too much|too long)\b")
"""How the reasons of the interpreter's bounds are worded."""


def notes_of(context: Context) -> list[Note]:
    """The notes of a check in order, each once; what nobody planned has none about plans."""
    notes = dict(context.notes)
    planner = context.planner
    for problem in planner.all_problems if planner is not None else context.files.problems:
        notes[Note("unread", problem.message, problem.span.path, problem.span.line)] = None
    for job, plan in zip(planner.jobs if planner is not None else (), context.planned, strict=False):
        notes.update(dict.fromkeys(_of_plan(job, plan)))
    return sorted(notes, key=lambda one: (one.kind, one.path, one.line, one.message))


def _of_plan(job: Job, plan: LaunchPlan) -> Iterator[Note]:
    launch = plan.launch
    path, line = plan.config.path, plan.config.line
    if launch.outcome == "undecided":
        reason = launch.reason or ""
        kind: NoteKind = "budget" if _BOUND.search(reason) else "undecided"
        at = launch.reason_at
        yield Note(kind, f"{plan.entry}: {reason}", at.path if at else path, at.line if at else line)
    if launch.server is None:
        return
    framework = launch.server.framework
    if framework not in CATALOGS:
        name = framework or "this server"
        yield Note("framework", f"{plan.entry}: no catalog knows the options of {name}", path, line)
        return
    image = str(job.facts.get("image", ""))
    facts = job_image(job)
    if not facts.versions:
        reason = (facts.reason if image else "") or "the version is not known"
        yield Note("version", f"{plan.entry}: {image or framework}: {reason}", path, line)
    model = str(job.facts.get("model", ""))
    if not find_model(model).known:
        named = f"the shape of {model}" if model else "the model"
        yield Note("model", f"{plan.entry}: {named} is not known", path, line)
