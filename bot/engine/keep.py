"""Parts of a check that are known from an earlier time, with the answers on which they depend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from botlint.core.cachefile import classes, code_digest, load_cached, save_cached
from botlint.core.finding import Edit, Finding, Fix, JobRef, Note, Related
from botlint.core.span import Span
from botlint.engine.watch import Question

FORM = 1
"""Changes with the form of the file."""

MAX_VERSIONS = 3
"""Results that are kept of one part, the newest first."""

MAX_PARTS = 4_000
"""Parts that are kept."""

_CLASSES = classes((Edit, Finding, Fix, JobRef, Note, Related, Span))

_MAKERS = ("core", "repo", "documents", "catalogs", "layouts", "shell", "plan", "engine")
"""The packages on whose code findings depend."""

Place = tuple[str, int, int]
"""A path, and the first and last line of a stretch of it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a part gave, where its entry was then (if it is one's), and the answers that must still be the same."""

    findings: Mapping[str, tuple[Finding, ...]]
    notes: tuple[Note, ...]
    place: Place | None
    answers: Mapping[Question, str]


@dataclass(slots=True)
class KeptParts:
    """Results of parts by what identifies these."""

    known: dict[str, list[Kept]] = field(default_factory=dict)
    changed: bool = False

    def find(self, key: str, answer: Callable[[Question], str]) -> Kept | None:
        """A result that holds, for these answers."""
        for kept in self.known.get(key, ()):
            if all(answer(question) == was for question, was in kept.answers.items()):
                return kept
        return None

    def keep(self, key: str, kept: Kept) -> None:
        """Remember a result; the oldest ones are forgotten."""
        self.changed = True
        others = [one for one in self.known.pop(key, ()) if one.answers != kept.answers]
        self.known[key] = [kept, *others][:MAX_VERSIONS]
        while len(self.known) > MAX_PARTS:
            del self.known[next(iter(self.known))]


def load_parts(path: Path) -> KeptParts:
    """The results of a file; none if it is not there, of another version, or broken."""
    found = load_cached(path, _CLASSES)
    try:
        form, known = found
        if form != (FORM, code_digest(_MAKERS)):
            return KeptParts()
        parts = KeptParts({key: [Kept(*one) for one in ones] for key, ones in known.items()})
        return parts if _is_whole(parts) else KeptParts()
    except (TypeError, ValueError, AttributeError):
        return KeptParts()


def save_parts(parts: KeptParts, path: Path) -> None:
    """Writes a file of results; does nothing where that is not possible."""
    known = {
        key: [(dict(one.findings), one.notes, one.place, dict(one.answers)) for one in ones]
        for key, ones in parts.known.items()
    }
    save_cached(path, ((FORM, code_digest(_MAKERS)), known))


def _is_whole(parts: KeptParts) -> bool:
    """Whether everything is of the type that it must have."""
    return all(
        isinstance(one.findings, dict)
        and all(_are(found, Finding) for found in one.findings.values())
        and _are(one.notes, Note)
        and (one.place is None or tuple(map(type, one.place)) == (str, int, int))
        and isinstance(one.answers, dict)
        and all(_are(question, str) for question in one.answers)
        for ones in parts.known.values()
        for one in ones
    )


def _are(values: object, kind: type) -> bool:
    return isinstance(values, tuple) and all(isinstance(one, kind) for one in values)
