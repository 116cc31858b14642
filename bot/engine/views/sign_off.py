"""The sign-off of the pull request under review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from botlint.engine.analysis.codeowners import Owners, may_speak_for, owners_of, read_owners
from botlint.engine.analysis.descriptions import says
from botlint.engine.context import Context
from botlint.engine.pull import Pull
from botlint.engine.views.base import Chain, Core, Fact, View, no_place

_MAY = ("admin", "maintain", "write")


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    pull = context.pull
    if pull is None or pull.said is None or pull.review.sign_off is None:
        return
    demand = pull.review.sign_off
    said = [one for one in pull.said if says(one.body, demand.phrase)]
    others = [one for one in said if one.author.lower() != pull.author.lower()]
    signers = list(dict.fromkeys(one.author for one in others if one.permission in _MAY))
    lines: Sequence[Owners] = ()
    if demand.by == "codeowners":
        lines = read_owners((context.base or context).files)
    uncovered = list(_uncovered(pull, signers, lines))
    values = {
        "phrase": demand.phrase,
        "by": demand.by,
        "said": bool(said),
        "said_by": list(dict.fromkeys(one.author for one in said)),
        "signers": signers,
        "given": bool(signers) and not uncovered,
        "uncovered": [path for path, _ in uncovered],
        "owners": list(dict.fromkeys(owner for _, owners in uncovered for owner in owners)),
        "draft": pull.draft,
    }
    yield Core("sign-off", values, {"pull": no_place()})


def _uncovered(pull: Pull, signers: Sequence[str], lines: Sequence[Owners]) -> Iterator[tuple[str, Sequence[str]]]:
    """The changed paths for which nobody of these may speak, with their owners."""
    for path in pull.changed:
        owners = owners_of(path, lines)
        if not any(may_speak_for(login, owners) for login in signers):
            yield path, owners


VIEW = View(
    name="sign_off",
    doc="The sign-off of the pull request under review, where `review.sign-off` asks for one.",
    facts=(
        Fact("phrase", "string", "the words"),
        Fact("by", "string", "who may say them: codeowners or write"),
        Fact("said", "bool", "somebody said the words, outside of code and quotes"),
        Fact("said_by", "list<string>", "who did"),
        Fact("signers", "list<string>", "those of them who may write in the repository and are not the author"),
        Fact("given", "bool", "signers may speak for every changed path"),
        Fact("uncovered", "list<string>", "changed paths for which none of them may speak"),
        Fact("owners", "list<string>", "the code owners of these paths"),
        Fact("draft", "bool", "the pull request is a draft"),
    ),
    anchors={"pull": "the pull request as a whole, which is no place in a file"},
    build=_build,
)
