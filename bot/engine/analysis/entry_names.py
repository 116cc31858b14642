"""What the key of an entry says: `PREFIX-PRECISION-HARDWARE-FRAMEWORK` with more words behind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

PRECISIONS = ("fp4", "fp8", "int4", "int8", "bf16", "fp16", "mxfp4", "nvfp4")
"""Precisions that keys have had; results are published under the first ones."""

PUBLISHED = ("fp4", "fp8", "int4", "int8", "bf16")
"""Precisions under which results can be published."""

FRAMEWORKS = ("sglang", "vllm", "trt", "trtllm", "atom", "llmd", "tilert", "mori")
_HARDWARE = re.compile(r"(?:[abh]\d{2,3}|gb\d{2,3}|mi\d{3}x?|rtx\w+|tpu\w*|trn\d*|gaudi\d*)")


@dataclass(frozen=True, slots=True)
class EntryName:
    """The words of a key, by what they name."""

    words: tuple[str, ...]
    precisions: tuple[str, ...]
    hardware: tuple[str, ...]
    frameworks: tuple[str, ...]


def read_name(name: str) -> EntryName:
    """The words of a key."""
    words = tuple(name.split("-"))
    return EntryName(
        words,
        tuple(word for word in words if word in PRECISIONS),
        tuple(word for word in words if _HARDWARE.fullmatch(word)),
        tuple(word for word in words if word in FRAMEWORKS),
    )


def same_framework(words: Iterable[str], framework: str) -> bool:
    """Whether a word of a key names the engine of a framework (`trtllm` is `trt`, `dynamo-vllm` runs vLLM)."""
    parts = framework.lower().split("-")
    return any(word.startswith(part) or part.startswith(word) for word in words for part in parts)


# --------------------------------------------------------------------------------------------------------- checkpoints

_FORMATS: tuple[tuple[str, str], ...] = (
    ("fp4", r"(?:nv|mx|amd-?)?fp4|w4a4|w4a8|w4a16-mxfp4"),
    ("fp8", r"(?:mx)?fp8|w8a8"),
    ("int4", r"int4|awq|gptq|w4a16"),
    ("int8", r"int8"),
    ("bf16", r"bf16|bfloat16"),
)
_SAID = tuple((name, re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])")) for name, pattern in _FORMATS)


def formats_of(model: str) -> tuple[str, ...]:
    """The number formats that a checkpoint's name says; none where it says nothing."""
    low = model.rpartition("/")[2].lower()
    return tuple(name for name, pattern in _SAID if pattern.search(low))
