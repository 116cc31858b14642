"""What a change may do to the changelog, and which entries it touches."""

from __future__ import annotations

import pytest

from botlint.engine.analysis.changed_entries import changed_entries
from botlint.engine.analysis.changelog import BYTE_CHECK, added, compare, link_form, matches, read_bytes
from botlint.engine.context import Context
from botlint.engine.examples import plan_all
from botlint.repo.memory import MemoryFiles

FIRST = "- config-keys:\n    - a\n  description:\n    - x\n  pr-link: https://github.com/acme/b/pull/1\n"
SECOND = FIRST.replace("- a\n", "- b\n").replace("/1", "/2")


def _context(new: str, old: str | None, *, strict: bool = True) -> Context:
    more = {BYTE_CHECK: "pass\n"} if strict else {}
    base = None if old is None else Context(MemoryFiles({"perf-changelog.yaml": old, **more}), plan_all)
    return Context(MemoryFiles({"perf-changelog.yaml": new, **more}), plan_all, base)


@pytest.mark.parametrize(
    ("new", "old", "strict", "fault", "line"),
    [
        (FIRST, FIRST, True, "", 0),
        (f"{FIRST}\n{SECOND}", FIRST, True, "", 6),
        (f"{FIRST}{SECOND}", FIRST, True, "separator", 6),
        (f"{FIRST}\n\n{SECOND}", FIRST, True, "separator", 6),
        (f"{FIRST}\n{SECOND}\n\n{FIRST}", FIRST, True, "separator", 14),
        (f"{FIRST}\n{SECOND}\n", FIRST, True, "trailing-blank", 12),
        (f"{FIRST}\n", FIRST, True, "formatting", 6),
        (f"{SECOND}\n{FIRST}", FIRST, True, "inserted", 2),
        (FIRST, f"{FIRST}\n{SECOND}", True, "deleted", 6),
        (FIRST.replace("- x", "- y"), FIRST, True, "history-changed", 4),
        (FIRST.replace("/pull/1", "/pull/9"), FIRST, True, "", 5),
        (FIRST.replace("- x", "- y"), FIRST, False, "history-changed", 4),
        (f"{SECOND}{FIRST}", FIRST, False, "", 0),
        (f"{FIRST}{SECOND}", FIRST, False, "", 6),
    ],
)
def test_changes(new: str, old: str, strict: bool, fault: str, line: int) -> None:
    change = compare(_context(new, old, strict=strict))
    assert change is not None
    assert (change.fault, change.line) == (fault, line)


def test_without_base_nothing_is_compared() -> None:
    assert compare(_context(FIRST, None)) is None
    assert added(_context(FIRST, None)) is None


def test_added_entries_are_found_wherever_they_are() -> None:
    assert [one.number for one in added(_context(f"{FIRST}\n{SECOND}", FIRST)) or ()] == [2]
    assert [one.number for one in added(_context(f"{SECOND}\n{FIRST}", FIRST)) or ()] == [1]


def test_bytes() -> None:
    found = read_bytes(_context("- config-keys: [a]\r\n\tb", None))
    assert found is not None
    assert (found.final_newline, found.lines, found.carriage_return, found.tab, found.nul, found.starts) == (
        False,
        2,
        1,
        2,
        0,
        1,
    )


@pytest.mark.parametrize(
    ("link", "form"),
    [
        ("https://github.com/acme/b/pull/12", "pull-request"),
        ("https://github.com/acme/b/pull/XXX", "placeholder"),
        ("XXX", "placeholder"),
        ("https://github.com/acme/b/pull/12/changes", "other"),
        ("", "other"),
    ],
)
def test_links(link: str, form: str) -> None:
    assert link_form(link) == form


def test_patterns() -> None:
    names = ["dsr1-fp4-b200-vllm", "dsr1-fp8-b200-vllm", "glm5-fp4-b200-vllm"]
    assert matches("dsr1-*-vllm", names) == names[:2]
    assert matches("*fp4*b200*", names) == [names[0], names[2]]
    assert matches("dsr1-fp4", names) == []
    assert matches("a*" * 200, names) == []


CONFIG = "demo-fp8-b200-vllm:\n  image: a/b:1\n"


def _touched(config: str, base: str, log: str = "") -> list[tuple[str, bool, bool, bool]]:
    texts = {"perf-changelog.yaml": log, "configs/demo-master.yaml": config}
    before = Context(MemoryFiles({**texts, "perf-changelog.yaml": "", "configs/demo-master.yaml": base}), plan_all)
    found = changed_entries(Context(MemoryFiles(texts), plan_all, before))
    return [(one.entry, one.is_new, one.by_fields, one.listed) for one in found]


def test_touched_entries() -> None:
    newer = CONFIG.replace(":1\n", ":2\n")
    assert _touched(CONFIG, CONFIG) == []
    assert _touched(f"# A comment.\n{CONFIG}", CONFIG) == []
    assert _touched(newer, CONFIG) == [("demo-fp8-b200-vllm", False, True, False)]
    assert _touched(CONFIG, "{}\n") == [("demo-fp8-b200-vllm", True, True, False)]
    listed = '- config-keys: ["demo-*"]\n  description: [x]\n  pr-link: XXX\n'
    assert _touched(newer, CONFIG, listed) == [("demo-fp8-b200-vllm", False, True, True)]
