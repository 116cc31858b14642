"""One fixed report that has everything, with texts that try to break out of every format."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from botlint.core.finding import (
    Edit,
    Finding,
    Fix,
    JobRef,
    Note,
    Related,
    Report,
    Summary,
    summarize,
    with_fingerprints,
)
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span

TODAY = date(2026, 3, 1)

CONFIG = "configs/demo-master.yaml"
RECIPE = "benchmarks/demo_vllm.sh"
ODD = "odd,name: a%b #1/é.sh"

LONG = "x=" + "0" * 400 + ' --bad-flag "' + "y" * 200 + '"'

FILES: dict[str, list[str]] = {
    CONFIG: [
        "demo-fp8-h200-vllm:",
        "  scenarios:",
        "    agentic-coding:",
        "      - { tp: 2, kv-offloading: dram, kv-offload-backend: { name: lmcache }, conc-list: [32, 40] }",
        "      - { tp: 4, conc-list: [8] }",
    ],
    RECIPE: [
        "#!/usr/bin/env bash",
        'case "$KV_OFFLOAD_BACKEND" in',
        "\tvllm-native) ;;",
        '\t*) echo "模型 not supported" >&2; exit 1 ;;',
        "esac",
        LONG,
        "echo '\x1b[31mred\x1b[0m \u202egpj.sh'",
    ],
}

EVIL = (
    "::error file=x::pwned\r\n::set-output name=a::b\n</failure>]]> <script>alert(1)</script> `code` ``two`` "
    "[link](https://evil.example) @octocat #12 GH-7 www.evil.example \x1b]8;;https://evil.example\x07 "
    "\x00\x7f\x9b\u202e\ufeff\ud800 100% | *bold* _it_"
)

RULES = {
    "offload-backend-unhandled": RuleInfo(
        "BL201",
        "offload-backend-unhandled",
        "launch",
        "error",
        "certain",
        "The recipe exits before the server starts.\n",
        "Handle the backend or drop the arm.",
        ("vllm 0.27.1 config/kv.py:10",),
    ),
    "flag-unknown": RuleInfo("BL601", "flag-unknown", "catalog", "warning", "possible"),
}


def sources(path: str) -> Sequence[str] | None:
    return FILES.get(path)


def report() -> Report:
    jobs = (
        JobRef("demo-fp8-h200-vllm", "agentic-coding", 0, "32"),
        JobRef("demo-fp8-h200-vllm", "agentic-coding", 0, "40"),
    )
    many = tuple(JobRef(f"entry-{n:02}", "fixed-seq-len", 0, "64 128") for n in range(12))
    findings = with_fingerprints(
        [
            Finding(
                rule="offload-backend-unhandled",
                severity="error",
                certainty="certain",
                message='the recipe exits 1 for the backend "lmcache" that the arm asks for',
                span=Span(CONFIG, 4, 57, 4, 74),
                subject="demo-fp8-h200-vllm/lmcache",
                entries=("demo-fp8-h200-vllm",),
                jobs=jobs,
                related=(
                    Related(Span(RECIPE, 2, 1, 5, 5), "no branch takes it"),
                    Related(Span(RECIPE, 4, 38, 4, 44), "here it exits"),
                ),
                steps=(
                    f"{CONFIG}:4  kv-offload-backend: lmcache",
                    ".github/workflows/run.yml:31  KV_OFFLOAD_BACKEND=lmcache",
                    "the last branch takes every other value\n  *) echo ...",
                ),
                remedy="add a branch for lmcache, or\ndrop the arm",
                fix=Fix(
                    "drop the arm",
                    True,
                    (Edit(Span(CONFIG, 4, 1, 5, 1), ""), Edit(Span(CONFIG, 1, 1, 1, 1), "# é\n")),
                ),
            ),
            Finding(
                "flag-unknown",
                "warning",
                "possible",
                "vllm 0.27 has no --bad-flag",
                Span(RECIPE, 6, 404, 6, 414),
                "--bad-flag",
                tuple(f"entry-{n:02}" for n in range(12)),
                many,
                fix=Fix("use --good-flag", False, (Edit(Span(RECIPE, 6, 404, 6, 414), "--good-flag"),)),
            ),
            Finding("evil", "info", "certain", EVIL, Span(ODD, 3, 1, 3, 1), EVIL, (EVIL,), (), (), (EVIL,), EVIL),
            Finding("control-characters", "warning", "certain", "hidden text", Span(RECIPE, 7, 7, 7, 27)),
            Finding("whole-file", "info", "certain", "no such file", Span("absent.sh", 1, 1, 1, 1)),
            Finding("repository", "info", "certain", "nothing has a place", Span("", 1, 1, 1, 1)),
            Finding("allowed", "error", "certain", "on purpose", Span(CONFIG, 5, 9, 5, 14), suppressed=f"why: {EVIL}"),
            Finding("allowed", "error", "certain", "no reason", Span(CONFIG, 5, 9, 5, 15), "other", suppressed=""),
            Finding("old", "error", "certain", "old one", Span(CONFIG, 5, 17, 5, 31), baselined="2026-02-17"),
        ]
    )
    notes = (
        Note("unread", "not UTF-8\n::error::x", ODD, 3),
        Note("version", "no version in the image `demo:nightly`"),
        Note("version", "another", RECIPE),
    )
    base = Summary(jobs=1820, serves=1800, exits=12, undecided=8)
    return Report(tuple(findings), summarize(findings, base, notes), notes, (f"rule crashed: ValueError: {EVIL}",))
