"""A review: read the pull request, analyse it, and make comments, summary and check run what they should be.

Every step reads before it writes, so a review that was cut off is simply done again: what is there is found by its
marker or its external id. A write whose answer was lost is not sent again; what is there is read again, and the review
goes on from it.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol

from botlint import __version__
from botlint.core.errors import UsageError
from botlint.core.redact import redact
from botlint.engine.policy import Policy
from botlint.engine.pull import Pull
from botlint.engine.settings import read_settings
from botlint.github import checkruns
from botlint.github.analysis import Analysis, Kept, analyse, is_relevant
from botlint.github.bodies import Wanted, wanted_comment
from botlint.github.facts import read_pull
from botlint.github.links import Links
from botlint.github.markers import own
from botlint.github.models import ChangedFile, CheckOutput, CheckRun, Conclusion, IssueComment, PullRequest
from botlint.github.patches import Diff, read_diff
from botlint.github.placing import Placement, place_all
from botlint.github.port import Ambiguous, Forbidden, GitHub, GitHubError, NotFound, Unprocessable
from botlint.github.pull import read_again, read_revision
from botlint.github.reconcile import Changes, State, first_contact, other_summaries, reconcile, summary_edit
from botlint.github.smoke import carried
from botlint.github.summary import Reviewed, summary_body
from botlint.github.wording import EN, WORDINGS, Wording
from botlint.layouts.commands import ENDINGS, may_launch
from botlint.repo.files import Files, is_safe_path

MAX_FILES = 3_000
"""Files of a pull request that GitHub lists."""

PENDING = "pending"
"""The end of a check run's external id until the review is done."""

ROUNDS = 4
"""How often comments are read again after a write whose answer was lost."""

_PATH = re.compile(r"\S+\.\w{1,10}")
"""A text that is meant as the path of a file."""

Outcome = Literal["reviewed", "unchanged", "superseded", "closed", "failed"]

log = logging.getLogger("botlint.review")


class Superseded(Exception):  # noqa: N818 (what became of the review)
    """The pull request has another head now, or was closed: what was found is about nothing that is there."""


class Analyse(Protocol):
    """Analyses a change; see `botlint.github.analysis.analyse`."""

    def __call__(
        self,
        base: Files,
        head: Files,
        *,
        ignored: Mapping[str, str],
        changed: Sequence[str],
        pull: Callable[[Policy], Pull] | None,
    ) -> Analysis: ...


@dataclass(frozen=True)
class Options:
    """How to review.

    With the id of an `app` there is a check run, which only an App's token may make. `details` gives the address of a
    page about what was found, `ignored` the fingerprints that own comments say are allowed, with the reasons.
    """

    kept: Kept = field(default_factory=Kept)
    app: int | None = None
    force: bool = False
    analyse: Analyse | None = None
    details: Callable[[str, Analysis], str] | None = None
    ignored: Callable[[Sequence[IssueComment]], Mapping[str, str]] | None = None


@dataclass(frozen=True)
class Prepared:
    """A head that was read and analysed; nothing is written yet, except that the check run is in progress.

    `pull` is None for the head of a merge group.
    """

    pull: PullRequest | None
    head: str
    base: str
    files: Sequence[ChangedFile]
    analysis: Analysis
    issue_comments: Sequence[IssueComment]
    run: int | None
    external_id: str
    details_url: str = ""

    @property
    def relevant(self) -> bool:
        """Whether the change touches something that is checked; of a merge group it is not asked."""
        return self.pull is None or any(
            is_relevant(path) or self._shows_commands(path)
            for one in self.files
            for path in (one.path, one.previous_path or "")
        )

    def _shows_commands(self, path: str) -> bool:
        """Whether a document of the head shows launch commands."""
        text = self.analysis.head_text(path) if path.lower().endswith(ENDINGS) else None
        return text is not None and may_launch(text)

    @property
    def unplaced(self) -> Reviewed:
        """What was found, none of it told at lines."""
        analysis = self.analysis
        return self.told(place_all(analysis.report.findings, Diff({}), analysis.lines, 0))

    def told(self, placements: Sequence[Placement], no_lines: int = 0) -> Reviewed:
        """What was found, told in these places."""
        analysis = self.analysis
        return Reviewed(
            analysis.report,
            placements,
            analysis.diff,
            analysis.rows,
            fails=analysis.failing,
            relevant=self.relevant,
            no_lines=no_lines,
            many_files=len(self.files) >= MAX_FILES,
            details_url=self.details_url,
        )


def review(github: GitHub, number: int, options: Options | None = None) -> Outcome:
    """Reviews a pull request; doing it again changes nothing.

    Raises an error of the port where GitHub does not answer; the check run is then still in progress.
    """
    options = Options() if options is None else options
    prepared = prepare(github, number, options)
    return prepared if isinstance(prepared, str) else publish(github, prepared)


def prepare(github: GitHub, number: int, options: Options) -> Prepared | Outcome:
    """Reads and analyses a pull request; the outcome where there is nothing to publish."""
    pull = github.pull(number)
    if pull.state == "closed":
        return "closed"
    base = github.merge_base(pull.base.name, pull.head.sha)
    identifier = checkruns.external_id(str(number), pull.head.sha, _state_of(pull, base))
    run: CheckRun | None = None
    if options.app is not None:
        prefix = f"{number}:{pull.head.sha}:"
        run = _find_run(github, pull.head.sha, prefix, options.app)
        if run is not None and run.status == "completed" and run.external_id == identifier and not options.force:
            return "unchanged"
        if run is None:
            run = _start_run(github, pull.head.sha, prefix, options.app)
    files = github.files(number)
    issue_comments = github.issue_comments(number)
    ignored = {} if options.ignored is None else options.ignored(own(issue_comments, github.me()))
    changed = [one.path for one in files]
    about = partial(read_pull, github, pull, files, issue_comments)
    found = _analysed(github, base, pull.head.sha, changed, ignored, options, run, about)
    if isinstance(found, str):
        return found
    analysis, details_url = found
    return Prepared(
        pull,
        pull.head.sha,
        base,
        files,
        analysis,
        issue_comments,
        None if run is None else run.id,
        identifier,
        details_url,
    )


def publish(github: GitHub, prepared: Prepared) -> Outcome:
    """Writes what was found. Raises Forbidden where the token may only read, before anything is written."""
    if prepared.pull is None:
        return "reviewed"
    try:
        _Publisher(github, prepared, prepared.pull).publish()
    except Superseded:
        if prepared.run is not None:
            _conclude(github, prepared.run, "cancelled", CheckOutput("Superseded", "There is a newer head."))
        return "superseded"
    return "reviewed"


def review_group(github: GitHub, head: str, base: str, options: Options | None = None) -> Outcome:
    """Concludes the check run of a merge group's head, which has no comments; `base` is the commit it is merged onto.

    Without it the head is compared with the default branch. Raises an error of the port where GitHub does not answer.
    """
    options = Options() if options is None else options
    prepared = prepare_group(github, head, base, options)
    if isinstance(prepared, str):
        return prepared
    _finish(github, prepared, prepared.told(()))
    return "reviewed"


def prepare_group(github: GitHub, head: str, base: str, options: Options) -> Prepared | Outcome:
    """Reads and analyses the head of a merge group; the outcome where that was done before."""
    identifier = checkruns.external_id("group", head, [base, __version__])
    run: CheckRun | None = None
    if options.app is not None:
        prefix = f"group:{head}:"
        run = _find_run(github, head, prefix, options.app)
        if run is not None and run.status == "completed" and run.external_id == identifier and not options.force:
            return "unchanged"
        if run is None:
            run = _start_run(github, head, prefix, options.app)
    try:
        base = base or github.merge_base("HEAD", head)
    except (NotFound, Unprocessable) as error:
        log.warning("nothing to compare the head with: %s", error)
        if run is not None:
            _conclude(github, run.id, "neutral", checkruns.failed_output())
        return "failed"
    found = _analysed(github, base, head, (), {}, options, run)
    if isinstance(found, str):
        return found
    analysis, details_url = found
    return Prepared(None, head, base, (), analysis, (), None if run is None else run.id, identifier, details_url)


def give_up(github: GitHub, head: str, app: int, conclusion: Conclusion = "neutral") -> int:
    """Concludes the check runs of a head that could not be reviewed, and says how many there were."""
    runs = [one for one in github.check_runs(head, checkruns.NAME) if one.app_id == app and one.status != "completed"]
    for run in runs:
        _conclude(github, run.id, conclusion, checkruns.failed_output())
    return len(runs)


# ------------------------------------------------------------------------------------------------------------- reading


def _analysed(
    github: GitHub,
    base: str,
    head: str,
    changed: Sequence[str],
    ignored: Mapping[str, str],
    options: Options,
    run: CheckRun | None,
    about: Callable[[Policy], Pull] | None = None,
) -> tuple[Analysis, str] | Literal["failed"]:
    """The analysis with the address of its page; a fault of ours concludes the check run, and keeps nobody waiting."""
    try:
        analysis = analyse_commits(github, base, head, changed, ignored, options, about)
        return analysis, "" if options.details is None else options.details(head, analysis)
    except GitHubError:
        raise
    except Exception as error:
        log.exception("the analysis failed: %s", redact(f"{type(error).__name__}: {error}"))
        if run is not None:
            _conclude(github, run.id, _when_failed(github, base, options.kept), checkruns.failed_output())
        return "failed"


def _when_failed(github: GitHub, base: str, kept: Kept) -> Conclusion:
    """The conclusion where botlint itself failed: by the settings of the base, if they can be read at all."""
    known = kept.bases.get(base)
    try:
        settings = read_settings(read_revision(github, base, kept.blobs)) if known is None else known.policy.settings
    except UsageError:
        return "neutral"
    return checkruns.when_failed(fail_closed=settings.review.fail_closed)


def analyse_commits(
    github: GitHub,
    base: str,
    head: str,
    changed: Sequence[str],
    ignored: Mapping[str, str],
    options: Options,
    about: Callable[[Policy], Pull] | None = None,
) -> Analysis:
    """What a head has that its base has not, both read through the port."""
    kept = options.kept
    known = kept.bases.get(base)
    before = read_revision(github, base, kept.blobs) if known is None else read_again(known.files, github, kept.blobs)
    after = read_revision(github, head, kept.blobs)
    if options.analyse is not None:
        return options.analyse(before, after, ignored=ignored, changed=changed, pull=about)
    return analyse(before, after, kept, ignored=ignored, changed=changed, pull=about)


def _state_of(pull: PullRequest, base: str) -> list[object]:
    """Everything but the head that a review depends on."""
    said = hashlib.sha256(f"{pull.title}\0{pull.body}".encode("utf-8", "surrogatepass")).hexdigest()
    return [__version__, base, pull.base.name, pull.draft, sorted(pull.labels), said]


def _find_run(github: GitHub, head: str, prefix: str, app: int) -> CheckRun | None:
    """Our check run for a subject: an external id alone may be anyone's."""
    runs = github.check_runs(head, checkruns.NAME)
    return next((one for one in runs if one.app_id == app and one.external_id.startswith(prefix)), None)


def _start_run(github: GitHub, head: str, prefix: str, app: int) -> CheckRun:
    """A new check run. It gets its whole id when all is done: one that was concluded before is done again."""
    try:
        return github.create_check_run(checkruns.NAME, head, f"{prefix}{PENDING}")
    except Ambiguous:
        found = _find_run(github, head, prefix, app)
        if found is None:
            raise
        return found


def _finish(github: GitHub, prepared: Prepared, reviewed: Reviewed) -> None:
    """Concludes the check run, if there is one; last, for it says that everything else is done."""
    if prepared.run is None:
        return
    settings = prepared.analysis.settings
    links = Links(github.web, prepared.head, prepared.base)
    github.update_check_run(
        prepared.run,
        external_id=prepared.external_id,
        status="completed",
        conclusion=checkruns.conclusion(reviewed, fail_closed=settings.review.fail_closed),
        details_url=reviewed.details_url or None,
        output=checkruns.output(reviewed, links, settings.languages, partial(_is_there, prepared.analysis.head)),
    )


def _is_there(head: Files, path: str) -> bool:
    return head.is_file(path) or head.symlink_target(path) is not None


def _conclude(github: GitHub, run: int, conclusion: Conclusion, output: CheckOutput) -> None:
    github.update_check_run(run, status="completed", conclusion=conclusion, output=output)


def first_contact_text(said: str, text_of: Callable[[str], str | None]) -> str:
    """What the setting says: a text, or the path of a file of the base; empty where that file is not there."""
    path = said.strip()
    if "\n" in path or not is_safe_path(path):
        return said
    text = text_of(path)
    if text is None and _PATH.fullmatch(path):
        log.warning("the base has no file %s, which its settings name for the first contact", path)
        return ""
    return said if text is None else text


# ------------------------------------------------------------------------------------------------------------- writing


class _Publisher:
    """Brings what is on GitHub from what is there to what should be there."""

    def __init__(self, github: GitHub, prepared: Prepared, pull: PullRequest) -> None:
        self._github = github
        self._prepared = prepared
        self._number = pull.number
        self._draft = pull.draft
        self._head = prepared.head
        self._analysis = prepared.analysis
        self._review = prepared.analysis.settings.review
        self._links = Links(github.web, self._head, prepared.base)
        self._diff = Diff({})
        self._placements: tuple[Placement, ...] = ()
        self._anchored_again = False
        self._on_files: set[str] = set()
        self._in_summary: set[str] = set()

    @property
    def _wording(self) -> Wording:
        languages = self._analysis.settings.languages
        return WORDINGS[languages[0]] if languages else EN

    @property
    def _silent(self) -> bool:
        """Whether nothing is said on this pull request, except by the check."""
        return self._draft and self._review.drafts == "off"

    def publish(self) -> None:
        """Comments first, then the summary that counts them, then the check run: once that is concluded, all is."""
        self._still_there()
        self._place(self._prepared.files)
        if not self._silent:
            self._comment()
            self._greet()
            self._summarize()
        _finish(self._github, self._prepared, self._reviewed())

    def _still_there(self) -> None:
        pull = self._github.pull(self._number)
        if pull.head.sha != self._head or pull.state == "closed":
            raise Superseded

    def _place(self, files: Sequence[ChangedFile]) -> None:
        limit = 0 if self._draft else self._review.max_inline_comments
        self._diff = read_diff(files, self._analysis.base_text, self._analysis.head_text)
        self._placements = place_all(self._analysis.report.findings, self._diff, self._analysis.lines, limit)

    def _placed(self) -> list[Placement]:
        """Where findings are told, after what GitHub refused."""
        found = []
        for one in self._placements:
            fingerprint = one.finding.fingerprint
            if fingerprint in self._in_summary and one.kind != "summary":
                found.append(replace(one, kind="summary", reason="outside", path="", anchor=None))
            elif fingerprint in self._on_files and one.kind == "inline":
                found.append(replace(one, kind="file", reason="file", anchor=None))
            else:
                found.append(one)
        return found

    def _reviewed(self) -> Reviewed:
        return self._prepared.told(self._placed(), len(self._diff.unknown))

    # ---------------------------------------------------------------------------------------------------- comments

    def _comment(self) -> None:
        for left in reversed(range(ROUNDS)):
            try:
                self._apply(self._changes())
                return
            except Ambiguous as error:
                if not left:
                    raise
                log.warning("reading again: %s", error)
            except _AnchoredAgain:
                continue

    def _changes(self) -> Changes:
        github, analysis = self._github, self._analysis
        comments = github.review_comments(self._number)
        me = github.me()
        threads = github.threads(self._number) if own(comments, me) else ()
        wanted = [
            wanted_comment(one, self._diff, analysis.head_text, self._links, analysis.rules, self._wording)
            for one in self._placed()
            if one.kind != "summary"
        ]
        return reconcile(
            wanted,
            analysis.report.findings,
            State(me, comments, threads),
            self._links,
            resolve_threads=self._review.resolve_threads,
            complete=not analysis.report.failures,
            wording=self._wording,
        )

    def _apply(self, changes: Changes) -> None:
        if changes.post:
            self._post(changes.post)
        for one in changes.files:
            self._post_on_file(one)
        for edit in changes.edits:
            try:
                self._github.edit_review_comment(edit.comment, edit.body)
            except NotFound:  # deleted by somebody in the meantime
                continue
        for thread in changes.resolve:
            try:
                self._github.resolve_thread(thread)
            except (Forbidden, NotFound) as error:
                log.warning("threads stay open: %s", error)
                break

    def _post(self, wanted: Sequence[Wanted]) -> None:
        """Posts comments on lines at once; if GitHub refuses, again by the newest diff, and then the good ones."""
        comments = [comment for one in wanted if (comment := one.comment) is not None]
        try:
            self._github.create_review(self._number, self._head, "", comments)
        except Unprocessable as error:
            self._still_there()
            log.warning("comments were refused: %s", error)
            if not self._anchored_again:
                self._anchored_again = True
                self._place(self._github.files(self._number))
                raise _AnchoredAgain from None
            # Lines that GitHub does not show are the first to be doubted.
            shown = [one for one in wanted if self._is_shown(one)]
            for one in wanted:
                if not self._is_shown(one):
                    self._post_instead(one)
            if shown and len(shown) < len(wanted):
                self._post(shown)
            elif shown:
                self._post_halves(shown)

    def _is_shown(self, wanted: Wanted) -> bool:
        """Whether GitHub gave the patch of a comment's file."""
        file = self._diff.files.get(wanted.path)
        return file is not None and file.patch is not None

    def _post_halves(self, wanted: Sequence[Wanted]) -> None:
        """Posts what GitHub takes: halves of what it refused, down to the single comments that it does not take."""
        if len(wanted) == 1:
            self._post_single(wanted[0])
            return
        middle = len(wanted) // 2
        for half in (wanted[:middle], wanted[middle:]):
            if len(half) == 1:
                self._post_single(half[0])
                continue
            comments = [comment for one in half if (comment := one.comment) is not None]
            try:
                self._github.create_review(self._number, self._head, "", comments)
            except Unprocessable:
                self._post_halves(half)

    def _post_single(self, wanted: Wanted) -> None:
        comment = wanted.comment
        if comment is None:
            self._post_on_file(wanted)
            return
        try:
            self._github.create_review_comment(self._number, self._head, comment)
        except Unprocessable as error:
            log.warning("told on the file instead: %s", error)
            self._post_instead(wanted)

    def _post_instead(self, wanted: Wanted) -> None:
        """Posts on the file what cannot be told on its lines."""
        self._on_files.add(wanted.fingerprint)
        self._post_on_file(wanted.on_file)

    def _post_on_file(self, wanted: Wanted) -> None:
        try:
            self._github.create_file_comment(self._number, self._head, wanted.path, wanted.body)
        except Unprocessable as error:
            log.warning("told in the summary instead: %s", error)
            self._in_summary.add(wanted.fingerprint)

    # ------------------------------------------------------------------------------------------------ first contact

    def _greet(self) -> None:
        """What the maintainers say once on each pull request that is theirs to look at."""
        pull = self._prepared.pull
        said = self._review.first_contact
        if not said or self._draft or pull is None or pull.author.bot or not self._prepared.relevant:
            return
        text = first_contact_text(said, self._analysis.base_text)
        comments = self._prepared.issue_comments
        for left in reversed(range(ROUNDS)):
            new = first_contact(text, comments, self._github.me())
            if new is None:
                return
            try:
                self._github.create_issue_comment(self._number, new)
                return
            except Ambiguous as error:
                if not left:
                    raise
                log.warning("reading again: %s", error)
                comments = self._github.issue_comments(self._number)

    # ----------------------------------------------------------------------------------------------------- summary

    def _summarize(self) -> None:
        """The summary comment, edited in place; nobody is told that there is nothing to tell."""
        reviewed = self._reviewed()
        summary = summary_body(reviewed, self._links, self._analysis.settings.languages)
        me = self._github.me()
        comments = self._prepared.issue_comments
        for left in reversed(range(ROUNDS)):
            # What a smoke run of this head came to stays said.
            body = carried(summary, comments, me, self._head)
            edit, new = summary_edit(body, comments, me, news=reviewed.news)
            try:
                if edit is not None:
                    self._github.edit_issue_comment(edit.comment, edit.body)
                elif new is not None:
                    self._github.create_issue_comment(self._number, new)
                break
            except (Ambiguous, NotFound) as error:
                if not left:
                    raise
                log.warning("reading again: %s", error)
                comments = self._github.issue_comments(self._number)
        for other in other_summaries(comments, me):
            self._github.minimize(other.node_id, "DUPLICATE")


class _AnchoredAgain(Exception):  # noqa: N818 (a turn in the work)
    """Comments have other places now: what is to be posted has to be found out again."""
