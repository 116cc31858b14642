"""What image references say about the framework inside."""

from __future__ import annotations

from datetime import date

import pytest

from botlint.catalogs.catalog import load
from botlint.catalogs.images import normalize, resolve_image

SHA = "a" * 64


@pytest.mark.parametrize(
    ("reference", "normal"),
    [
        ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc14", "nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc14"),
        ("$oauthtoken@nvcr.io#nvidia/x:1", "nvcr.io/nvidia/x:1"),
        ("docker://docker.io/vllm/vllm-openai:v0.27.1", "vllm/vllm-openai:v0.27.1"),
        ("'lmsysorg/sglang:v0.5.16'", "lmsysorg/sglang:v0.5.16"),
        ("docker.io/library/ubuntu:24.04", "ubuntu:24.04"),
    ],
)
def test_normal_form(reference: str, normal: str) -> None:
    assert normalize(reference) == normal


@pytest.mark.parametrize(
    ("reference", "framework", "version", "platform"),
    [
        ("vllm/vllm-openai-rocm:v0.27.1", "vllm", "0.27.1", "rocm"),
        ("vllm/vllm-openai:v0.20.1-ubuntu2404", "vllm", "0.20.1", "cuda"),
        ("docker.io/vllm/vllm-openai:v0.19.0-cu130", "vllm", "0.19.0", "cuda"),
        (f"lmsysorg/sglang:v0.5.14-cu130@sha256:{SHA}", "sglang", "0.5.14", "cuda"),
        ("lmsysorg/sglang:v0.5.8.post1-cu130-runtime", "sglang", "0.5.8.post1", "cuda"),
        ("lmsysorg/sglang:v0.5.12-rocm700-mi35x", "sglang", "0.5.12", "rocm"),
        ("rocm/atom:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.3", "atom", "0.1.3", "rocm"),
        ("nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.9.1", "sglang", "0.5.8", "cuda"),
    ],
)
def test_release_tags_are_certain(reference: str, framework: str, version: str, platform: str) -> None:
    facts = resolve_image(reference)
    assert (facts.framework, facts.version, facts.certainty, facts.versions) == (
        framework,
        version,
        "certain",
        (version,),
    )
    assert facts.platform == platform
    assert not facts.custom


@pytest.mark.parametrize(
    ("reference", "version"),
    [
        ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc14", "1.3.0rc14"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc23.post1", "1.3.0rc23.post1"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post2", "1.2.0rc6.post2"),
    ],
)
def test_a_framework_without_a_catalog_still_has_a_version(reference: str, version: str) -> None:
    facts = resolve_image(reference)
    assert (facts.framework, facts.version, facts.certainty, facts.versions) == ("tensorrt-llm", version, "certain", ())


@pytest.mark.parametrize(
    ("reference", "nearest", "first", "last", "custom"),
    [
        ("lmsysorg/sglang:nightly-dev-cu13-20260724-433429b1", "0.5.16", "0.5.15.post1", "0.5.18", False),
        ("lmsysorg/sglang-rocm:v0.5.16-rocm720-mi35x-20260730", "0.5.16", "0.5.16", "0.5.18", False),
        ("rocm/sgl-dev:sglang-0.5.9-rocm720-mi35x-mori-0227-2", "0.5.9", "0.5.9", "0.5.10", True),
        ("vllm/vllm-openai:nightly-5e35a6f4f9bbc217c599692157ca985c894373f7", "0.27.0", "0.24.0", "0.28.0", False),
        ("vllm/vllm-openai:vllm-x86_64-cu13-0.25.1-7a33ba9", "0.25.1", "0.25.1", "0.25.1", False),
        ("quay.io/someone/my-vllm:vllm0.26", "0.26.0", "0.26.0", "0.26.0", False),
        (
            "rocm/atom:rocm7.2.2_ubuntu24.04_py3.12_pytorch_release_2.10.0_atom0.1.2.post",
            "0.1.2",
            "0.1.2",
            "0.1.3.dev20260511",
            False,
        ),
        (
            "rocm/atom-dev:nightly_202607231538",
            "0.1.6rc1.dev20260723",
            "0.1.6rc1.dev20260723",
            "0.1.6rc1.dev20260813",
            True,
        ),
        ("vllm/vllm-openai:kimi-k3", "0.26.0", "0.23.0", "0.28.0", True),
    ],
)
def test_builds_between_releases_are_possible(
    reference: str, nearest: str, first: str, last: str, custom: bool
) -> None:
    facts = resolve_image(reference)
    assert (facts.version, facts.certainty, facts.custom) == (nearest, "possible", custom)
    assert (facts.versions[0], facts.versions[-1]) == (first, last)


@pytest.mark.parametrize(
    ("reference", "framework", "reason"),
    [
        ("", None, "not a plain"),
        ("$IMAGE", None, "not a plain"),
        ("x" * 600, None, "not a plain"),
        ("/images/local.sqsh", None, "no framework"),
        ("dynamo-sglang", None, "no framework"),
        ("ghcr.io/tile-ai/tilert:0.1.5", None, "no framework"),
        ("vllm/vllm-openai", "vllm", "neither a version nor a date"),
        ("vllm/vllm-openai:latest", "vllm", "neither a version nor a date"),
        (f"vllm/vllm-openai@sha256:{SHA}", "vllm", "neither a version nor a date"),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.3.0-dev.1-cuda13", "tensorrt-llm", "dynamo"),
        ("rocm/vllm-dev:nightly_20240101", "vllm", "nothing as old"),
    ],
)
def test_what_is_not_known_says_why(reference: str, framework: str | None, reason: str) -> None:
    facts = resolve_image(reference)
    assert (facts.framework, facts.version, facts.certainty, facts.versions) == (framework, None, "unknown", ())
    assert reason in facts.reason


def test_a_release_that_is_older_than_the_catalog() -> None:
    facts = resolve_image("lmsysorg/sglang:v0.4.7-cu124")
    assert (facts.version, facts.certainty, facts.versions) == ("0.4.7", "certain", ())


def test_a_release_that_is_newer_than_the_catalog() -> None:
    facts = resolve_image("vllm/vllm-openai:v9.0.0")
    assert (facts.version, facts.certainty, facts.versions) == ("9.0.0", "possible", (load("vllm").newest,))


def test_the_day_of_use_places_a_moving_tag() -> None:
    facts = resolve_image("vllm/vllm-openai:nightly", date(2026, 3, 1))
    assert (facts.certainty, facts.version) == ("possible", "0.16.0")
    assert "0.16.0" in facts.versions
    assert load("vllm").newest not in facts.versions


def test_a_day_without_a_year_is_the_last_one() -> None:
    facts = resolve_image("lmsysorg/sglang:dev-nightly-0820", date(2026, 9, 1))
    assert facts.built == date(2026, 8, 20)
    assert resolve_image("lmsysorg/sglang:dev-nightly-0820", date(2026, 8, 1)).built == date(2025, 8, 20)
