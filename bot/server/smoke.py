"""Smoke runs of pull requests: started for those who may, watched, ended when they are about nothing any more.

What is known of a run stands in its check run, so nothing of it is kept here, and doing a task again changes nothing.
Its workflow is that of the default branch, which only those who may write can change, and it is given data only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from botlint.core.errors import UsageError
from botlint.core.markdown import code, prose
from botlint.core.redact import redact
from botlint.core.visible import visible
from botlint.github import smoke
from botlint.github.markers import SUMMARY, has_marker, own
from botlint.github.models import CheckOutput, CheckRun, Conclusion, PullRequest, WorkflowRun
from botlint.github.port import Actions, Forbidden, GitHub, NotFound, TooLarge, Unprocessable
from botlint.github.smoke import Ending, Mark, Picked, Rules
from botlint.github.smokewords import SmokeWords, words_of
from botlint.server import answers
from botlint.server.events import Task
from botlint.smoke.result import ARTIFACT, MAX_ARCHIVE, Result, read_result, unpacked

MAY_COMMAND = frozenset(("admin", "maintain", "write"))

POLL = 120.0
"""Seconds between two looks at a run: events tell of it sooner, and may get lost."""

SOON = 10.0
"""Seconds until a run is looked for whose number GitHub did not tell."""

LABELLED, AUTOMATIC, PUSHED_OVER, DRAFT, POLLED = (
    "labelled",
    "automatic",
    "pushed over",
    "converted to a draft",
    "polled",
)

DEFAULT = Rules("botlint-smoke.yml", "", False, 60, 60, False, ("en",))
"""What goes for a run whose settings are gone."""

_STARTS = frozenset(("opened", "reopened", "pushed", "ready for review"))

log = logging.getLogger("botlint.smoke")


class Picker(Protocol):
    """Knows the settings of a base and the plans of a head."""

    def smoke_rules(self, github: GitHub, number: int) -> object:
        """What `botlint.github.smoke.read_rules` reads."""
        ...

    def smoke_jobs(self, github: GitHub, number: int, head: str, words: Sequence[str]) -> object:
        """What `botlint.github.smoke.read_picked` reads."""
        ...


@dataclass(frozen=True, slots=True)
class SmokeRuns:
    """Starts smoke runs and brings their checks to an end. `submit` keeps a task for later."""

    app: int
    picker: Picker
    submit: Callable[[str, Task, float], object]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    # ------------------------------------------------------------------------------------------------ what follows

    def follow(self, task: Task, outcome: str) -> Iterator[Task]:
        """The tasks about smoke runs that an event about a pull request asks for, after its review."""
        look = replace(task, kind="smoke-look", label="", before="", attempt=0)
        if task.before:
            yield replace(look, head=task.before, reason=PUSHED_OVER)
        if task.head and (task.reason in ("closed", DRAFT) or outcome in ("closed", "superseded")):
            yield look
        if task.label:
            yield replace(task, kind="smoke", before="", attempt=0, reason=LABELLED)
        if task.reason in _STARTS and task.actor and task.head:
            yield replace(task, kind="smoke", before="", attempt=0, reason=AUTOMATIC)

    # ---------------------------------------------------------------------------------------------------- starting

    def start(self, github: Actions, origin: str, task: Task) -> str:
        """Start the jobs that somebody asked for, if they may, and if it is about the newest commit."""
        if task.reason == AUTOMATIC:
            known = self._rules(github, task.number)
            if known is None or not known.automatic:
                return "not automatic"  # of most pushes nothing else is asked
        if not task.actor or github.permission(task.actor) not in MAY_COMMAND:
            log.info("smoke run not allowed", extra={"lane": task.lane, "actor": task.actor})
            return "not allowed"
        pull = github.pull(task.number)
        if pull.state == "closed":
            return "closed"
        rules = self._rules(github, task.number)
        if rules is None:
            self._tell(github, task, [words.not_set_up for words in words_of(DEFAULT.languages)])
            return "not set up"
        if task.reason == LABELLED and (not rules.label or task.label.lower() != rules.label.lower()):
            return "another label"
        if task.reason == AUTOMATIC and (not rules.automatic or pull.from_fork or pull.draft):
            return "not automatic"
        refused = [self._refusal(task, pull, words) for words in words_of(rules.languages)]
        if any(refused):
            self._tell(github, task, refused)
            if task.head and not task.comment:
                self._ask_again(github, task.number, task.head, pull, rules)
            return "another commit"
        return self._started(github, origin, task, pull, rules)

    def _refusal(self, task: Task, pull: PullRequest, words: SmokeWords) -> str:
        """Why what was asked for is not about the newest commit, or not surely; empty where it is."""
        head = pull.head.sha
        if pull.from_fork and len(task.head) < len(head):
            # A word in a comment says nothing of the commit: another one may be pushed while it is written.
            return words.name_commit.format(head=head)
        if not head.startswith(task.head):
            return words.moved.format(asked=code(task.head[:12]), head=code(head))
        return ""

    def _started(self, github: Actions, origin: str, task: Task, pull: PullRequest, rules: Rules) -> str:
        head = pull.head.sha
        picked = smoke.read_picked(self.picker.smoke_jobs(github, task.number, head, task.words.split()))
        mark = Mark(task.number, head, smoke.nonce_of(origin), 0, len(picked.jobs))
        known = [(check, one) for check, one in self._checks(github, head, task.number) if one is not None]
        mine = next(((check, one) for check, one in known if one.nonce == mark.nonce), None)
        if mine is not None and (mine[0].status == "completed" or mine[1].run):
            self._look_later(task, mine[1], POLL)
            self._tell_started(github, task, mark, picked, rules)
            return "started before"
        if not picked.jobs:
            return self._nothing(github, task, head, picked, rules)
        for check, other in known:
            if check.status != "completed" and other.nonce != mark.nonce:
                self._stop(github, check, other, words_of(rules.languages)[0].asked_again)
        run = None
        if mine is None:
            output = smoke.asked_output(picked, mark, task.actor, rules)
            check = github.create_check_run(smoke.NAME, head, mark.external_id, status="queued", output=output)
        else:
            check = mine[0]
            run = self._find(github, mark, rules, pull)
        return self._dispatched(github, task, check, mark, picked, rules, pull, run)

    def _dispatched(
        self,
        github: Actions,
        task: Task,
        check: CheckRun,
        mark: Mark,
        picked: Picked,
        rules: Rules,
        pull: PullRequest,
        run: WorkflowRun | None,
    ) -> str:
        number, url = (0, "") if run is None else (run.id, run.url)
        if run is None:
            try:
                inputs = smoke.inputs(mark, picked.base, [job.id for job in picked.jobs])
                made = github.dispatch_workflow(rules.workflow, pull.default_branch, inputs)
            except (NotFound, Unprocessable, Forbidden) as error:
                return self._refused(github, task, check, rules, error)
            number, url = (0, "") if made is None else (made.run, made.url)
        mark = replace(mark, run=number)
        if number:
            github.update_check_run(check.id, external_id=mark.external_id, details_url=url or None)
        self._look_later(task, mark, POLL if number else SOON)
        self._tell_started(github, task, mark, picked, rules)
        log.info("smoke run started", extra={"lane": task.lane, "run": number, "jobs": mark.jobs})
        return "started"

    def _tell_started(self, github: Actions, task: Task, mark: Mark, picked: Picked, rules: Rules) -> None:
        self._tell(github, task, [f"{one}: {code(mark.head[:12])}." for one in smoke.asked_titles(picked, rules)])

    def _refused(self, github: Actions, task: Task, check: CheckRun, rules: Rules, error: Exception) -> str:
        def said(words: SmokeWords) -> str:
            if isinstance(error, NotFound):
                return words.no_workflow.format(workflow=code(rules.workflow))
            if isinstance(error, Forbidden):
                return words.no_permission
            return words.refused.format(reason=prose(redact(str(error)), 300))

        words = words_of(rules.languages)
        told = list(map(said, words))
        output = smoke.plain_output(words[0].nothing_title, "\n\n".join(told))
        github.update_check_run(check.id, status="completed", conclusion=smoke.undecided(rules), output=output)
        self._tell(github, task, told)
        return "refused"

    def _nothing(self, github: Actions, task: Task, head: str, picked: Picked, rules: Rules) -> str:
        words = words_of(rules.languages)
        lines = [f"- {prose(text, 300)}" + (f" ({prose(why, 300)})" if why else "") for text, why in picked.left[:20]]
        text = "\n\n".join([*(one.nothing for one in words), *(["\n".join(lines)] if lines else [])])
        output = smoke.plain_output(words[0].nothing_title, text)
        conclusion: Conclusion = "neutral" if picked.left else "success"
        identifier = smoke.again_id(task.number, head)
        github.create_check_run(smoke.NAME, head, identifier, conclusion=conclusion, output=output)
        self._tell(github, task, [text])
        return "nothing to start"

    def tell_no_permission(self, github: GitHub, task: Task) -> None:
        """Tell who asked that the App may not start workflows there."""
        if task.actor and github.permission(task.actor) in MAY_COMMAND:
            self._tell(github, task, [words.no_permission for words in words_of(DEFAULT.languages)])

    def _tell(self, github: GitHub, task: Task, told: Sequence[str]) -> None:
        """Answer the comment in which a run was asked for; there is none where a label or a button did."""
        if not task.comment:
            return
        text = "\n\n".join(told)
        marker = f"<!-- botlint:v1 smoke-reply={task.comment} -->"
        answers.give(github, task, f"{text}\n\n{marker}", marker)

    # ---------------------------------------------------------------------------------------------------- watching

    def look(self, github: Actions, task: Task) -> str:
        """Bring the smoke checks of a head to what their runs have come to, and say what that was."""
        checks = self._checks(github, task.head, task.number)
        running = [
            (check, mark)
            for check, mark in checks
            if mark is not None and check.status != "completed" and (not task.run or mark.run in (0, task.run))
        ]
        if not checks or not (running or task.reason == PUSHED_OVER):
            return "nothing to see"
        pull = github.pull(task.number)
        rules = self._rules(github, task.number) or DEFAULT
        outcome = "nothing to see"
        for check, mark in running:
            outcome = self._look(github, task, check, mark, pull, rules)
            if outcome in ("waits", "runs") and task.reason == POLLED:
                self._look_later(task, mark, POLL)
        if task.reason == PUSHED_OVER and pull.state == "open" and pull.head.sha != task.head:
            self._ask_again(github, task.number, task.head, pull, rules)
        return outcome

    def _look(self, github: Actions, task: Task, check: CheckRun, mark: Mark, pull: PullRequest, rules: Rules) -> str:
        words = words_of(rules.languages)[0]
        if not mark.run:
            found = self._find(github, mark, rules, pull)
            if found is None:
                return self._not_found(github, check, mark, pull, rules)
            mark = replace(mark, run=found.id)
            github.update_check_run(check.id, external_id=mark.external_id, details_url=found.url or None)
        over = self._over(task, mark, pull, words)
        if over:
            return self._stop(github, check, mark, over)
        try:
            run = github.workflow_run(mark.run)
        except NotFound:
            return self._conclude(github, check, mark, Ending(smoke.undecided(rules), words.gone), "", rules)
        match smoke.step_of(run, rules, self.now()):
            case "ended":
                return self._ended(github, check, mark, run, pull, rules)
            case "no runner":
                github.cancel_run(run.id)
                said = words.no_runner.format(minutes=rules.queue_timeout)
                return self._conclude(github, check, mark, Ending(smoke.undecided(rules), said), run.url, rules)
            case "not approved":
                github.cancel_run(run.id)
                end = Ending(smoke.undecided(rules), words.not_approved)
                return self._conclude(github, check, mark, end, run.url, rules)
            case "runs":
                return self._runs(github, check, mark, run, rules)
        return "waits"

    def _runs(self, github: Actions, check: CheckRun, mark: Mark, run: WorkflowRun, rules: Rules) -> str:
        now = self.now()
        if smoke.may_be_late(run, rules, now) and smoke.is_late(github.workflow_jobs(run.id), rules, now):
            github.cancel_run(run.id)
            end = Ending("timed_out", words_of(rules.languages)[0].timed_out)
            return self._conclude(github, check, mark, end, run.url, rules)
        if check.status != "in_progress":
            github.update_check_run(check.id, status="in_progress")
        return "runs"

    def _ended(
        self, github: Actions, check: CheckRun, mark: Mark, run: WorkflowRun, pull: PullRequest, rules: Rules
    ) -> str:
        words = words_of(rules.languages)[0]
        read: Result | str | None = None
        if smoke.is_evidence(run, rules.workflow, pull.default_branch):
            read = self._read(github, run)
        jobs = github.workflow_jobs(run.id) if read is None else ()
        end = smoke.ending(run, jobs, read, mark, rules, pull.default_branch, words)
        return self._conclude(github, check, mark, end, run.url, rules)

    def _read(self, github: Actions, run: WorkflowRun) -> Result | str | None:
        """The result that a run left, or why it cannot be read; None where there is none."""
        found = github.artifacts(run.id, ARTIFACT)
        if not found:
            return None
        newest = found[0]
        if newest.expired or newest.size > MAX_ARCHIVE:
            return "the artifact has expired" if newest.expired else f"the artifact is larger than {MAX_ARCHIVE} bytes"
        try:
            return read_result(unpacked(github.artifact(newest.id, MAX_ARCHIVE)))
        except (TooLarge, UsageError) as error:
            return visible(str(error), 300)

    def _over(self, task: Task, mark: Mark, pull: PullRequest, words: SmokeWords) -> str:
        """Why a run is about nothing any more; empty where it is not."""
        if pull.state == "closed":
            return words.closed
        if pull.head.sha != mark.head:
            return words.superseded
        return words.cancelled if task.reason == DRAFT and pull.draft else ""

    def _not_found(self, github: Actions, check: CheckRun, mark: Mark, pull: PullRequest, rules: Rules) -> str:
        """A run that GitHub does not show (yet)."""
        words = words_of(rules.languages)[0]
        if pull.state == "closed" or pull.head.sha != mark.head:
            output = smoke.plain_output(words.closed if pull.state == "closed" else words.superseded)
            github.update_check_run(check.id, status="completed", conclusion="cancelled", output=output)
            return "cancelled"
        if smoke.minutes_since(check.started_at, self.now()) > rules.queue_timeout:
            return self._conclude(github, check, mark, Ending(smoke.undecided(rules), words.gone), "", rules)
        return "waits"

    # ---------------------------------------------------------------------------------------------------- ending

    def _stop(self, github: Actions, check: CheckRun, mark: Mark, why: str) -> str:
        if mark.run:
            try:
                github.cancel_run(mark.run)
            except NotFound:
                log.info("the run is gone", extra={"run": mark.run})
        output = smoke.plain_output(why)
        github.update_check_run(check.id, status="completed", conclusion="cancelled", output=output)
        return "cancelled"

    def _conclude(self, github: Actions, check: CheckRun, mark: Mark, end: Ending, url: str, rules: Rules) -> str:
        """Say what came of it: first in the summary comment, then by the check, which says that all is done."""
        if end.conclusion != "cancelled":
            self._fold(github, mark, smoke.section(end, mark, url, rules))
        output = smoke.ended_output(end, mark, url, rules)
        github.update_check_run(
            check.id, status="completed", conclusion=end.conclusion, details_url=url or None, output=output
        )
        return end.conclusion

    def _fold(self, github: Actions, mark: Mark, part: str) -> None:
        me = github.me()
        summaries = [one for one in own(github.issue_comments(mark.number), me) if has_marker(one.body, SUMMARY)]
        if not summaries:
            github.create_issue_comment(mark.number, smoke.with_section("", part))
            return
        body = smoke.with_section(summaries[0].body, part)
        if body.strip() != summaries[0].body.replace("\r\n", "\n").strip():
            github.edit_issue_comment(summaries[0].id, body)

    def _ask_again(self, github: Actions, number: int, old: str, pull: PullRequest, rules: Rules) -> None:
        """Say at a new head that the run which was asked for was about another one."""
        head = pull.head.sha
        if (rules.automatic and not pull.from_fork) or self._checks(github, head, number):
            return
        words = words_of(rules.languages)
        text = "\n\n".join(one.again.format(old=code(old[:12]), head=head) for one in words)
        output = CheckOutput(words[0].again_title, text)
        identifier = smoke.again_id(number, head)
        github.create_check_run(smoke.NAME, head, identifier, conclusion="action_required", output=output)

    # ---------------------------------------------------------------------------------------------------- reading

    def _rules(self, github: GitHub, number: int) -> Rules | None:
        return smoke.read_rules(self.picker.smoke_rules(github, number))

    def _checks(self, github: GitHub, head: str, number: int) -> list[tuple[CheckRun, Mark | None]]:
        """Our smoke checks of a head for a pull request, newest first; those that stand for no run have no mark."""
        try:
            runs = github.check_runs(head, smoke.NAME)
        except (NotFound, Unprocessable):  # a commit that was collected after a push by force
            return []
        return [
            (run, smoke.mark_of(run.external_id))
            for run in runs
            if run.app_id == self.app and smoke.about(run.external_id) == number
        ]

    def _find(self, github: Actions, mark: Mark, rules: Rules, pull: PullRequest) -> WorkflowRun | None:
        """The run that was made for a mark: of the default branch's workflow, and started by us."""
        try:
            runs = github.workflow_runs(rules.workflow, pull.default_branch)
        except NotFound:
            return None
        me = github.me()
        return next(
            (
                run
                for run in runs
                if run.title == mark.title
                and run.actor.id == me.id
                and smoke.is_evidence(run, rules.workflow, pull.default_branch)
            ),
            None,
        )

    def _look_later(self, task: Task, mark: Mark, wait: float) -> None:
        """Look again at a run; of looks that would be at about the same time there is one."""
        now, grid = self.now().timestamp(), wait / 2
        slot = int(now // grid) + 2
        fields: dict[str, Any] = {"number": mark.number, "head": mark.head, "run": mark.run, "reason": POLLED}
        look = Task("smoke-look", task.installation, task.repository, task.repository_id, **fields)
        self.submit(f"smoke-{mark.nonce}-{int(wait)}-{slot}", look, slot * grid - now)
