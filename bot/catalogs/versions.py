"""Order of release names: the part of PEP 440 that engines use, read without a dependency."""

from __future__ import annotations

import re
from functools import lru_cache

VersionKey = tuple[tuple[int, ...], tuple[int, int], int, int]

_PATTERN = re.compile(
    r"v?(?P<release>\d{1,6}(?:\.\d{1,6}){0,5})"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_number>\d{0,8}))?"
    r"(?P<post>[-_.]?post[-_.]?(?P<post_number>\d{0,8}))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d{0,14}))?"
    r"(?:\+[a-z0-9._-]{1,64})?",
    re.IGNORECASE | re.ASCII,
)
_PRE_RANK = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_NO_PRE, _ONLY_DEV = 9, -1
_NO_DEV = 10**15


@lru_cache(maxsize=4096)
def version_key(text: str) -> VersionKey | None:
    """Return a key that sorts releases as PEP 440 does, or None when the text is not a version."""
    match = _PATTERN.fullmatch(text.strip()) if len(text) <= 80 else None
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    post = int(match["post_number"] or 0) if match["post"] else -1
    dev = int(match["dev_number"] or 0) if match["dev"] else _NO_DEV
    if match["pre"]:
        pre = (_PRE_RANK[match["pre"].lower()], int(match["pre_number"] or 0))
    else:
        pre = (_ONLY_DEV, 0) if match["dev"] and not match["post"] else (_NO_PRE, 0)
    return tuple(release), pre, post, dev


def sort_versions(versions: list[str]) -> list[str]:
    """Return the versions oldest first; texts that are no versions come first, by name."""
    return sorted(versions, key=lambda text: (version_key(text) or ((), (_ONLY_DEV, 0), -1, 0), text))
