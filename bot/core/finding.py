"""What a check says: findings with their places, proof and fix, and the report that holds them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from botlint.core.span import Span

Severity = Literal["error", "warning", "info"]
Certainty = Literal["certain", "possible"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""From worst to mildest."""

NoteKind = Literal["unread", "framework", "version", "model", "budget", "undecided", "rule", "suppression"]


@dataclass(frozen=True, slots=True, order=True)
class JobRef:
    """One job that a finding is about: its entry, the number of its arm in the scenario, and its concurrency."""

    entry: str
    scenario: str
    arm: int
    conc: str


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding, with a few words on what it is."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace what `span` covers (nothing, if it is empty) by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding; `safe` says that they mean the same for every job that they touch."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that is wrong, with the set of jobs for which it is.

    `subject` names what the fact is about without a position (an entry, a variable, a flag); together with the rule,
    the path and an ordinal it makes the fingerprint. `steps` is the numbered proof, `remedy` the next step to take.
    `suppressed` is the reason of the comment that allows it (empty without one), `baselined` the day it was accepted.
    """

    rule: str
    severity: Severity
    certainty: Certainty
    message: str
    span: Span
    subject: str = ""
    entries: tuple[str, ...] = ()
    jobs: tuple[JobRef, ...] = ()
    related: tuple[Related, ...] = ()
    steps: tuple[str, ...] = ()
    remedy: str = ""
    fix: Fix | None = None
    fingerprint: str = ""
    suppressed: str | None = None
    baselined: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the finding is neither suppressed nor in the baseline."""
        return self.suppressed is None and self.baselined is None

    @property
    def order(self) -> tuple[object, ...]:
        """The order of findings in a report: by place, then by rule."""
        span = self.span
        return span.path, span.line, span.column, span.end_line, span.end_column, self.rule, self.subject, self.message


@dataclass(frozen=True, slots=True)
class Note:
    """Something that kept the check from looking at a part: told in the summary, listed with --verbose."""

    kind: NoteKind
    message: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """What was looked at and what came of it."""

    jobs: int = 0
    serves: int = 0
    exits: int = 0
    undecided: int = 0
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    suppressed: int = 0
    baselined: int = 0
    oldest_baselined: str | None = None
    notes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All findings in order, with the notes; `failures` names rules and parts of ours that crashed."""

    findings: tuple[Finding, ...]
    summary: Summary
    notes: tuple[Note, ...] = ()
    failures: tuple[str, ...] = ()


def with_fingerprints(findings: Iterable[Finding]) -> list[Finding]:
    """The findings in order, each with its fingerprint: rule, path, subject, and an ordinal among the like.

    No line, column or message goes into it, so that it survives moved lines and reworded messages.
    """
    seen: dict[tuple[str, str, str], int] = {}
    done: list[Finding] = []
    for finding in sorted(findings, key=lambda one: one.order):
        key = (finding.rule, finding.span.path, finding.subject)
        ordinal = seen[key] = seen.get(key, 0) + 1
        text = "\0".join((*key, str(ordinal)))
        done.append(
            replace(finding, fingerprint=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
        )
    return done


def summarize(findings: Sequence[Finding], base: Summary, notes: Sequence[Note]) -> Summary:
    """A summary with the counts of these findings, and of the notes: of those about unread files, the files."""
    counted = [finding for finding in findings if finding.counts]
    # A file that has many faults is one file that was not fully read.
    distinct = {(note.kind, note.path if note.kind == "unread" else note) for note in notes}
    kinds = Counter(kind for kind, _ in distinct)
    days = [finding.baselined for finding in findings if finding.baselined is not None]
    return replace(
        base,
        errors=sum(one.severity == "error" for one in counted),
        warnings=sum(one.severity == "warning" for one in counted),
        infos=sum(one.severity == "info" for one in counted),
        suppressed=sum(one.suppressed is not None for one in findings),
        baselined=len(days),
        oldest_baselined=min(days) if days else None,
        notes=tuple(sorted(kinds.items())),
    )
