"""`botlint catalog` as a user calls it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from botlint.catalogs import builder, cards
from botlint.catalogs.catalog import data_folder, read_data
from botlint.catalogs.snapshots import snapshot_at
from botlint.cli import main


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["show", "vllm"], ["0.27.1: 2026-"]),
        (["show", "vllm==0.27.1", "--section", "names"], ["attention_backend: ", "ROCM_AITER_FA"]),
        (["show", "vllm", "--moe-backend"], ["0.17.0 flags: added"]),
        (["show", "vllm==0.27.1", "ROCM_AITER_FA"], ["head_sizes: 64, 128, 256"]),
        (["show", "vllm", "--moe-bakend"], ["closest: --moe-backend"]),
        (["show", "vllm/vllm-openai-rocm:v0.27.1"], ["version: 0.27.1", "certainty: certain"]),
        (["show", "hardware", "mi355x"], ["target: gfx950"]),
        (["show", "models", "MiniMaxAI/MiniMax-M3"], ["kv_heads: 4"]),
        (["diff", "vllm==0.26.0", "0.27.1"], ["  - --max-long-partial-prefills", "  + --fault-tolerance-config"]),
        (["diff", "vllm==0.24.0", "vllm==0.25.0"], ["VLLM_ROCM_QUICK_REDUCE_QUANTIZATION: choices +INT3"]),
        (["model", "amd/MiniMax-M3-MXFP4"], ["base: MiniMaxAI/MiniMax-M3", "kv_heads: 4"]),
    ],
)
def test_what_is_printed(arguments: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", *arguments]) == 0
    output = capsys.readouterr().out
    assert [text for text in expected if text not in output] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nope"],
        ["show", "vllm==99"],
        ["diff", "nope==1", "2"],
        ["diff", "vllm==0.26.0", "99"],
        ["build", "nope==1"],
        ["build", "vllm"],
        ["model", "not-an-id"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", *arguments]) == 2
    assert "botlint: error: " in capsys.readouterr().err


def test_json_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "diff", "vllm==0.26.0", "0.27.1", "--format", "json"]) == 0
    difference = json.loads(capsys.readouterr().out)
    assert (difference["schema"], difference["from"], difference["to"]) == (
        "botlint.catalog-diff/1",
        "0.26.0",
        "0.27.1",
    )
    assert "--max-long-partial-prefills" in difference["sections"]["flags"]["removed"]
    assert main(["catalog", "show", "lmsysorg/sglang:nightly-dev-cu13-20260724-433429b1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["built"] == "2026-07-24"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(data_folder() / "lmcache.json", tmp_path)
    return tmp_path


def built(version: str, **changed: Any) -> dict[str, Any]:
    """What a build of the next version would give."""
    data = read_data("lmcache.json")
    return {**snapshot_at(data, list(data["versions"])[-1]), "version": version, "problems": {}, **changed}


def test_a_build_is_merged_and_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = {**built("9.0")["flags"], "--brand-new": {"kind": "switch"}}
    release = {"released": "2027-01-01", "source": "a test"}
    monkeypatch.setattr(builder, "build", lambda target, source: (built(target.version, flags=flags), release))
    before = (folder / "lmcache.json").read_text()
    assert main(["catalog", "build", "lmcache==9.0", "--into", str(folder), "--check"]) == 1
    assert (folder / "lmcache.json").read_text() == before
    assert main(["catalog", "build", "lmcache==9.0", "--into", str(folder)]) == 0
    assert "+ --brand-new" in capsys.readouterr().out
    lines = set((folder / "lmcache.json").read_text().splitlines()) - set(before.splitlines())
    assert len(lines) == 3, "the new version, the line before it, the new flag"
    assert main(["catalog", "build", "lmcache==9.0", "--into", str(folder), "--check"]) == 0


def test_nothing_newer_is_nothing_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "newer_versions", lambda framework, have: [])
    assert main(["catalog", "build", "lmcache==newer", "--into", str(folder)]) == 4


def test_a_folder_without_catalogs(tmp_path: Path) -> None:
    assert main(["catalog", "build", "lmcache==9.0", "--into", str(tmp_path)]) == 2


def test_an_unknown_model_is_fetched_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"config.json": b'{"num_attention_heads": 8}'}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cards, "http_fetch", lambda url: answers.get(url.rpartition("/")[2]))
    assert main(["catalog", "model", "demo/model", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["heads"] == 8
    answers.clear()
    assert main(["catalog", "model", "demo/model"]) == 0
    assert main(["catalog", "model", "demo/model", "--refresh"]) == 3
