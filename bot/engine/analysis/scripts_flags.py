"""Flags that no version of a framework knows, for scripts whose image nobody names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botlint.catalogs.catalog import FRAMEWORKS, Catalog, load
from botlint.engine.analysis.scripts_launchers import model_prefixes
from botlint.engine.analysis.scripts_names import Spellings, closest_name
from botlint.engine.analysis.scripts_servers import Command, servers
from botlint.engine.context import Context


@dataclass(frozen=True, slots=True)
class UnknownFlag:
    """A flag that no version knows; `closest` is the one that differs by a slip, else empty."""

    server: Command
    flag: str
    closest: str
    start: int
    end: int


def unknown_flags(context: Context) -> Iterator[UnknownFlag]:
    """The unknown flags of servers, where no config gives jobs an image: with one, its version decides."""
    if model_prefixes(context):
        return
    for server in servers(context).servers():
        if server.kind not in FRAMEWORKS:
            continue
        catalog = load(server.kind)
        for flag, token in server.flags().items():
            if flag.startswith("--") and "$" not in flag and not _known(catalog, flag):
                yield UnknownFlag(server, flag, _closest(catalog, flag), token.start, token.end)


def _known(catalog: Catalog, flag: str) -> bool:
    ends = (catalog.versions[0], catalog.newest)
    return any(catalog.read_flag(flag, version) is not None for version in ends) or bool(catalog.history(flag).events)


def _closest(catalog: Catalog, flag: str) -> str:
    names = {
        spelling.replace("-", "_"): spelling
        for version in (catalog.versions[0], catalog.newest)
        for one in catalog.flags_at(version).values()
        for spelling in (*one.spellings, *one.negations)
    }
    return names.get(closest_name(flag.replace("-", "_"), Spellings(names))[0], "")
