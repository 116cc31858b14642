"""What reports and settings know of a rule: its names, how bad it is, and why it exists."""

from __future__ import annotations

from dataclasses import dataclass

from botlint.core.finding import Certainty, Severity


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """One rule without its predicates; `why` and `remedy` are for people, `sources` say where its facts come from.

    A rule with `asked_by` is off unless the settings name it or its family, or turn on what is said there: a setting of
    reviews, or `rules` for none. One with `layouts` is off in repositories of other layouts unless the settings name it
    or its family.
    """

    id: str
    name: str
    family: str
    severity: Severity
    certainty: Certainty = "certain"
    why: str = ""
    remedy: str = ""
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    asked_by: str = ""
    layouts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What settings and comments may call it by, the most exact first: its name, id, former names, family."""
        return self.name, self.id, *self.aliases, self.family
