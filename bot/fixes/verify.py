"""Fixes are kept only if they help: what they edit still reads, their findings are gone, and nothing new appeared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from botlint.core.finding import Finding
from botlint.documents.bash import parse_script
from botlint.documents.yaml import load_yaml_all
from botlint.fixes.edits import apply_fixes, compatible

CheckAgain = Callable[[Mapping[str, str]], Sequence[Finding]]
"""The findings of the same check on the revision with these files replaced."""

MAX_CHECKS = 24
"""Checks for one batch of fixes; fixes that are not tried by then are withdrawn."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A finding whose fix is not applied, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a batch of fixes came to: the texts that change, the findings that are mended, and those that are not."""

    changed: Mapping[str, str]
    mended: tuple[Finding, ...]
    withdrawn: tuple[Withdrawn, ...]


def verified(
    texts: Mapping[str, str], before: Sequence[Finding], chosen: Iterable[Finding], check_again: CheckAgain
) -> Outcome:
    """Applies the fixes of the chosen findings as far as they prove to help.

    All are tried at once. If that is no good, those that seem to be why are tried apart from the others, so that one
    bad fix does not keep the others back and few checks are needed.
    """
    with_fix = [one for one in chosen if one.fix is not None and one.fix.edits]
    fixes = [one.fix for one in with_fix if one.fix is not None]
    fitting, refused = compatible(texts, fixes)
    reasons = {id(fix): reason for fix, reason in refused}
    withdrawn = [Withdrawn(one, reasons[id(one.fix)]) for one in with_fix if id(one.fix) in reasons]
    fits = {id(fix) for fix in fitting}
    batches = [[one for one in with_fix if id(one.fix) in fits]]
    kept: list[Finding] = []
    checks = 0
    while batches:
        batch = batches.pop(0)
        if not batch:
            continue
        trial = [*kept, *batch]
        changed = _applied(texts, trial)
        faults = unread(texts, changed)
        if not faults and checks >= MAX_CHECKS:
            withdrawn += [Withdrawn(one, f"not tried: more than {MAX_CHECKS} checks") for one in batch]
            continue
        if not faults:
            checks += 1
            faults = judge(before, check_again(changed), trial)
        if not faults:
            kept = trial
        elif len(batch) == 1:
            withdrawn.append(Withdrawn(batch[0], faults[0].reason))
        else:
            batches[:0] = _apart(batch, faults)
    return Outcome(_applied(texts, kept), tuple(kept), tuple(withdrawn))


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that speaks against fixes: what it is about, and the file that it shows in."""

    reason: str
    path: str
    stays: tuple[str, str, str] | None = None

    def blames(self, finding: Finding) -> bool:
        """Whether the fix of this finding seems to be why."""
        if self.stays is not None:
            return _subject(finding) == self.stays
        return finding.fix is not None and any(edit.span.path == self.path for edit in finding.fix.edits)


def _apart(batch: list[Finding], faults: Sequence[Fault]) -> list[list[Finding]]:
    """Smaller batches: the fixes that nothing speaks against, then the others in halves."""
    blamed: list[Finding] = []
    rest: list[Finding] = []
    for one in batch:
        (blamed if any(fault.blames(one) for fault in faults) else rest).append(one)
    middle = len(blamed) // 2
    if not rest or not blamed:
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]
    return [rest, blamed[:middle], blamed[middle:]]


def _applied(texts: Mapping[str, str], findings: Iterable[Finding]) -> dict[str, str]:
    return apply_fixes(texts, [one.fix for one in findings if one.fix is not None])


def judge(before: Iterable[Finding], after: Iterable[Finding], mended: Iterable[Finding]) -> list[Fault]:
    """What speaks against the fixes of `mended`: findings that stay and findings that appear.

    Findings are counted by what they are about, for an ordinal in a fingerprint changes when one before it goes.
    """
    gone = Counter(_subject(one) for one in mended)
    expected = Counter(_subject(one) for one in before)
    expected.subtract(gone)
    found = Counter(_subject(one) for one in after)
    faults = []
    for key, number in sorted(found.items()):
        if number > max(0, expected[key]):
            rule, path, subject = key
            where = f"{rule} in {path}" + (f" about {subject}" if subject else "")
            stays = key in gone
            reason = f"the finding stays: {where}" if stays else f"a finding appears: {where}"
            faults.append(Fault(reason, path, key if stays else None))
    return faults


def _subject(one: Finding) -> tuple[str, str, str]:
    return one.rule, one.span.path, one.subject


def unread(before: Mapping[str, str], after: Mapping[str, str]) -> list[Fault]:
    """The changed files that can no longer be read as well as before."""
    faults = []
    for path, text in sorted(after.items()):
        worse = Counter(problems(path, text)) - Counter(problems(path, before.get(path, "")))
        if worse:
            faults.append(Fault(f"{path} would no longer read well: {min(worse)}", path))
    return faults


def problems(path: str, text: str) -> list[str]:
    """The kinds of what cannot be read in a YAML file or a shell script; other files have none."""
    if path.endswith((".yaml", ".yml")):
        return [problem.kind for document in load_yaml_all(text, path)[:1] for problem in document.problems]
    if path.endswith((".sh", ".bash")) or text.startswith(("#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh")):
        script = parse_script(text, path)
        for _ in script:
            pass
        return [] if script.problem is None else [script.problem.message]
    return []
