"""What a smoke run is asked, and what it answers: plain data, without anything that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

SCHEMA = "botlint.smoke/1"
"""The form of an answer: `schemas/smoke.schema.json`."""

REQUEST_SCHEMA = "botlint.smoke-request/1"
"""The form of a question: `schemas/smoke-request.schema.json`."""

Stage = Literal["probe", "parse", "serve", "load", "evaluate", "stop"]
STAGES: tuple[Stage, ...] = get_args(Stage)

DEFAULT_STAGES: tuple[Stage, ...] = ("probe", "parse", "serve", "load", "stop")
"""`evaluate` needs real weights and is only done when asked for."""

VerdictName = Literal["pass", "fail", "infrastructure", "inconclusive"]
Status = Literal["ok", "failed", "skipped", "timeout"]
Device = Literal["gpu", "cpu"]

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that each stage may take at most; whatever it started is ended then."""

    probe: float = 120
    parse: float = 180
    serve: float = 900
    load: float = 300
    evaluate: float = 1800
    stop: float = 60

    def of(self, stage: Stage) -> float:
        """The limit of one stage."""
        return float(getattr(self, stage))


@dataclass(frozen=True, slots=True)
class Load:
    """How the server is asked: words of a prompt, tokens of an answer, and requests at each concurrency.

    `concurrency` lists the numbers of requests at a time; None: 1 and the smallest that the job's arm has.
    """

    isl: int = 128
    osl: int = 32
    requests: int = 8
    concurrency: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Honest:
    """The changes that a run may make to what a plan starts, and which of them this one makes.

    `layers` None keeps all of them; `max_model_len` None keeps the plan's; `model` puts a folder in the place of the
    plan's model; `download` lets the engine ask a hub. `allow_env` and `allow_options` name what is refused otherwise.
    """

    dummy_weights: bool = True
    layers: int | None = 4
    max_model_len: int | None = 2048
    model: str | None = None
    device: Device = "gpu"
    download: bool = False
    allow_env: tuple[str, ...] = ()
    allow_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SmokeRequest:
    """One job to start: its plan as `botlint plan --format json` writes one, and how far to go with it.

    `smallest_concurrency` is the smallest of the job's arm, None where only the job itself is known.
    """

    plan: Json
    head: str | None = None
    base: str | None = None
    nonce: str | None = None
    stages: tuple[Stage, ...] = DEFAULT_STAGES
    limits: Limits = field(default_factory=Limits)
    load: Load = field(default_factory=Load)
    honest: Honest = field(default_factory=Honest)
    smallest_concurrency: int | None = None
    eval_limit: int = 50


@dataclass(frozen=True, slots=True)
class StageResult:
    """How one stage went; `message` is for people, `details` are its figures."""

    name: Stage
    status: Status
    seconds: float
    limit: float
    message: str = ""
    details: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median and 99th percentile of a time, in milliseconds."""

    mean: float
    median: float
    p99: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What speculative decoding did during a load, as the engine counts it.

    `positions` holds the share of drafts whose token at this position was accepted; None where the engine tells none.
    """

    drafts: int
    draft_tokens: int
    accepted_tokens: int
    positions: tuple[float, ...] | None = None

    @property
    def rate(self) -> float | None:
        """The share of drafted tokens that were accepted; None where nothing was drafted."""
        return self.accepted_tokens / self.draft_tokens if self.draft_tokens else None


@dataclass(frozen=True, slots=True)
class Counters:
    """What the engine's own metrics say it did during a load; None where it does not count that.

    The mean times are its own too: without what a request needs to get there and back.
    """

    requests: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    ttft_ms: float | None = None
    tpot_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What one load measured: requests to one endpoint at one concurrency.

    `isl` and `osl` are mean tokens per request as the server counted them. A `time per output token` leaves the first
    token out; it is None where no answer had a second one.
    """

    mode: Literal["completions", "chat"]
    isl: float
    osl: float
    concurrency: int
    requests: int
    seconds: float
    output_tokens: int
    requests_per_second: float
    output_tokens_per_second: float
    total_tokens_per_second: float
    ttft_ms: Spread
    tpot_ms: Spread | None
    itl_ms: Spread | None
    acceptance: Acceptance | None = None
    server: Counters | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """A probable cause that a log line points to: the signature that knows it, its source, and the rule about it."""

    signature: str
    text: str
    line: str
    source: str
    rule: str | None = None
    verdict: Literal["fail", "infrastructure"] = "fail"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between what the plan starts and what was started; None means not there."""

    what: str
    old: str | None
    new: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Log:
    """The end of what the server wrote, and how much it wrote in all; `cut` if parts of it were dropped unread."""

    tail: tuple[str, ...] = ()
    lines: int = 0
    bytes: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """How one load differs from the same load at the base revision: shares, +0.1 is a tenth more."""

    mode: Literal["completions", "chat"]
    concurrency: int
    requests_per_second: float | None
    output_tokens_per_second: float | None
    total_tokens_per_second: float | None
    ttft_ms_median: float | None
    tpot_ms_mean: float | None
    itl_ms_mean: float | None


@dataclass(frozen=True, slots=True)
class JobName:
    """Which job was started, in the words of its plan."""

    entry: str
    scenario: str
    arm: int | None = None
    concurrency: int | None = None
    name: str | None = None
    runner: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a smoke run ended.

    `stage` is the one that decided (None for a pass), `reason` says why in one sentence. `fail` blames what the plan
    starts, `infrastructure` the machine, `inconclusive` nobody: the run could not tell.
    """

    verdict: VerdictName
    reason: str
    job: JobName
    framework: str | None
    stage: Stage | None = None
    head: str | None = None
    base: str | None = None
    nonce: str | None = None
    planned_version: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stages: tuple[StageResult, ...] = ()
    figures: tuple[Figures, ...] = ()
    causes: tuple[Cause, ...] = ()
    changes: tuple[Change, ...] = ()
    log: Log = field(default_factory=Log)
    compared: Verdict | None = None
    deltas: tuple[Delta, ...] = ()
    evaluation: Mapping[str, float] | None = None
    started: str = ""
    seconds: float = 0.0
