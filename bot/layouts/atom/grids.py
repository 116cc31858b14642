"""What requests a workflow measures: lists of lengths, concurrencies and ratios in its steps, read and never run."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import dedent
from typing import Any

from botlint.documents.workflow import Job, Step, Workflow
from botlint.documents.yaml import Scalar
from botlint.layouts.atom.catalogs import Grid

MAX_VALUES = 200
"""Values of one list."""

MAX_PROGRAM = 60_000

_NUMBER = r"\d{1,9}"
_SET = rf"{_NUMBER},{_NUMBER},{_NUMBER},\d{{1,3}}(?:\.\d{{1,9}})?"
_SETS = re.compile(rf"""^[ \t]*\w{{1,60}}=["']({_SET}(?:;{_SET}){{0,{MAX_VALUES}}})["'][ \t]*$""", re.MULTILINE)
_PAIRS = re.compile(rf"{_NUMBER},{_NUMBER}(?:;{_NUMBER},{_NUMBER}){{0,{MAX_VALUES}}}")
_NUMBERS = re.compile(rf"{_NUMBER}(?:,{_NUMBER}){{0,{MAX_VALUES}}}")
_RATIOS = re.compile(r"\d{1,3}(?:\.\d{1,9})?(?:,\d{1,3}(?:\.\d{1,9})?){0,20}")
_PROGRAM = re.compile(r"<<-?[ \t]*(['\"]?)(\w{1,20})\1[^\n]*\n(.*?)\n[ \t]*\2[ \t]*$", re.DOTALL | re.MULTILINE)


def grid_of(workflow: Workflow, contexts: Mapping[str, Any]) -> Grid:
    """The requests of a workflow that is started without inputs."""
    steps = [step for job in workflow.jobs.values() for step in job.steps]
    extra: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    mark = ""
    skipped: tuple[tuple[int, str, frozenset[str]], ...] = ()
    for program in _programs(workflow.jobs.values()):
        try:
            tree = ast.parse(program)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        facts = _facts(tree)
        extra, pairs, mark = extra or facts[0], pairs or facts[1], mark or facts[2]
        skipped = skipped or tuple(_skipped(tree))
    return Grid(_of_lists(steps, contexts) or _of_sets(steps), extra, pairs, mark if pairs else "", skipped)


def _text(step: Step) -> str:
    return step.run.node.text if step.run is not None and isinstance(step.run.node, Scalar) else ""


def _of_sets(steps: Iterable[Step]) -> tuple[Mapping[str, object], ...]:
    """A list of whole requests, as `1024,1024,4,0.8;...`."""
    for step in steps:
        found = _SETS.search(_text(step))
        if found is not None:
            names = ("input_length", "output_length", "concurrency", "random_range_ratio")
            return tuple(dict(zip(names, json.loads(f"[{one}]"), strict=True)) for one in found[1].split(";"))
    return ()


def _of_lists(steps: Iterable[Step], contexts: Mapping[str, Any]) -> tuple[Mapping[str, object], ...]:
    """Three lists of which every combination is a request: a step's variables hold them."""
    for step in steps:
        values = {pair.name: pair.evaluate(contexts) for pair in step.env if pair.name.isupper()}
        pairs = _first(values, "PAIRS", _PAIRS)
        concurrencies = _first(values, "CONCURRENCY", _NUMBERS)
        ratios = _first(values, "RATIO", _RATIOS)
        if pairs and concurrencies and ratios:
            return tuple(
                {
                    "input_length": int(isl),
                    "output_length": int(osl),
                    "concurrency": int(concurrency),
                    "random_range_ratio": ratio,
                }
                for isl, osl in dict.fromkeys(tuple(pair.split(",")) for pair in pairs.split(";"))
                for concurrency in dict.fromkeys(concurrencies.split(","))
                for ratio in dict.fromkeys(ratios.split(","))
            )
    return ()


def _first(values: Mapping[str, object], part: str, form: re.Pattern[str]) -> str:
    """The value of the first variable whose name has a part and whose value a form."""
    for name, value in values.items():
        if part in name and isinstance(value, str) and form.fullmatch(value.replace(" ", "")):
            return value.replace(" ", "")
    return ""


def _programs(jobs: Iterable[Job]) -> Iterator[str]:
    """The programmes in here-documents that look at lengths of requests."""
    for job in jobs:
        for step in job.steps:
            text = _text(step)
            if "concurrency" in text and "input_length" in text and len(text) <= MAX_PROGRAM:
                yield from (dedent(found[3]) for found in _PROGRAM.finditer(text))


def _facts(tree: ast.Module) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...], str]:
    """Constants of a matrix builder: concurrencies it adds, pairs of lengths for entries with a mark, and that mark."""
    extra: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    mark = ""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple(elts=elements)):
                values = [_literal(one) for one in elements[:MAX_VALUES]]
                if "concurrency" in name and all(type(one) is int for one in values):
                    extra = tuple(one for one in values if isinstance(one, int))
                elif "pairs" in name:
                    pairs = tuple(one for one in values if isinstance(one, tuple) and len(one) == 2)
            case ast.Assign(value=ast.Compare(left=ast.Constant(value=str(text)), ops=[ast.In()])):
                mark = text
    return extra, pairs, mark


def _skipped(tree: ast.Module) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Concurrencies that a matrix builder leaves out of entries: `if flag and int(param["concurrency"]) == 512`.

    The flag says whether a text of the entry, in a variable of its key's name, is in a set of texts.
    """
    sets: dict[str, frozenset[str]] = {}
    flags: dict[str, tuple[str, str]] = {}
    tests: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Set(elts=elements)):
                texts = [_literal(one) for one in elements]
                sets[name] = frozenset(one for one in texts if isinstance(one, str))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Compare(left=ast.Name(id=key), ops=[ast.In()], comparators=[ast.Name(id=table)]),
            ):
                flags[name] = key, table
            case ast.If(
                test=ast.BoolOp(
                    op=ast.And(),
                    values=[
                        ast.Name(id=flag),
                        ast.Compare(left=value, ops=[ast.Eq()], comparators=[ast.Constant(value=int(number))]),
                    ],
                ),
                body=[ast.Continue()],
            ) if _reads_concurrency(value):
                tests.append((flag, number))
    for flag, number in tests[:MAX_VALUES]:
        key, table = flags.get(flag, ("", ""))
        if table in sets:
            yield number, key, sets[table]


def _reads_concurrency(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _reads_concurrency(inner)
        case ast.Subscript(slice=ast.Constant(value="concurrency")):
            return True
    return False


def _literal(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elements) if all(isinstance(one, ast.Constant) for one in elements):
            return tuple(one.value for one in elements if isinstance(one, ast.Constant))
    return None
