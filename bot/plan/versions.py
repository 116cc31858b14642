"""The version of the engine that a server's image brings."""

from __future__ import annotations

from functools import lru_cache

from botlint.catalogs.images import resolve_image

_CATALOG_NAMES = {
    "trtllm": "tensorrt-llm",
    "dynamo-vllm": "vllm",
    "dynamo-sglang": "sglang",
    "dynamo-trt": "tensorrt-llm",
}
"""Frameworks as plans name them, where the catalog of images has another name."""


@lru_cache(maxsize=1024)
def image_version(image: str, framework: str) -> str | None:
    """The version, if the image's tag says it for sure and the image is one of the server's framework."""
    facts = resolve_image(image)
    wanted = _CATALOG_NAMES.get(framework, framework)
    return facts.version if facts.certainty == "certain" and facts.framework == wanted else None
