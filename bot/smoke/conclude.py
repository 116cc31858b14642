"""The verdict from what the stages found: pure decisions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from botlint.smoke.model import Cause, Stage, StageResult, VerdictName

_RELEASE = re.compile(r"\d{1,6}(?:\.\d{1,6}){1,4}(?:\.?post\d{1,4})?")


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict, the stage that decided, and why."""

    verdict: VerdictName
    stage: Stage | None
    reason: str


def other_version(planned: str | None, found: str | None) -> bool:
    """Whether an engine is not the release that the plan names; builds between releases may be any."""
    if planned is None or found is None:
        return False
    wanted, here = (_RELEASE.fullmatch(text.partition("+")[0]) for text in (planned.removeprefix("v"), found))
    return wanted is not None and here is not None and wanted[0] != here[0]


def conclude(
    stages: Sequence[StageResult], causes: Sequence[Cause], doubts: Sequence[str], engine: str | None = None
) -> Conclusion:
    """Who is to blame for the first stage that did not go well; `engine` says how it is another than the plan's.

    The machine for its probe and for what a run leaves; the plan for what its server does, unless the log blames the
    machine, or what was left out or another engine may be the reason.
    """
    end = _conclude(stages, causes, doubts)
    if engine is not None and end.verdict == "fail":
        return Conclusion("inconclusive", end.stage, f"{end.reason}; but {engine}")
    return Conclusion(end.verdict, end.stage, f"{end.reason}; {engine}") if engine is not None else end


def _conclude(stages: Sequence[StageResult], causes: Sequence[Cause], doubts: Sequence[str]) -> Conclusion:
    decided = next((one for one in stages if one.status in ("failed", "timeout")), None)
    if decided is None:
        done = [one.name for one in stages if one.status == "ok"]
        if not done:
            return Conclusion("inconclusive", None, "no stage was run")
        return Conclusion("pass", None, f"{', '.join(done)}: all well")
    reason = f"{decided.name}: {decided.message}"
    if decided.details.get("blame") == "machine" or decided.name in ("probe", "stop"):
        return Conclusion("infrastructure", decided.name, reason)
    blamed = next((one for one in causes if one.verdict == "fail"), None)
    if blamed is not None:
        return Conclusion("fail", decided.name, f"{reason}; probable cause: {blamed.text}")
    if causes:
        return Conclusion("infrastructure", decided.name, f"{reason}; probable cause: {causes[0].text}")
    if decided.name == "parse" and decided.status == "timeout":
        return Conclusion("infrastructure", decided.name, reason)
    if doubts and decided.name != "parse":
        return Conclusion("inconclusive", decided.name, f"{reason}; but {'; '.join(doubts[:3])}")
    return Conclusion("fail", decided.name, reason)
