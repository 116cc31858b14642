"""Pages in a headless Chromium."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Tab, chromium, find

ROOT = Path(__file__).resolve().parents[2]

# The texts that try to break out are those of the other formats.
sys.path.insert(0, str(ROOT / "tests" / "unit" / "report"))

Show = Callable[[str], Tab]


@pytest.fixture(scope="session")
def connection() -> Iterator[object]:
    path = find()
    if path is None:
        if os.environ.get("BOTLINT_NEED_CHROMIUM"):
            pytest.fail("no Chromium")
        pytest.skip("no Chromium: `make browser` installs one where it may")
    with chromium(path) as socket:
        yield socket


@pytest.fixture
def show(connection: object, tmp_path: Path) -> Iterator[Show]:
    """Shows a page in a fresh tab; at the end it must not have complained nor asked for anything."""
    tabs: list[tuple[Tab, str]] = []

    def in_tab(source: str) -> Tab:
        file = tmp_path / f"page-{len(tabs)}.html"
        file.write_text(source, encoding="utf-8")
        tab = Tab(connection)  # type: ignore[arg-type]
        tabs.append((tab, file.as_uri()))
        tab.size(1280, 900)
        tab.open(file.as_uri())
        return tab

    yield in_tab
    for tab, url in tabs:
        assert tab.complaints == []
        assert [one.partition("#")[0] for one in tab.requests if not one.startswith("data:")] == [url]
        tab.close()
