"""The page: what it holds, that it is well formed, and that nothing of a repository gets out of its text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from page_samples import BREAKOUT, ENTRY, HEAD_URL, ORIGINS, argv, page, plan, plans, serving
from report_samples import CONFIG, EVIL, RECIPE, RULES, TODAY, report, sources

from botlint.core.finding import Edit, Finding, Report, Summary, summarize, with_fingerprints
from botlint.core.span import Span
from botlint.core.visible import visible, visible_lines, without_commands
from botlint.report.html.findings import MAX_FINDINGS, by_rule, edited_lines
from botlint.report.html.markup import data, file_url, place, safe_url, text
from botlint.report.html.page import render_html
from botlint.report.options import Options, Page
from botlint.report.render import render

VOID = {"meta", "link", "input", "img", "br", "hr"}
SUMMARY = Summary(jobs=3, serves=3)
EMPTY = Report((), SUMMARY)


class Reader(HTMLParser):
    """Collects elements, attributes and texts, and notes every element that is not closed where it must be."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.faults: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(source)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID and not (self.open and self.open[-1] == "svg"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def rendered(given: Report | None = None, shown: Page | None = None, **others: Any) -> str:
    options = Options(today=TODAY, rules=RULES, page=page() if shown is None else shown, **others)
    return "".join(render(report() if given is None else given, "html", sources, options=options))


def plan_data(source: str) -> Any:
    found = re.search(r'<script type="application/json" id="plans">(.*?)</script>', source, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def source() -> str:
    return rendered()


def test_well_formed_with_unique_names_that_are_there(source: str) -> None:
    reader = Reader(source)
    assert reader.faults == []
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in reader.elements:
        for name in ("aria-labelledby", "for"):
            assert attributes.get(name, ids[0]) in ids
        href = attributes.get("href", "")
        assert not href.startswith("#") or href[1:] in ids, href


def test_the_policy_allows_exactly_what_is_there(source: str) -> None:
    policy = next(one["content"] for one in Reader(source).all("meta") if "http-equiv" in one)
    scripts = re.findall(r"<script>(.*?)</script>", source, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", source, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (*scripts, *styles)]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_nothing_is_loaded_or_handled_in_place(source: str) -> None:
    for tag, attributes in Reader(source).elements:
        assert tag not in {"iframe", "object", "embed", "base", "img", "audio", "video"}
        assert not any(name.startswith("on") or name in ("style", "src", "srcset") for name in attributes)
        assert tag != "link" or attributes["href"].startswith("data:image/svg+xml,")
        href = attributes.get("href", "#")
        assert href.startswith(("#", "https://", "data:image/svg+xml,")), href


def test_hostile_texts_are_shown_and_inert(source: str) -> None:
    reader = Reader(source)
    assert len(reader.all("script")) == 3
    assert any(visible(EVIL)[:200] in data for _, data in reader.texts)
    assert any(visible(BREAKOUT)[:200] in data for tag, data in reader.texts if tag != "script")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", source)
    assert without_commands(source) == source
    assert "<img" not in source
    assert "\n".join(visible_lines(BREAKOUT)) in plan_data(source)["strings"]


def test_two_times_the_same(source: str) -> None:
    assert rendered() == source


def test_findings_by_rule_worst_first(source: str) -> None:
    assert [rule for rule, _ in by_rule(report())] == [
        "offload-backend-unhandled",
        "control-characters",
        "flag-unknown",
        "evil",
        "repository",
        "whole-file",
        "allowed",
        "old",
    ]
    shown = re.findall(r'class="item finding" id="f-(\w+)" data-severity="(\w+)"\s+data-state="(\w+)"( open)?', source)
    assert [(severity, state, bool(opened)) for _, severity, state, opened in shown] == [
        ("error", "counts", True),
        ("warning", "counts", True),
        ("warning", "counts", True),
        *[("info", "counts", True)] * 3,
        *[("error", "allowed", False)] * 3,
    ]
    assert {ident for ident, *_ in shown} == {one.fingerprint for one in report().findings}


def test_a_finding_has_both_sides_proof_jobs_remedy_and_fix(source: str) -> None:
    start = source.index("<code>offload-backend-unhandled</code>")
    part = source[start : source.index('<section class="rule">', start)]
    assert part.count('<figure class="excerpt here">') == 1
    assert part.count('<figure class="excerpt related">') == 2
    assert "<mark>: { name: lmcache</mark>" in part
    assert f'<span class="place">{RECIPE}:4</span> <span class="why">here it exits</span>' in part
    assert "<li>.github/workflows/run.yml:31  KV_OFFLOAD_BACKEND=lmcache</li>" in part
    assert '<a href="#e-0"><code>demo-fp8-h200-vllm</code></a>' in part
    assert "add a branch for lmcache, or<br>drop the arm" in part
    assert "<code>botlint fix --apply</code>" in part
    assert "<del>-       - { tp: 2, kv-offloading: dram," in part
    assert "The recipe exits before the server starts." in part


def test_what_is_allowed_says_why(source: str) -> None:
    assert "In the baseline</b> since 2026-02-17, 12 days ago" in source
    assert "<b>Suppressed</b> without a reason" in source


EDITS = {
    "a line that goes": (Edit(Span(CONFIG, 5, 1, 6, 1), ""), ["      - { tp: 4, conc-list: [8] }"], []),
    "a word": (
        Edit(Span(CONFIG, 5, 15, 5, 16), "8"),
        ["      - { tp: 4, conc-list: [8] }"],
        ["      - { tp: 8, conc-list: [8] }"],
    ),
    "a new line": (Edit(Span(CONFIG, 2, 1, 2, 1), "  # why\n"), [], ["  # why"]),
    "no such file": (Edit(Span("absent", 2, 1, 2, 1), "a\nb"), [], ["a", "b"]),
    "no such line": (Edit(Span(CONFIG, 99, 1, 99, 1), "a"), [], ["a"]),
    "backwards": (Edit(Span(CONFIG, 3, 1, 2, 1), "a"), [], ["a"]),
}


@pytest.mark.parametrize("name", sorted(EDITS))
def test_edited_lines(name: str) -> None:
    edit, old, new = EDITS[name]
    assert edited_lines(edit, sources) == (old, new)


# ------------------------------------------------------------------------------------------------------- plans and diff


def test_plans_are_written_once_for_a_group(source: str) -> None:
    found = plan_data(source)
    strings, lines = found["strings"], found["lines"]
    assert len(found["entries"]) == 7
    groups = found["entries"][0]["groups"]
    assert [(one["outcome"], len(one["jobs"])) for one in groups] == [("serves", 4), ("exits", 1)]
    shown = {(strings[line[0]], strings[line[1]]): line for line in (lines[number] for number in groups[0]["lines"])}
    tp = shown["argv", "-tp"]
    assert (strings[tp[2]], [strings[one] for one in tp[5]]) == ("{2, 4}", ["2", "2", "4", "4"])
    assert strings[shown["argv", "--max-num-seqs="][2]] == "128"
    assert strings[shown["environment", "VLLM_USE"][2]] == "1"
    assert len(shown["environment", "VLLM_USE"]) == 5


def test_every_value_says_where_it_is_written(source: str) -> None:
    found = plan_data(source)
    strings = found["strings"]

    def at(number: int) -> tuple[str, int, str]:
        path, line, shown = found["places"][number]
        return strings[path], line, strings[shown]

    marks = [
        tuple(("row", strings[one]) if kind == 0 else (kind, *at(one)[:2]) for kind, one in listed)
        for listed in found["marks"]
    ]
    assert (("row", "tp"), (1, ".github/workflows/run.yml", 31), (3, RECIPE, 6)) in marks
    assert ((2, RECIPE, 2), (3, RECIPE, 3)) in marks
    rows = [{strings[key]: at(one)[:2] for key, one in row} for row in found["rows"]]
    assert rows == [{"tp": (CONFIG, 4), "conc": (CONFIG, 5)}]
    assert (RECIPE, 4, '*) echo "模型 not supported" &gt;&amp;2; exit 1 ;;') not in map(at, range(len(found["places"])))
    assert (RECIPE, 4, '*) echo "模型 not supported" >&2; exit 1 ;;') in map(at, range(len(found["places"])))


def test_without_places_of_rows_they_lie_in_the_arm() -> None:
    found = plan_data(rendered(shown=Page(plans())))
    assert all(
        [found["strings"][found["places"][at][0]], found["places"][at][1]] == [CONFIG, 4] for _, at in found["rows"][0]
    )


def test_findings_of_an_entry_are_linked_from_it(source: str) -> None:
    finding = next(one for one in report().findings if one.rule == "offload-backend-unhandled")
    listed = plan_data(source)["entries"][0]["findings"]
    assert [(severity, ident) for severity, _, ident in listed] == [("error", f"f-{finding.fingerprint}")]


def test_the_plan_diff(source: str) -> None:
    part = source[source.index('<section id="changes"') : source.index('<section id="jobs"')]
    assert part.index("no longer serves</span>") < part.index("changed</span>")
    assert "<code>--max-num-seqs</code>" in part
    assert '<td data-column="Before"><code>64</code>' in part
    assert '<td data-column="After"><code>128</code>' in part
    assert f'exits 1</code><span class="end"><span class="place">{RECIPE}:4</span> 模型 not supported</span>' in part
    assert "<b>1 job</b> of 1 entry" in part
    assert part.count("<table") == part.count("</table>")


def test_links_lead_to_the_lines_of_both_revisions() -> None:
    base = HEAD_URL.replace("0123", "4567")
    source = rendered(shown=page(head_url=HEAD_URL, base_url=base))
    assert f'<a class="place" href="{HEAD_URL}{RECIPE}#L4" rel="noopener noreferrer">' in source
    assert plan_data(source)["url"] == HEAD_URL


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)//", "http://plain.example/", 'https://x.example/" onclick="', "//x/"]
)
def test_other_addresses_are_no_links(url: str) -> None:
    source = rendered(shown=page(head_url=url, base_url=url))
    assert 'class="place" href' not in source
    assert plan_data(source)["url"] == ""
    assert safe_url(url) == ""


def test_odd_paths_in_links() -> None:
    assert file_url(HEAD_URL, "a b/é#?%.sh", 3) == f"{HEAD_URL}a%20b/%C3%A9%23%3F%25.sh#L3"
    assert file_url(HEAD_URL, "\ud800", 0) == f"{HEAD_URL}%ED%A0%80"
    assert 'href="' in place("x", 1, HEAD_URL)
    assert place("<b>", 0) == '<span class="place">&lt;b&gt;</span>'


# --------------------------------------------------------------------------------------------------- little and much


def test_without_findings_plans_and_a_change() -> None:
    source = rendered(EMPTY, Page())
    assert Reader(source).faults == []
    assert "<b>Passes</b> no findings; 3 jobs (3 serve)." in source
    assert 'id="changes"' not in source
    assert 'id="jobs"' not in source
    assert 'id="plans"' not in source


def test_a_change_that_launches_the_same() -> None:
    same = rendered(EMPTY, replace(page(), diff=replace(page().diff, groups=(), added=(), removed=(), renamed=())))  # type: ignore[type-var]
    assert "Every job starts what it started before." in same


VERDICTS: dict[str, tuple[list[Finding], tuple[str, ...], str, str]] = {
    "an error": ([Finding("r", "error", "certain", "m", Span("", 1, 1, 1, 1))], (), "error", "Fails"),
    "a possible error": ([Finding("r", "error", "possible", "m", Span("", 1, 1, 1, 1))], (), "error", "Passes"),
    "a warning": ([Finding("r", "warning", "certain", "m", Span("", 1, 1, 1, 1))], (), "error", "Passes"),
    "a warning that fails": ([Finding("r", "warning", "certain", "m", Span("", 1, 1, 1, 1))], (), "warning", "Fails"),
    "an allowed error": (
        [Finding("r", "error", "certain", "m", Span("", 1, 1, 1, 1), suppressed="x")],
        (),
        "error",
        "Passes",
    ),
    "a crash": ([], ("rule crashed",), "error", "Not finished"),
}


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_verdicts(name: str) -> None:
    findings, failures, level, expected = VERDICTS[name]
    given = Report(tuple(findings), summarize(findings, SUMMARY, ()), (), failures)
    assert f"<b>{expected}</b>" in rendered(given, Page(), fail_level=level)


def test_many_findings_are_closed_and_counted() -> None:
    findings = with_fingerprints(
        Finding(f"rule-{n % 7}", "info", "certain", f"m{n}", Span(CONFIG, 1, 1, 1, 2), str(n)) for n in range(1_200)
    )
    source = rendered(Report(tuple(findings), summarize(findings, SUMMARY, ())), Page())
    assert source.count('class="item finding"') == MAX_FINDINGS
    assert "200 more findings not shown here" in source
    assert " open>" not in source
    assert Reader(source).faults == []


def test_a_page_of_many_jobs_is_small() -> None:
    many = [
        plan(
            f"entry-{number // 9}",
            serving(argv(2 ** (number % 3), 64 + number % 5), {"A": str(number)}, ORIGINS),
            conc=number,
        )
        for number in range(1_800)
    ]
    source = rendered(EMPTY, Page(many))
    assert len(source) < 900_000
    assert len(plan_data(source)["entries"]) == 200


def test_markup_helpers() -> None:
    assert text("<&\"'>\u202e\n", 40) == "&lt;&amp;&quot;&#x27;&gt;\\u202e\\n"
    assert html.unescape(text("::add-mask:: ##[group]")) == "::add-mask:: ##[group]"
    value = {"a</script>": ["<!--", "\u2028", "&", "##[group]"]}
    assert json.loads(data(value)) == value
    assert not re.search("[<>&\u2028]|##\\[", data(value))


def test_the_function_that_others_call() -> None:
    options = Options(today=TODAY, rules=RULES, page=page())
    shown = "".join(render_html(report(), options.page.plans, options.page.diff, sources, options))
    assert shown == rendered()
    assert ENTRY in shown
