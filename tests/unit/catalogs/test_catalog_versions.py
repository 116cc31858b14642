"""Release names sort as PEP 440 says."""

from __future__ import annotations

import pytest

from botlint.catalogs.versions import sort_versions, version_key

ORDERED = [
    "0.1.3.dev20260511",
    "0.1.3a1",
    "0.1.3b1",
    "0.1.3rc0",
    "0.1.3rc1.dev20260701",
    "0.1.3rc1",
    "0.1.3",
    "0.1.3.post1",
    "0.1.3.post2",
    "0.1.10",
    "0.2",
    "1.0.0rc14",
    "1.0.0rc23.post1",
]


def test_order() -> None:
    assert sort_versions(list(reversed(ORDERED))) == ORDERED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("v0.27.1", "0.27.1"),
        ("0.16", "0.16.0"),
        ("0.27.1+rocm700", "0.27.1"),
        ("0.1.6-rc0", "0.1.6rc0"),
        ("1.0.POST1", "1.0.post1"),
    ],
)
def test_the_same_version_in_two_spellings(one: str, other: str) -> None:
    assert version_key(one) == version_key(other)


@pytest.mark.parametrize("text", ["", "latest", "nightly-5e35a6f", "1.2.3.4.5.6.7", "0.1.", "1" * 90, "0.1.2-cu130"])
def test_texts_that_are_no_versions(text: str) -> None:
    assert version_key(text) is None
