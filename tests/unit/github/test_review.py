"""The order of things in a review, and what it does when GitHub refuses, forgets to answer, or moved on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from port_samples import APP, BASE, HEAD, ME, SOMEBODY, Hub

from botlint.core.finding import Finding, Report, Summary, summarize, with_fingerprints
from botlint.core.span import Span
from botlint.engine.settings import ReviewSettings, Settings
from botlint.github.analysis import Analysis
from botlint.github.markers import SUMMARY, finding_marker
from botlint.github.models import ChangedFile, IssueComment, ReviewComment
from botlint.github.port import Ambiguous, Forbidden, GitHub, GitHubError, NotFound, Unprocessable
from botlint.github.review import Options, give_up, review, review_group
from botlint.repo.files import Files

PATH = "benchmarks/run.sh"
LINES = 40
PATCH = f"@@ -0,0 +1,{LINES} @@\n" + "\n".join(f"+line {number}" for number in range(1, LINES + 1))
TEXT = "".join(f"line {number}\n" for number in range(1, LINES + 1)).encode()


def finding(line: int, **more: Any) -> Finding:
    span = Span(PATH, line, 1, line, 5)
    return Finding(**{"rule": "job-exits", "severity": "error", "certainty": "certain", "message": f"bad {line}",
                      "span": span, "subject": str(line)} | more)  # fmt: skip


class Found:
    """An analysis that finds what it is told to, and remembers what it was asked."""

    def __init__(self, *findings: Finding, **settings: Any) -> None:
        self.findings = tuple(with_fingerprints(findings))
        self.settings = Settings(review=ReviewSettings(**settings))
        self.failures: tuple[str, ...] = ()
        self.calls = 0
        self.fault: Exception | None = None
        self.ignored: Mapping[str, str] = {}

    def __call__(
        self, base: Files, head: Files, *, ignored: Mapping[str, str], changed: Sequence[str], **_: object
    ) -> Analysis:
        self.calls += 1
        self.ignored = ignored
        if self.fault is not None:
            raise self.fault
        report = Report(self.findings, summarize(self.findings, Summary(), ()), (), self.failures)
        return Analysis(report, None, self.settings, {}, head, base)


def hub() -> Hub:
    changed = ChangedFile(PATH, None, "added", PATCH, LINES, 0, "e" * 40)
    return Hub({}, {PATH: TEXT}, [changed])


def run(github: Hub, found: Found, *, app: int | None = APP, **options: Any) -> str:
    return review(cast(GitHub, github), 1, Options(app=app, analyse=found, **options))


def test_a_review_from_its_start_to_its_end() -> None:
    github, found = hub(), Found(finding(3), finding(5))
    assert run(github, found) == "reviewed"
    assert github.inline == [(PATH, 3), (PATH, 5)]
    assert [one.body.endswith(SUMMARY) for one in github.issue] == [True]
    assert [(one.status, one.conclusion) for one in github.runs] == [("completed", "failure")]
    assert github.calls[-1] == "update_check_run"
    assert len(github.calls) <= 12


def test_doing_it_again_writes_nothing() -> None:
    github, found = hub(), Found(finding(3))
    run(github, found)
    github.calls.clear()
    assert run(github, found) == "unchanged"
    assert found.calls == 1
    assert run(github, found, force=True) == "reviewed"
    assert run(github, found, app=None) == "reviewed"
    assert {one for one in github.calls if one.startswith(("create", "edit"))} == set()
    assert (len(github.review), len(github.issue), len(github.runs)) == (1, 1, 1)


@pytest.mark.parametrize(
    "change", [{"title": "Other"}, {"draft": True}, {"labels": ("x",)}, {"body": "x"}], ids=lambda one: next(iter(one))
)
def test_what_a_review_depends_on_makes_it_be_done_again(change: dict[str, Any]) -> None:
    github, found = hub(), Found(finding(3))
    run(github, found)
    github.request = replace(github.request, **change)
    assert run(github, found) == "reviewed"
    assert len(github.runs) == 1


def test_a_mended_finding_is_marked_and_its_thread_resolved_only_if_asked() -> None:
    github = hub()
    run(github, Found(finding(3), finding(5)))
    run(github, Found(finding(5)), force=True)
    assert ["Mended" in one.body for one in github.review] == [True, False]
    assert github.resolved == []
    run(github, Found(resolve_threads=True), force=True)
    assert ["Mended" in one.body for one in github.review] == [True, True]
    assert github.resolved == ["T101", "T102"] or len(github.resolved) == 2
    assert github.runs[0].conclusion == "success"


def test_threads_stay_open_where_the_token_may_not() -> None:
    github = hub()
    run(github, Found(finding(3), finding(5)))

    def forbid(_: str) -> None:
        raise Forbidden("no")

    github.faults["resolve_thread"] = [forbid]
    assert run(github, Found(resolve_threads=True), force=True) == "reviewed"
    assert github.calls.count("resolve_thread") == 1
    assert all("Mended" in one.body for one in github.review)


@pytest.mark.parametrize("bad", [(3,), (20,), (3, 7, 20), tuple(range(1, 21))])
def test_one_bad_line_loses_nothing(bad: tuple[int, ...]) -> None:
    github, found = hub(), Found(*(finding(line) for line in range(1, 21)))
    github.refuse_lines(*bad)
    assert run(github, found) == "reviewed"
    assert sorted(line for _, line in github.inline if line) == [one for one in range(1, 21) if one not in bad]
    assert sum(line is None for _, line in github.inline) == len(bad)
    assert github.calls.count("files") == 2
    assert github.calls.count("create_review") + github.calls.count("create_review_comment") <= 42


def test_what_cannot_be_told_anywhere_is_in_the_summary() -> None:
    github = hub()
    github.refuse_lines(3)

    def refuse(_: str) -> None:
        raise Unprocessable("no")

    github.faults["create_file_comment"] = [refuse]
    run(github, Found(finding(3), finding(5)))
    assert github.inline == [(PATH, 5)]
    assert "bad 3" in github.issue[0].body
    assert "bad 5" not in github.issue[0].body


def test_lines_are_found_anew_by_the_newest_diff() -> None:
    github, found = hub(), Found(finding(3))
    github.refuse_lines(3)
    stale = list(github.changed)
    newest = [replace(stale[0], patch="@@ -0,0 +1,2 @@\n+line 1\n+line 2")]

    def files(number: int) -> Sequence[ChangedFile]:
        github.calls.append("files")
        return stale if github.calls.count("files") == 1 else newest

    github.files = files  # type: ignore[method-assign]
    assert run(github, found) == "reviewed"
    assert github.inline == [(PATH, None)]
    assert github.calls.count("create_review") == 1


@pytest.mark.parametrize("method", ["create_review", "create_issue_comment", "create_check_run"])
def test_a_write_whose_answer_was_lost_is_not_repeated(method: str) -> None:
    github, found = hub(), Found(finding(3), finding(5))
    github.after[method] = [Ambiguous("lost")]
    assert run(github, found) == "reviewed"
    assert github.calls.count(method) == 1
    assert (len(github.review), len(github.issue), len(github.runs)) == (2, 1, 1)


def test_a_write_that_was_not_done_is_sent_again_after_a_look() -> None:
    github, found = hub(), Found(finding(3))
    lost = [True]

    def lose(_: object) -> None:
        if lost:
            lost.clear()
            raise Ambiguous("lost")

    github.faults["create_review"] = [lose]
    assert run(github, found) == "reviewed"
    assert github.calls.count("review_comments") == 2
    assert github.inline == [(PATH, 3)]


def moved(github: Hub) -> Callable[..., Analysis]:
    found = Found(finding(3))

    def analyse(*arguments: Any, **options: Any) -> Analysis:
        github.request = replace(github.request, head=replace(github.request.head, sha="f" * 40))
        return found(*arguments, **options)

    return analyse


def test_a_head_that_moved_is_not_commented() -> None:
    github = hub()
    assert review(cast(GitHub, github), 1, Options(app=APP, analyse=cast(Any, moved(github)))) == "superseded"
    assert (github.review, github.issue) == ([], [])
    assert [one.conclusion for one in github.runs] == ["cancelled"]


def test_a_closed_pull_request_is_left_alone() -> None:
    github = hub()
    github.request = replace(github.request, state="closed")
    assert run(github, Found()) == "closed"
    assert github.calls == ["pull"]


@pytest.mark.parametrize(("drafts", "comments", "summaries"), [("summary", 0, 1), ("off", 0, 0)])
def test_drafts(drafts: str, comments: int, summaries: int) -> None:
    github = hub()
    github.request = replace(github.request, draft=True)
    run(github, Found(finding(3), drafts=drafts))
    assert (len(github.review), len(github.issue)) == (comments, summaries)
    assert github.runs[0].conclusion == "failure"
    github.request = replace(github.request, draft=False)
    run(github, Found(finding(3), drafts=drafts))
    assert (len(github.review), len(github.issue)) == (1, 1)
    github.request = replace(github.request, draft=True)
    run(github, Found(finding(3), drafts=drafts))
    assert "Mended" not in github.review[0].body


def test_a_change_without_findings_says_nothing_but_the_check() -> None:
    github = hub()
    assert run(github, Found()) == "reviewed"
    assert (github.review, github.issue) == ([], [])
    assert github.runs[0].conclusion == "success"


@pytest.mark.parametrize(("path", "title"), [("docs/x.png", "Nothing to check"), (PATH, "No findings")])
def test_a_change_of_nothing_relevant(path: str, title: str) -> None:
    github = hub()
    github.changed = [replace(github.changed[0], path=path)]
    run(github, Found())
    output = github.outputs[-1]
    assert output is not None
    assert title in output.title
    assert github.runs[0].conclusion == "success"


def test_more_findings_than_comments_may_be() -> None:
    github = hub()
    run(github, Found(*(finding(line) for line in range(1, 11)), max_inline_comments=4))
    assert len(github.review) == 4
    assert github.issue[0].body.count("| Error |") == 6
    output = github.outputs[-1]
    assert output is not None
    assert len(output.annotations) == 10


def test_a_fault_of_ours_keeps_nobody_waiting() -> None:
    github, found = hub(), Found()
    found.fault = ValueError("ghs_" + "x" * 36)
    assert run(github, found) == "failed"
    assert [(one.status, one.conclusion) for one in github.runs] == [("completed", "neutral")]
    assert (github.review, github.issue) == ([], [])


@pytest.mark.parametrize(
    ("settings", "conclusion"),
    [
        (b"", "neutral"),
        (b"version: 1\nreview: {fail-closed: true}\n", "failure"),
        (b"version: 1\nreview: {fail-closed: false}\n", "neutral"),
        (b"version: 1\nreview: [\n", "neutral"),
    ],
)
def test_a_fault_of_ours_blocks_where_the_base_asks_for_that(settings: bytes, conclusion: str) -> None:
    for start in (run, lambda github, found: review_group(github, HEAD, BASE, Options(app=APP, analyse=found))):
        github, found = hub(), Found()
        github.texts[BASE][".botlint.yaml"] = settings
        # What the head says of it does not count.
        github.texts[HEAD][".botlint.yaml"] = b"version: 1\nreview: {fail-closed: false}\n"
        found.fault = ValueError("x")
        assert start(cast(Any, github), found) == "failed"
        assert [one.conclusion for one in github.runs] == [conclusion]


def test_only_files_of_the_head_have_annotations() -> None:
    github = hub()
    gone = finding(3, span=Span("benchmarks/gone.sh", 3, 1, 3, 5))
    run(github, Found(gone, finding(5)))
    output = github.outputs[-1]
    assert output is not None
    assert [(one.path, one.start_line) for one in output.annotations] == [(PATH, 5)]
    assert "benchmarks/gone.sh:3" in output.summary


@pytest.mark.parametrize(("closed", "conclusion"), [(False, "neutral"), (True, "failure")])
def test_a_check_that_did_not_finish(closed: bool, conclusion: str) -> None:
    github = hub()
    run(github, Found(finding(3)))
    found = Found(fail_closed=closed)
    found.failures = ("rule x: ValueError",)
    run(github, found, force=True)
    assert github.runs[0].conclusion == conclusion
    assert "Mended" not in github.review[0].body


def test_github_that_does_not_answer_is_told_and_the_run_stays_open() -> None:
    github, found = hub(), Found()
    found.fault = GitHubError("down")
    with pytest.raises(GitHubError):
        run(github, found)
    assert [one.status for one in github.runs] == ["in_progress"]
    assert give_up(cast(GitHub, github), HEAD, APP) == 1
    assert [(one.status, one.conclusion) for one in github.runs] == [("completed", "neutral")]
    assert give_up(cast(GitHub, github), HEAD, APP) == 0


@pytest.mark.parametrize("conclusion", ["cancelled", "neutral", "timed_out"])
def test_a_run_that_was_concluded_before_the_review_was_done_is_done_again(conclusion: Any) -> None:
    github, found = hub(), Found(finding(3))
    found.fault = GitHubError("down")
    with pytest.raises(GitHubError):
        run(github, found)
    github.update_check_run(github.runs[0].id, status="completed", conclusion=conclusion)
    found.fault = None
    assert run(github, found) == "reviewed"
    assert [one.conclusion for one in github.runs] == ["failure"]
    assert run(github, found) == "unchanged"


def test_a_fault_of_ours_is_tried_again() -> None:
    github, found = hub(), Found(finding(3))
    found.fault = ValueError("x")
    assert run(github, found) == "failed"
    found.fault = None
    assert run(github, found) == "reviewed"
    assert [one.conclusion for one in github.runs] == ["failure"]


def test_only_comments_and_runs_of_our_own_are_touched() -> None:
    github, found = hub(), Found(finding(3))
    forged = found.findings[0].fingerprint
    github.review.append(
        ReviewComment(1, "N", SOMEBODY, f"x\n{finding_marker(forged)}", PATH, 9, "RIGHT", None, None, HEAD, "")
    )
    github.issue.append(IssueComment(2, "I", SOMEBODY, f"x\n{SUMMARY}", ""))
    github.create_check_run("botlint", HEAD, f"1:{HEAD}:forged")
    github.runs = [replace(one, app_id=APP + 1) for one in github.runs]
    assert run(github, found) == "reviewed"
    assert github.inline == [(PATH, 9), (PATH, 3)]
    assert len(github.issue) == 2
    assert [one.conclusion for one in github.runs] == [None, "failure"]
    assert github.review[0].body.startswith("x")


def test_what_is_ignored_is_read_from_own_comments_only() -> None:
    github, found = hub(), Found()
    github.issue = [IssueComment(1, "I", ME, "mine", ""), IssueComment(2, "I", SOMEBODY, "theirs", "")]
    run(github, found, ignored=lambda comments: {one.body: "reason" for one in comments})
    assert found.ignored == {"mine": "reason"}


def test_a_merge_group_has_a_check_and_no_comments() -> None:
    github, found = hub(), Found(finding(3))
    options = Options(app=APP, analyse=found)
    assert review_group(cast(GitHub, github), HEAD, "b" * 40, options) == "reviewed"
    assert review_group(cast(GitHub, github), HEAD, "b" * 40, options) == "unchanged"
    assert [(one.conclusion, one.external_id.split(":")[0]) for one in github.runs] == [("failure", "group")]
    assert (github.review, github.issue, found.calls) == ([], [], 1)


def test_a_merge_group_whose_base_is_not_known() -> None:
    github = hub()
    assert review_group(cast(GitHub, github), HEAD, "", Options(app=APP, analyse=Found())) == "reviewed"

    def unknown(base: str, head: str) -> str:
        raise NotFound("no")

    github = hub()
    github.merge_base = unknown  # type: ignore[method-assign]
    assert review_group(cast(GitHub, github), HEAD, "", Options(app=APP, analyse=Found())) == "failed"
    assert github.runs[0].conclusion == "neutral"
