"""Figures of a load from what each request saw; deltas between two loads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from botlint.smoke.model import Acceptance, Counters, Delta, Figures, Spread

Mode = Literal["completions", "chat"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered request: seconds on one clock, tokens as the server counted them.

    `pieces` are the moments at which a piece of the answer came, the first of them is that of the first token; `text`
    says that one of them was not empty.
    """

    sent: float
    pieces: tuple[float, ...]
    prompt_tokens: int
    output_tokens: int
    text: bool = True

    @property
    def first(self) -> float:
        """Seconds to the first token."""
        return self.pieces[0] - self.sent

    @property
    def per_token(self) -> float | None:
        """Seconds per token after the first; None if there was no other."""
        if self.output_tokens < 2:
            return None
        return (self.pieces[-1] - self.pieces[0]) / (self.output_tokens - 1)

    @property
    def gaps(self) -> list[float]:
        """Seconds between pieces; with speculative decoding a piece may hold several tokens."""
        return [later - earlier for earlier, later in zip(self.pieces, self.pieces[1:], strict=False)]


def figures(
    mode: Mode,
    concurrency: int,
    samples: Sequence[Sample],
    acceptance: Acceptance | None = None,
    server: Counters | None = None,
) -> Figures:
    """What a load of at least one answered request measured."""
    seconds = max(max(one.pieces[-1] for one in samples) - min(one.sent for one in samples), 1e-9)
    prompt = sum(one.prompt_tokens for one in samples)
    output = sum(one.output_tokens for one in samples)
    first = spread([one.first for one in samples])
    assert first is not None
    return Figures(
        mode=mode,
        isl=prompt / len(samples),
        osl=output / len(samples),
        concurrency=concurrency,
        requests=len(samples),
        seconds=seconds,
        output_tokens=output,
        requests_per_second=len(samples) / seconds,
        output_tokens_per_second=output / seconds,
        total_tokens_per_second=(prompt + output) / seconds,
        ttft_ms=first,
        tpot_ms=spread([value for one in samples if (value := one.per_token) is not None]),
        itl_ms=spread([gap for one in samples for gap in one.gaps]),
        acceptance=acceptance,
        server=server,
    )


def spread(seconds: Sequence[float]) -> Spread | None:
    """Mean, median and 99th percentile in milliseconds; None for no values."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return Spread(sum(ordered) / len(ordered) * 1000, _at(ordered, 0.5) * 1000, _at(ordered, 0.99) * 1000)


def _at(ordered: Sequence[float], share: float) -> float:
    """A percentile, linear between neighbours as numpy's default is."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def deltas(base: Sequence[Figures], head: Sequence[Figures]) -> tuple[Delta, ...]:
    """How each load differs from the one of the same endpoint and concurrency at the base."""
    earlier = {(one.mode, one.concurrency): one for one in base}
    return tuple(
        Delta(
            mode=new.mode,
            concurrency=new.concurrency,
            requests_per_second=_share(old.requests_per_second, new.requests_per_second),
            output_tokens_per_second=_share(old.output_tokens_per_second, new.output_tokens_per_second),
            total_tokens_per_second=_share(old.total_tokens_per_second, new.total_tokens_per_second),
            ttft_ms_median=_share(old.ttft_ms.median, new.ttft_ms.median),
            tpot_ms_mean=_share(_mean(old.tpot_ms), _mean(new.tpot_ms)),
            itl_ms_mean=_share(_mean(old.itl_ms), _mean(new.itl_ms)),
        )
        for new in head
        if (old := earlier.get((new.mode, new.concurrency))) is not None
    )


def _mean(value: Spread | None) -> float | None:
    return None if value is None else value.mean


def _share(old: float | None, new: float | None) -> float | None:
    return None if not old or new is None else new / old - 1
