"""Options of the servers that scripts start, as they are written: also of scripts that no job reaches."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from botlint.catalogs.catalog import FRAMEWORKS, load
from botlint.engine.analysis import options
from botlint.engine.analysis.job_image import job_image
from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_servers import servers
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _planned(context: Context) -> frozenset[str]:
    """The scripts in which a job's server starts, if it is known of which version that is."""
    found: set[str] = set()
    if not context.jobs:
        return frozenset()
    for job, plan in zip(context.jobs, context.plans, strict=True):
        image = job_image(job)
        if image.versions or image.version is not None:
            launches = (plan.launch, *plan.others)
            found.update(launch.server.path for launch in launches if launch.server is not None)
    return frozenset(found)


def _build(context: Context, _chain: Chain) -> Iterable[Core]:
    for server in servers(context).servers():
        if server.kind not in FRAMEWORKS:
            continue
        facts = server.facts
        for spelling, token in server.flags().items():
            if "$" in spelling:
                continue
            known, closest = _by_releases(server.kind, spelling)
            # The place of an option in a longer text is that of its first words.
            at = facts.text.find(spelling, token.start, token.end)
            span = facts.span(at, at + len(spelling)) if at >= 0 else facts.span(token.start, token.end)
            yield Core(
                f"{facts.path}:{spelling}",
                {
                    "framework": load(server.kind).title,
                    "spelling": spelling,
                    "known": known,
                    "closest": closest,
                    "planned": facts.path in context.once(_planned),
                    "archived": is_archived(facts.path),
                },
                {"command_flag": span, "correction": span if at >= 0 and closest else None},
            )


@lru_cache(maxsize=10_000)
def _by_releases(framework: str, spelling: str) -> tuple[bool, str]:
    """Whether some release takes an option, and if none does, the one of which it is a slip."""
    catalog = load(framework)
    ends = (catalog.versions[0], catalog.newest)
    if any(catalog.read_flag(spelling, version) is not None for version in ends):
        return True, ""
    if catalog.ever(spelling) or catalog.ever(spelling.replace("_", "-")):
        return True, ""
    for version in ends:
        closest = catalog.closest(spelling, version)
        if closest is not None and options.slip(spelling, closest):
            return False, closest
    return False, ""


VIEW = View(
    name="command_flag",
    doc="An option of a server that a script starts, whether or not a job reaches the script.",
    facts=(
        Fact("framework", "string", "vLLM, SGLang or ATOM"),
        Fact("spelling", "string", "the option as it is given"),
        Fact("known", "bool", "some release of the catalog takes it"),
        Fact("closest", "string", "the option of which it is a slip, empty if there is none"),
        Fact("planned", "bool", "a job starts its server in the script"),
        Fact("archived", "bool", "the script lies in a folder of old scripts"),
    ),
    anchors={"command_flag": "the option in the script", "correction": "the option that is a slip of another"},
    build=_build,
)
