"""What an engine counts itself: its `/metrics` in Prometheus' text form."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from botlint.smoke.model import Acceptance, Counters

MAX_LINES = 100_000

_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{([^{}]{0,2000})\})?[ \t]+(\S{1,40})(?:[ \t]+-?\d{1,20})?")
_POSITION = re.compile(r'(?:^|,)\s*position="(\d{1,4})"')

Samples = Mapping[str, Sequence[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Names:
    """What an engine calls its counters; empty where it has none."""

    requests: str = ""
    prompt: str = ""
    output: str = ""
    first: str = ""
    each: str = ""
    drafts: str = ""
    drafted: str = ""
    accepted: str = ""
    positions: str = ""


NAMES: Mapping[str, Names] = {
    # vllm/v1/metrics/loggers.py and vllm/v1/spec_decode/metrics.py (0.32.0)
    "vllm": Names(
        requests="vllm:request_success",
        prompt="vllm:prompt_tokens",
        output="vllm:generation_tokens",
        first="vllm:time_to_first_token_seconds",
        each="vllm:request_time_per_output_token_seconds",
        drafts="vllm:spec_decode_num_drafts",
        drafted="vllm:spec_decode_num_draft_tokens",
        accepted="vllm:spec_decode_num_accepted_tokens",
        positions="vllm:spec_decode_num_accepted_tokens_per_pos",
    ),
    # sglang/srt/metrics/collector.py (0.5.16), with --enable-metrics
    "sglang": Names(
        requests="sglang:num_requests",
        prompt="sglang:prompt_tokens",
        output="sglang:generation_tokens",
        first="sglang:time_to_first_token_seconds",
    ),
    # atom/entrypoints/openai/metrics.py
    "atom": Names(requests="atom:requests_finished", prompt="atom:prompt_tokens", output="atom:generation_tokens"),
}


def read_metrics(text: str) -> Samples:
    """The samples of a page by name, each with its labels; lines that are none are left out."""
    found: dict[str, list[tuple[str, float]]] = {}
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        if line.startswith("#"):
            continue
        match = _SAMPLE.match(line)
        if match is None:
            continue
        try:
            value = float(match[3])
        except ValueError:
            continue
        if math.isfinite(value):
            found.setdefault(match[1], []).append((match[2] or "", value))
    return found


def counters(names: Names, before: Samples, after: Samples) -> Counters:
    """What an engine counted between two readings."""
    return Counters(
        _count(names.requests, before, after),
        _count(names.prompt, before, after),
        _count(names.output, before, after),
        _mean_ms(names.first, before, after),
        _mean_ms(names.each, before, after),
    )


def acceptance(names: Names, before: Samples, after: Samples) -> Acceptance | None:
    """What speculative decoding did between two readings; None for an engine without or before its first draft."""
    drafts = _count(names.drafts, before, after)
    drafted = _count(names.drafted, before, after)
    accepted = _count(names.accepted, before, after)
    if drafts is None or drafted is None or accepted is None:
        return None
    old, new = (_by_position(names.positions, samples) for samples in (before, after))
    shares = tuple((new[key] - old.get(key, 0.0)) / drafts for key in sorted(new)) if drafts else ()
    return Acceptance(drafts, drafted, accepted, shares or None)


def _count(name: str, before: Samples, after: Samples) -> int | None:
    new = _total(name, after)
    return None if new is None else max(0, round(new - (_total(name, before) or 0.0)))


def _total(name: str, samples: Samples) -> float | None:
    """The sum over all labels, as several engines of one server have samples of their own."""
    if not name:
        return None
    found = samples.get(f"{name}_total", samples.get(name))
    return None if not found else sum(value for _, value in found)


def _mean_ms(name: str, before: Samples, after: Samples) -> float | None:
    if not name:
        return None
    count = _count(f"{name}_count", before, after)
    total, earlier = _total(f"{name}_sum", after), _total(f"{name}_sum", before)
    return (total - (earlier or 0.0)) * 1000 / count if count and total is not None else None


def _by_position(name: str, samples: Samples) -> dict[int, float]:
    found: dict[int, float] = {}
    for labels, value in samples.get(f"{name}_total", ()) if name else ():
        position = _POSITION.search(labels)
        if position is not None:
            found[int(position[1])] = found.get(int(position[1]), 0.0) + value
    return found
