"""What verdicts depend on: guards of conditions, parts of facts, and versions that all have to do."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from botlint.core.span import Span
from botlint.engine.analysis.job_image import has_to_run_with_all, job_image
from botlint.engine.analysis.options import Frame, gone_after
from botlint.engine.predicates import guards
from botlint.engine.rules import builtin_rules
from botlint.engine.views.registry import vocabulary
from botlint.layouts.base import CommandJob, Start

GUARDS: list[tuple[str, list[tuple[str, Any]]]] = [
    ('server.engine == "vllm" && server.tp > 1', [("server.engine", {"vllm"}), ("server.tp", None)]),
    ('server.engine in ["vllm", "atom"]', [("server.engine", {"vllm", "atom"})]),
    ("!job.multinode && model.moe", [("job.multinode", {False}), ("model.moe", {True})]),
    ('job.spec_decoding != "none"', [("job.spec_decoding", None)]),
    ('server.engine == "vllm" || server.tp > 1', []),
    ('server.engine == "vllm" ? server.tp > 1 : false', []),
    ('(server.engine == "vllm" || server.ep) && server.tp == 8', [("server.tp", None)]),
    ('server.kv_dtype == "a && b" && server.ep', [("server.kv_dtype", {"a && b"}), ("server.ep", {True})]),
    ('server.flags.?enable_eplb.orValue("false") == "true"', []),
    ("server.tp + server.pp > 2", []),
]


@pytest.mark.parametrize(("text", "wanted"), GUARDS, ids=[text for text, _ in GUARDS])
def test_guards_are_facts_that_a_condition_cannot_do_without(text: str, wanted: list[tuple[str, Any]]) -> None:
    assert [(name, None if one is None else set(one)) for name, one in guards(text)] == wanted


def test_guards_of_every_rule_agree_with_its_condition() -> None:
    usual: dict[str, object] = {"string": "another", "int": -7, "bool": True, "double": -7.0}
    for rule in builtin_rules():
        when = rule.when
        if when is None:
            continue
        types = {name: fact.type for name, fact in vocabulary(rule.view).facts.items()}
        for _, name, allowed in rule.guards:
            assert when.evaluate({}, {}) is not True
            value = usual[types[name]]
            if allowed is not None and value not in allowed:
                # Whatever the others are: one that is missing is taken for true.
                assert when.evaluate({name: value}, {}) is not True, rule.name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('server.engine == "x"', (("server.engine", "whole"),)),
        ("server.versions.size() > 0", (("server.versions", "list"),)),
        ('"a" in server.flags && server.flags.?b.orValue("") == ""', (("server.flags", ("a", "b")),)),
        ('server.flags["c"] == "1"', (("server.flags", ("c",)),)),
        ('server.flags.exists(name, name == "x")', None),
        ("server.flags.size() > 0", None),
        ("server.flags == server.env", None),
        ("server.json.x == 1", None),
    ],
)
def test_parts_are_all_that_an_expression_looks_at(text: str, parts: object) -> None:
    assert vocabulary("server").compile(text).parts == parts


def test_a_value_is_remembered_by_its_parts_alone() -> None:
    expression = vocabulary("server").compile('server.flags.?a.orValue("") == "1"')
    assert expression.evaluate({"server.flags": {"a": "1", "z": "2"}}, {}) is True
    assert expression.evaluate({"server.flags": {"a": "1", "z": "3"}}, {}) is True
    assert expression.evaluate({"server.flags": {}}, {}) is False
    assert expression.evaluate({"server.flags": {}}, {"server.flags": frozenset({"a"})}) is None
    assert len(expression.known) == 2


def _job(image: str, oldest: dict[str, str]) -> CommandJob:
    here = Span("models/a/b.yaml", 1, 1, 1, 1)
    return CommandJob("a/b", here, here, "", 0, {"image": image}, Start("", here), oldest=MappingProxyType(oldest))


@pytest.mark.parametrize(
    ("image", "oldest", "first", "each", "custom"),
    [
        ("vllm/vllm-openai:latest", {"vllm": "0.30.0"}, "0.30.0", True, False),
        ("", {"vllm": "0.30.0"}, "0.30.0", True, False),
        ("", {"vllm": "0.1.0"}, "0.11.0", True, False),
        ("vllm/vllm-openai:v0.27.1", {"vllm": "0.11.0"}, "0.27.1", False, False),
        ("somebody/fork:latest", {"vllm": "0.30.0"}, "0.30.0", False, True),
        ("", {"vllm": "nightly"}, "", False, False),
        ("", {}, "", False, False),
    ],
)
def test_versions_that_have_to_do(image: str, oldest: dict[str, str], first: str, each: bool, custom: bool) -> None:
    facts = job_image(_job(image, oldest))
    assert (facts.versions[0] if facts.versions else "") == first
    assert has_to_run_with_all(facts) is each
    assert facts.custom is custom


def test_what_is_gone_after_a_version() -> None:
    from botlint.catalogs.catalog import load

    catalog = load("vllm")
    frame = Frame(catalog, catalog.versions[-4:])
    a, b, _, last = frame.versions
    assert gone_after(frame, [a, b]) == frame.versions[2]
    assert gone_after(frame, [a, last]) == ""
    assert gone_after(frame, []) == ""
    assert gone_after(Frame(catalog, frame.versions, certain=False), [a]) == ""
