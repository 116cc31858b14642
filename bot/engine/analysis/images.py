"""The written form of container images."""

from __future__ import annotations

import re

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_REFERENCE = re.compile(
    rf"(?:docker://)?(?:(?:{_HOST}(?::\d+)?|[\w-]+:\d+|localhost)[/#])?(?P<name>{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>[\w][\w.-]{0,127}))?(?P<digest>@sha256:[0-9a-f]{64})?",
)
MAX_LENGTH = 400


def fault(image: str) -> str:
    """What is wrong with the form of an image, empty if nothing is.

    Source: the grammar of references in distribution/reference; `registry#name` is enroot's form of `registry/name`.
    """
    if len(image) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH} characters"
    if any(letter.isspace() for letter in image):
        return "it has a blank in it"
    if image.startswith(("/", "./", "../")) or image.endswith(".sqsh"):
        return "it is a file of one machine"
    match = _REFERENCE.fullmatch(image)
    if match is None:
        return "it is no image name: `registry/owner/name:tag`, in lower case before the tag"
    if match["tag"] is None and match["digest"] is None:
        return "it has no tag"
    return ""
