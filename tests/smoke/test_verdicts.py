"""Verdicts: who is to blame, their JSON and Markdown forms, and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from smoking import document_of, fake_bin, fake_environment, plan_of

from botlint.cli import main
from botlint.core.errors import UsageError
from botlint.smoke.conclude import conclude, other_version
from botlint.smoke.evaluate import options, read_scores
from botlint.smoke.jsonform import read_request, read_verdict, request_form, verdict_form
from botlint.smoke.measure import Sample, deltas, figures
from botlint.smoke.model import (
    Acceptance,
    Cause,
    Change,
    Counters,
    JobName,
    Load,
    Log,
    SmokeRequest,
    Stage,
    StageResult,
    Status,
    Verdict,
)
from botlint.smoke.run import concurrency_of, engine_python
from botlint.smoke.show import render_markdown, render_text

FAIL = Cause("a", "a wrong option", "line", "source", "some-rule")
MACHINE = Cause("b", "no GPU", "line", "source", None, "infrastructure")
TAKEN = Acceptance(10, 30, 20, (0.9, 0.7, 0.4))


def stages(name: Stage, status: Status, **details: Any) -> list[StageResult]:
    return [
        StageResult("parse" if name != "parse" else "probe", "ok", 1, 10),
        StageResult(name, status, 2, 10, "it broke", details),
        StageResult("stop", "ok", 1, 10),
    ]


@pytest.mark.parametrize(
    ("found", "causes", "doubts", "verdict", "stage"),
    [
        (stages("serve", "ok"), [], [], "pass", None),
        (stages("serve", "ok"), [FAIL], ["x"], "pass", None),
        ([], [], [], "inconclusive", None),
        (stages("probe", "failed"), [], [], "infrastructure", "probe"),
        (stages("probe", "timeout"), [FAIL], [], "infrastructure", "probe"),
        (stages("parse", "failed"), [], [], "fail", "parse"),
        (stages("parse", "failed"), [], ["x"], "fail", "parse"),
        (stages("parse", "timeout"), [], [], "infrastructure", "parse"),
        (stages("parse", "failed", blame="machine"), [FAIL], [], "infrastructure", "parse"),
        (stages("serve", "failed"), [], [], "fail", "serve"),
        (stages("serve", "timeout"), [], [], "fail", "serve"),
        (stages("serve", "failed"), [MACHINE], [], "infrastructure", "serve"),
        (stages("serve", "failed"), [MACHINE, FAIL], [], "fail", "serve"),
        (stages("serve", "failed"), [], ["PYTHONPATH was not passed on"], "inconclusive", "serve"),
        (stages("serve", "failed"), [FAIL], ["PYTHONPATH was not passed on"], "fail", "serve"),
        (stages("load", "failed"), [], [], "fail", "load"),
        ([StageResult("load", "ok", 1, 1), StageResult("stop", "failed", 1, 1)], [], [], "infrastructure", "stop"),
        ([*stages("load", "failed"), StageResult("stop", "failed", 1, 1)], [], [], "fail", "load"),
    ],
)
def test_who_is_to_blame(
    found: list[StageResult], causes: list[Cause], doubts: list[str], verdict: str, stage: str | None
) -> None:
    end = conclude(found, causes, doubts)
    assert (end.verdict, end.stage) == (verdict, stage)
    assert end.reason


@pytest.mark.parametrize(
    ("planned", "found", "other"),
    [
        ("0.32.0", "0.32.0+cpu", False),
        ("v0.32.0", "0.32.0", False),
        ("0.27.1", "0.32.0+cpu", True),
        ("0.5.10.post1", "0.5.10", True),
        ("0.27.1", "0.27.2.dev9+gabc", False),
        ("nightly", "0.32.0", False),
        (None, "0.32.0", False),
        ("0.32.0", None, False),
    ],
)
def test_another_release_than_the_plans(planned: str | None, found: str | None, other: bool) -> None:
    assert other_version(planned, found) == other


def test_a_failure_of_another_release_is_none_for_certain() -> None:
    end = conclude(stages("parse", "failed"), [FAIL], [], "vllm 0.32.0 is here, and the plan is for 0.27.1")
    assert (end.verdict, end.stage) == ("inconclusive", "parse")
    assert end.reason.endswith("but vllm 0.32.0 is here, and the plan is for 0.27.1")
    assert conclude(stages("serve", "ok"), [], [], "another").verdict == "pass"
    assert conclude(stages("probe", "failed"), [], [], "another").verdict == "infrastructure"


def verdict_of(**changes: Any) -> Verdict:
    slow = figures("completions", 4, [Sample(0.0, (0.1, 0.5), 100, 5)], TAKEN, Counters(1, 100, 5, 90.0, 95.0))
    quick = figures("completions", 4, [Sample(0.0, (0.1, 0.4), 100, 5)], TAKEN)
    job = JobName("entry|a", "fixed-seq-len", 0, 4, "exp", "mi355x_00")
    base = Verdict("pass", "serve: all well", job, "vllm", figures=(slow,))
    full = replace(
        base,
        head="a" * 40,
        base="b" * 40,
        nonce="n",
        planned_version="0.32.0",
        versions={"vllm": "0.32.0"},
        argv=("vllm", "serve"),
        env={"VLLM_X": "1"},
        stages=(StageResult("serve", "ok", 1.5, 10.0, "ready", {"x": [1]}),),
        figures=(quick,),
        causes=(FAIL,),
        changes=(Change("--port|", "8888", None, "free"),),
        log=Log(("a", "b"), 2, 4, False),
        compared=base,
        deltas=deltas(base.figures, (quick,)),
        evaluation={"exact_match": 0.5},
        started="2026-01-01T00:00:00+00:00",
        seconds=3.5,
    )
    return replace(full, **changes)


def test_a_verdict_is_the_same_after_its_json_form() -> None:
    verdict = verdict_of()
    assert read_verdict(json.dumps(verdict_form(verdict))) == read_verdict(json.dumps(verdict_form(verdict)))
    read = read_verdict(json.dumps(verdict_form(verdict)))
    assert replace(read, figures=(), deltas=(), compared=None) == replace(verdict, figures=(), deltas=(), compared=None)
    assert read.figures[0].ttft_ms.mean == pytest.approx(100)
    assert read.compared is not None
    assert read.compared.figures[0].server == Counters(1, 100, 5, 90.0, 95.0)


def test_a_request_is_the_same_after_its_json_form() -> None:
    request = SmokeRequest(plan_of(), head="c" * 40, load=Load(concurrency=(1, 8)), smallest_concurrency=4)
    assert read_request(json.dumps(request_form(request))) == request


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "null", "NaN", "{", '{"schema": "botlint.smoke/1"}', "[" * 100_000, "x" * 9_000_000),
        json.dumps({**verdict_form(verdict_of()), "verdict": "great"}),
        json.dumps({**verdict_form(verdict_of()), "more": 1}),
        json.dumps({**verdict_form(verdict_of()), "seconds": -1}),
        json.dumps({**verdict_form(verdict_of()), "seconds": 10**400}),
        json.dumps({**verdict_form(verdict_of()), "seconds": 5}).replace("5", "1e999"),
        json.dumps({**verdict_form(verdict_of()), "head": "main"}),
        json.dumps({**verdict_form(verdict_of()), "compared": verdict_form(verdict_of())}),
    ],
)
def test_what_is_no_verdict_is_not_read(text: str) -> None:
    with pytest.raises(UsageError):
        read_verdict(text)


@pytest.mark.parametrize(
    "change",
    [
        {"stages": ["serve", "rm"]},
        {"nonce": "a b"},
        {"head": "; rm"},
        {"limits": {"serve": 0}},
        {"load": {"concurrency": [0]}},
        {"plan": {}},
        {"shell": "x"},
    ],
)
def test_what_is_no_request_is_not_read(change: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read_request(json.dumps({"schema": "botlint.smoke-request/1", "plan": plan_of(), **change}))


def test_the_table_has_a_row_for_each_revision_and_its_deltas() -> None:
    text = render_markdown(verdict_of())
    assert "| Mode | ISL/OSL | Conc | Spec | Req/s | delta | Total tok/s | delta | Output tok/s | delta |" in text
    assert "| base completions | 100/5 | 4 | 3 tokens | 2.000 | - |" in text
    assert "| head completions | 100/5 | 4 | 3 tokens | 2.500 | +25.0% |" in text
    assert "| 75.00/75.00/75.00 | -25.0% |" in text
    assert "acceptance per position 0.900, 0.700, 0.400; 66.7% of the drafted tokens" in text
    assert "(rule `some-rule`)" in text
    assert "exact\\_match | 0.5000" in text
    alone = render_markdown(verdict_of(compared=None, deltas=()))
    assert "| Req/s | Total tok/s |" in alone
    assert "delta" not in alone


def test_no_text_of_a_plan_or_log_makes_markup_or_commands() -> None:
    evil = "@everyone <img src=x> [a](http://evil) `b` | c #1 ::error::x"
    verdict = verdict_of(
        verdict="fail",
        reason=evil,
        job=JobName(evil, evil),
        stages=(StageResult("serve", "failed", 1, 1, evil),),
        causes=(Cause("a", "b", evil, "c"),),
        changes=(Change(evil, evil, evil, evil),),
        log=Log((evil, "```", "::add-mask::x", "##[command]x"), 4, 9, False),
        evaluation={evil: 1.0},
        versions={evil: evil},
    )
    text = render_markdown(verdict)
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<img" not in page
    assert "href" not in page
    assert page.count("<tr>") == 2 + 3 + 2 + 2
    assert "\n::" not in text
    assert "##[command" not in text
    plain = render_text(verdict)
    assert not any(line.lstrip().startswith("::") for line in plain.splitlines())


def test_numbers_of_requests_at_a_time() -> None:
    assert concurrency_of(SmokeRequest(plan_of())) == (1, 4)
    assert concurrency_of(SmokeRequest(plan_of(), smallest_concurrency=2)) == (1, 2)
    assert concurrency_of(SmokeRequest(plan_of(job={"conc": [512, 256]}))) == (1, 64)
    assert concurrency_of(SmokeRequest(plan_of(job={}))) == (1,)
    assert concurrency_of(SmokeRequest(plan_of(), load=Load(concurrency=(3,)))) == (3,)


def test_the_engines_python_is_that_of_its_programme(tmp_path: Path) -> None:
    folder = fake_bin(tmp_path / "bin")
    assert engine_python(None, "vllm", {"PATH": str(folder)}) == str(folder / "python3")
    assert engine_python(None, "python", {"PATH": str(folder)}) == str(folder / "python3")
    assert engine_python(str(folder / "python3"), "vllm", {}) == str(folder / "python3")


def test_scores_of_an_evaluation(tmp_path: Path) -> None:
    assert read_scores(tmp_path) == {}
    results = {"alias": "gsm8k", "exact_match,strict-match": 0.75, "exact_match_stderr,strict-match": 0.1, "x": None}
    file = tmp_path / "model" / "results_2026.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"results": {"gsm8k": results}}), encoding="utf-8")
    assert read_scores(tmp_path) == {"exact_match,strict-match": 0.75}
    file.write_text("{}", encoding="utf-8")
    assert read_scores(tmp_path) == {}
    given = options("a/b", 8000, 20, "/out")
    assert "base_url=http://127.0.0.1:8000/v1/completions" in given[3]
    assert given[given.index("--limit") + 1] == "20"


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in fake_environment(fake_bin(tmp_path / "bin")).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def smoke(runner: Path, document: object, *arguments: str) -> int:
    file = runner / "plans.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    small = ["--isl", "20", "--osl", "4", "--requests", "2", "--concurrency", "1"]
    return main(
        ["smoke", "run", str(file), "--work", str(runner / "work"), "--device", "cpu", *small, "-q", *arguments]
    )


def test_the_command_line_writes_all_forms(
    runner: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runner / "summary.md"))
    (runner / "summary.md").write_text("before\n", encoding="utf-8")
    options = ["--stages", "parse,serve,load", "--json", str(runner / "v.json"), "--head", "d" * 40, "--nonce", "n-1"]
    assert smoke(runner, document_of(plan_of()), *options) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("pass: ")
    assert "changed --host: 0.0.0.0 -> 127.0.0.1" in shown
    verdict = read_verdict((runner / "v.json").read_bytes())
    assert (verdict.verdict, verdict.head, verdict.nonce) == ("pass", "d" * 40, "n-1")
    assert (runner / "summary.md").read_text(encoding="utf-8").startswith("before\n### ✅ botlint smoke: pass\n")
    compare = ["--stages", "serve,load", "--compare", str(runner / "v.json"), "--format", "markdown"]
    assert smoke(runner, document_of(plan_of()), *compare) == 0
    assert "| head completions |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("document", "options", "status", "told"),
    [
        (document_of(plan_of("--fake", "dies")), ("--stages", "serve"), 1, ""),
        (document_of(plan_of("--config", "/x.yaml")), (), 3, ""),
        (document_of(), (), 4, "no plan"),
        (document_of(plan_of(), plan_of()), (), 2, "2 plans; --plan N says which"),
        (document_of(plan_of()), ("--plan", "2"), 2, "no plan 2"),
        (document_of(plan_of()), ("--stages", "serve,rm"), 2, "stages"),
        (document_of(plan_of()), ("--limit", "serve=x"), 2, "--limit"),
        (document_of(plan_of()), ("--layers", "few"), 2, "--layers"),
        (document_of(plan_of()), ("--head", "main"), 2, "head"),
        ({"schema": "other"}, (), 2, "schema: 'botlint.plan/1' was expected"),
        ([], (), 2, "the document"),
        ({"schema": "botlint.smoke-request/1", "plan": {}}, (), 2, "required"),
    ],
)
def test_exit_codes(
    runner: Path,
    capsys: pytest.CaptureFixture[str],
    document: object,
    options: tuple[str, ...],
    status: int,
    told: str,
) -> None:
    assert smoke(runner, document, *options) == status
    assert told in capsys.readouterr().err
