"""Requests to servers that answer anything, and the figures of what they answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from smoking import FAKE, LOAD

from botlint.smoke.client import BadAnswer, Target, load, model_name, ready
from botlint.smoke.measure import Sample, deltas, figures, spread
from botlint.smoke.metrics import NAMES, acceptance, counters, read_metrics
from botlint.smoke.model import Counters


@contextmanager
def server(mode: str) -> Iterator[Target]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [sys.executable, str(FAKE / "serve.py"), "serve", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen([*command, "--fake", mode], stdout=subprocess.DEVNULL)
    try:
        yield Target(port, "vllm", lambda: None if process.poll() is None else "the server ended")
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("garbage", "/v1/models: the answer is no JSON object: <html>hello</html>"),
        ("unhealthy", "/health answers 503"),
        ("huge", "an answer of more than 8000000 bytes"),
        ("ok", None),
    ],
)
def test_a_server_is_ready_when_it_names_its_model(mode: str, reason: str | None) -> None:
    with server(mode) as target:
        deadline = time.monotonic() + 60
        while (answer := ready(target, 30)) is not None and answer.startswith("no connection"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert answer == reason
        if reason is None:
            assert model_name(target, 30) == "tiny"


def test_a_load_stops_as_soon_as_the_server_is_in_trouble() -> None:
    with server("silent") as target:
        while ready(target, 30) is not None:
            time.sleep(0.05)
        troubled = Target(target.port, "vllm", lambda: "it has had enough")
        with pytest.raises(BadAnswer, match="it has had enough"):
            load(troubled, LOAD, (1,), 60)


def test_a_sample_has_a_first_token_and_a_time_for_each_other() -> None:
    one = Sample(sent=10.0, pieces=(10.5, 10.6, 10.9), prompt_tokens=7, output_tokens=5)
    assert one.first == pytest.approx(0.5)
    assert one.per_token == pytest.approx(0.1)
    assert one.gaps == pytest.approx([0.1, 0.3])
    assert Sample(1.0, (2.0,), 7, 1).per_token is None


def test_figures_of_two_requests_at_a_time() -> None:
    samples = [Sample(0.0, (1.0, 2.0), 10, 3), Sample(0.0, (2.0, 4.0), 30, 5)]
    found = figures("chat", 2, samples)
    assert (found.requests, found.seconds, found.isl, found.osl, found.output_tokens) == (2, 4.0, 20, 4, 8)
    assert (found.requests_per_second, found.output_tokens_per_second, found.total_tokens_per_second) == (0.5, 2, 12)
    assert (found.ttft_ms.mean, found.ttft_ms.median) == (1500, 1500)
    assert found.tpot_ms is not None
    assert found.tpot_ms.mean == pytest.approx(500)
    assert found.itl_ms is not None
    assert found.itl_ms.mean == 1500


def test_percentiles_are_between_neighbours() -> None:
    found = spread([number / 1000 for number in range(101)])
    assert found is not None
    assert (found.mean, found.median, found.p99) == pytest.approx((50, 50, 99))
    assert spread([]) is None


def test_deltas_are_shares_of_the_same_load_at_the_base() -> None:
    base = [figures("chat", 1, [Sample(0.0, (1.0, 2.0), 10, 2)]), figures("chat", 8, [Sample(0.0, (1.0,), 1, 1)])]
    head = [figures("chat", 1, [Sample(0.0, (0.5, 1.0), 10, 2)]), figures("completions", 8, [Sample(0, (1.0,), 1, 1)])]
    (found,) = deltas(base, head)
    assert (found.mode, found.concurrency) == ("chat", 1)
    assert found.requests_per_second == pytest.approx(1.0)
    assert found.ttft_ms_median == pytest.approx(-0.5)
    assert found.tpot_ms_mean == pytest.approx(-0.5)


METRICS = """
# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="a"} %s
vllm:generation_tokens_total{engine="1",model_name="a"} 5.0
vllm:prompt_tokens_total{engine="0"} 1e3
vllm:request_success_total{finished_reason="stop"} 2.0
vllm:time_to_first_token_seconds_sum{engine="0"} %s
vllm:time_to_first_token_seconds_count{engine="0"} %s
vllm:spec_decode_num_drafts_total{engine="0"} %s
vllm:spec_decode_num_draft_tokens_total{engine="0"} %s
vllm:spec_decode_num_accepted_tokens_total{engine="0"} %s
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} %s
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} %s
"""


def test_counters_are_differences_over_all_engines() -> None:
    before = read_metrics(METRICS % (10, 1.0, 2, 10, 20, 10, 8, 2))
    after = read_metrics(METRICS % (42, 3.0, 6, 20, 40, 21, 17, 4))
    assert counters(NAMES["vllm"], before, after) == Counters(0, 0, 32, 500.0, None)
    found = acceptance(NAMES["vllm"], before, after)
    assert found is not None
    assert (found.drafts, found.draft_tokens, found.accepted_tokens) == (10, 20, 11)
    assert found.positions == (0.9, 0.2)
    assert acceptance(NAMES["vllm"], {}, read_metrics("vllm:prompt_tokens_total 1")) is None
    assert counters(NAMES["atom"], before, after) == Counters()


@pytest.mark.parametrize(
    "text", ["", "<html>", "a{b", "a NaN", "a +Inf", "a{} x", "\0", "a" * 100_000, "{" * 100_000, "a{" + "x" * 5000]
)
def test_a_page_that_is_none_has_no_samples(text: str) -> None:
    assert read_metrics(text) == {}
