"""Breaks a public repository in small ways, one at a time, and counts how often the check says so.

It also counts how often the check is silent after edits that change nothing.

    python tests/bench/breakages.py CHECKOUT [--number N] [--seed S] [--kind KIND ...] [--verbose]

A breakage counts as reported if a new finding is at, or related to, the edited lines, or names an entry whose jobs the
edit touches. A harmless edit counts as silent if no new error appears. Nothing is written to the checkout.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from botlint.core.finding import Finding
from botlint.engine.check import check
from botlint.engine.context import Context, PlanJobs
from botlint.engine.rules import Rule, builtin_rules
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.plan.parallel import plan_jobs_with_questions
from botlint.plan.store import PlanStore
from botlint.repo.files import Files
from botlint.repo.memory import MemoryFiles
from botlint.repo.open import open_files

NEAR = 3
"""Lines between a finding and an edit that still count as the same place."""


@dataclass(frozen=True)
class Edit:
    """One edit: its place, the lines that it changes, and the entries that it is about."""

    kind: str
    path: str
    line: int
    what: str
    lines: dict[int, str] = field(default_factory=dict)
    """New texts of lines; an empty one stands for a line that is gone, so that the others keep their numbers."""
    entries: frozenset[str] = frozenset()
    moved_to: str = ""


@dataclass
class Source:
    """The repository as it is."""

    files: Files
    plans: list[LaunchPlan]
    random: random.Random

    def lines(self, path: str) -> list[str]:
        source = self.files.text(path)
        return [] if source is None else source.text.split("\n")

    def recipes(self) -> dict[str, set[str]]:
        """The entries by recipe script that serves."""
        found: dict[str, set[str]] = {}
        for plan in self.plans:
            if plan.launch.outcome == "serves" and plan.launch.recipe and plan.launch.recipe.endswith(".sh"):
                found.setdefault(plan.launch.recipe, set()).add(plan.entry)
        return found

    def configs(self) -> list[str]:
        return sorted({plan.config.path for plan in self.plans})

    def entries_at(self, path: str, number: int) -> frozenset[str]:
        """The entry whose block a line of a master config is in."""
        lines = self.lines(path)
        for index in range(number - 1, -1, -1):
            match = re.match(r"([\w.+-]+):\s*(#.*)?$", lines[index])
            if match:
                return frozenset({match[1]})
        return frozenset()


def misspell(word: str, rng: random.Random) -> str:
    """A word with two letters in its middle swapped, or one dropped."""
    letters = [
        k for k in range(3, len(word) - 1) if word[k] != word[k + 1] and word[k].isalnum() and word[k + 1].isalnum()
    ]
    if not letters:
        return word + "x"
    at = rng.choice(letters)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def in_scripts(source: Source, pattern: str, change: Callable[[re.Match[str]], str], kind: str) -> Iterator[Edit]:
    """Edits of what matches in recipes, one match each."""
    regex = re.compile(pattern)
    for path, entries in source.recipes().items():
        lines = source.lines(path)
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("#"):
                continue
            for match in regex.finditer(line):
                new = line[: match.start()] + change(match) + line[match.end() :]
                yield Edit(kind, path, number, f"{line.strip()} -> {new.strip()}", {number: new}, frozenset(entries))


def in_configs(
    source: Source, pattern: str, change: Callable[[re.Match[str]], str | None], kind: str
) -> Iterator[Edit]:
    """Edits of lines of master configs; None removes the line."""
    regex = re.compile(pattern)
    for path in source.configs():
        lines = source.lines(path)
        for number, line in enumerate(lines, 1):
            match = regex.search(line)
            if match is None or line.lstrip().startswith("#"):
                continue
            new = change(match)
            text = "" if new is None else line[: match.start()] + new + line[match.end() :]
            what = f"{line.strip()} -> {text.strip() or 'removed'}"
            yield Edit(kind, path, number, what, {number: text}, source.entries_at(path, number))


def in_workflows(
    source: Source, pattern: str, change: Callable[[re.Match[str]], str | None], kind: str
) -> Iterator[Edit]:
    """Edits of lines of the workflows that bring rows to launchers."""
    regex = re.compile(pattern)
    for path in source.files.paths(".github/workflows"):
        lines = source.lines(path)
        if not any("benchmark-tmpl.yml" in line or "runners/launch_" in line for line in lines):
            continue
        for number, line in enumerate(lines, 1):
            match = regex.search(line)
            if match is None or line.lstrip().startswith("#"):
                continue
            new = change(match)
            text = "" if new is None else line[: match.start()] + new + line[match.end() :]
            yield Edit(kind, path, number, f"{line.strip()} -> {text.strip() or 'removed'}", {number: text})


def moved(source: Source) -> Iterator[Edit]:
    for path, entries in source.recipes().items():
        yield Edit("file moved", path, 1, f"{path} moved", {}, frozenset(entries), f"{path[:-3]}_old.sh")


def branches(source: Source) -> Iterator[Edit]:
    """Case branches removed, and if-else-fi replaced by what follows `then`."""
    for path, entries in source.recipes().items():
        lines = source.lines(path)
        for number, line in enumerate(lines, 1):
            later = range(number, min(len(lines), number + 40))
            if re.match(r"\s*[\w|\"'. -]+\)\s*$", line) and "*" not in line:
                end = next((k for k in later if lines[k].strip() == ";;"), None)
                if end is not None:
                    gone = dict.fromkeys(range(number, end + 2), "")
                    yield Edit("branch removed", path, number, line.strip(), gone, frozenset(entries))
            match = re.match(r"(\s*)if .*; then$", line)
            if match:
                stop = next((k for k in later if lines[k] == f"{match[1]}fi"), None)
                other = next((k for k in range(number, stop or number) if lines[k] == f"{match[1]}else"), None)
                if stop is not None and other is not None:
                    gone = {number: "", **dict.fromkeys(range(other + 1, stop + 2), "")}
                    yield Edit("guard removed", path, number, line.strip(), gone, frozenset(entries))


def exports_swapped(source: Source) -> Iterator[Edit]:
    for path in source.recipes():
        lines = source.lines(path)
        for number in range(1, len(lines)):
            first, second = lines[number - 1], lines[number]
            plain = r"export [A-Z_0-9]+=[\w./-]+$"
            if re.match(plain, first) and re.match(plain, second) and first.split("=")[0] != second.split("=")[0]:
                swapped = {number: second, number + 1: first}
                yield Edit("exports swapped", path, number, f"{first} <-> {second}", swapped)


def renamed(source: Source) -> Iterator[Edit]:
    """A script's own variable under another name, everywhere in the script."""
    for path in source.recipes():
        lines = source.lines(path)
        for name in sorted(set(re.findall(r"^([A-Z][A-Z_]+_ARGS)=", "\n".join(lines), re.MULTILINE))):
            new = {k: re.sub(rf"\b{name}\b", f"MY_{name}", line) for k, line in enumerate(lines, 1) if name in line}
            yield Edit("renamed", path, 1, f"{name} -> MY_{name}", new)


def one_more(source: Source) -> Iterator[Edit]:
    def add(match: re.Match[str]) -> str:
        last = int(match[2])
        return f"{match[1]}{last}, {last + 1}]"

    yield from in_configs(source, r"(conc-list: \[[^\]]*?)(\d+)\]", add, "one more concurrency")


def breakages(source: Source) -> dict[str, list[Edit]]:
    rng = source.random

    def spell(match: re.Match[str]) -> str:
        return match[0].replace(match[1], misspell(match[1], rng), 1)

    made: list[Iterator[Edit]] = [
        in_scripts(source, r"(?<=\s)--([a-z][a-z0-9-]{6,})(?=[ =\\\"]|$)", spell, "flag misspelt"),
        in_scripts(source, r"export ((?:VLLM|SGLANG|SGL|ATOM|AITER)_\w{5,})=", spell, "variable misspelt"),
        in_scripts(
            source,
            r"--(?:attention|moe-runner|moe|prefill-attention|decode-attention)-backend[ =]([a-z_]{4,})",
            spell,
            "backend misspelt",
        ),
        in_scripts(
            source, r"--(?:no-enable-prefix-caching|disable-radix-cache)\b", lambda _: "", "prefix caching left on"
        ),
        in_scripts(
            source,
            r"(?:-tp|--tp-size|--tp|--tensor-parallel-size)[ =]\"?\$\{?TP\}?\"?",
            lambda m: re.sub(r"\"?\$\{?TP\}?\"?", "2", m[0]),
            "size fixed",
        ),
        in_scripts(source, r"^\s*source .*benchmark_lib\.sh\"?$", lambda _: "", "library not sourced"),
        in_scripts(
            source,
            r"\$\{?(MODEL|TP|PORT|MAX_MODEL_LEN)\b\}?",
            lambda m: m[0].replace(m[1], m[1].lower()),
            "variable in lower case",
        ),
        branches(source),
        moved(source),
        in_configs(
            source, r"^  (precision|framework|model-prefix|runner|image|model): .*$", lambda _: None, "field removed"
        ),
        in_configs(source, r"(?<=runner: )[\w:.-]+", lambda m: misspell(m[0], rng), "label misspelt"),
        in_configs(source, r"(?<=model-prefix: )[\w.-]+", lambda m: misspell(m[0], rng), "prefix misspelt"),
        in_configs(source, r"(?<=precision: )\w+", lambda m: "fp4" if m[0] != "fp4" else "fp8", "precision changed"),
        in_configs(
            source, r"(?<=framework: )[\w-]+", lambda m: "vllm" if m[0] != "vllm" else "sglang", "framework changed"
        ),
        in_configs(source, r"(?<=\btp: )[248]\b", lambda _: "3", "tp changed"),
        in_configs(
            source,
            r"(?<=image: ).*$",
            lambda m: "vllm/vllm-openai:v0.11.0" if "sglang" in m[0] else "lmsysorg/sglang:v0.5.5",
            "image of another framework",
        ),
        in_configs(
            source,
            r"(?<=kv-offload-backend: \{ name: )[\w-]+",
            lambda m: misspell(m[0], rng),
            "offload backend misspelt",
        ),
        in_workflows(source, r"^      [a-z-]+: \$\{\{ matrix\.config.*$", lambda _: None, "input dropped"),
        in_workflows(source, r"(?<=inputs\.)[a-z-]{4,}", lambda m: misspell(m[0], rng), "input misspelt"),
        in_workflows(
            source, r"(?<=matrix\.config\.)[a-z-]{4,}", lambda m: misspell(m[0], rng), "matrix field misspelt"
        ),
        in_workflows(source, r"^  [A-Z_]{2,}: \$\{\{ inputs\..*$", lambda _: None, "variable dropped"),
    ]
    return _by_kind(made)


def harmless(source: Source) -> dict[str, list[Edit]]:
    made: list[Iterator[Edit]] = [
        in_scripts(source, r"^(?=export )", lambda _: "# as measured\n", "comment added"),
        in_scripts(source, r"\"\$TP\"", lambda _: '"${TP}"', "braces added"),
        in_scripts(source, r"(?<==)(\w+)$", lambda m: f'"{m[1]}"', "quotes added"),
        exports_swapped(source),
        renamed(source),
        one_more(source),
        in_configs(source, r"^(?=  image: )", lambda _: "  # newer\n", "comment in a config"),
    ]
    return _by_kind(made)


def _by_kind(made: Sequence[Iterator[Edit]]) -> dict[str, list[Edit]]:
    found: dict[str, list[Edit]] = {}
    for edits in made:
        for edit in edits:
            found.setdefault(edit.kind, []).append(edit)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--number", type=int, default=3, help="edits of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    store = PlanStore()

    def plan_jobs(planner: Planner, jobs: Sequence[object]) -> list[LaunchPlan]:
        return store.plan(planner, jobs, plan_jobs_with_questions)  # type: ignore[arg-type]

    files = open_files(options.checkout)
    base = Context(files, plan_jobs)
    # Whether a change has its changelog entry is another question.
    rules = [rule for rule in builtin_rules() if rule.scope != "pull-request"]
    check(base, rules)
    source = Source(files, base.plans, random.Random(options.seed))
    bad = _run(source, breakages(source), base, rules, options, plan_jobs, wanted=True)
    good = _run(source, harmless(source), base, rules, options, plan_jobs, wanted=False)
    print(f"\nbreakages reported: {bad[0]} of {bad[1]}; harmless edits silent: {good[0]} of {good[1]}")
    return 0


def _batches(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Edits that do not meet: of other files, or of other entries of a master config."""
    left = list(edits)
    while left:
        taken: set[object] = set()
        batch: list[Edit] = []
        rest: list[Edit] = []
        for edit in left:
            # A file is edited once, a config once an entry; no entry is touched twice.
            keys = {edit.path, *edit.entries} if not edit.path.startswith("configs/") else {*edit.entries}
            if keys & taken or (edit.path.startswith(".github/") and any(e.path == edit.path for e in batch)):
                rest.append(edit)
            else:
                taken |= keys
                batch.append(edit)
        yield batch
        left = rest


def _texts(source: Source, batch: Sequence[Edit]) -> dict[str, str | None]:
    texts: dict[str, str | None] = {}
    changed: dict[str, dict[int, str]] = {}
    for edit in batch:
        changed.setdefault(edit.path, {}).update(edit.lines)
    for path, lines in changed.items():
        texts[path] = "\n".join(lines.get(k, line) for k, line in enumerate(source.lines(path), 1))
    for edit in batch:
        if edit.moved_to:
            texts[edit.moved_to], texts[edit.path] = texts[edit.path], None
    return texts


def _run(
    source: Source,
    kinds: dict[str, list[Edit]],
    base: Context,
    rules: Sequence[Rule],
    options: argparse.Namespace,
    plan_jobs: PlanJobs,
    *,
    wanted: bool,
) -> tuple[int, int]:
    hits: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    chosen = [
        edit
        for kind, edits in kinds.items()
        if not options.kind or kind in options.kind
        for edit in source.random.sample(edits, min(options.number, len(edits)))
    ]

    def findings(edits: Sequence[Edit]) -> list[Finding]:
        report = check(Context(MemoryFiles(_texts(source, edits), source.files), plan_jobs, base), rules)
        for failure in report.failures:
            print(f"FAILED {failure}")
        return [one for one in report.findings if one.counts]

    for batch in _batches(chosen):
        found = findings(batch)
        for edit in batch:
            at = [one for one in found if _reports(one, edit) and (wanted or one.severity == "error")]
            if wanted and not at and len(batch) > 1:
                # Two breakages of a kind may hide each other: what all do is custom.
                at = [one for one in findings([edit]) if _reports(one, edit)]
            ok = bool(at) is wanted
            tried[edit.kind] += 1
            hits[edit.kind] += ok
            if options.verbose or not ok:
                print(f"{'ok  ' if ok else 'MISS'} {edit.kind}: {edit.path}:{edit.line}: {edit.what[:160]}")
                for text in list(dict.fromkeys(f"{one.severity} {one.rule} {one.span}: {one.message}" for one in at))[
                    :4
                ]:
                    print(f"       {text[:220]}")
        if not wanted:
            placed = [one for one in found if any(_reports(one, edit) for edit in batch)]
            for one in found:
                if one.severity == "error" and one not in placed:
                    print(f"MISS elsewhere: {one.rule} {one.span}: {one.message}"[:240])
        sys.stdout.flush()
    for kind, number in tried.items():
        print(f"{kind:28} {hits[kind]:3} of {number:3}")
    return sum(hits.values()), sum(tried.values())


def _reports(one: Finding, edit: Edit) -> bool:
    spans = [one.span, *(related.span for related in one.related)]
    near = any(
        span.path == edit.path and span.line - NEAR <= edit.line <= max(span.line, span.end_line) + NEAR
        for span in spans
    )
    return (
        near
        or bool(edit.entries & set(one.entries))
        or (edit.path in {span.path for span in spans} and not edit.entries)
    )


if __name__ == "__main__":
    sys.exit(main())
