"""A review by a job of GitHub Actions: what the event is about, and what can be said with a token that may only read.

The job itself is the check that branch protection waits for: GitHub puts check runs of a job's token under whatever
workflow ran first, so none are made here.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from botlint.core.errors import CannotFinish, UsageError
from botlint.core.visible import visible
from botlint.github import payloads
from botlint.github.client import API
from botlint.github.links import Links
from botlint.github.port import Forbidden, GitHub, RateLimited
from botlint.github.review import Options, Prepared, prepare, prepare_group, publish
from botlint.github.summary import summary_markdown
from botlint.report.options import Options as ReportOptions
from botlint.report.render import render

MAX_EVENT = 25 * 1024 * 1024
"""Bytes of an event, as GitHub bounds its deliveries."""

MAX_SUMMARY = 1024 * 1024
"""Bytes of a step's summary, of which GitHub shows nothing if it is longer."""

PATIENCE = 180.0
"""Seconds that are waited for a limit of GitHub, in a job that costs something while it waits."""

ATTEMPTS = 4

PULL_EVENTS = frozenset(
    ("pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "issue_comment")
)

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

log = logging.getLogger("botlint.actions")


@dataclass(frozen=True, slots=True)
class Event:
    """What a job was started for: a pull request by its number, or a merge group by its commits."""

    name: str
    repository: str
    number: int | None = None
    head: str = ""
    base: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a job knows from its environment; without it the public server and no event."""

    token: str
    api: str = API
    web: str | None = None
    event_path: str = ""
    event_name: str = ""
    repository: str = ""
    summary_path: str = ""

    @property
    def in_actions(self) -> bool:
        """Whether this is a job of Actions, whose log shows annotations."""
        return bool(self.event_name)


def surroundings(environment: Mapping[str, str]) -> Surroundings:
    """What the environment of the process says; GitHub documents the names as default variables of workflows."""
    web = environment.get("GITHUB_SERVER_URL", "").rstrip("/") or None
    return Surroundings(
        token=environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN") or "",
        api=environment.get("GITHUB_API_URL", "").rstrip("/") or API,
        web=web,
        event_path=environment.get("GITHUB_EVENT_PATH", ""),
        event_name=environment.get("GITHUB_EVENT_NAME", ""),
        repository=environment.get("GITHUB_REPOSITORY", ""),
        summary_path=environment.get("GITHUB_STEP_SUMMARY", ""),
    )


def read_event(known: Surroundings) -> Event:
    """The event of the job. Raises UsageError if there is none that has something to review."""
    if not known.event_path:
        raise UsageError(
            "name the pull request with --repo OWNER/NAME --pr N; there is no event here (GITHUB_EVENT_PATH)"
        )
    try:
        with Path(known.event_path).open("rb") as stream:
            content = stream.read(MAX_EVENT + 1)
    except OSError as error:
        raise UsageError(f"cannot read the event {known.event_path!r}: {error.strerror}") from error
    if len(content) > MAX_EVENT:
        raise UsageError("the event is too large")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError("the event is no JSON") from error
    return parse_event(known.event_name, data if isinstance(data, Mapping) else {}, known.repository)


def parse_event(name: str, data: Mapping[str, Any], repository: str = "") -> Event:
    """What an event is about. Raises UsageError for one that has nothing to review."""
    repository = payloads.text(_map(data, "repository"), "full_name") or repository
    if name == "merge_group":
        group = _map(data, "merge_group")
        head, base = payloads.text(group, "head_sha"), payloads.text(group, "base_sha")
        if _SHA.fullmatch(head) and _SHA.fullmatch(base):
            return Event(name, repository, head=head, base=base)
    if name in PULL_EVENTS:
        issue = _map(data, "issue")
        number = payloads.number(_map(data, "pull_request"), "number")
        if not number and issue.get("pull_request"):
            number = payloads.number(issue, "number")
        if number:
            return Event(name, repository, number)
    raise UsageError(
        f"the event {name[:80]!r} has nothing to review; run on pull_request, pull_request_target or merge_group"
    )


def run(
    event: Event,
    github: GitHub,
    options: Options,
    known: Surroundings,
    write: Callable[[str], None] | None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    patience: float = PATIENCE,
) -> int:
    """Reviews what the event is about, tells it in the job too if it may `write`, and gives the exit status.

    Raises CannotFinish where that was not possible, UsageError for wrong settings of the base.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return _attempt(event, github, options, known, write or _nothing)
        except RateLimited as error:
            # What was done stays and is found again.
            if attempt >= ATTEMPTS or error.wait_seconds > patience:
                raise
            log.warning("waiting %.0f seconds: %s", error.wait_seconds, error)
            sleep(error.wait_seconds)


def _attempt(event: Event, github: GitHub, options: Options, known: Surroundings, write: Callable[[str], None]) -> int:
    if event.number is None:
        found = prepare_group(github, event.head, event.base, options)
    else:
        found = prepare(github, event.number, options)
    if not isinstance(found, Prepared):
        if found == "failed":
            raise CannotFinish("the analysis failed, which is a fault of botlint")
        write(f"botlint: nothing to do, the pull request is {found}\n")
        return 0
    told = False
    if event.number is not None:
        try:
            if publish(github, found) == "superseded":
                write("botlint: there is a newer head, which has a review of its own\n")
                return 0
            told = True
        except Forbidden:
            log.warning("this token may not comment on the pull request: the findings are told here instead")
    _tell(found, known, github, write, told=told)
    if found.analysis.broken is not None:
        raise UsageError(found.analysis.broken)
    failures = found.analysis.report.failures
    if failures and (found.analysis.failing or found.analysis.settings.review.fail_closed):
        # As in the check of an App: what is certain is so whatever else there may be.
        log.warning("could not finish: %s", visible(failures[0], 500))
        return 1
    if failures:
        raise CannotFinish(failures[0])
    return 1 if found.analysis.failing else 0


def _tell(prepared: Prepared, known: Surroundings, github: GitHub, write: Callable[[str], None], *, told: bool) -> None:
    """Annotations where there are no comments, a text in a terminal, and the step's summary."""
    analysis = prepared.analysis
    form = "text" if not known.in_actions else "text" if told else "github"
    settings = ReportOptions(fail_level=analysis.settings.fail_level, today=date.today(), rules=analysis.rules)
    for chunk in render(analysis.report, form, analysis.lines, False, settings):
        write(chunk)
    if known.summary_path:
        links = Links(github.web, prepared.head, prepared.base)
        shown = summary_markdown(prepared.unplaced, links, analysis.settings.languages)
        _append(known.summary_path, shown)


def _nothing(text: str) -> None:
    """Where nothing is to be told."""


def _append(path: str, text: str) -> None:
    """Adds to the step's summary; a job does not fail for it."""
    content = (text + "\n").encode("utf-8", "backslashreplace")
    if len(content) > MAX_SUMMARY:
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
    except OSError as error:
        log.warning("the step's summary cannot be written: %s", error.strerror)


def _map(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}
