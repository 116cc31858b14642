"""The container image that the site shows beside a command, as `computeDockerMeta` picks it."""

from __future__ import annotations

from botlint.layouts.recipes.hardware import Profile
from botlint.layouts.recipes.values import Value, at, either

_LATEST = {
    "nvidia": "vllm/vllm-openai:latest",
    "amd": "vllm/vllm-openai-rocm:latest",
    "tpu": "vllm/vllm-tpu:latest",
    "intel": "vllm/vllm-openai-cpu:latest-x86_64",
}
_NIGHTLY = {
    "nvidia": "vllm/vllm-openai:nightly",
    "amd": "vllm/vllm-openai-rocm:nightly",
    "tpu": "vllm/vllm-tpu:nightly",
}
_XPU = "vllm/vllm-openai-xpu:latest"


def brand_of(profile: Profile) -> str:
    """The key under which recipes give images for a profile."""
    if profile.generation == "tpu":
        return "tpu"
    if profile.brand == "AMD":
        return "amd"
    if profile.generation in ("cpu", "xpu") or profile.brand == "Intel":
        return "intel"
    return "nvidia"


def image_of(recipe: Value, variant: Value, profile: Profile) -> str | None:
    """The image; None where the site shows none."""
    brand = brand_of(profile)
    exact = at(variant, "hardware_overrides", profile.id, "docker_image")
    if isinstance(exact, str) and exact:
        return exact
    for given in (at(variant, "docker_image"), at(recipe, "model", "docker_image")):
        if isinstance(given, str) and given and brand == "nvidia":
            return given
        if not isinstance(given, dict):
            continue
        if any(key in given for key in _LATEST):
            given = given.get(brand)
            if isinstance(given, str):
                return given
        if brand == "nvidia" and isinstance(given, dict) and ("cu130" in given or "cu129" in given):
            found = either(given.get("cu130"), given.get("cu129"))
            return found if isinstance(found, str) else None
    if profile.generation == "xpu":
        return _XPU
    nightly = at(recipe, "model", "nightly_required") is True
    return (_NIGHTLY if nightly else _LATEST).get(brand)
