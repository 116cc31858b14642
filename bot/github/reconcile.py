"""What is still to be done so that a pull request has exactly the comments that it should have.

Comments of botlint are known again by the fingerprint in their marker. Nothing is posted twice, nothing that still
holds is said again, what no longer holds is marked and never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from botlint.core.finding import Finding
from botlint.core.markdown import prose
from botlint.github.bodies import Wanted, mended_body, without_suggestion
from botlint.github.limits import MAX_BODY, cut
from botlint.github.links import Links
from botlint.github.markers import (
    DUPLICATE,
    FIRST_CONTACT,
    SUMMARY,
    fingerprint_of,
    has_marker,
    is_mended,
    own,
)
from botlint.github.models import Identity, IssueComment, ReviewComment, Thread
from botlint.github.wording import EN, Wording

# What moves with every push and says nothing new: the commit of a link, and numbers of lines.
_MOVES = re.compile(r"(?<=/blob/)[0-9a-f]{7,64}(?=/)|#L\d+(?:-L\d+)?(?=\))|(?<=:)\d+(?=`)")


@dataclass(frozen=True, slots=True)
class Edit:
    """A new text for an own comment."""

    comment: int
    body: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do, in this order: `post` on lines in one review, `files` one by one, edits, threads to resolve."""

    post: tuple[Wanted, ...] = ()
    files: tuple[Wanted, ...] = ()
    edits: tuple[Edit, ...] = ()
    resolve: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """What is there: all review comments and threads of the pull request, and which account is our own."""

    me: Identity
    comments: Sequence[ReviewComment]
    threads: Sequence[Thread] = ()


def reconcile(
    wanted: Iterable[Wanted],
    findings: Iterable[Finding],
    state: State,
    links: Links,
    *,
    resolve_threads: bool = False,
    complete: bool = True,
    wording: Wording = EN,
) -> Changes:
    """What to do for the comments of findings.

    `findings` are all of the change, with those that are told elsewhere or allowed: a comment whose finding is not
    among them is marked as mended, unless the check did not finish (`complete`).
    """
    wanted = list({one.fingerprint: one for one in wanted}.values())
    told = _by_fingerprint(own(state.comments, state.me))
    threads = {thread.comments[0]: thread for thread in state.threads if thread.comments}
    known = {one.fingerprint: one for one in findings}
    edits: list[Edit] = []
    resolve: list[str] = []
    missing: list[Wanted] = []
    for one in wanted:
        comments = told.get(one.fingerprint, [])
        home = _home(comments, threads)
        if home is None:
            missing.append(one)
        elif not _settled(home, threads) and not _says(home.body, one.body):
            edits.append(Edit(home.id, one.body))
    for fingerprint, comments in told.items():
        edits.extend(_duplicates(comments, wording))
        said = _farewell(fingerprint, known, complete, links, wording)
        if not said:
            continue
        live = next((one for one in comments if not is_mended(one.body)), None)
        if live is not None:
            edits.append(Edit(live.id, mended_body(live.body, said, wording)))
        open_threads = [threads[one.id] for one in comments if one.id in threads] if resolve_threads else []
        resolve.extend(one.node_id for one in open_threads if _may_resolve(one, state.me))
    edits.sort(key=lambda one: one.comment)
    return Changes(
        tuple(one for one in missing if one.anchor is not None),
        tuple(one for one in missing if one.anchor is None),
        tuple(edits),
        tuple(resolve),
    )


def _by_fingerprint(comments: Iterable[ReviewComment]) -> dict[str, list[ReviewComment]]:
    found: dict[str, list[ReviewComment]] = {}
    for comment in comments:
        fingerprint = fingerprint_of(comment.body)
        if comment.reply_to is None and fingerprint is not None:
            found.setdefault(fingerprint, []).append(comment)
    return found


def _home(comments: Sequence[ReviewComment], threads: Mapping[int, Thread]) -> ReviewComment | None:
    """The comment that tells a finding: the oldest one that is not mended, else a mended one that is still to be seen.

    A finding that came back is told again where its comment has no line any more, or its thread is closed.
    """
    live = next((one for one in comments if not is_mended(one.body)), None)
    if live is not None:
        return live
    closed = {number for number, thread in threads.items() if thread.resolved}
    return next((one for one in reversed(comments) if one.line is not None and one.id not in closed), None)


def _settled(comment: ReviewComment, threads: Mapping[int, Thread]) -> bool:
    """Whether people closed the thread of a comment that still holds: it is not said anew."""
    thread = threads.get(comment.id)
    return thread is not None and thread.resolved and not is_mended(comment.body)


def _says(body: str, wanted: str) -> bool:
    """Whether a comment says what it should, whatever commit its links lead to."""
    return _essence(body) == _essence(wanted)


def _essence(body: str) -> str:
    lines = [line.rstrip() for line in without_suggestion(body.replace("\r\n", "\n")).strip().split("\n")]
    return _MOVES.sub("", "\n".join(lines))


def _farewell(fingerprint: str, known: Mapping[str, Finding], complete: bool, links: Links, wording: Wording) -> str:
    """What to say of a comment whose finding no longer counts; empty if it still does, or that is not known."""
    commit = links.commit(links.head)
    finding = known.get(fingerprint)
    if finding is None:
        return wording.mended.format(commit=commit) if complete else ""
    if finding.counts:
        return ""
    reason = finding.suppressed or finding.baselined or "-"
    return wording.allowed.format(commit=commit, reason=prose(reason, 200))


def _duplicates(comments: Sequence[ReviewComment], wording: Wording) -> Iterable[Edit]:
    """Comments that say the same, as a crash may leave them: the later ones lead to the first."""
    live = [one for one in comments if not is_mended(one.body)]
    for one in live[1:]:
        yield Edit(one.id, f"{wording.duplicate.format(url=live[0].url)}\n\n{DUPLICATE}")


def _may_resolve(thread: Thread, me: Identity) -> bool:
    """Whether a thread is open and nobody else wrote in it."""
    return not thread.resolved and all(author == me.id for author in thread.authors)


# ------------------------------------------------------------------------------------- comments on the pull request


def summary_edit(
    body: str, comments: Iterable[IssueComment], me: Identity, *, news: bool = True
) -> tuple[Edit | None, str | None]:
    """An edit of the summary comment, or the text of one to post; neither if it is there, or has nothing to say.

    Without `news` there is no first comment, but one that is there is kept up to date.
    """
    found = [one for one in own(comments, me) if has_marker(one.body, SUMMARY)]
    if not found:
        return None, body if news else None
    first = found[0]
    return (None if first.body.replace("\r\n", "\n").strip() == body.strip() else Edit(first.id, body)), None


def other_summaries(comments: Iterable[IssueComment], me: Identity) -> list[IssueComment]:
    """Own summary comments beside the first one, as a crash may leave them, to be folded away."""
    return [one for one in own(comments, me) if has_marker(one.body, SUMMARY)][1:]


def first_contact(text: str, comments: Iterable[IssueComment], me: Identity) -> str | None:
    """The comment that greets a pull request; None without a text of the maintainers, or if it was said before."""
    if not text.strip() or any(has_marker(one.body, FIRST_CONTACT) for one in own(comments, me)):
        return None
    return f"{cut(text.strip(), MAX_BODY)}\n\n{FIRST_CONTACT}"
