"""What the launch step of a row sees: its variables, its script, and the container in which it starts the server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botlint.core.span import Span
from botlint.core.unknown import Unknown
from botlint.documents.expressions import Context, Expression, Partial, to_text
from botlint.documents.workflow import Field, Input, Job, Step
from botlint.documents.yaml import Scalar
from botlint.layouts.atom.catalogs import Item
from botlint.layouts.atom.containers import Effects, Inside, chosen, matters, script_of
from botlint.layouts.atom.launches import MAX_DEPTH, Launcher, Library, scripts_of
from botlint.layouts.base import MARK_END, MARK_START, Start, Word
from botlint.repo.files import join_path

_RUNNER = (
    "GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_WORKSPACE GITHUB_SHA GITHUB_RUN_ID GITHUB_REF "
    "GITHUB_REPOSITORY RUNNER_TEMP HOME PATH USER"
).split()

_ENTERS = re.compile(r"(?:docker|podman|nerdctl|\$\{?\w{1,60}\}?)[ \t]{1,9}exec[ \t\\\n]{1,40}-")

_WORD = re.compile(r"[A-Za-z_]\w*")

CHECKOUT = "/workspace"
"""Where containers have the checkout."""

VARIABLES = "/container-variables"
"""The file of variables of a container."""

INSIDE = "__in_container_"
"""Before the names by which the launch step's script hands the container's variables over."""

Sources = dict[str, tuple[tuple[Span, str], ...]]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A step with what its expressions see, and the step of the job that it belongs to."""

    step: Step
    contexts: Mapping[str, Any]
    outer: Step


class Starts:
    """Makes the starts of the rows that one launcher takes; what does not depend on the row is made once."""

    def __init__(self, library: Library, launcher: Launcher) -> None:
        self.library = library
        self.launcher = launcher
        last = launcher.chain[-1]
        self.launch = next(step for step in last.job.steps if scripts_of(library, step))
        earlier = last.job.steps[: last.job.steps.index(self.launch)]
        self.steps = [step for step in earlier if step.uses is not None or matters(step)]
        self.layers = tuple(self._needed(layer) for layer in (last.workflow.env, last.job.env))
        self._roots = self._row_roots()
        self._known: dict[tuple[object, ...], Start] = {}
        self.fields: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.sources: Sources = {}
        for pair in (*self.layers[0], *self.layers[1], *self.launch.env):
            self.fields[pair.name] = tuple(_row_fields(launcher, pair, len(launcher.chain) - 1))
            self.sources[pair.name] = ((pair.span, pair.shown),)
        self.given: dict[str, Any] = {name: Unknown(name) for name in _RUNNER}
        self.given.update(GITHUB_ACTIONS="true", CI="true", GITHUB_EVENT_NAME=launcher.event)
        github = Context("github", {"event_name": launcher.event, "event": Context("github.event", {})})
        unknown = ("needs", "secrets", "steps", "vars", "runner", "job")
        self.common: dict[str, Any] = {"github": github, **{name: Context(name) for name in unknown}}
        self.common["strategy"] = Context("strategy", {"job-index": 0})
        self.above = self._above()
        assert self.launch.run is not None
        self._run_span = self.launch.run.node.span
        self.effects = Effects()
        self._matters: dict[int, bool] = {}
        self._scripts: dict[tuple[object, ...], tuple[str, tuple[int, ...], dict[str, Unknown]]] = {}

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of the framework whose server the launch step's script starts, where the repository says it."""
        framework = self.library.framework(join_path("", scripts_of(self.library, self.launch)[0]) or "")
        version = self.library.version(framework) if framework else ""
        return {framework: version} if version else {}

    def _needed(self, layer: tuple[Field, ...]) -> tuple[Field, ...]:
        """The variables of the job that are looked at: a container gets none of the others."""
        last = self.launcher.chain[-1]
        if not _ENTERS.search(script_of(self.launch)):
            return layer
        fields = [*last.workflow.env, *last.job.env, *self.launch.env]
        fields.extend(pair for step in self.steps for pair in (*step.env, *step.inputs))
        texts = [pair.node.text for pair in fields if isinstance(pair.node, Scalar)]
        texts.extend(script_of(step) for step in (self.launch, *self.steps))
        texts.extend(self.library.text(join_path("", path) or "") for path in scripts_of(self.library, self.launch))
        words = {word for text in texts for word in _WORD.findall(text)}
        return tuple(pair for pair in layer if pair.name in words)

    def _row_roots(self) -> tuple[str, ...] | None:
        """The keys of a row that its start is made of; None if that may be any."""
        level = len(self.launcher.chain) - 1
        fields = [*self.layers[0], *self.layers[1], *self.launch.env]
        for step in (self.launch, *self.steps):
            fields.extend([*step.env, *step.inputs])
            fields.extend(one for one in (step.run, step.uses, step.condition) if one is not None)
        depth = len(self.launcher.row_path)
        found: dict[str, None] = {}
        for pair in fields:
            if any(path[0] == "matrix" and len(path) <= depth for path in pair.references()):
                return None
            if level != self.launcher.row_level and any(path[0] == "matrix" for path in pair.references()):
                return None
            found.update((path[0], None) for path in _row_fields(self.launcher, pair, level))
        return tuple(found)

    def start(self, item: Item) -> Start:
        """The start of one row; rows that share all that it is made of share it."""
        if self._roots is None:
            return self._start(item)
        values = [item.matrix.get(name) for name in self._roots]
        key = (item.variables, *(id(one) if isinstance(one, dict | list) else one for one in values))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._start(item)
        return found

    def _start(self, item: Item) -> Start:
        contexts = self._contexts(item)
        seen = self.given.copy()
        contexts["env"] = seen
        for layer in self.layers:
            _give(layer, contexts, seen)
        later: dict[str, list[Word]] = {}
        inside: Mapping[str, Inside] = {}
        container: Step | None = None
        for placed in self._placed(self.steps, contexts, None, 0):
            effect = self.effects.of(placed.step, placed.contexts, item.variables)
            for name, values in effect.later.items():
                later.setdefault(name, []).extend(values)
                seen[name] = chosen(name, later[name])
            if effect.inside is not None:
                container, inside = placed.outer, effect.inside
        if container is None and _ENTERS.search(script_of(self.launch)):
            path = self.launcher.chain[-1].workflow.path
            return Start("", self._run_span, reason=f"no step of {path} is known to start the container")
        _give(self.launch.env, contexts, seen)
        return self._made(contexts, seen, inside, container)

    def _placed(
        self, steps: Sequence[Step], contexts: Mapping[str, Any], outer: Step | None, depth: int
    ) -> Iterator[_Placed]:
        """The steps that matter in order, those of local actions in place of the step that uses them."""
        for step in steps:
            condition = step.condition
            if condition is not None and condition.template is not None:
                single = condition.template.single
                if single is not None and single.truth(contexts) is False:
                    continue
            if step.uses is None:
                known = self._matters.get(id(step))
                if known is None:
                    known = self._matters[id(step)] = matters(step)
                if known:
                    yield _Placed(step, contexts, outer or step)
                continue
            where = to_text(step.uses.evaluate(contexts))
            local = isinstance(where, str) and where.startswith("./") and depth < MAX_DEPTH
            action = self.library.action(join_path("", where) or "") if local and isinstance(where, str) else None
            if action is None:
                continue
            passed = {pair.name.lower(): pair for pair in step.inputs}
            inputs = {one.name: _input(one, passed.get(name), contexts) for name, one in action.inputs.items()}
            yield from self._placed(action.steps, {**contexts, "inputs": inputs}, outer or step, depth + 1)

    def _above(self) -> dict[str, Any]:
        """What the job with the rows sees, but for its matrix."""
        given: dict[str, Any] = {}
        if self.launcher.event == "workflow_dispatch":
            declared = self.launcher.chain[0].workflow.dispatch_inputs
            given = {one.name: one.fallback({}) for one in declared.values()}
        contexts = {**self.common, "inputs": given}
        for number in range(self.launcher.row_level):
            job = self.launcher.chain[number].job
            contexts = self._called(number, {**contexts, "matrix": Context("matrix", _others(job, contexts))})
        return contexts

    def _contexts(self, item: Item) -> dict[str, Any]:
        """What the launch job sees for one row."""
        launcher = self.launcher
        matrix: Any = item.matrix
        if len(launcher.row_path) > 1:
            job = launcher.chain[launcher.row_level].job
            matrix = Context("matrix", {**_others(job, self.above), launcher.row_path[-1]: item.matrix})
        contexts = {**self.above, "matrix": matrix}
        for number in range(launcher.row_level + 1, len(launcher.chain)):
            contexts = self._called(number - 1, contexts)
            job = launcher.chain[number].job
            contexts["matrix"] = Context("matrix", _others(job, contexts))
        return contexts

    def _called(self, number: int, contexts: Mapping[str, Any]) -> dict[str, Any]:
        """What the workflow that a level calls sees."""
        passed = {pair.name.lower(): pair for pair in self.launcher.chain[number].job.inputs}
        declared = self.launcher.chain[number + 1].workflow.call_inputs or {}
        inputs = {one.name: _input(one, passed.get(name), contexts) for name, one in declared.items()}
        return {**self.common, "inputs": inputs}

    def _made(
        self, contexts: Mapping[str, Any], seen: Mapping[str, Any], inside: Mapping[str, Inside], container: Step | None
    ) -> Start:
        """The launch step's script, after the command that starts the container."""
        run = self.launch.run
        assert run is not None
        values: dict[str, Word] = {name: _word(value) for name, value in seen.items()}
        sources = self.sources
        command = ""
        if container is not None:
            sources = sources.copy()
            command = _start_container(inside, values, sources)
        parts = run.template.parts if run.template is not None else ()
        texts = tuple(to_text(part.evaluate(contexts)) for part in parts if isinstance(part, Expression))
        key = (command, None if container is None else container.index, texts)
        found = self._scripts.get(key)
        if found is None:
            found = self._scripts[key] = self._script(command, container, iter(texts))
        script, lines, unknowns = found
        where = (lines[-1] if lines else 1, 1)
        return Start(script, self._run_span, values, where, lines, unknowns, sources=sources, fields=self.fields)

    def _script(
        self, command: str, container: Step | None, texts: Iterator[object]
    ) -> tuple[str, tuple[int, ...], dict[str, Unknown]]:
        """The text of the script, where each of its lines is written, and what its marks stand for."""
        run = self.launch.run
        assert run is not None
        pieces = [command]
        lines = [] if container is None else [container.span.line]
        unknowns: dict[str, Unknown] = {}
        line = run.node.subspan(0, 0).line if isinstance(run.node, Scalar) else run.node.line
        for part in run.template.parts if run.template is not None else ():
            written = isinstance(part, str)
            value = next(texts) if isinstance(part, Expression) else part
            text = value if isinstance(value, str) else _marked(value, unknowns)
            pieces.append(text)
            for _ in range(text.count("\n")):
                lines.append(line)
                line += written
        return "".join(pieces), (*lines, line), unknowns


def _give(pairs: Iterable[Field], contexts: Mapping[str, Any], seen: dict[str, Any]) -> None:
    """Adds the variables of an `env:`; a later one may read an earlier one."""
    for pair in pairs:
        seen[pair.name] = to_text(pair.evaluate(contexts))


def _others(job: Job, contexts: Mapping[str, Any]) -> dict[str, Any]:
    """The axes of a matrix, each with its value where it has only one."""
    values: dict[str, Any] = {}
    for axis in job.axes:
        found = axis.evaluate(contexts)
        if isinstance(found, list):
            values[axis.name] = found[0] if len(found) == 1 else Unknown(f"one of {json.dumps(found)[:200]}")
    return values


def _input(one: Input, passed: Field | None, contexts: Mapping[str, Any]) -> Any:
    value = one.fallback({}) if passed is None else passed.evaluate(contexts)
    return to_text(value) if one.type == "string" else value


def _word(value: object) -> Word:
    if isinstance(value, Partial):
        return list(value.parts)
    return value if isinstance(value, str | Unknown | list) else str(value)


def _start_container(inside: Mapping[str, Inside], values: dict[str, Word], sources: Sources) -> str:
    """The command that starts the container, with the checkout in its working directory.

    The values of variables come from variables of their own, so that equal commands are one text for all rows.
    """
    listed: list[str] = []
    options: list[str] = []
    for name, one in inside.items():
        values[f"{INSIDE}{name}"] = one.value
        if one.place is not None:
            sources[f"{INSIDE}{name}"] = ((one.place, f"{name}={one.value}"),)
        if one.by_option:
            options.append(f'-e "{name}=${INSIDE}{name}"')
        else:
            listed.append(f'"{name}=${INSIDE}{name}"')
    written = f"printf '%s\\n' {' '.join(listed)} > {VARIABLES}; " if listed else f": > {VARIABLES}; "
    mount = f'-v "$GITHUB_WORKSPACE":{CHECKOUT} -w {CHECKOUT}'
    return f"{written}docker run -d {mount} --env-file {VARIABLES} {' '.join(options)} --name container image\n"


def _marked(text: object, unknowns: dict[str, Unknown]) -> str:
    """A text with marks in the place of what is not known."""
    pieces: list[str] = []
    for part in text.parts if isinstance(text, Partial) else (text,):
        if isinstance(part, Unknown):
            mark = f"{MARK_START}{len(unknowns)}{MARK_END}"
            unknowns[mark] = part
            pieces.append(mark)
        else:
            pieces.append(str(part))
    return "".join(pieces)


def _row_fields(launcher: Launcher, pair: Field, level: int) -> Iterator[tuple[str, ...]]:
    """The fields of the row that a value is made of, through the inputs of called workflows."""
    for path in pair.references():
        if path[: len(launcher.row_path)] == launcher.row_path and level == launcher.row_level:
            yield path[len(launcher.row_path) :]
        elif path[0] == "inputs" and len(path) > 1 and level > 0:
            for passed in launcher.chain[level - 1].job.inputs:
                if passed.name.lower() == path[1].lower():
                    yield from _row_fields(launcher, passed, level - 1)
