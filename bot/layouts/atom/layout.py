"""The jobs of a repository with catalogs: rows of its matrices, each with the start that its workflow gives it."""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from botlint.core.span import Problem, Span
from botlint.documents.expressions import Context
from botlint.layouts.atom.catalogs import MAX_ROWS, Catalog, Grid, Item, catalog_paths, read_catalogs, rows
from botlint.layouts.atom.grids import grid_of
from botlint.layouts.atom.launches import Launcher, Library, launcher_of
from botlint.layouts.atom.starts import Starts
from botlint.layouts.base import CommandJob, Loaded, Start
from botlint.repo.files import Files


def recognise(files: Files) -> bool:
    """Whether a repository has catalogs of launch commands."""
    return bool(catalog_paths(files)) and bool(read_catalogs(files)[0])


def load(files: Files, options: Mapping[str, object]) -> Loaded:
    """The jobs of all catalogs, in the order of the builders; what could not be read is a problem."""
    del options
    library = Library(files)
    catalogs, problems = read_catalogs(files)
    jobs: list[CommandJob] = []
    for catalog in catalogs:
        jobs.extend(_jobs(library, catalog, problems))
        if len(jobs) > MAX_ROWS:
            problems.append(Problem(f"more than {MAX_ROWS} rows in all catalogs", catalog.span(()), "catalog"))
            jobs = jobs[:MAX_ROWS]
            break
    return Loaded(tuple(jobs), (*problems, *library.problems))


def _jobs(library: Library, catalog: Catalog, problems: list[Problem]) -> Iterator[CommandJob]:
    launcher = launcher_of(library, catalog)
    grid = Grid() if launcher is None else grid_of(launcher.chain[0].workflow, _without_inputs(launcher))
    items, refused = rows(catalog, grid, renames="" if launcher is None else launcher.renames)
    problems.extend(refused)
    starts = None if launcher is None else Starts(library, launcher)
    versions = {} if starts is None else starts.versions
    made = [_job(starts, catalog, item, versions) for item in items]
    stamp = _stamp(library, launcher, catalog, versions)
    for number, job in enumerate(made):
        yield replace(job, stamp=f"{stamp} {number}")


def _stamp(library: Library, launcher: Launcher | None, catalog: Catalog, versions: Mapping[str, str]) -> str:
    """A digest of all that the jobs of a catalog are made of."""
    levels = () if launcher is None else launcher.chain
    paths = [catalog.path, *(level.workflow.path for level in levels), *library.action_paths]
    texts = [f"{path}\0{library.text(path)}" for path in dict.fromkeys(paths)]
    ways = [*(level.job.id for level in levels), str(sorted(versions.items()))]
    return _digest("\0".join([catalog.form, *ways, *texts]))


def options_once(row: Mapping[str, object]) -> list[str]:
    """The options in the texts with which a row extends a server's command line, those that it gives once only."""
    model = row.get("model")
    rows = [row, *([model] if isinstance(model, dict) else [])]
    texts = [one[key] for one in rows for key in ("server_args", "extra_args", "extraArgs") if key in one]
    found = Counter(word for text in texts if isinstance(text, str) for word in _options(text))
    return [word for word, count in found.items() if count == 1]


@lru_cache(maxsize=2_048)
def _options(text: str) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return tuple(word.partition("=")[0] for word in words if word.startswith("-"))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _without_inputs(launcher: Launcher) -> Mapping[str, object]:
    return {"inputs": {}, "github": Context("github", {"event_name": launcher.event})}


def _job(starts: Starts | None, catalog: Catalog, item: Item, versions: Mapping[str, str]) -> CommandJob:
    if starts is None:
        where = Span(catalog.path, 1, 1, 1, 1)
        start = Start("", where, reason=f"no workflow brings the entries of {catalog.path} to a server")
    else:
        start = starts.start(item)
    return CommandJob(
        item.entry,
        item.config,
        item.arm,
        item.scenario,
        item.index,
        item.row,
        start,
        item.places,
        versions=versions,
        known={**item.known, "row-options": options_once(item.row)},
    )
