"""What the renderers of a report print, byte for byte.

`BOTLINT_UPDATE_GOLDEN=1 pytest tests/unit/report` writes the files anew; their difference is part of the review.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from report_samples import EVIL, RULES, TODAY, report, sources

from botlint.core.errors import UsageError
from botlint.core.finding import Finding, Note, Report, Summary, summarize
from botlint.core.markdown import code, prose
from botlint.core.span import Span
from botlint.report.options import Options
from botlint.report.render import FORMATS, render

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "golden"
ROOT = HERE.parents[2]
UPDATE = os.environ.get("BOTLINT_UPDATE_GOLDEN") == "1"
OPTIONS = Options(today=TODAY, rules=RULES)
EMPTY = Report((), Summary(jobs=3, serves=3))

GOLDEN: dict[str, tuple[Report, str, Options, bool]] = {
    "text.txt": (report(), "text", OPTIONS, False),
    "text-verbose.txt": (report(), "text", Options(today=TODAY, verbose=True), False),
    "text.ansi": (report(), "text", OPTIONS, True),
    "json.json": (report(), "json", OPTIONS, False),
    "sarif.json": (report(), "sarif", OPTIONS, False),
    "github.txt": (report(), "github", OPTIONS, False),
    "junit.xml": (report(), "junit", OPTIONS, False),
    "markdown.md": (report(), "markdown", OPTIONS, False),
}


def rendered(given: Report, form: str, options: Options = OPTIONS, color: bool = False) -> str:
    return "".join(render(given, form, sources, color, options))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_rendered(name: str) -> None:
    text = rendered(*GOLDEN[name])
    path = FOLDER / name
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    assert path.is_file(), "BOTLINT_UPDATE_GOLDEN=1 writes it"
    assert text.encode("utf-8") == path.read_bytes()


@pytest.mark.parametrize("form", FORMATS)
def test_a_clean_report(form: str) -> None:
    text = rendered(EMPTY, form)
    assert text.endswith("\n")
    if form == "text":
        assert text == "no findings; 3 jobs (3 serve)\n"


def test_another_format_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"no format 'pdf' .*text, json"):
        render(EMPTY, "pdf")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("color", [False, True])
def test_no_format_lets_a_hidden_character_through(form: str, color: bool) -> None:
    text = rendered(report(), form, Options(verbose=True), color)
    if color and form == "text":
        text = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", text)
    text.encode("utf-8")


# --- json


@pytest.mark.parametrize("form", FORMATS)
def test_a_runner_of_workflows_finds_no_command(form: str) -> None:
    text = "first ##[add-mask]a\n::add-mask::b\n  ::stop-commands::c"
    finding = Finding("rule", "error", "certain", text, Span("::x.sh", 1, 1, 1, 2), remedy=text, steps=(text,))
    shown = rendered(Report((finding,), Summary()), form, Options(verbose=True))
    own = "error|notice" if form == "github" else "none"
    assert not re.search(rf"(?m)^\s*::(?!{own})[a-z]", shown)
    if form == "json":
        assert json.loads(shown)["findings"][0]["message"] == text
    if form != "github":  # where each line is a command already, of which this is data
        assert "##[add-mask" not in shown


def test_json_follows_its_schema() -> None:
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for given in (report(), EMPTY):
        validator.validate(json.loads(rendered(given, "json")))


def test_json_has_what_was_found_unchanged() -> None:
    parsed = json.loads(rendered(report(), "json"))
    evil = next(one for one in parsed["findings"] if one["rule"] == "evil")
    assert evil["message"] == EVIL
    assert parsed["summary"]["suppressed"] == 2
    jobs = {job["conc"] for one in parsed["findings"] for job in one["jobs"]}
    assert jobs == {32, 40, "64 128"}


# --- sarif


def sarif(given: Report) -> Any:
    return json.loads(rendered(given, "sarif"))


def test_sarif_is_valid() -> None:
    schema = json.loads((HERE / "sarif-subset.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for given in (report(), EMPTY):
        validator.validate(sarif(given))


@pytest.mark.skipif(
    "BOTLINT_SARIF_SCHEMA" not in os.environ, reason="BOTLINT_SARIF_SCHEMA=FILE names the official schema"
)
def test_sarif_is_valid_by_the_official_schema() -> None:
    schema = json.loads(Path(os.environ["BOTLINT_SARIF_SCHEMA"]).read_text(encoding="utf-8"))
    for given in (report(), EMPTY):
        jsonschema.validators.validator_for(schema)(schema).validate(sarif(given))


def test_sarif_results_refer_to_their_rules() -> None:
    run = sarif(report())["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert {rule["id"] for rule in rules} == {result["ruleId"] for result in run["results"]}


def test_sarif_keeps_paths_as_uris_and_reasons_as_justifications() -> None:
    results = {one["ruleId"]: one for one in sarif(report())["runs"][0]["results"]}
    place = results["evil"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "odd%2Cname%3A%20a%25b%20%231/%C3%A9.sh"
    assert place["region"] == {"startLine": 3}
    assert results["old"]["suppressions"] == [{"kind": "external", "justification": "in the baseline since 2026-02-17"}]
    flow = results["offload-backend-unhandled"]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [one["location"]["physicalLocation"]["region"]["startLine"] for one in flow] == [4, 31, 4]


# --- github


def test_no_text_begins_a_workflow_command() -> None:
    lines = rendered(report(), "github").splitlines()
    assert all(re.match(r"::(error|warning|notice) [^:]*::", line) or line.startswith("botlint: ") for line in lines)
    evil = next(line for line in lines if "title=evil" in line)
    properties, _, data = evil[2:].partition("::")
    assert properties.startswith("notice file=odd%2Cname%3A a%25b #1/é.sh,line=3,title=evil")
    assert "%0A::set-output" in data


def many(number: int, severity: str) -> list[Finding]:
    return [
        Finding("rule", severity, "certain", f"number {n}", Span("a.sh", n, 1, n, 2))  # type: ignore[arg-type]
        for n in range(1, number + 1)
    ]


def test_annotations_beyond_the_limit_are_counted() -> None:
    findings = [*many(12, "error"), *many(3, "warning"), *many(15, "info")]
    given = Report(tuple(findings), summarize(findings, Summary(), ()))
    lines = rendered(given, "github").splitlines()
    kinds = [line.split()[0] for line in lines]
    assert (kinds.count("::error"), kinds.count("::warning"), kinds.count("::notice")) == (10, 3, 10)
    assert "8 findings more than GitHub shows" in lines[-2]
    assert lines[-1] == "botlint: 12 errors, 3 warnings, 15 infos"


# --- junit


def test_a_file_with_many_faults_is_counted_once() -> None:
    notes = [Note("unread", f"fault {n}", path, n) for path in ("a", "b") for n in range(3)]
    notes += [Note("budget", f"bound {n}", "a", 1) for n in range(3)]
    assert dict(summarize([], Summary(), notes).notes) == {"unread": 2, "budget": 3}


def test_junit_counts_what_fails() -> None:
    root = ET.fromstring(rendered(report(), "junit"))
    assert root.attrib == {"name": "botlint", "tests": "10", "failures": "1", "errors": "1", "skipped": "3"}
    assert len(root.findall(".//failure")) == 1
    assert len(root.findall(".//system-out")) == 5
    strict = ET.fromstring(rendered(report(), "junit", Options(fail_level="warning")))
    assert strict.attrib["failures"] == "2"
    assert ET.fromstring(rendered(EMPTY, "junit")).attrib["tests"] == "1"


# --- markdown


def test_markdown_has_no_markup_of_the_repository() -> None:
    text = rendered(report(), "markdown")
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", text), flags=re.DOTALL)
    for markup in ("@octocat", "](", "https://", "www.", "GH-7", "`", "*bold"):
        assert markup not in outside
    tags = set(re.findall(r"<(?!!-- -->)[^>]*>", outside))
    assert tags == {"<details>", "</details>", "<summary>", "</summary>", "<br>"}
    assert "<!-- -->octocat" in outside


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 1.5 and a-b", "plain words, 1.5 and a-b"),
        ("- item", "\\- item"),
        ("1. item", "1<!-- -->. item"),
        ("a_b*c", "a\\_b\\*c"),
        ("a@b.example", "a@<!-- -->b.example"),
        ("![x](y)", "\\!\\[x\\](y)"),
        ("$x$ | ~y~", "\\$x\\$ \\| \\~y\\~"),
    ],
)
def test_markdown_shows_exactly_the_characters(text: str, shown: str) -> None:
    assert prose(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), (" a", "`  a `"), ("", ""), ("\n", "`\\n`")]
)
def test_markdown_code_of_any_text(text: str, shown: str) -> None:
    assert code(text) == shown
