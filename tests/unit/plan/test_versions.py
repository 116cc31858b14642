"""The engine's version from an image's tag."""

from __future__ import annotations

import pytest

from botlint.plan.versions import image_version


@pytest.mark.parametrize(
    ("image", "framework", "version"),
    [
        ("vllm/vllm-openai-rocm:v0.27.1", "vllm", "0.27.1"),
        ("lmsysorg/sglang:v0.5.12-rocm700-mi35x", "sglang", "0.5.12"),
        ("vllm/vllm-openai-rocm:v0.27.1", "sglang", None),
        ("vllm/vllm-openai:nightly", "vllm", None),
        ("example.org/unknown:latest", "vllm", None),
        ("", "vllm", None),
    ],
)
def test_version_is_given_only_where_the_tag_says_it(image: str, framework: str, version: str | None) -> None:
    assert image_version(image, framework) == version
