"""A pull request as rules see it: plain data, of which only what active rules look at was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from botlint.engine.settings import ReviewSettings

if TYPE_CHECKING:
    from botlint.engine.rules import Rule

Part = Literal["commits", "behind", "said", "dependencies"]
"""What takes more questions to GitHub than a review asks anyway."""

State = Literal["open", "closed", "merged"]

_PARTS: Mapping[str, Part] = {
    "pull_request.unsigned": "commits",
    "pull_request.unverified": "commits",
    "pull_request.behind": "behind",
}
_VIEWS: Mapping[str, Part] = {"sign_off": "said", "pull_dependency": "dependencies"}


@dataclass(frozen=True, slots=True)
class PullCommit:
    """A commit of a pull request; `bot` says that an App made it."""

    sha: str
    message: str
    author: str = ""
    bot: bool = False
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A comment or review of a person that has the words of the sign-off, and what this person may do."""

    author: str
    body: str
    permission: str = "none"


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request under review; what nobody asked GitHub for is None, and a fact that is not known.

    `changed` are the paths of the diff, former names included; `review` is what the settings of the base ask for;
    `states` are those of other pull requests of the repository, by number.
    """

    number: int
    title: str
    body: str
    author: str
    url: str
    draft: bool = False
    labels: tuple[str, ...] = ()
    mergeable_state: str = "unknown"
    changed: tuple[str, ...] = ()
    review: ReviewSettings = field(default_factory=ReviewSettings)
    commits: tuple[PullCommit, ...] | None = None
    behind: int | None = None
    said: tuple[Said, ...] | None = None
    states: Mapping[int, State] = field(default_factory=dict)

    @property
    def repository(self) -> str:
        """The repository of the base, as `owner/name`."""
        return "/".join(self.url.split("/")[-4:-2])


def needed(rules: Iterable[Rule]) -> frozenset[Part]:
    """The parts that rules look at."""
    found: set[Part] = set()
    for rule in rules:
        if rule.view in _VIEWS:
            found.add(_VIEWS[rule.view])
        elif rule.view == "pull_request":
            found.update(_PARTS[name] for name in rule.names if name in _PARTS)
    return frozenset(found)
