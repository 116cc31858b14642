"""Model cards: fetched once, bounded, kept."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from botlint.catalogs import cards
from botlint.catalogs.cards import fetch_card, http_fetch, read_card
from botlint.core.errors import CannotFinish, UsageError

CONFIG = {"architectures": ["DemoForCausalLM"], "num_attention_heads": 8, "num_key_value_heads": 2}


class Hub:
    """A hub with some files; counts the questions."""

    def __init__(self, **files: bytes) -> None:
        self.files, self.asked = files, 0

    def __call__(self, url: str) -> bytes | None:
        self.asked += 1
        return self.files.get(url.rpartition("/")[2].removesuffix(".json"))


def test_a_card_is_fetched_once(tmp_path: Path) -> None:
    hub = Hub(config=json.dumps(CONFIG).encode(), hf_quant_config=b'{"quantization": {"quant_algo": "FP8"}}')
    first = fetch_card("demo/model", tmp_path, hub)
    second = fetch_card("demo/model", tmp_path, hub)
    assert first == second == read_card("demo/model", tmp_path)
    assert hub.asked == 2
    assert (first.kv_heads, first.attention, first.quantization_algorithm, first.exact) == (2, "gqa", "FP8", True)
    assert first.source == "https://huggingface.co/demo/model/resolve/main/config.json"
    fetch_card("demo/model", tmp_path, hub, refresh=True)
    assert hub.asked == 4


@pytest.mark.parametrize("name", ["model", "../x", "a/../b", "a/b/c", "a/b?x", "", "a b/c", "a/..b"])
def test_names_that_are_no_model_ids(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a model id"):
        fetch_card(name, tmp_path, Hub())


@pytest.mark.parametrize(
    ("body", "message"), [(None, "does not exist"), (b"{", "not JSON"), (b"[1]", "not a JSON object")]
)
def test_a_hub_that_has_no_good_file(body: bytes | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotFinish, match=message):
        fetch_card("demo/model", tmp_path, lambda _: body)
    assert read_card("demo/model", tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"config": 3, "source": "x"}', '{"source": "x"}'])
def test_a_broken_cache_is_a_miss(text: str, tmp_path: Path) -> None:
    (tmp_path / "demo--model.json").write_text(text)
    assert read_card("demo/model", tmp_path) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert fetch_card("demo/model", blocked, Hub(config=json.dumps(CONFIG).encode())).heads == 8


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, b"{}", b"{}"),
        (404, b"", None),
        (401, b"", None),
        (500, b"", CannotFinish),
        (200, b"x" * 5000, CannotFinish),
    ],
)
def test_fetching_is_bounded(
    status: int, body: bytes, outcome: bytes | type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    monkeypatch.setattr(httpx, "stream", httpx.Client(transport=transport).stream)
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            http_fetch("https://example.org/x", limit=4096)
    else:
        assert http_fetch("https://example.org/x", limit=4096) == outcome


def test_no_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("too slow")

    monkeypatch.setattr(httpx, "stream", httpx.Client(transport=httpx.MockTransport(refuse)).stream)
    with pytest.raises(CannotFinish, match="too slow"):
        http_fetch("https://example.org/x")


def test_the_cache_follows_the_usual_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cards.cache_folder() == tmp_path / "botlint" / "models"
