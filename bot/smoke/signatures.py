"""What a log says about why a server failed, by the table in `schemas/smoke-signatures.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from botlint.core.visible import visible
from botlint.documents.plain import load_plain
from botlint.smoke.model import Cause

MAX_CAUSES = 5

_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Signature:
    """A line that has one probable cause; `rule` is the rule that finds it before a run."""

    id: str
    engine: Literal["any", "vllm", "sglang", "atom"]
    pattern: re.Pattern[str]
    cause: str
    verdict: Literal["fail", "infrastructure"]
    source: str
    sample: str
    rule: str | None = None


@cache
def all_signatures() -> tuple[Signature, ...]:
    """Every signature, special ones first."""
    text = resources.files("botlint.schemas").joinpath("smoke-signatures.yaml").read_text(encoding="utf-8")
    return tuple(Signature(**{**one, "pattern": re.compile(one["pattern"])}) for one in load_plain(text))


def causes(lines: Iterable[str], framework: str | None) -> tuple[Cause, ...]:
    """The probable causes that lines name, in the order of the lines, each signature once.

    Those of an engine other than `framework` do not count (None: all do).
    """
    known = [one for one in all_signatures() if framework is None or one.engine in ("any", framework)]
    found: dict[str, Cause] = {}
    for line in lines:
        signature = next((one for one in known if one.pattern.search(line)), None)
        if signature is not None and signature.id not in found:
            found[signature.id] = Cause(
                signature=signature.id,
                text=signature.cause,
                line=visible(line.strip(), _SHOWN),
                source=signature.source,
                rule=signature.rule,
                verdict=signature.verdict,
            )
        if len(found) == MAX_CAUSES:
            break
    return tuple(found.values())
