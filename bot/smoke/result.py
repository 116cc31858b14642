"""What a node hands back after the smoke jobs of one pull request, and how it is read by somebody who trusts nothing.

The result is made where code of the pull request's choice ran (a model, a module that an option names), so it is data
of a stranger: bounded, of one form, and evidence for no more than the run that it came from.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from botlint.core.errors import UsageError
from botlint.smoke.jsonform import checked, document, read_verdict, verdict_form
from botlint.smoke.model import Verdict, VerdictName

SCHEMA: Final = "botlint.smoke-result/1"
"""The form of a result: `schemas/smoke-result.schema.json`."""

ARTIFACT: Final = "botlint-smoke"
MEMBER: Final = "smoke.json"
"""The name of the artifact, and of the one file in it that is read."""

MAX_ARCHIVE: Final = 1_000_000
"""Bytes of an artifact that is looked at."""

MAX_MEMBER: Final = 4_000_000
"""Bytes of the file in it."""

MAX_MEMBERS: Final = 20

WORST: Final[Sequence[VerdictName]] = ("fail", "infrastructure", "inconclusive", "pass")
"""Of several verdicts the first of these counts."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class JobResult:
    """The verdict on one job, by the id that it was asked for with."""

    id: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Unstarted:
    """A job that was asked for and could not be started, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of the jobs of one run: for which commits, under which mark."""

    nonce: str
    head: str
    base: str | None
    jobs: tuple[JobResult, ...]
    unstarted: tuple[Unstarted, ...] = ()

    @property
    def verdict(self) -> VerdictName:
        """What it comes to: the worst verdict; a job that did not start leaves open what it would have shown."""
        found = {one.verdict.verdict for one in self.jobs}
        if self.unstarted or not self.jobs:
            found.add("inconclusive")
        return next(one for one in WORST if one in found)


def result_form(result: Result) -> dict[str, Any]:
    """A result as JSON."""
    return {
        "schema": SCHEMA,
        "nonce": result.nonce,
        "head": result.head,
        "base": result.base,
        "jobs": [{"id": one.id, "verdict": verdict_form(one.verdict)} for one in result.jobs],
        "unstarted": [{"id": one.id, "reason": one.reason} for one in result.unstarted],
    }


def read_result(content: bytes) -> Result:
    """The result that a file holds. Raises UsageError for one that is too large or has another form."""
    if len(content) > MAX_MEMBER:
        raise UsageError(f"the result is larger than {MAX_MEMBER} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the result is no text") from error
    value = document(text)
    checked("smoke-result.schema.json", value)
    return Result(
        value["nonce"],
        value["head"],
        value["base"],
        tuple(JobResult(one["id"], _verdict(one["verdict"])) for one in value["jobs"]),
        tuple(Unstarted(one["id"], one["reason"]) for one in value["unstarted"]),
    )


def _verdict(value: Mapping[str, Any]) -> Verdict:
    return read_verdict(json.dumps(value))


def unpacked(archive: bytes) -> bytes:
    """The one file of an artifact that is read, in memory: no path of the archive is used for anything.

    Raises UsageError for what is no archive, has no such file or several, or one that is too large.
    """
    if len(archive) > MAX_ARCHIVE:
        raise UsageError(f"the artifact is larger than {MAX_ARCHIVE} bytes")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            members = opened.infolist()
            if len(members) > MAX_MEMBERS:
                raise UsageError(f"the artifact has more than {MAX_MEMBERS} files")
            found = [one for one in members if one.filename == MEMBER]
            if len(found) != 1:
                raise UsageError(f"the artifact has no file {MEMBER}" if not found else f"{MEMBER} is there twice")
            (member,) = found
            if member.compress_type not in _METHODS or member.flag_bits & _ENCRYPTED:
                raise UsageError(f"{MEMBER} is packed in a way that is not read")
            with opened.open(member) as stream:
                # What the archive says of its size is no promise.
                content = stream.read(MAX_MEMBER + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise UsageError("the artifact is no archive that can be read") from error
    if len(content) > MAX_MEMBER:
        raise UsageError(f"{MEMBER} is larger than {MAX_MEMBER} bytes")
    return content
