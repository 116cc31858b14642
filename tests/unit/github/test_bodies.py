"""What the comment of a finding says, and that nothing of a pull request is markup in it."""

from __future__ import annotations

import re

import pytest
from rendered import read
from review_samples import (
    CONFIG,
    ENTRY,
    EVIL,
    EXITS,
    HEAD,
    HEADS,
    MASTER,
    OLD_SCRIPT,
    SCRIPT,
    WEB,
    diff_of,
    finding,
    jobs,
    lines_of,
)
from timing import within

from botlint.core.finding import Edit, Finding, JobRef
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span
from botlint.github.bodies import Wanted, mended_body, wanted_comment
from botlint.github.limits import MAX_BODY, units
from botlint.github.links import Links
from botlint.github.markers import fingerprint_of, is_mended
from botlint.github.models import NewComment
from botlint.github.placing import Anchor, place_all
from botlint.github.wording import ZH

LINKS = Links(WEB, "a" * 40, "b" * 40)
DIFF = diff_of({SCRIPT: OLD_SCRIPT, CONFIG: MASTER}, HEAD)
RULES = {
    "job-exits": RuleInfo("BL201", "job-exits", "launch", "error", why="Every path ends.\nNothing serves.\n\nSee `x`.")
}


def wanted(one: Finding, head: dict[str, str] | None = None) -> Wanted:
    texts = dict(HEAD) if head is None else head
    (placement,) = place_all([one], DIFF, lines_of(texts))
    return wanted_comment(placement, DIFF, texts.get, LINKS, RULES)


def test_a_comment() -> None:
    found = wanted(EXITS)
    blob = f"{WEB}/blob"
    head, base = f"{blob}/{'a' * 40}", f"{blob}/{'b' * 40}"
    assert found.comment == NewComment(SCRIPT, found.body, 9, "LEFT")
    assert (
        found.body
        == f"""\
**Error:** {ENTRY}: the job ends with status 1 before a server starts: Error: KV\\_OFFLOAD\\_BACKEND=lmcache is not \
supported (empty or vllm-native)

- Found at [`{SCRIPT}:15`]({head}/{SCRIPT}#L15).
- [`{SCRIPT}:9`]({base}/{SCRIPT}#L9) this deleted line had what is missing now
- [`{CONFIG}:8`]({head}/{CONFIG}#L8) an arm that ends so
- [`{CONFIG}:2`]({head}/{CONFIG}#L2) its entry

**Remedy:** handle what the arm asks for in the script, or drop the arm

Affects 2 jobs of `{ENTRY}`: agentic-coding arm 2 conc 32, 40

<details>
<summary>Proof in 3 steps</summary>

Every path ends. Nothing serves.

See `x`.

1. [`{CONFIG}:8`]({head}/{CONFIG}#L8) `- {{ tp: 4, kv-offloading: dram }}` (kv-offload-backend.name: lmcache)
2. [`{SCRIPT}:6`]({head}/{SCRIPT}#L6) `case "${{KV_OFFLOAD_BACKEND:-}}" in` (takes \\*) with KV\\_OFFLOAD\\_BACKEND\
=lmcache)
3. [`{SCRIPT}:15`]({head}/{SCRIPT}#L15) `exit 1` (ends here)

</details>

<sub>More: `botlint explain job-exits`. If this is right as it is, say so at [`{SCRIPT}:15`]({head}/{SCRIPT}#L15): \
`# botlint: ignore[job-exits] -- reason`</sub>

<!-- botlint:v1 fp=f58bfb2b07127f55 -->"""
    )


def test_lines_are_not_said_again_where_the_comment_is_on_them() -> None:
    assert "Found at" not in wanted(HEADS).body
    assert wanted(HEADS).body.startswith("**Error:** acme/Demo has 4 key-value heads")


@pytest.mark.parametrize(
    ("one", "start"),
    [
        (finding(severity="warning"), "**Warning:** "),
        (finding(severity="info"), "**Remark:** "),
        (finding(certainty="possible"), "**Error (possible):** "),
        (finding(message="one\n# two"), "**Error:** one\n<br>\\#<!-- --> two\n"),
        (finding(message="use `--a|b`"), "**Error:** use `--a|b`"),
    ],
)
def test_how_bad_it_is(one: Finding, start: str) -> None:
    assert wanted(one).body.startswith(start)


def test_several_lines() -> None:
    found = wanted(finding(line=9, end=11))
    assert found.comment == NewComment(SCRIPT, found.body, 11, "RIGHT", 9, "RIGHT")


def test_a_comment_on_a_file() -> None:
    found = wanted(finding(line=3))
    assert found.comment is None
    assert found.path == SCRIPT
    assert f"- Found at [`{SCRIPT}:3`]" in found.body


def test_jobs_of_several_entries_are_folded() -> None:
    many = tuple(JobRef(f"entry-{number:03}", "fixed-seq-len", 0, "8") for number in range(60))
    body = wanted(finding(jobs=many, entries=tuple(one.entry for one in many))).body
    assert "<summary>Affects 60 jobs of 60 entries</summary>" in body
    assert "- `entry-000`: fixed-seq-len arm 0 conc 8\n" in body
    assert "- and 20 more" in body


def fixed(text: str, *, safe: bool = True, line: int = 10, path: str = SCRIPT) -> Finding:
    return finding(line=10, edits=[Edit(Span(path, line, 9, line, 32), text)], safe=safe)


def test_a_fix_in_the_hunk_is_a_suggestion() -> None:
    assert "\n\nFix: mend it\n\n```suggestion\n        echo vllm-native\n```\n\n" in wanted(fixed("echo")).body
    assert "Fix, to be read first, for it may change what other jobs do: mend it" in wanted(fixed("x", safe=False)).body


def test_another_fix_is_a_diff() -> None:
    body = wanted(finding(line=10, edits=[Edit(Span(CONFIG, 8, 9, 8, 10), "x")])).body
    assert "suggestion" not in body
    assert f"\n\nFix: mend it\n\n```diff\n--- a/{CONFIG}\n" in body
    assert wanted(finding(line=10, edits=[Edit(Span("gone", 8, 9, 8, 10), "x")])).body.count("\nFix: mend it\n") == 1


def hostile(**more: object) -> Finding:
    return finding(
        line=10,
        message=f"{EVIL}\n{EVIL}",
        related=[(CONFIG, 8, EVIL), (EVIL, 3, EVIL)],
        steps=(EVIL, f"{CONFIG}:8  {EVIL}  ({EVIL})", f"a]({EVIL}:3  {EVIL}\n{EVIL}"),
        remedy=f"{EVIL}\n\n# {EVIL}",
        entries=(EVIL, "b"),
        jobs=(*jobs(1, 2), JobRef(EVIL, EVIL, 1, EVIL)),
        **more,
    )


ALLOWED = re.compile(
    r"</?(?:details|summary|sub)>|<br>|<!-- (?:botlint:v1 (?:mended|summary|duplicate|fp=[0-9a-f]{16}))? ?-->"
)


def check_harmless(body: str) -> None:
    found = read(body)
    assert all(link.startswith(f"{WEB}/") for link in found.links)
    assert found.images == []
    assert found.headings == []
    for html in found.html:
        assert not re.search("<[^>]*>", ALLOWED.sub("", html)), html
    for text in found.text:
        # Who is mentioned, and what is linked by its text, stands in one piece.
        assert not re.search(r"@\w|#\d|\bGH-\d|://|www\.\w", text), text
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\u202e\u200b\ufeff\ud800-\udfff]", body)
    assert not re.search(r"^\s*/botlint", body, re.MULTILINE)


def test_nothing_of_a_pull_request_is_markup() -> None:
    one = hostile(edits=[Edit(Span(SCRIPT, 10, 9, 10, 32), "```\n@octocat <!-- -->\n````")])
    found = wanted(one)
    check_harmless(found.body)
    # Its own marker is the only one.
    assert fingerprint_of(found.body) == one.fingerprint
    suggested = [content for info, content in read(found.body).fences if info == "suggestion"]
    assert suggested == ["        ```\n@octocat <!-- -->\n```` vllm-native\n"]
    check_harmless(mended_body(found.body, "Mended."))


def test_a_message_cannot_forge_a_marker() -> None:
    one = finding(line=10, message="x\n<!-- botlint:v1 fp=ffffffffffffffff -->", fingerprint="0" * 16)
    assert fingerprint_of(wanted(one).body) == "0" * 16


def test_a_path_stays_inside_of_its_link() -> None:
    path = "a) [x](y/`|<b>@octocat#1\n\u202e.sh"
    body = wanted(finding(line=10, related=[(path, 2, "odd")])).body
    check_harmless(body)
    assert LINKS.url(path, 2) in read(body).links
    place = LINKS.place(path, 2)
    check_harmless(f"- {place} odd")
    assert read(place).links == [LINKS.url(path, 2)]
    assert "(" not in LINKS.url(path, 2)


@pytest.mark.parametrize(
    ("path", "lines", "base", "url"),
    [
        ("a b/c.sh", (3, 3), False, f"{WEB}/blob/{'a' * 40}/a%20b/c.sh#L3"),
        ("c.sh", (3, 5), True, f"{WEB}/blob/{'b' * 40}/c.sh#L3-L5"),
        ("c.sh", (0, 0), False, f"{WEB}/blob/{'a' * 40}/c.sh"),
        ("docs/x.md", (3, 0), False, f"{WEB}/blob/{'a' * 40}/docs/x.md?plain=1#L3"),
        ("q?#%.sh", (1, 1), False, f"{WEB}/blob/{'a' * 40}/q%3F%23%25.sh#L1"),
    ],
)
def test_links(path: str, lines: tuple[int, int], base: bool, url: str) -> None:
    assert LINKS.url(path, *lines, base=base) == url


def test_a_path_that_is_too_long_has_no_link() -> None:
    assert "](" not in LINKS.place("d/" * 1_000, 1)


@pytest.mark.parametrize("text", ["#" * 100_000, "😀" * 100_000, "`" * 100_000, "a\n" * 50_000, "\u202e" * 50_000])
def test_no_body_is_too_long(text: str) -> None:
    one = finding(
        line=10,
        message=text,
        related=[(f"{text[:300]}{number}", 1, text) for number in range(300)],
        steps=tuple(f"{CONFIG}:{number}  {text}" for number in range(1, 500)),
        remedy=text,
        entries=tuple(f"{text[:500]}{number}" for number in range(200)),
        jobs=tuple(JobRef(f"{text[:500]}{number}", text[:500], 1, text[:500]) for number in range(200)),
        edits=[Edit(Span(CONFIG, 8, 9, 8, 10), text)],
    )
    with within(2):
        body = wanted(one).body
    assert units(body) <= MAX_BODY
    assert fingerprint_of(body) == one.fingerprint
    assert body.count("<details>") == body.count("</details>")
    # Folded as mended it is still one that GitHub takes.
    assert units(mended_body(body, "Mended.")) < 65_536


def test_a_mended_comment() -> None:
    found = wanted(fixed("echo"))
    body = mended_body(found.body, "Mended in `abc`.")
    assert body.startswith(
        "**Mended in `abc`.**\n\n~~**Error:** something is wrong~~\n\n<details>\n<summary>What was said"
    )
    assert fingerprint_of(body) == "0123456789abcdef"
    assert is_mended(body)
    # What it suggested may not be applied to lines that changed.
    assert "```text\n" in body
    assert "```suggestion" not in body


def test_a_comment_that_moves_to_its_file_suggests_nothing() -> None:
    moved = wanted(fixed("echo")).on_file
    assert moved.comment is None
    assert "suggestion" not in moved.body


def test_chinese() -> None:
    (placement,) = place_all([EXITS], DIFF, lines_of(HEAD))
    body = wanted_comment(placement, DIFF, HEAD.get, LINKS, RULES, ZH).body
    assert body.startswith(f"**错误:** {ENTRY}: the job ends")
    assert "推导过程（3 步）" in body


def test_the_same_input_gives_the_same_bytes() -> None:
    assert len({wanted(hostile()).body for _ in range(3)}) == 1
    assert wanted(EXITS).anchor == Anchor(SCRIPT, "LEFT", 9, 9)
