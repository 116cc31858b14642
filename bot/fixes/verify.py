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

    All are tried at once; if that is no good, halves of them, so that one bad fix does not keep the others back.
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
        if checks >= MAX_CHECKS:
            withdrawn += [Withdrawn(one, f"not tried: more than {MAX_CHECKS} checks") for one in batch]
            continue
        reason = unread(texts, changed := _applied(texts, trial))
        if reason is None:
            checks += 1
            reason = judge(before, check_again(changed), trial)
        if reason is None:
            kept = trial
        elif len(batch) == 1:
            withdrawn.append(Withdrawn(batch[0], reason))
        else:
            middle = len(batch) // 2
            batches[:0] = [batch[:middle], batch[middle:]]
    return Outcome(_applied(texts, kept), tuple(kept), tuple(withdrawn))


def _applied(texts: Mapping[str, str], findings: Iterable[Finding]) -> dict[str, str]:
    return apply_fixes(texts, [one.fix for one in findings if one.fix is not None])


def judge(before: Iterable[Finding], after: Iterable[Finding], mended: Iterable[Finding]) -> str | None:
    """Why the fixes of `mended` are not to be kept, None if they are.

    Findings are counted by what they are about, for an ordinal in a fingerprint changes when one before it goes.
    """
    expected = Counter(_subject(one) for one in before)
    expected.subtract(_subject(one) for one in mended)
    allowed = {_subject(one) for one in mended}
    found = Counter(_subject(one) for one in after)
    for key, number in sorted(found.items()):
        if number > max(0, expected[key]):
            rule, path, subject = key
            about = f" about {subject}" if subject else ""
            if key in allowed:
                return f"the finding stays: {rule} in {path}{about}"
            return f"a finding appears: {rule} in {path}{about}"
    return None


def _subject(one: Finding) -> tuple[str, str, str]:
    return one.rule, one.span.path, one.subject


def unread(before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    """Why a changed file can no longer be read as well as before, None if all can."""
    for path, text in sorted(after.items()):
        old, new = Counter(problems(path, before.get(path, ""))), Counter(problems(path, text))
        worse = new - old
        if worse:
            return f"{path} would no longer read well: {min(worse)}"
    return None


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
