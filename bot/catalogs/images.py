"""What an image reference says about the framework inside: which one, which version, and how sure that is.

A release tag is certain. A nightly or a custom build is `possible`: it gets the nearest release, and in `versions`
every catalog version that it may be, so that a rule reports only what all of them reject. Nothing is asked over the
network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Any, Literal

from botlint.catalogs.catalog import FRAMEWORKS, Catalog, load, read_data
from botlint.catalogs.versions import version_key

Certainty = Literal["certain", "possible", "unknown"]
Platform = Literal["cuda", "rocm"]

_MAX_REFERENCE = 512
# Release branches are cut days before the release: a nightly of today may have what only the release in two weeks has.
_LAG = timedelta(days=21)
# A tag without a date is first used some time after it was built.
_BEFORE_USE = timedelta(days=30)
# A moving tag, or a tag without a date that was never seen: how far back it may have been built.
_BEFORE_TODAY = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What is known of an image.

    `version` is the release that the tag names, or for a build between releases the nearest one; `versions` are the
    catalog versions that the image may be, oldest first (one for a release, none where nothing is known); a `custom`
    image was built from a branch of its own and may know names that no release has; `reason` says how this was found,
    or why it is not known.
    """

    reference: str
    framework: str | None = None
    version: str | None = None
    certainty: Certainty = "unknown"
    versions: tuple[str, ...] = ()
    repository: str = ""
    tag: str | None = None
    digest: str | None = None
    platform: Platform | None = None
    built: date | None = None
    commit: str | None = None
    custom: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Tag:
    """A tag taken apart."""

    version: str | None = None
    open_ended: bool = False
    numbers: tuple[str, ...] = ()
    built: date | None = None
    commit: str | None = None
    framework: str | None = None
    platform: Platform | None = None
    extra: tuple[str, ...] = ()


def normalize(reference: str) -> str:
    """Return a reference in the usual form: `registry/repository:tag`, without a scheme and Docker Hub's own names.

    The cluster form `registry#repository` and a user part before `@` are understood.
    """
    text = reference.strip().strip("\"'")
    text = re.sub(r"^(?:docker|oci|dockerd|podman|https?)://", "", text)
    registry, hash_sign, rest = text.partition("#")
    if hash_sign:
        text = f"{registry.rpartition('@')[2]}/{rest}"
    return re.sub(r"^(?:docker\.io|index\.docker\.io|registry-1\.docker\.io)/(?:library/)?", "", text)


def resolve_image(reference: str, as_of: date | None = None) -> ImageFacts:
    """Return what an image reference says; `as_of` (a day on which it was in use) helps with tags that have no date.

    Never raises: what cannot be known is in `reason`.
    """
    return _resolve(reference, as_of)


@lru_cache(maxsize=2048)
def _resolve(reference: str, as_of: date | None) -> ImageFacts:
    facts = ImageFacts(reference=reference)
    if not reference.strip() or len(reference) > _MAX_REFERENCE or "$" in reference or "{" in reference:
        return replace(facts, reason="not a plain image reference")
    name = normalize(reference)
    name, _, digest = name.partition("@")
    repository, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        repository, tag = name, ""
    known = _repository(repository)
    parts = _read_tag(tag)
    facts = replace(
        facts,
        repository=repository,
        tag=tag or None,
        digest=digest or None,
        framework=known.get("framework") or parts.framework,
        platform=parts.platform or known.get("platform"),
        built=parts.built,
        commit=parts.commit,
        custom=bool(known.get("development") or set(parts.extra) - _MOVING),
    )
    if facts.framework is None:
        return replace(facts, reason=f"no framework is known for the repository {repository}")
    if "product" in known:
        return _bundled(facts, parts, str(known["product"]))
    if parts.version is None:
        parts = _with_plausible_number(parts, facts.framework)
    if parts.built is None and _short_date(parts) and facts.framework in FRAMEWORKS:
        parts = replace(parts, built=_dated(_short_date(parts), as_of, load(facts.framework)))
        facts = replace(facts, built=parts.built)
    if parts.version is not None:
        return _named(facts, parts, bool(known) and not known.get("development"))
    return _between(facts, parts, as_of)


def _bundled(facts: ImageFacts, parts: _Tag, product: str) -> ImageFacts:
    """The tag is a version of a product that bundles the framework."""
    bundle: Mapping[str, str] = _table()["bundles"].get(product, {}).get(parts.version or "", {})
    version = bundle.get(str(facts.framework))
    if version is None or parts.extra:
        return replace(facts, reason=f"the tag is a version of {product}; its {facts.framework} is not known")
    named = _named(facts, _Tag(version=version), official=True)
    return replace(named, reason=f"{product} {parts.version} has {facts.framework} {version}")


def _named(facts: ImageFacts, parts: _Tag, official: bool) -> ImageFacts:
    """The tag names a version: a release, or a build that started from it."""
    version = str(parts.version)
    release = official and not parts.extra and not parts.open_ended and parts.built is None and parts.commit is None
    reason = "the tag names the release" if release else "the tag names a version, but of a build of its own"
    if facts.framework not in FRAMEWORKS:
        return replace(facts, version=version, certainty="certain" if release else "possible", reason=reason)
    catalog = load(str(facts.framework))
    exact = catalog.resolve(version)
    if exact is not None and release:
        return replace(facts, version=exact, certainty="certain", versions=(exact,), reason=reason)
    around = catalog.around(version)
    if exact is None and (not around or _is_older(version, catalog.versions[0])):
        certainty: Certainty = "certain" if release else "possible"
        return replace(
            facts, version=version, certainty=certainty, reason=f"the catalog has nothing as old as {version}"
        )
    last = around[-1]
    if parts.built is not None:
        last = max(last, _bracket(catalog, parts.built, parts.built)[-1], key=catalog.versions.index)
    elif exact is not None and parts.open_ended:
        last = catalog.versions[min(catalog.versions.index(exact) + 1, len(catalog.versions) - 1)]
    versions = _through(catalog, around[0], last)
    return replace(facts, version=exact or version, certainty="possible", versions=versions, reason=reason)


def _between(facts: ImageFacts, parts: _Tag, as_of: date | None) -> ImageFacts:
    """The tag names no version: place the build between releases by its date."""
    if facts.framework not in FRAMEWORKS:
        return replace(facts, reason="the tag names no version")
    catalog = load(str(facts.framework))
    if parts.built is not None:
        first, last, how = parts.built, parts.built, f"built on {parts.built}"
    else:
        seen = _first_seen(facts, parts)
        if seen is not None:
            first, last, how = seen - _BEFORE_USE, seen, f"first used on {seen}"
        elif as_of is not None:
            first, last, how = as_of - _BEFORE_TODAY, as_of, f"in use on {as_of}"
        else:
            return replace(facts, reason="the tag names neither a version nor a date")
    if last + _LAG < date.fromisoformat(catalog.releases[0].released):
        return replace(facts, reason=f"{how}: the catalog has nothing as old")
    nearest = min(catalog.releases, key=lambda release: abs(date.fromisoformat(release.released) - last))
    return replace(
        facts,
        version=nearest.version,
        certainty="possible",
        versions=_bracket(catalog, first, last),
        reason=f"{how}: the nearest release is {nearest.version}",
    )


def _bracket(catalog: Catalog, first: date, last: date) -> tuple[str, ...]:
    """Return the releases that a build between two days may equal: the last one before to the first one after."""
    days = [(release.version, date.fromisoformat(release.released)) for release in catalog.releases]
    before = [version for version, day in days if day <= first]
    after = [version for version, day in days if day >= last + _LAG]
    return _through(catalog, before[-1] if before else catalog.versions[0], after[0] if after else catalog.newest)


def _through(catalog: Catalog, first: str, last: str) -> tuple[str, ...]:
    start, end = catalog.versions.index(first), catalog.versions.index(last)
    return catalog.versions[min(start, end) : max(start, end) + 1]


def _is_older(version: str, oldest: str) -> bool:
    key, limit = version_key(version), version_key(oldest)
    return key is not None and limit is not None and key < limit


# Tags

_NUMBER = r"\d+\.\d+(?:\.\d+)*(?:[.]?(?:a|b|rc)\d+)?(?:\.?post\d*)?(?:\.?dev\d*)?"
_VERSION = re.compile(rf"(?P<sure>v?)(?P<version>{_NUMBER})")
_PRODUCT = re.compile(
    rf"(?P<framework>vllm|sglang|sgl|atom)(?:v?(?P<version>{_NUMBER})|(?P<built>20\d{{6}}(?:\d{{4}})?))?"
)
_VARIANT = re.compile(
    r"cu(?:da)?\d[\d.]*|rocm[\d.]*|ubuntu[\d.]*|debian[\d.]*|mi\d+x?|b200|b300|gb200|gb300|h100|h200|gfx\d+\w*|amd64|arm64|"
    r"aarch64|x86|64|py[\d.]*|pytorch[\d.]*|torch[\d.]*|runtime|slim|base|openai|release|official|pytorch|instinct|cpu"
)
_DAY = re.compile(r"20[2-9]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4})?")
_SHORT_DAY = re.compile(r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_COMMIT = re.compile(r"(?=[a-f]*\d)[0-9a-f]{7,40}")
_MOVING = frozenset({"dev", "latest", "main", "nightly"})
_TOOLKITS = frozenset({"pytorch", "torch", "release", "rocm", "cuda", "ubuntu", "py", "python", "7"})


def _read_tag(tag: str) -> _Tag:
    """Read the words of a tag; a word that is neither a version nor a usual variant counts as `extra`."""
    words = re.sub(r"x86_64", "amd64", tag.lower().rstrip(".")).replace("_", "-").split("-")
    result = _Tag()
    extra: list[str] = []
    previous = ""
    for word in words if tag else []:
        result, used = _read_word(word, previous, result)
        if not used:
            extra.append(word)
        previous = word
    return replace(result, extra=tuple(extra), platform=_platform(words))


def _read_word(word: str, previous: str, result: _Tag) -> tuple[_Tag, bool]:
    """Return the tag with what one word adds, and whether the word was understood."""
    product = _PRODUCT.fullmatch(word)
    if product:
        framework = {"sgl": "sglang"}.get(product["framework"], product["framework"])
        result = replace(result, framework=result.framework or framework)
        if product["built"]:
            return replace(result, built=_day(product["built"])), True
        return (_with_version(result, product["version"]) if product["version"] else result), True
    number = _VERSION.fullmatch(word)
    if number and result.version is None and previous not in _TOOLKITS:
        if number["sure"] or not previous:
            return _with_version(result, number["version"]), True
        return replace(result, numbers=(*result.numbers, number["version"])), True
    if _DAY.fullmatch(word) and result.built is None:
        return replace(result, built=_day(word)), True
    if _COMMIT.fullmatch(word) and not word.isdigit():
        return replace(result, commit=word), True
    return result, bool(_VARIANT.fullmatch(word) or (number and previous in _TOOLKITS))


def _with_plausible_number(parts: _Tag, framework: str) -> _Tag:
    """Take a number in the middle of a tag for the version, unless it can only be a toolkit's (13.0.1 is no vLLM)."""
    for number in parts.numbers:
        key = version_key(number)
        newest = version_key(load(framework).newest) if framework in FRAMEWORKS else None
        if key is not None and (newest is None or key[0][0] <= newest[0][0]):
            return _with_version(parts, number)
    return parts


def _with_version(result: _Tag, version: str) -> _Tag:
    bare = version.removesuffix(".post").removesuffix("post")
    return replace(result, version=bare, open_ended=bare != version)


def _day(text: str) -> date | None:
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:8]))
    except ValueError:
        return None


def _short_date(parts: _Tag) -> str | None:
    """Return a month and day without a year, the last such word of the tag."""
    return next((word for word in reversed(parts.extra) if _SHORT_DAY.fullmatch(word)), None)


def _dated(month_day: str | None, as_of: date | None, catalog: Catalog) -> date | None:
    """Return the last such day before the image was in use, or not long after the newest release of the catalog."""
    limit = as_of or date.fromisoformat(catalog.releases[-1].released) + _BEFORE_USE
    for year in (limit.year, limit.year - 1):
        day = _day(f"{year}{month_day}")
        if day is not None and day <= limit:
            return day
    return None


def _platform(words: list[str]) -> Platform | None:
    if any(word.startswith(("rocm", "mi3")) for word in words):
        return "rocm"
    return "cuda" if any(re.fullmatch(r"cu(?:da)?\d[\d.]*", word) for word in words) else None


# The table of images


@cache
def _table() -> Mapping[str, Any]:
    return read_data("images.json")


def _repository(repository: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _table()["repositories"].get(repository, {})
    return found


def _first_seen(facts: ImageFacts, parts: _Tag) -> date | None:
    """Return the day on which a tag or a commit is known to have been in use first."""
    seen = _table()["seen"]
    day = seen.get(f"{facts.repository}:{facts.tag}")
    if day is None and parts.commit is not None:
        day = _table()["commits"].get(parts.commit[:7])
    return date.fromisoformat(day) if day else None
