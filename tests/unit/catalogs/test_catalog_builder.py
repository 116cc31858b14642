"""Targets, wheels, dates and newer releases, without the network."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from botlint.catalogs import builder
from botlint.catalogs.builder import Target, newer_versions, parse_target, release_date, tree_release, unpack
from botlint.core.errors import CannotFinish, UsageError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("vllm==0.27.1", Target("vllm", "0.27.1")),
        ("SGLang == v0.5.16", Target("sglang", "0.5.16")),
        ("atom==v0.1.6-rc0", Target("atom", "0.1.6rc0")),
    ],
)
def test_targets(text: str, target: Target) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize("text", ["vllm", "vllm==", "vllm==main", "nope==1.0", "vllm>=0.27", "vllm==1; rm -rf /"])
def test_texts_that_are_no_targets(text: str) -> None:
    with pytest.raises(UsageError):
        parse_target(text)


def wheel(folder: Path, files: dict[str, str], name: str = "demo-1.0-py3-none-any.whl") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(zipfile.ZipInfo(member, (2026, 3, 4, 0, 0, 0)), text)
    return path


def test_only_the_sources_of_the_package_are_unpacked(tmp_path: Path) -> None:
    files = {
        "demo/a.py": "",
        "demo/b/c.json": "{}",
        "demo/x.so": "",
        "other/d.py": "",
        "demo/../evil.py": "",
        "/demo/e.py": "",
    }
    unpack(wheel(tmp_path, files), tmp_path / "tree", "demo")
    found = {
        path.relative_to(tmp_path / "tree").as_posix() for path in (tmp_path / "tree").rglob("*") if path.is_file()
    }
    assert found == {"demo/a.py", "demo/b/c.json"}


@pytest.mark.parametrize("case", ["empty", "broken", "large"])
def test_wheels_that_are_refused(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path, {} if case == "empty" else {"demo/a.py": "x" * 100})
    if case == "broken":
        path.write_bytes(b"not a zip file")
    monkeypatch.setattr(builder, "_MAX_UNPACKED", 50)
    with pytest.raises(CannotFinish):
        unpack(path, tmp_path / "tree", "demo")


def index(*files: tuple[str, str], versions: tuple[str, ...] = ()) -> bytes:
    listed = [{"filename": name, "upload-time": f"{day}T00:00:00Z"} for name, day in files]
    return json.dumps({"files": listed, "versions": list(versions)}).encode()


def test_the_day_of_a_release(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"demo/a.py": ""})
    body = index(
        ("demo-1.0-cp311.whl", "2026-02-02"), ("demo-1.0-cp312.whl", "2026-02-01"), ("demo-1.0.1-x.whl", "2026-01-01")
    )
    assert release_date(path, lambda _: body) == "2026-02-01"


@pytest.mark.parametrize("body", [None, b"<html>", b"[]", b"{}"])
def test_the_day_of_a_release_without_an_index(body: bytes | None, tmp_path: Path) -> None:
    assert release_date(wheel(tmp_path, {"demo/a.py": ""}), lambda _: body) == "2026-03-04"


def test_newer_releases() -> None:
    body = index(versions=("0.5.6", "0.5.7", "0.5.10", "0.5.8rc1", "0.5.8.post1", "nonsense"))
    assert newer_versions("lmcache", ["0.5.5", "0.5.6"], lambda _: body) == ["0.5.7", "0.5.8.post1", "0.5.10"]
    assert newer_versions("atom", ["0.1"], lambda _: body) == []


def test_a_tree_that_is_no_checkout_has_the_day_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    release = tree_release(tmp_path)
    assert release["source"] == "source tree"


def test_what_is_not_published_needs_a_source(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--source"):
        builder.download(Target("atom", "0.1.5"), tmp_path)
