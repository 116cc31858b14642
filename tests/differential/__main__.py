"""Looks at the corpus outside of pytest: `python -m differential [--real] [PATTERN]`, run in tests/.

Without options it lists the cases on which the interpreter and bash disagree. `--real` prints what real bash does
instead, for writing cases, and names the cases that do not give the same result twice.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from .harness import Case, Observed, differences, load_cases, run_ours, run_real


def main() -> int:
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="part of the case's id")
    parser.add_argument("--real", action="store_true", help="print what real bash does")
    options = parser.parse_args()
    cases = [case for case in load_cases() if options.pattern in case.id]
    with ProcessPoolExecutor() as pool:
        truths = list(pool.map(run_real, cases, chunksize=20))
        if options.real:
            return _show_real(cases, truths, list(pool.map(run_real, cases, chunksize=20)))
    return _compare(cases, truths)


def _show_real(cases: list[Case], truths: list[Observed], again: list[Observed]) -> int:
    unstable = 0
    for case, first, second in zip(cases, truths, again, strict=True):
        commands = [command.argv for command in first.commands]
        print(f"{case.id}: {first.status} {first.stdout!r} {commands or ''}")
        if first.stderr:
            print(f"    stderr {first.stderr!r}")
        if (first.status, first.stdout, first.commands) != (second.status, second.stdout, second.commands):
            unstable += 1
            print("    UNSTABLE")
        if not first.stdout and not first.commands:
            print("    SILENT")
    print(f"{len(cases)} cases, {unstable} unstable")
    return 1 if unstable else 0


def _compare(cases: list[Case], truths: list[Observed]) -> int:
    count: Counter[str] = Counter()
    for case, truth in zip(cases, truths, strict=True):
        try:
            found = differences(case, truth, run_ours(case))
        except Exception as error:  # a crash is one more disagreement to list
            count["crash"] += 1
            print(f"\n=== {case.id}\n{case.script}\ncrash: {type(error).__name__}: {error}")
            continue
        count["wrong" if any(item.kind == "wrong" for item in found) else "unknown" if found else "same"] += 1
        if found:
            print(f"\n=== {case.id}\n{case.script}", *found, sep="\n")
    print(f"\n{len(cases)} cases: {dict(count)}")
    return 0 if count["same"] == len(cases) else 1


if __name__ == "__main__":
    raise SystemExit(main())
