"""Replays known defects of a public repository: each must be reported where it was, and be gone where it was mended.

    python tests/bench/replay.py CHECKOUT DEFECTS.jsonl [--select CLASS ...] [--jobs N]

Each line of the file is one defect: `bad_rev` had it, `fix_sha` mended it, `files` are its places (path and line), and
`must_say` is what a finding has to say. A defect is found if a finding at `bad_rev` is at, or related to, one of the
places; it is mended if no finding of that rule is left there at `fix_sha`. What a change brings is looked at against
the parent of `bad_rev`. The table says which rule found a defect with which words: read them against `must_say`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from botlint.core.finding import Finding
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.keep import KeptParts
from botlint.engine.rules import builtin_rules
from botlint.layouts.inferencex.job import Job
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.plan.parallel import plan_jobs_with_questions
from botlint.plan.store import PlanStore
from botlint.repo.open import open_files

NEAR = 3
"""Lines between a finding and a place that still count as the same place."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("defects", type=Path)
    parser.add_argument("--select", action="append", default=[], help="only this class or id (repeatable)")
    parser.add_argument("--jobs", type=int, default=1, help="defects at once; each check uses several processors")
    parser.add_argument("--runtime", action="store_true", help="also those that only a run can show")
    options = parser.parse_args()
    defects = [json.loads(line) for line in options.defects.read_text(encoding="utf-8").splitlines() if line.strip()]
    chosen = [
        one
        for one in defects
        if (options.runtime or one["detectability"] != "needs-runtime")
        and (not options.select or {one["id"], one["class"]} & set(options.select))
    ]
    found: dict[str, list[bool]] = {}
    # Neighbouring revisions share most plans. A process keeps what it has read: a fresh one comes after a few defects.
    chosen.sort(key=lambda one: (one["bad_date"], one["bad_rev"], one["date"]))
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=8) as pool:
        work = partial(replay, str(options.checkout))
        for one, (state, lines) in zip(chosen, pool.imap(work, chosen), strict=True):
            found.setdefault(one["class"], []).append(state == "found")
            print(f"{state:9} {one['class']:34} {one['id']}")
            for line in lines:
                print(f"          {line}")
            sys.stdout.flush()
    total = [hit for hits in found.values() for hit in hits]
    print(f"\n{'class':36} found of")
    for name, hits in sorted(found.items()):
        print(f"{name:36} {sum(hits):5} {len(hits):2}")
    print(f"{'all':36} {sum(total):5} {len(total):2}  ({100 * sum(total) / max(1, len(total)):.0f} percent)")
    return 0


def replay(checkout: str, defect: dict[str, Any]) -> tuple[str, list[str]]:
    """`found`, `missed` or `stays`, with the findings that say so."""
    bad = _findings(checkout, defect["bad_rev"])
    hits = [one for one in bad if _at(one, defect["files"])]
    if not hits:
        near = sorted({one.rule for one in bad if {one.span.path} & {place["path"] for place in defect["files"]}})
        return "missed", [f"wanted: {defect['must_say']}", f"rules at these files: {', '.join(near) or 'none'}"]
    fixed = _findings(checkout, defect["fix_sha"])
    left = {_fact(one) for one in fixed}
    gone = [one for one in hits if _fact(one) not in left]
    shown = [f"{one.severity} {one.rule} {one.span}: {one.message}"[:300] for one in gone or hits]
    return ("found" if gone else "stays"), [f"wanted: {defect['must_say']}"[:300], *dict.fromkeys(shown)]


def _fact(one: Finding) -> tuple[str, str, str, str]:
    return one.rule, one.span.path, one.subject, one.message


_STORE = PlanStore()
_PARTS = KeptParts()


def _plan_jobs(planner: Planner, jobs: Sequence[Job]) -> list[LaunchPlan]:
    return _STORE.plan(planner, jobs, plan_jobs_with_questions)


@lru_cache(maxsize=4)
def _findings(checkout: str, rev: str) -> list[Finding]:
    """The findings of a revision, and what it brought against its parent."""
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(open_files(checkout, rev))
        parent = _parent(checkout, rev)
        base = Context(stack.enter_context(open_files(checkout, parent)), _plan_jobs) if parent else None
        rules = builtin_rules()
        standing = [rule for rule in rules if rule.scope != "pull-request"]
        found = list(check(Context(files, _plan_jobs), standing, parts=_PARTS).findings)
        if base is not None:
            changed = [rule for rule in rules if rule.scope == "pull-request"]
            found.extend(check(Context(files, _plan_jobs, base), changed, parts=_PARTS).findings)
        return found


def _parent(checkout: str, rev: str) -> str | None:
    done = subprocess.run(
        ["git", "-C", checkout, "rev-parse", "--verify", "--quiet", f"{rev}^"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


def _at(one: Finding, places: Iterable[dict[str, Any]]) -> bool:
    spans = [one.span, *(related.span for related in one.related)]
    return any(
        span.path == place["path"]
        and (place["line"] in (0, 1) or span.line - NEAR <= place["line"] <= max(span.end_line, span.line) + NEAR)
        for span in spans
        for place in places
    )


if __name__ == "__main__":
    sys.exit(main())
