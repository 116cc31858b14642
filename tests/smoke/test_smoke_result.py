"""The result that a node hands back, and archives that are made to harm who reads them."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from botlint.core.errors import UsageError
from botlint.smoke.model import JobName, Verdict, VerdictName
from botlint.smoke.result import (
    MAX_ARCHIVE,
    MAX_MEMBER,
    MEMBER,
    JobResult,
    Result,
    Unstarted,
    read_result,
    result_form,
    unpacked,
)

HEAD, NONCE, ID = "a" * 40, "0123456789abcdef", "f" * 16
VERDICT = Verdict("pass", "it answers", JobName("one", "fixed", 0, 4), "vllm", head=HEAD, nonce=NONCE)
RESULT = Result(NONCE, HEAD, None, (JobResult(ID, VERDICT),))


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()


def content(result: Result = RESULT, **changes: Any) -> bytes:
    return json.dumps({**result_form(result), **changes}).encode()


def test_a_result_is_read_as_it_was_written() -> None:
    whole = replace(RESULT, base="b" * 40, unstarted=(Unstarted("0" * 16, "no such job"),))
    for one in (RESULT, whole):
        assert read_result(unpacked(packed({MEMBER: content(one)}))) == one
    assert read_result(unpacked(packed({MEMBER: content()}, zipfile.ZIP_STORED))) == RESULT


@pytest.mark.parametrize(
    ("verdicts", "unstarted", "wanted"),
    [
        (["pass"], 0, "pass"),
        (["pass", "pass"], 1, "inconclusive"),
        (["pass", "inconclusive"], 0, "inconclusive"),
        (["infrastructure", "inconclusive"], 0, "infrastructure"),
        (["pass", "fail", "infrastructure"], 1, "fail"),
        ([], 1, "inconclusive"),
        ([], 0, "inconclusive"),
    ],
)
def test_the_worst_counts(verdicts: list[VerdictName], unstarted: int, wanted: str) -> None:
    jobs = tuple(JobResult(ID, replace(VERDICT, verdict=one)) for one in verdicts)
    assert replace(RESULT, jobs=jobs, unstarted=(Unstarted(ID, "x"),) * unstarted).verdict == wanted


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a": NaN}',
        content(schema="botlint.smoke/1"),
        content(nonce="$(reboot)"),
        content(nonce=NONCE + "\n"),
        content(head="main"),
        content(head=HEAD.upper()),
        content(base="x"),
        content(jobs=[{"id": "../../x", "verdict": {}}]),
        content(jobs=[{"id": ID, "verdict": {}}]),
        content(jobs=[{"id": ID, "verdict": {**result_form(RESULT)["jobs"][0]["verdict"], "verdict": "passed"}}]),
        content(jobs=[{"id": ID, "verdict": {**result_form(RESULT)["jobs"][0]["verdict"], "reason": "x" * 9_000}}]),
        content(jobs=[{"id": ID, "verdict": {**result_form(RESULT)["jobs"][0]["verdict"], "html": "<b>"}}]),
        content(jobs=result_form(RESULT)["jobs"] * 9),
        content(unstarted=[{"id": ID, "reason": 5}]),
        content(more=1),
        b" " * (MAX_MEMBER + 1),
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_what_has_another_form_is_refused(raw: bytes) -> None:
    with pytest.raises(UsageError):
        read_result(raw)


def without_end(archive: bytes) -> bytes:
    return archive[: len(archive) // 2]


def with_size(archive: bytes, size: int) -> bytes:
    """An archive whose table says another size of its one file."""
    at = archive.index(b"PK\x01\x02")
    return archive[: at + 24] + struct.pack("<I", size) + archive[at + 28 :]


def encrypted(archive: bytes) -> bytes:
    at = archive.index(b"PK\x01\x02")
    return archive[: at + 8] + b"\x01" + archive[at + 9 :]


def twice() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(MEMBER, b"{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(MEMBER, b"[]")
    return made.getvalue()


GOOD = packed({MEMBER: content()})


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no archive",
        b"PK\x05\x06" + b"\0" * 18,
        without_end(GOOD),
        packed({"other.json": b"{}"}),
        packed({f"../{MEMBER}": b"{}"}),
        packed({f"a/{MEMBER}": b"{}", f"/{MEMBER}": b"{}", f".\\{MEMBER}": b"{}"}),
        packed({MEMBER: b"{}"}, zipfile.ZIP_LZMA),
        packed({MEMBER: b"{}"}, zipfile.ZIP_BZIP2),
        packed({MEMBER: b"{}", **{f"f{number}": b"" for number in range(50)}}),
        encrypted(GOOD),
        with_size(GOOD, 3),
        b"x" * (MAX_ARCHIVE + 1),
    ],
    ids=range(13),
)
def test_what_is_no_such_archive_is_refused(raw: bytes) -> None:
    with pytest.raises(UsageError):
        read_result(unpacked(raw))


def test_a_name_that_is_there_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        unpacked(twice())


@pytest.mark.parametrize("said", [None, 10])
def test_a_bomb_takes_no_more_memory_than_a_result_may(said: int | None) -> None:
    bomb = packed({MEMBER: b"\0" * 60_000_000})
    assert len(bomb) < MAX_ARCHIVE
    bomb = bomb if said is None else with_size(bomb, said)
    tracemalloc.start()
    with pytest.raises(UsageError):
        unpacked(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MAX_MEMBER
