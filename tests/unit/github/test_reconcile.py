"""What is still to be said: nothing twice, nothing lost, nothing deleted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from review_samples import CONFIG, EXITS, HEAD, HEADS, MASTER, OLD_SCRIPT, SCRIPT, WEB, diff_of, finding, lines_of

from botlint.core.finding import Finding
from botlint.github.bodies import Wanted, mended_body, wanted_comment
from botlint.github.links import Links
from botlint.github.markers import DUPLICATE, FIRST_CONTACT, SUMMARY, finding_marker, fingerprint_of, is_mended
from botlint.github.models import Identity, IssueComment, ReviewComment, Thread
from botlint.github.placing import place_all
from botlint.github.reconcile import (
    Changes,
    Edit,
    State,
    first_contact,
    other_summaries,
    reconcile,
    summary_edit,
)

ME = Identity(7, "botlint[bot]", True)
PERSON = Identity(8, "octocat")
DIFF = diff_of({SCRIPT: OLD_SCRIPT, CONFIG: MASTER}, HEAD)


def links(head: str = "a") -> Links:
    return Links(WEB, head * 40, "b" * 40)


def wanted(findings: Iterable[Finding], head: str = "a") -> list[Wanted]:
    placed = place_all(findings, DIFF, lines_of(HEAD))
    return [wanted_comment(one, DIFF, HEAD.get, links(head), {}) for one in placed if one.kind != "summary"]


def comment(
    number: int, body: str, author: Identity = ME, line: int | None = 9, reply_to: int | None = None
) -> ReviewComment:
    return ReviewComment(
        number, f"c{number}", author, body, SCRIPT, line, "RIGHT", None, reply_to, "a" * 40, f"{WEB}/pull/1#r{number}"
    )


def posted(some: Iterable[Wanted], first: int = 1) -> list[ReviewComment]:
    """The comments as they are after they were posted."""
    return [
        comment(number, one.body, line=None if one.anchor is None else one.anchor.last)
        for number, one in enumerate(some, first)
    ]


def thread(*comments: ReviewComment, resolved: bool = False) -> Thread:
    return Thread(
        f"t{comments[0].id}", resolved, tuple(one.id for one in comments), tuple(one.author.id for one in comments)
    )


BOTH = [EXITS, HEADS]


def test_all_is_posted_once() -> None:
    some = wanted(BOTH)
    first = reconcile(some, BOTH, State(ME, []), links())
    # The finding with more jobs is told first.
    assert [one.fingerprint for one in first.post] == [HEADS.fingerprint, EXITS.fingerprint]
    assert first == Changes(post=tuple(some))
    assert reconcile(some, BOTH, State(ME, posted(some)), links()) == Changes()


def test_only_what_is_missing_is_posted() -> None:
    some = wanted(BOTH)
    found = reconcile(some, BOTH, State(ME, posted(some[:1])), links())
    assert found == Changes(post=(some[1],))


def test_comments_on_files_are_told_apart() -> None:
    some = wanted([finding(line=3)])
    assert reconcile(some, [finding(line=3)], State(ME, []), links()) == Changes(files=tuple(some))
    assert reconcile(some, [finding(line=3)], State(ME, posted(some)), links()) == Changes()


def test_a_push_that_changes_nothing_says_nothing() -> None:
    # Links lead to the new commit, lines move, and GitHub may give back other line ends.
    old = [replace(one, body=one.body.replace("\n", "\r\n")) for one in posted(wanted(BOTH))]
    assert reconcile(wanted(BOTH, "c"), BOTH, State(ME, old), links("c")) == Changes()
    moved = [replace(one, body=one.body.replace(":15`", ":99`").replace("#L15)", "#L99)")) for one in old]
    assert reconcile(wanted(BOTH, "c"), BOTH, State(ME, moved), links("c")) == Changes()
    outdated = [replace(one, line=None) for one in old]
    assert reconcile(wanted(BOTH, "c"), BOTH, State(ME, outdated), links("c")) == Changes()


def test_what_a_finding_says_anew_is_edited() -> None:
    old = posted(wanted(BOTH))
    more = replace(HEADS, jobs=(*HEADS.jobs, *EXITS.jobs))
    some = wanted([EXITS, more])
    found = reconcile(some, [EXITS, more], State(ME, old), links())
    assert found == Changes(edits=(Edit(1, some[0].body),))


@pytest.mark.parametrize(
    ("author", "change"),
    [
        (PERSON, {}),
        # The name of the account, but another one.
        (Identity(9, "botlint[bot]", True), {}),
        (ME, {"reply_to": 44}),
    ],
)
def test_a_marker_counts_in_own_first_comments_only(author: Identity, change: dict[str, int]) -> None:
    some = wanted([EXITS])
    forged = comment(5, some[0].body, author, **change)
    assert reconcile(some, [EXITS], State(ME, [forged]), links()) == Changes(post=tuple(some))
    assert reconcile([], [], State(ME, [forged]), links()) == Changes()


def test_a_quoted_marker_is_none() -> None:
    some = wanted([EXITS])
    quoting = comment(5, f"x\n{finding_marker(EXITS.fingerprint)}\n{finding_marker('f' * 16)}")
    found = reconcile(some, [EXITS], State(ME, [quoting]), links())
    assert found.post == tuple(some)
    assert [one.comment for one in found.edits] == [5]


def test_a_mended_finding() -> None:
    old = posted(wanted(BOTH))
    some = wanted([EXITS], "c")
    found = reconcile(some, [EXITS], State(ME, old), links("c"))
    (edit,) = found.edits
    assert (found.post, found.files, found.resolve) == ((), (), ())
    assert edit.comment == 1
    assert edit.body.startswith(f"**Mended in [`ccccccc`]({WEB}/commit/{'c' * 40}).**")
    assert is_mended(edit.body)
    assert fingerprint_of(edit.body) == HEADS.fingerprint
    # It is said once.
    now = [replace(old[0], body=edit.body), old[1]]
    assert reconcile(some, [EXITS], State(ME, now), links("d")) == Changes()


def test_a_check_that_did_not_finish_mends_nothing() -> None:
    assert reconcile([], [], State(ME, posted(wanted(BOTH))), links(), complete=False) == Changes()


@pytest.mark.parametrize("kind", ["capped", "off the diff"])
def test_a_finding_that_is_told_elsewhere_is_not_mended(kind: str) -> None:
    assert reconcile([], BOTH, State(ME, posted(wanted(BOTH))), links()) == Changes()


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ({"suppressed": "see @octocat"}, "Allowed in [`aaaaaaa`]({0}): see @<!-- -->octocat"),
        ({"suppressed": ""}, "Allowed in [`aaaaaaa`]({0}): \\-"),
        ({"baselined": "2026-11-30"}, "Allowed in [`aaaaaaa`]({0}): 2026-11-30"),
    ],
)
def test_an_allowed_finding(allowed: dict[str, str], said: str) -> None:
    one = replace(EXITS, **allowed)
    found = reconcile([], [one], State(ME, posted(wanted([EXITS]))), links())
    (edit,) = found.edits
    assert edit.body.startswith(f"**{said.format(f'{WEB}/commit/' + 'a' * 40)}**")


def test_a_finding_that_comes_back() -> None:
    some = wanted([EXITS])
    gone = replace(posted(some)[0], body=mended_body(some[0].body, "Mended."))
    # Its comment is still on its line: it says again what it said.
    assert reconcile(some, [EXITS], State(ME, [gone]), links()) == Changes(edits=(Edit(1, some[0].body),))
    # It is not to be seen any more: the finding is told anew.
    assert reconcile(some, [EXITS], State(ME, [replace(gone, line=None)]), links()).post == tuple(some)
    closed = State(ME, [gone], [thread(gone, resolved=True)])
    assert reconcile(some, [EXITS], closed, links()).post == tuple(some)
    # And then only once.
    both = State(ME, [replace(gone, line=None), *posted(some, 2)])
    assert reconcile(some, [EXITS], both, links()) == Changes()
    # Mended again: only the newer comment has something to say.
    found = reconcile([], [], both, links())
    assert [one.comment for one in found.edits] == [2]


def test_comments_that_a_crash_posted_twice() -> None:
    some = wanted([EXITS])
    twice = [*posted(some), *posted(some, 5), *posted(some, 9)]
    found = reconcile(some, [EXITS], State(ME, twice), links())
    assert not found.post
    assert [one.comment for one in found.edits] == [5, 9]
    assert found.edits[0].body == f"The same is said [here]({WEB}/pull/1#r1).\n\n{DUPLICATE}"
    now = [twice[0], *(replace(one, body=found.edits[0].body) for one in twice[1:])]
    assert reconcile(some, [EXITS], State(ME, now), links()) == Changes()


def test_no_comment_is_edited_twice() -> None:
    some = wanted(BOTH)
    state = State(ME, [*posted(some), *posted(some, 5)])
    for left in ([], BOTH[:1], BOTH):
        edited = [one.comment for one in reconcile(wanted(left), left, state, links()).edits]
        assert len(edited) == len(set(edited))
        assert edited == sorted(edited)


def test_two_wanted_comments_with_one_fingerprint_are_one() -> None:
    some = wanted([EXITS])
    assert len(reconcile([*some, *some], [EXITS], State(ME, []), links()).post) == 1


@pytest.mark.parametrize(
    ("allowed", "reply", "resolved", "expected"),
    [
        (False, None, False, ()),
        (True, None, False, ("t1",)),
        (True, ME, False, ("t1",)),
        # What a person answered is left to people.
        (True, PERSON, False, ()),
        (True, None, True, ()),
    ],
)
def test_threads_are_resolved_only_where_nobody_answered(
    allowed: bool, reply: Identity | None, resolved: bool, expected: tuple[str, ...]
) -> None:
    (told,) = posted(wanted([EXITS]))
    replies = [] if reply is None else [comment(2, "but", reply, reply_to=1)]
    state = State(ME, [told, *replies], [thread(told, *replies, resolved=resolved)])
    found = reconcile([], [], state, links(), resolve_threads=allowed)
    assert found.resolve == expected
    assert len(found.edits) == 1
    # If GitHub did not resolve it, that is tried again; the comment says all already.
    again = State(ME, [replace(told, body=found.edits[0].body), *replies], state.threads)
    assert reconcile([], [], again, links(), resolve_threads=allowed) == Changes(resolve=expected)


def test_a_thread_that_people_closed_stays_closed() -> None:
    old = posted(wanted([HEADS]))
    more = replace(HEADS, jobs=(*HEADS.jobs, *EXITS.jobs))
    state = State(ME, old, [thread(old[0], resolved=True)])
    assert reconcile(wanted([more]), [more], state, links()) == Changes()


def test_a_comment_that_was_refused_on_lines_is_known_on_its_file() -> None:
    some = wanted(BOTH)
    now = posted([some[0], some[1].on_file])
    assert now[1].line is None
    assert reconcile(some, BOTH, State(ME, now), links()) == Changes()


def issue(number: int, body: str, author: Identity = ME) -> IssueComment:
    return IssueComment(number, f"i{number}", author, body, "")


BODY = f"## botlint\n\nx\n\n{SUMMARY}"


@pytest.mark.parametrize(
    ("there", "news", "expected"),
    [
        ([], True, (None, BODY)),
        ([], False, (None, None)),
        ([issue(1, BODY)], True, (None, None)),
        ([issue(1, BODY.replace("\n", "\r\n") + "\r\n")], True, (None, None)),
        ([issue(1, f"old\n{SUMMARY}")], True, (Edit(1, BODY), None)),
        # What was said before is kept up to date though there is no news.
        ([issue(1, f"old\n{SUMMARY}")], False, (Edit(1, BODY), None)),
        ([issue(1, BODY, PERSON)], True, (None, BODY)),
        ([issue(1, f"{SUMMARY}\nquoted")], True, (None, BODY)),
        ([issue(4, f"old\n{SUMMARY}"), issue(2, BODY)], True, (None, None)),
    ],
)
def test_the_summary(there: list[IssueComment], news: bool, expected: object) -> None:
    assert summary_edit(BODY, there, ME, news=news) == expected


def test_other_summaries_are_found() -> None:
    there = [issue(4, BODY), issue(2, BODY), issue(5, BODY, PERSON), issue(6, "x")]
    assert [one.id for one in other_summaries(there, ME)] == [4]


@pytest.mark.parametrize(
    ("text", "there", "said"),
    [
        ("Welcome", [], True),
        ("Welcome", [issue(1, f"hello\n{FIRST_CONTACT}")], False),
        ("Welcome", [issue(1, f"hello\n{FIRST_CONTACT}", PERSON)], True),
        ("Welcome", [issue(1, f"hello\n{FIRST_CONTACT}\nquoted")], True),
        ("Welcome", [issue(1, BODY)], True),
        (" \n", [], False),
    ],
)
def test_the_first_contact_is_made_once(text: str, there: list[IssueComment], said: bool) -> None:
    assert first_contact(text, there, ME) == (f"Welcome\n\n{FIRST_CONTACT}" if said else None)
