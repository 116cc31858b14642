"""What is known of the engine that a job's image brings."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from botlint.catalogs.catalog import FRAMEWORKS, load
from botlint.catalogs.images import ImageFacts, resolve_image
from botlint.catalogs.versions import version_key
from botlint.layouts.base import CommandJob, Job


def job_image(job: Job) -> ImageFacts:
    """What the image of a job says, or where it says no version, what the job does.

    That may be the version that a build of its own starts from, or the oldest one, then every later version counts.
    """
    image = str(job.facts.get("image", ""))
    if not isinstance(job, CommandJob) or not (job.oldest or job.versions):
        return resolve_image(image)
    return _image(image, tuple(job.oldest.items()), tuple(job.versions.items()))


def has_to_run_with_all(image: ImageFacts) -> bool:
    """Whether a server has to run with each of the versions, not with one of them that is not known."""
    return image.certainty == "certain" and image.version is None and bool(image.versions)


@lru_cache(maxsize=2_048)
def _image(image: str, oldest: tuple[tuple[str, str], ...], exact: tuple[tuple[str, str], ...]) -> ImageFacts:
    facts = resolve_image(image)
    if facts.versions or (facts.framework is not None and facts.version is not None):
        return facts
    for framework, version in exact:
        if framework in FRAMEWORKS and version in load(framework).versions:
            return replace(
                facts,
                framework=framework,
                version=version,
                certainty="possible",
                versions=(version,),
                custom=True,
                reason="a build of its own from this version",
            )
    for framework, version in oldest:
        if framework in FRAMEWORKS and facts.framework in (None, framework):
            versions = _from(framework, version)
            # A branch of its own may have what no release has.
            custom = facts.custom or (facts.framework is None and bool(image))
            return replace(
                facts,
                framework=framework,
                certainty="possible" if custom else "certain",
                versions=versions,
                custom=custom,
                reason=f"it has to run with {version} and every later version",
            )
    return facts


def _from(framework: str, version: str) -> tuple[str, ...]:
    """The versions of a catalog from one on; none where it is no version, or newer than all."""
    first = version_key(version)
    if first is None:
        return ()
    keys = ((one, version_key(one)) for one in load(framework).versions)
    return tuple(one for one, key in keys if key is not None and key >= first)
