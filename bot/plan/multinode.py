"""Servers that several nodes make up: from a recipe that a launcher submits to the command line of each role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from botlint.core.span import Problem, Span
from botlint.layouts.inferencex.srtslurm import (
    Cluster,
    LineMap,
    SrtRecipe,
    inject,
    read_cluster,
    read_recipe,
    release,
    split_argument,
)
from botlint.layouts.inferencex.srtslurm import Role as RecipeRole
from botlint.plan import servers
from botlint.plan.model import Exit, Location, Role, Word, word_text
from botlint.plan.origins import Origins, recipe_origins
from botlint.shell.files import Revision
from botlint.shell.paths import WORKSPACE, relative_to_workspace
from botlint.shell.process import Inputs, ServerStart, Submitted
from botlint.shell.values import Resolved, resolve
from botlint.shell.world import FileEdit, Submission

SRT_SLURM = "srt-slurm"
SETTINGS = ("srtslurm.yaml", "../srtslurm.yaml", "../../srtslurm.yaml")
"""Where srtctl looks for its settings, from where it is started (srt-slurm, src/srtctl/core/config.py)."""

REFUSED = frozenset(
    {"srt-unknown-key", "srt-environment", "srt-frontend", "srt-selector", "srt-backend", "srt-shape", "srt-size"}
)
"""Kinds of problems with which `srtctl apply` does not submit a job."""


def submission(words: Sequence[str | None]) -> Submission | None:
    """The recipe that `srtctl apply -f PATH[:SELECTOR]` submits; words that are not literal are None."""
    if words[0] != "srtctl" or "apply" not in words:
        return None
    for number, word in enumerate(words[:-1]):
        if word in ("-f", "--file"):
            return Submission(SRT_SLURM, number + 1, _path_of, SETTINGS)
    return None


def _path_of(argument: str) -> str:
    return split_argument(argument)[0]


# ---------------------------------------------------------------------------------------------------- file editors

_INJECTOR = ("SYNTHETIC_ACCEPTANCE", "SYNTHETIC_ACCEPTANCE_LENGTH")


def edits(text: str) -> FileEdit | None:
    """The recipe editor that a Python programme is: the injector of synthetic acceptance, by the variables it reads."""
    if "synthetic" not in text or _INJECTOR[0] not in text or "argv" not in text:
        return None
    return FileEdit(2, ("EVAL_ONLY", *_INJECTOR), _injector_idle, _injector_status, _injector_output)


def _variables(eval_only: str, wanted: str, length: str) -> dict[str, str]:
    return {"EVAL_ONLY": eval_only, _INJECTOR[0]: wanted, _INJECTOR[1]: length}


def _injector_idle(path: str, framework: str, *variables: str) -> bool:
    del path
    done = inject("", framework, _variables(*variables))
    return done.error is None


def _injector_status(path: str, framework: str, *variables: str) -> int:
    del path
    return int(inject(variables[-1], framework, _variables(*variables[:-1])).error is not None)


def _injector_output(path: str, framework: str, *variables: str) -> str:
    del path
    return inject(variables[-1], framework, _variables(*variables[:-1])).text


# ----------------------------------------------------------------------------------------------- servers side by side


class Start(NamedTuple):
    """Command line and environment of one server of several."""

    argv: tuple[Word, ...]
    env: Mapping[str, Word]
    runtime_env: Mapping[str, Word]
    start: ServerStart


ROLES = ("prefill", "decode", "aggregate")


def group(starts: Sequence[Start]) -> Iterator[Role]:
    """The roles of servers that start together, each with the first server that has it."""
    by_role: dict[str, list[Start]] = {}
    for start in starts:
        shown = [word_text(w) for w in start.argv]
        by_role.setdefault(servers.role(shown, {**start.env, **start.runtime_env}), []).append(start)
    for name in ROLES:
        members = by_role.get(name)
        if members:
            first = members[0]
            argv = _plain(first.argv)
            workers = max(1, len(members) // servers.nodes(argv))
            place = first.start.place
            env = {**first.env, **first.runtime_env}
            yield Role(name, workers, servers.gpus(argv), first.argv, env, place.path, place.line)


def _plain(argv: Sequence[Word]) -> list[str | None]:
    return [w if isinstance(w, str) else None for w in argv]


# --------------------------------------------------------------------------------------------------------- recipes


@dataclass(frozen=True, slots=True)
class RecipeServer:
    """What a submitted recipe starts: the roles, why there is no telling (`reason`), or how it fails (`exit`)."""

    framework: str
    path: str
    line: int
    roles: tuple[Role, ...]
    reason: str | None = None
    reason_at: Location | None = None
    exit: Exit | None = None
    doubt: str | None = None
    """Why the submission may fail where the renderer is not known for sure."""
    origins: Origins = field(default_factory=dict)


class Recipes:
    """Reads submitted recipes; each text once."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._clusters: dict[str, Cluster] = {}
        self._recipes: dict[tuple[str, str, str | None, str | None, str | None, str | None], RecipeServer] = {}

    def server(self, start: ServerStart, inputs: Inputs) -> RecipeServer:
        """What a submission starts for one job."""
        submitted = start.submitted
        assert submitted is not None
        argument = _text(resolve(submitted.argument, inputs))
        path, selector = split_argument(argument)
        place = Location(start.place.path, start.place.line)
        content = None if submitted.content is None else resolve(submitted.content, inputs)
        if not isinstance(content, str):
            return _undecided(_why(submitted, path), place)
        origin = _origin(submitted, inputs)
        settings = None if submitted.settings is None else _text(resolve(submitted.settings, inputs))
        checkout = None if submitted.checkout is None else resolve(submitted.checkout, inputs)
        ref = checkout.strip() or None if isinstance(checkout, str) else None
        key = (content, origin or path, selector, settings, ref, f"{place.path}:{place.line}")
        found = self._recipes.get(key)
        if found is None:
            found = self._recipes[key] = self._read(content, path, origin, selector, settings, ref, place)
        return found

    def _read(
        self,
        content: str,
        path: str,
        origin: str | None,
        selector: str | None,
        settings: str | None,
        ref: str | None,
        place: Location,
    ) -> RecipeServer:
        lines: LineMap | None = None
        if origin is not None:
            before = self._revision.text(f"{WORKSPACE}/{origin}")
            if before is not None and before != content:
                lines = LineMap(origin, before, content)
        recipe = read_recipe(content, origin or path, selector, cluster=self._cluster(settings), ref=ref, origin=lines)
        return _server(recipe, place, release(ref).fixed)

    def _cluster(self, text: str | None) -> Cluster | None:
        if text is None:
            return None
        found = self._clusters.get(text)
        if found is None:
            found = self._clusters[text] = read_cluster(text, SETTINGS[0])
        return found


def _undecided(reason: str, place: Location) -> RecipeServer:
    return RecipeServer("", place.path, place.line, (), reason, place)


def _why(submitted: Submitted, path: str) -> str:
    if submitted.state == "unknown" or (submitted.state == "file" and submitted.origin is None):
        return f"upstream recipe {path}"
    if submitted.state == "file":
        return f"the edits of recipe {path} could not be followed"
    return f"there is no recipe {path}" if submitted.state == "missing" else f"{path} is a directory of recipes"


def _origin(submitted: Submitted, inputs: Inputs) -> str | None:
    if submitted.origin is None:
        return None
    where = resolve(submitted.origin, inputs)
    return relative_to_workspace(where) if isinstance(where, str) else None


def _text(value: Resolved) -> str:
    """A text in which what is not known is only named."""
    return value if isinstance(value, str) else "".join(p if isinstance(p, str) else f"<{p.reason}>" for p in value)


def _server(recipe: SrtRecipe, place: Location, fixed: bool) -> RecipeServer:
    at = _first_line(recipe.spans, ("backend", "resources", "model", "name"), Span(recipe.path, 1, 1, 1, 1))
    refused = next(
        (p for p in recipe.problems if p.kind in REFUSED or (p.kind != "srt-duplicate" and not recipe.roles)), None
    )
    roles = tuple(_role(role, at) for role in recipe.roles)
    framework = next((f for f in (_framework(role.argv) for role in roles) if f), recipe.backend)
    doubt = None if refused is None else _refusal(refused)
    if refused is not None and fixed:
        return RecipeServer(framework, at.path, at.line, roles, exit=Exit(1, place.path, place.line, _refusal(refused)))
    for role in recipe.roles:
        if role.reason is not None:
            return RecipeServer(
                framework, at.path, at.line, roles, f"{role.name}: {role.reason}", Location(at.path, at.line)
            )
    return RecipeServer(framework, at.path, at.line, roles, doubt=doubt, origins=recipe_origins(recipe.roles))


def _refusal(problem: Problem) -> str:
    span = problem.span
    return f"srtctl refuses the recipe: {problem.message} ({span.path}:{span.line})"


def _first_line(spans: Mapping[str, Span], names: Sequence[str], otherwise: Span) -> Span:
    return next((spans[name] for name in names if name in spans), otherwise)


def _role(role: RecipeRole, at: Span) -> Role:
    names = list(role.spans)
    span = role.spans[names[0]] if names else at
    env: dict[str, Word] = dict(role.env)
    env.update({name: (unknown,) for name, unknown in role.runtime_env.items()})
    argv = tuple(w if isinstance(w, str) else tuple(w) for w in role.argv)
    return Role(role.name, role.workers, role.gpus_per_worker, argv, env, span.path, span.line)


def _framework(argv: Sequence[Word]) -> str | None:
    """The framework of a worker's command, behind what starts it on each node."""
    texts = _plain(argv)
    return next((f for f in (servers.identify(texts[k:]) for k in range(min(len(texts), 8))) if f), None)
