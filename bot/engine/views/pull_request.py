"""The pull request under review."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.descriptions import in_progress, is_signed_off
from botlint.engine.context import Context
from botlint.engine.pull import Pull, PullCommit
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View, no_place

_NOT_KNOWN = ("", "unknown", "checking")
"""States of a pull request of which GitHub has not found out yet whether it can be merged."""


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    pull = context.pull
    if pull is not None:
        yield Core(f"#{pull.number}", _facts(pull), {"pull": no_place()})


def _facts(pull: Pull) -> dict[str, FactValue]:
    values: dict[str, FactValue] = {
        "number": pull.number,
        "title": pull.title,
        "body": pull.body,
        "author": pull.author,
        "url": pull.url,
        "draft": pull.draft,
        "labels": list(pull.labels),
        "changed": list(pull.changed),
        "in_progress": in_progress(pull.title),
    }
    if pull.mergeable_state not in _NOT_KNOWN:
        values["conflicting"] = pull.mergeable_state == "dirty"
    if pull.behind is not None:
        values["behind"] = pull.behind
    if pull.commits is not None:
        values["unsigned"] = [_told(one) for one in pull.commits if _owes_sign_off(one)]
        values["unverified"] = [_told(one) for one in pull.commits if not one.verified]
    return values


def _owes_sign_off(commit: PullCommit) -> bool:
    """Whether a commit has to say who vouches for it: merges have nothing of their own, and Apps cannot vouch."""
    return not commit.bot and not commit.message.startswith("Merge ") and not is_signed_off(commit.message)


def _told(commit: PullCommit) -> str:
    return f"{commit.sha[:7]} ({commit.message.partition(chr(10))[0].strip()[:80]})"


VIEW = View(
    name="pull_request",
    doc="The pull request under review; there is none outside of a review.",
    facts=(
        Fact("number", "int", "its number"),
        Fact("title", "string", "its title"),
        Fact("body", "string", "its description"),
        Fact("author", "string", "who opened it"),
        Fact("url", "string", "its address"),
        Fact("draft", "bool", "it is a draft"),
        Fact("labels", "list<string>", "its labels"),
        Fact("changed", "list<string>", "paths of the diff, former names of renamed files included"),
        Fact("in_progress", "bool", "the title says that the work goes on: [WIP], WIP:, [do not merge]"),
        Fact("conflicting", "bool", "it cannot be merged without conflict; not known until GitHub has tried"),
        Fact("behind", "int", "commits of its base branch that it does not have"),
        Fact("unsigned", "list<string>", "commits without `Signed-off-by`, apart from merges and those of Apps"),
        Fact("unverified", "list<string>", "commits whose signature GitHub does not vouch for"),
    ),
    anchors={"pull": "the pull request as a whole, which is no place in a file"},
    build=_build,
)
