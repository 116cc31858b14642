"""The summary comment: verdict, table, plan diff, notes, languages and limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from plans import AFTER, BEFORE, ROWS, plan, rows, seed_diff
from rendered import read
from review_samples import CONFIG, EVIL, EXITS, HEAD, HEADS, MASTER, OLD_SCRIPT, SCRIPT, WEB, diff_of, finding, lines_of
from test_bodies import check_harmless

from botlint.core.finding import Finding, JobRef, Note, Report, Summary, summarize
from botlint.engine.settings import Language
from botlint.github.limits import MAX_BODY, units
from botlint.github.links import Links
from botlint.github.markers import SUMMARY, has_marker
from botlint.github.placing import place_all
from botlint.github.summary import Reviewed, Verdict, summary_body, summary_markdown, title
from botlint.github.wording import EN, ZH
from botlint.plan.diff import PlanDiff, diff_plans
from botlint.plan.model import Exit

LINKS = Links(WEB, "a" * 40, "b" * 40)
DIFF = diff_of({SCRIPT: OLD_SCRIPT, CONFIG: MASTER}, HEAD)
SAME = PlanDiff((), (), (), (), 63)


def reviewed(
    findings: Sequence[Finding] = (),
    notes: Sequence[Note] = (),
    failures: Sequence[str] = (),
    *,
    diff: PlanDiff | None = SAME,
    limit: int = 30,
    **more: object,
) -> Reviewed:
    report = Report(tuple(findings), summarize(findings, Summary(jobs=63), notes), tuple(notes), tuple(failures))
    fails = any(one.counts and one.severity == "error" and one.certainty == "certain" for one in findings)
    placed = place_all(findings, DIFF, lines_of(HEAD), limit)
    return Reviewed(report, placed, diff, **{"rows": ROWS, "fails": fails, **more})  # type: ignore[arg-type]


def test_a_summary() -> None:
    outside = finding("runners/launch.sh", 7, message="nothing sets `A|B`", severity="warning", rule="unset")
    one = reviewed([EXITS, HEADS, outside], [Note("version", "no version in `x`", CONFIG, 3)], diff=seed_diff())
    head = f"{WEB}/blob/{'a' * 40}"
    commits = f"[`aaaaaaa`]({WEB}/commit/{'a' * 40})", f"[`bbbbbbb`]({WEB}/commit/{'b' * 40})"
    entry = EXITS.entries[0]
    assert (
        summary_body(one, LINKS, ("en", "zh"))
        == f"""\
## botlint: 2 errors, 1 warning, 5 jobs launched differently

This change brings 2 errors, 1 warning. What is certain among them keeps the check red. \
Told at lines of the diff: 2 findings.

### Findings that are not told at lines

| Severity | Place | Finding | Jobs |
| --- | --- | --- | --: |
| Warning | [`runners/launch.sh:7`]({head}/runners/launch.sh#L7) | nothing sets \\`A\\|B\\` (unset) |  |

### What is launched differently

Of 7 jobs, 5 changed, 1 added, 1 removed.

- **2 jobs** of `{entry}` (tp 4, conc 32, 40)
  - outcome: `serves` → `exits 1`<br>now at [`{SCRIPT}:15`]({head}/{SCRIPT}#L15): Error: lmcache is not supported
- **3 jobs** of `{entry}` (tp 2, conc 1, 2, 5)
  - `LAYOUT`: `0` → `1`
  - `--block-size`: nothing → `128`
- added: 1 job of `new-entry`
- removed: 1 job of `gone-entry`

<details>
<summary>Not fully looked at: 1 unknown version</summary>

- `{CONFIG}:3` no version in \\`x\\`

</details>

<sub>Checked {commits[0]} against {commits[1]}.</sub>

<details>
<summary>简体中文</summary>

**2 个错误，1 个警告，5 个任务的启动内容有变化**

此更改带来 2 个错误，1 个警告。其中确定的问题会使检查不通过。已在差异的相应行上标注 2 条发现。

列于表中的有 1 条发现。

共 7 个任务：变化 5，新增 1，删除 1。

未能完整检查：1 个未知版本

<sub>已将 {commits[0]} 与 {commits[1]} 比较检查。</sub>

</details>

<!-- botlint:v1 summary -->"""
    )


CLEAN = reviewed()


@pytest.mark.parametrize(
    ("one", "verdict", "english", "chinese", "news"),
    [
        (CLEAN, "clean", "No findings", "没有发现问题", False),
        (reviewed(diff=None), "clean", "No findings", "没有发现问题", False),
        (
            reviewed(diff=seed_diff()),
            "clean",
            "No findings, 5 jobs launched differently",
            "没有发现问题，5 个任务的启动内容有变化",
            True,
        ),
        (
            reviewed(relevant=False),
            "irrelevant",
            "Nothing to check: no benchmark files touched",
            "无需检查：没有涉及基准测试文件",
            False,
        ),
        (reviewed([finding()]), "fails", "1 error", "1 个错误", True),
        (reviewed([finding(certainty="possible")]), "may-fail", "1 error", "1 个错误", True),
        (reviewed([finding(severity="warning")] * 2), "may-fail", "2 warnings", "2 个警告", True),
        (reviewed([finding(severity="info")]), "informs", "1 remark", "1 条提示", True),
        (reviewed([finding(suppressed="yes")]), "clean", "No findings", "没有发现问题", False),
        (reviewed([finding(baselined="2026-01-01")]), "clean", "No findings", "没有发现问题", False),
        (reviewed(failures=["rule x: KeyError"]), "failed", "botlint could not finish", "botlint 未能完成检查", True),
        (
            reviewed([finding()], failures=["rule x: KeyError"]),
            "fails",
            "1 error, botlint could not finish",
            "1 个错误，botlint 未能完成检查",
            True,
        ),
    ],
)
def test_verdicts(one: Reviewed, verdict: Verdict, english: str, chinese: str, news: bool) -> None:
    assert one.verdict == verdict
    assert title(one, EN) == english
    assert title(one, ZH) == chinese
    assert one.news is news
    body = summary_body(one, LINKS, ("en", "zh"))
    assert body.startswith(f"## botlint: {english}\n")
    assert has_marker(body, SUMMARY)
    check(body)


def check(body: str) -> None:
    check_harmless(re.sub(r"^#{2,3} ", "", body, flags=re.MULTILINE))
    assert units(body) <= MAX_BODY


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"no_lines": 2}, "GitHub gives no lines of 2 files of this change"),
        ({"many_files": True}, "more files than GitHub lists"),
        ({"diff": None}, "What is launched could not be compared."),
        ({}, "Every job launches what it launched before."),
        ({"details_url": "https://bot.example/r/1"}, " [Details](https://bot.example/r/1)</sub>"),
        ({"findings": [finding(suppressed="x")]}, "Allowed by comments or by the baseline: 1 finding."),
        ({"failures": ["rule x: KeyError"]}, "that is no fault of this change"),
        ({"failures": ["rule x: KeyError: @octocat"]}, "- rule x: KeyError: @<!-- -->octocat"),
    ],
)
def test_sentences(more: dict[str, object], sentence: str) -> None:
    assert sentence in summary_body(reviewed(**more), LINKS)  # type: ignore[arg-type]


def test_an_irrelevant_change_says_nothing_of_launches() -> None:
    assert "launch" not in summary_body(reviewed(relevant=False, diff=None), LINKS)


def test_an_address_that_would_break_the_link_is_left_out() -> None:
    assert "Details" not in summary_body(reviewed(details_url="https://x/a)b"), LINKS)


@pytest.mark.parametrize(
    ("languages", "first", "folded"),
    [
        (("en",), "## botlint: 1 error\n", None),
        ((), "## botlint: 1 error\n", None),
        (("en", "en"), "## botlint: 1 error\n", None),
        (("zh",), "## botlint: 1 个错误\n", None),
        (("en", "zh"), "## botlint: 1 error\n", "简体中文"),
        (("zh", "en"), "## botlint: 1 个错误\n", "English"),
    ],
)
def test_languages(languages: tuple[Language, ...], first: str, folded: str | None) -> None:
    body = summary_body(reviewed([EXITS]), LINKS, languages)
    assert body.startswith(first)
    assert re.findall("<summary>(.*)</summary>", body) == ([] if folded is None else [folded])
    # What a finding says is in one language, and once.
    outside = finding("x.sh", 1, message="told once")
    assert summary_body(reviewed([outside]), LINKS, languages).count("told once") == 1


def test_findings_over_the_limit_are_in_the_table() -> None:
    body = summary_body(reviewed([EXITS, HEADS], limit=1), LINKS)
    assert "Told at lines of the diff: 1 finding." in body
    assert "(job-exits)" in body
    assert "(shuffled-kv-heads)" not in body


def test_a_table_keeps_its_cells() -> None:
    some = [finding(f"x|{EVIL}", 3, message=EVIL, rule="odd|rule"), finding("", 0, message="a\nb | c")]
    body = summary_body(reviewed(some), LINKS, ("en", "zh"))
    check(body)
    found = read(body)
    assert (found.rows, found.cells) == (3, 12)


def test_hostile_plans() -> None:
    end = Exit(1, f"a|{EVIL}.sh", 3, EVIL)
    old = [plan(EVIL, conc=conc, env={"A": "1"}) for conc in (1, 2, 3)]
    new = [plan(EVIL, conc=1, env={EVIL: EVIL}, argv=(f"--{EVIL}", EVIL)), plan(EVIL, conc=2, end=end)]
    new += [plan(EVIL, conc=3, env={"A": "1"}), plan(f"new {EVIL}")]
    body = summary_body(
        reviewed([finding()], [Note("unread", EVIL, EVIL, 3)], [EVIL], diff=diff_plans(old, new), rows=rows(new)), LINKS
    )
    check(body)


def test_groups_of_many_entries_and_values() -> None:
    old = [plan(f"entry-{number:02}", env={"A": "0"}) for number in range(20)]
    new = [plan(f"entry-{number:02}", env={"A": "1", "B": ""}) for number in range(20)]
    body = summary_body(reviewed(diff=diff_plans(old, new), rows=rows(new)), LINKS)
    assert "- **20 jobs** of 20 entries: `entry-00`, `entry-01`," in body
    assert "`entry-05`, and 14 more\n" in body
    assert '  - `B`: nothing → `""`' in body
    old = [plan(conc=number, env={"A": f"{number}"}) for number in range(9)]
    new = [plan(conc=number, env={"A": f"{number + 1}"}) for number in range(9)]
    body = summary_body(reviewed(diff=diff_plans(old, new), rows=rows(new)), LINKS)
    assert "  - `A`: `0`, `1`, `2`, `3`, and 5 more → `1`, `2`, `3`, `4`, and 5 more" in body


def test_many_changes_of_a_group() -> None:
    old, new = [plan()], [plan(env={f"V{number:02}": "1" for number in range(50)})]
    body = summary_body(reviewed(diff=diff_plans(old, new)), LINKS)
    assert "`V19`" in body
    assert "`V20`" not in body
    assert "  - and 30 more\n" in body


def test_renamed_entries() -> None:
    diff = diff_plans([plan("old-name")], [plan("new-name")])
    assert "- renamed: `old-name` is now `new-name`" in summary_body(reviewed(diff=diff), LINKS)


@pytest.mark.parametrize("text", ["#" * 5_000, "😀" * 5_000, "|" * 5_000, "中" * 5_000])
def test_no_summary_is_too_long(text: str) -> None:
    findings = [
        finding(f"{text[:200]}{number}", 1, message=text, jobs=(JobRef(text, text, 1, text),))
        for number in range(2_000)
    ]
    notes = [Note("unread", text, f"{text[:300]}{number}") for number in range(2_000)]
    old = [plan(f"{text[:300]}{number}", env={"A": text}) for number in range(600)]
    new = [plan(f"{text[:300]}{number}", env={"A": f"{text}{number}"}) for number in range(600)]
    one = reviewed(findings, notes, [text] * 100, diff=diff_plans(old, new), rows=rows(new), limit=0)
    body = summary_body(one, LINKS, ("en", "zh"))
    assert units(body) <= MAX_BODY + len(SUMMARY) + 2
    assert has_marker(body, SUMMARY)
    assert re.search(r"\| \| \| and [\d,]+ more, see the check \| \|", body)
    assert re.search(r"\n- and [\d,]+ more, see the check\n", body)
    assert "简体中文" in body
    assert body.count("<details>") == body.count("</details>")


def test_the_same_input_gives_the_same_bytes() -> None:
    def body(order: int) -> str:
        findings = [EXITS, HEADS][::order]
        diff = diff_plans(BEFORE, AFTER)
        return summary_markdown(reviewed(findings, diff=replace(diff)), LINKS, ("en", "zh"))

    assert body(1) == body(-1) == body(1)
