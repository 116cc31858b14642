"""The baseline: findings that were accepted on a day, by fingerprint, so that moved lines do not bring them back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import NoReturn

from botlint.core.errors import UsageError
from botlint.core.finding import Finding
from botlint.engine.settings import own_text
from botlint.repo.files import Files

SCHEMA = "botlint.baseline/1"

MAX_ENTRIES = 100_000

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Accepted:
    """One accepted finding; rule and path are for readers, the fingerprint decides."""

    fingerprint: str
    rule: str
    path: str
    since: str


Baseline = Mapping[str, Accepted]
"""Accepted findings by fingerprint."""


def read_baseline(files: Files, path: str) -> Baseline:
    """The baseline of a revision, empty if it has none. Raises UsageError if the file is no baseline."""
    text = own_text(files, path)
    return {} if text is None else parse_baseline(text, path)


def parse_baseline(text: str, path: str) -> Baseline:
    """The baseline of a text. Raises UsageError if it is none."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        _fail(path, error.lineno, f"not JSON: {error.msg}")
    except ValueError:
        _fail(path, 1, "not JSON of ours: a number that is too long")
    except RecursionError:
        _fail(path, 1, "not JSON: nested too deeply")
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        _fail(path, 1, f'expected a document with "schema": "{SCHEMA}"')
    listed = document.get("findings")
    if not isinstance(listed, list) or len(listed) > MAX_ENTRIES:
        _fail(path, 1, f'expected "findings", a list of at most {MAX_ENTRIES:,} entries')
    found: dict[str, Accepted] = {}
    for number, entry in enumerate(listed, 1):
        one = _entry(entry)
        if one is None:
            _fail(path, 1, f"finding {number} needs a fingerprint, a rule, a path and the day since when (YYYY-MM-DD)")
        found.setdefault(one.fingerprint, one)
    return found


def _entry(entry: object) -> Accepted | None:
    keys = ("fingerprint", "rule", "path", "since")
    if not isinstance(entry, dict) or set(entry) != set(keys):
        return None
    texts = [entry[key] for key in keys]
    if not all(isinstance(text, str) for text in texts):
        return None
    one = Accepted(*texts)
    if not _FINGERPRINT.fullmatch(one.fingerprint) or not one.rule or not _DAY.fullmatch(one.since):
        return None
    try:
        date.fromisoformat(one.since)
    except ValueError:
        return None
    return one


def _fail(path: str, line: int, message: str) -> NoReturn:
    raise UsageError(f"{path}:{line}: {message}")


def write_baseline(baseline: Baseline) -> Iterator[str]:
    """The text of a baseline, one finding per line in a fixed order, so that two branches seldom conflict."""
    ordered = sorted(baseline.values(), key=lambda one: (one.path, one.rule, one.fingerprint))
    yield f'{{"schema": "{SCHEMA}", "findings": ['
    for number, one in enumerate(ordered):
        form = {"fingerprint": one.fingerprint, "rule": one.rule, "path": one.path, "since": one.since}
        yield f"{',' if number else ''}\n{json.dumps(form)}"
    yield "\n]}\n" if ordered else "]}\n"


def accept(findings: Iterable[Finding], old: Baseline, today: date) -> dict[str, Accepted]:
    """A baseline of all findings that are not suppressed; those that the old one has keep their day."""
    return {
        one.fingerprint: old.get(one.fingerprint)
        or Accepted(one.fingerprint, one.rule, one.span.path, today.isoformat())
        for one in findings
        if one.suppressed is None
    }


def prune(baseline: Baseline, findings: Iterable[Finding]) -> tuple[dict[str, Accepted], list[Accepted]]:
    """The baseline without what no finding matches any more, and what was left out."""
    there = {one.fingerprint for one in findings if one.suppressed is None}
    kept = {fingerprint: one for fingerprint, one in baseline.items() if fingerprint in there}
    return kept, [one for fingerprint, one in baseline.items() if fingerprint not in there]


def apply_baseline(findings: Iterable[Finding], baseline: Baseline) -> list[Finding]:
    """The findings, each with the day since when the baseline has it; a suppressed one needs no baseline."""
    return [
        replace(one, baselined=baseline[one.fingerprint].since)
        if one.suppressed is None and one.fingerprint in baseline
        else one
        for one in findings
    ]
