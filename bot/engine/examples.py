"""The examples of rules, which are their tests: small repositories with the findings that are expected in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from botlint.core.finding import Finding, Fix
from botlint.documents.plain import dump_plain
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.pull import Pull, PullCommit, Said
from botlint.engine.rules import Rule
from botlint.engine.settings import parse_settings
from botlint.layouts.choose import INFERENCEX, Choice
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.repo.memory import MemoryFiles

CONFIG = "configs/demo-master.yaml"
RECIPE = "benchmarks/single_node/recipe.sh"
"""Where the config and the recipe of an example are."""

ENTRY = "demo-fp8-mi355x-vllm"
_DEFAULT_ENTRY: dict[str, Any] = {
    "image": "vllm/vllm-openai-rocm:v0.27.1",
    "model": "demo/model",
    "model-prefix": "demo",
    "runner": "mi355x",
    "precision": "fp8",
    "framework": "vllm",
    "multinode": False,
}
_DEFAULT_ARM: dict[str, Any] = {"tp": 8, "conc-list": [4]}
_MARK = re.compile(r"(?:#|//)\s*expect:\s*([a-z0-9][a-z0-9, -]*?)\s*$")

FIRST = Choice(INFERENCEX)
Apply = Callable[[Fix, Mapping[str, str]], Mapping[str, str]]
"""Applies a fix to texts by path."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An example that does not do what it says."""

    rule: str
    example: str
    message: str


def run_examples(rule: Rule, apply: Apply | None = None) -> Iterator[Failure]:
    """Runs a rule on its examples; nothing comes for a rule that is as it says."""
    for example in rule.examples:
        for message in _run(rule, example, apply):
            yield Failure(rule.name, str(example["name"]), message)


def _run(rule: Rule, example: Mapping[str, Any], apply: Apply | None) -> Iterator[str]:
    texts = example_files(example)
    asked = example.get("pull")
    base = example.get("base", {} if asked is not None else None)
    pull = None if asked is None else example_pull(asked, texts, base or {})
    found, failures = check_texts(rule, texts, base, pull, Choice(str(example.get("layout", INFERENCEX))))
    yield from failures
    wanted = _expected(rule, texts, example)
    places = sorted((one.span.path, one.span.line, one.message) for one in found)
    missing = [one for one in wanted if not any(_same(one, place) for place in places)]
    surplus = [place for place in places if not any(_same(one, place) for one in wanted)]
    for path, line, text in missing:
        yield f"expected a finding at {path}:{line or '?'}{f' with {text!r}' if text else ''}, got {places or 'none'}"
    for path, line, text in surplus:
        yield f"did not expect a finding at {path}:{line}: {text}"
    fixed = example.get("fixed")
    if fixed is not None and apply is not None:
        yield from _fixed(found, texts, fixed, apply)


def _fixed(found: list[Finding], texts: Mapping[str, str], fixed: Mapping[str, str], apply: Apply) -> Iterator[str]:
    after = dict(texts)
    for one in found:
        if one.fix is None:
            yield f"{one.span.path}:{one.span.line}: no fix is offered"
            return
        after = dict(apply(one.fix, after))
    for path, text in fixed.items():
        if after.get(path) != text:
            yield f"{path} is not as expected after the fix: {after.get(path)!r}"


def _same(wanted: tuple[str, int, str], place: tuple[str, int, str]) -> bool:
    path, line, text = wanted
    return path == place[0] and line in (0, place[1]) and text in place[2]


def check_texts(
    rule: Rule,
    texts: Mapping[str, str],
    base: Mapping[str, str | None] | None,
    pull: Pull | None = None,
    layout: Choice = FIRST,
) -> tuple[list[Finding], list[str]]:
    """The findings of one rule in a repository of these files; `base` is what its base revision has instead."""
    before = None
    if base is not None:
        before = Context(MemoryFiles({**texts, **base}), plan_all, layout=layout)
    report = check(Context(MemoryFiles(texts), plan_all, before, pull=pull, layout=layout), [rule])
    return [one for one in report.findings if one.rule == rule.name], list(report.failures)


def example_pull(asked: Mapping[str, Any], texts: Mapping[str, str], base: Mapping[str, str | None]) -> Pull:
    """The pull request of an example; what it does not say is what an ordinary one has. `review` are settings.

    Raises UsageError for settings that are none.
    """
    number = asked.get("number", 7)
    settings = parse_settings(dump_plain({"version": 1, "review": asked.get("review", {})}))
    return Pull(
        number=number,
        title=asked.get("title", "Tune the recipe"),
        body=asked.get("body", ""),
        author=asked.get("author", "author"),
        url=f"https://github.com/acme/bench/pull/{number}",
        draft=asked.get("draft", False),
        labels=tuple(asked.get("labels", ())),
        mergeable_state=asked.get("mergeable-state", "clean"),
        changed=tuple(asked.get("changed", [path for path in base if texts.get(path) != base[path]])),
        review=settings.review,
        commits=tuple(PullCommit(**one) for one in asked["commits"]) if "commits" in asked else None,
        behind=asked.get("behind"),
        said=tuple(Said(**one) for one in asked.get("said", ())),
        states={int(other.removeprefix("#")): state for other, state in asked.get("states", {}).items()},
    )


def plan_all(planner: Planner, jobs: Any) -> list[LaunchPlan]:
    """Plans jobs in this process."""
    return list(planner.plans(jobs))


def example_files(example: Mapping[str, Any]) -> dict[str, str]:
    """The files of an example's repository: its own, over the skeleton if it gives an entry, an arm or a recipe."""
    own = {path: text for path, text in (example.get("files") or {}).items() if text is not None}
    if not {"entry", "arm", "recipe"} & example.keys():
        return own
    removed = {path for path, text in (example.get("files") or {}).items() if text is None}
    texts = {path: text for path, text in skeleton().items() if path not in removed}
    entry = {**_DEFAULT_ENTRY, **(example.get("entry") or {})}
    name = entry.pop("name", ENTRY)
    if "scenarios" not in entry:
        arm = {**_DEFAULT_ARM, **(example.get("arm") or {})}
        scenario = example.get("scenario", "fixed-seq-len")
        space: dict[str, Any] = {"search-space": [arm]}
        if scenario == "fixed-seq-len":
            space = {"isl": 1024, "osl": 1024, **space}
        else:
            space = {"dram-utilization": 0.5, **space}
            if entry["runner"] in ("mi355x", "b200"):
                entry["runner"] = f"cluster:{entry['runner']}-demo"
        entry["scenarios"] = {scenario: [space]}
    texts[CONFIG] = dump_plain({name: entry})
    if "recipe" in example:
        texts[RECIPE] = example["recipe"]
    return {**texts, **own}


@cache
def skeleton() -> Mapping[str, str]:
    """The files of the repository that examples are laid over."""
    found: dict[str, str] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for one in folder.iterdir():
            if one.is_dir():
                walk(one, f"{prefix}{one.name}/")
            elif one.name.endswith((".yml", ".yaml", ".sh")):
                found[prefix + one.name] = one.read_text(encoding="utf-8")

    walk(resources.files("botlint.rules").joinpath("_skeleton"), "")
    return found


def _expected(rule: Rule, texts: Mapping[str, str], example: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    """Path, line (0: any) and a part of the message of each finding that is expected."""
    wanted = [
        (str(one.get("path", CONFIG)), int(one.get("line", 0)), str(one.get("message", "")))
        for one in example.get("expect") or ()
    ]
    for path, text in texts.items():
        for number, line in enumerate(text.split("\n"), 1):
            mark = _MARK.search(line)
            if mark and rule.name in [name.strip() for name in mark[1].split(",")]:
                wanted.append((path, number, ""))
    return wanted
