"""The engine of a job whose image says no version."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from botlint.core.span import Span
from botlint.engine.analysis.job_image import job_image
from botlint.layouts.base import CommandJob, Start

SPAN = Span("commands.yaml", 1, 1, 1, 1)


def job(image: str, versions: Mapping[str, str], oldest: Mapping[str, str]) -> CommandJob:
    start = Start("", SPAN)
    return CommandJob("e", SPAN, SPAN, "s", 0, {"image": image}, start, versions=versions, oldest=oldest)


@pytest.mark.parametrize(
    ("image", "versions", "oldest", "framework", "first", "certainty", "custom"),
    [
        ("", {"vllm": "0.27.1"}, {}, "vllm", "0.27.1", "possible", True),
        ("org/any:latest", {"sglang": "0.5.17"}, {}, "sglang", "0.5.17", "possible", True),
        ("vllm/vllm-openai:v0.26.0", {"vllm": "0.27.1"}, {}, "vllm", "0.26.0", "certain", False),
        ("", {"vllm": "0.27.1"}, {"vllm": "0.19.0"}, "vllm", "0.27.1", "possible", True),
        ("", {"vllm": "no version"}, {"vllm": "0.19.0"}, "vllm", "0.19.0", "certain", False),
    ],
)
def test_what_is_known_of_the_engine(
    image: str,
    versions: Mapping[str, str],
    oldest: Mapping[str, str],
    framework: str,
    first: str,
    certainty: str,
    custom: bool,
) -> None:
    facts = job_image(job(image, versions, oldest))
    assert (facts.framework, facts.versions[0], facts.certainty, facts.custom) == (framework, first, certainty, custom)


def test_a_version_that_no_catalog_has_says_nothing() -> None:
    assert job_image(job("", {"vllm": "99.0"}, {})).versions == ()
