"""What the workflows of a revision give a benchmark job: environment variables and the script of the launch step.

Everything is read from the workflow files, nothing is copied: a job with a matrix of generated rows (`matrix.config`)
calls a template through `uses:` and `with:`, the template's `inputs:` become its `env:`, and the step that starts a
script under `runners/` adds its own `env:`. So an input that is dropped, renamed, hard-coded or of the wrong type shows
in the result. `callers` says which job gets a row.

An assumption where the event decides: it has no label, and a dispatched workflow starts with its inputs' defaults.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents.expressions import (
    Context,
    Expression,
    Partial,
    concat,
    index,
    lookup,
    parse_number,
    static_path,
    to_text,
)
from botlint.documents.workflow import Field, Input, Step
from botlint.documents.yaml import Scalar, Sequence
from botlint.layouts.base import MARK_END, MARK_START
from botlint.layouts.inferencex.callers import FOLDER, Caller, Files, Kind, Selector, find_callers, load_workflows

Word: TypeAlias = str | Unknown | list[str | Unknown]

MAX_TRACE = 100

# Variables that the runner itself sets (GitHub's page "Variables reference"), and those of the runner's user account.
_RUNNER_VARIABLES = (
    "GITHUB_ACTION",
    "GITHUB_ACTOR",
    "GITHUB_ACTOR_ID",
    "GITHUB_API_URL",
    "GITHUB_BASE_REF",
    "GITHUB_ENV",
    "GITHUB_EVENT_NAME",
    "GITHUB_EVENT_PATH",
    "GITHUB_GRAPHQL_URL",
    "GITHUB_HEAD_REF",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_REF",
    "GITHUB_REF_NAME",
    "GITHUB_REF_PROTECTED",
    "GITHUB_REF_TYPE",
    "GITHUB_REPOSITORY",
    "GITHUB_REPOSITORY_ID",
    "GITHUB_REPOSITORY_OWNER",
    "GITHUB_REPOSITORY_OWNER_ID",
    "GITHUB_RETENTION_DAYS",
    "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID",
    "GITHUB_RUN_NUMBER",
    "GITHUB_SERVER_URL",
    "GITHUB_SHA",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_TRIGGERING_ACTOR",
    "GITHUB_WORKFLOW",
    "GITHUB_WORKFLOW_REF",
    "GITHUB_WORKFLOW_SHA",
    "GITHUB_WORKSPACE",
    "RUNNER_ARCH",
    "RUNNER_ENVIRONMENT",
    "RUNNER_OS",
    "RUNNER_TEMP",
    "RUNNER_TOOL_CACHE",
    "RUNNER_WORKSPACE",
    "HOME",
    "PATH",
    "USER",
)

# What GitHub runs for a value of `shell:` (its page "Workflow syntax", `jobs.<job_id>.steps[*].shell`).
_SHELLS = {
    "": "bash -e {0}",
    "bash": "bash --noprofile --norc -eo pipefail {0}",
    "sh": "sh -e {0}",
}

_SET_FOR_LATER = re.compile(
    r"""echo[ \t]{1,9}["']?([A-Za-z_]\w{0,99})=([^"'\n]{0,500})["']?[ \t]{0,9}>>[ \t]{0,9}["']?\$\{?GITHUB_ENV\b"""
)
_PLAIN = re.compile(r"[\w./:@%+=,-]*", re.ASCII)

_MISSING = object()


@dataclass(slots=True)
class JobEnvironment:
    """What the launch step of one job sees.

    `values` are all environment variables of the step. `run` is its script after substitution; a piece that is not
    known stands there as a mark (`MARK_START` number `MARK_END`) that `unknowns` explains. `reason` says why there is
    no environment; then all else is empty.
    """

    values: dict[str, Word]
    run: str
    run_span: Span
    run_origin: tuple[int, int]
    """Line and column where the first character of `run` is written."""
    unknowns: dict[str, Unknown]
    shell: str
    """The command that GitHub starts the script with."""
    working_directory: str
    caller: Span
    via: Caller | None
    problems: tuple[Problem, ...]
    reason: str | None
    _program: _Program | None = field(repr=False)
    _row: Mapping[str, Any] = field(repr=False)

    @property
    def run_lines(self) -> tuple[int, ...]:
        """The script is written in one piece."""
        return ()

    def trace(self, name: str) -> list[tuple[Span, str]]:
        """Where a variable comes from: its line in the workflow first, the row's field last, each with its text."""
        return [] if self._program is None else self._program.trace(name, self._row)

    def row_fields(self, name: str) -> list[tuple[str, ...]]:
        """The fields of the row that a variable's value is made of, as paths of keys."""
        return [] if self._program is None else self._program.row_fields(name, self._row)


class Workflows:
    """The workflow files of a revision, as far as they bring generated rows to a launcher."""

    def __init__(self, callers: tuple[Caller, ...], problems: tuple[Problem, ...]) -> None:
        self.callers = callers
        self.problems = problems
        self._selector = Selector(callers)
        self._programs: dict[int, _Program] = {}

    @classmethod
    def load(cls, files: Files) -> Workflows:
        """Read the workflows of a revision; never raises, what could not be read is in `problems`."""
        workflows, problems = load_workflows(files)
        return cls(find_callers(workflows), problems)

    def environment(
        self, row: Mapping[str, Any], kind: Kind = "throughput", runner: str | Unknown = ""
    ) -> JobEnvironment:
        """What the workflows give the job of a generated row on a runner; with a `reason` where none takes the row."""
        caller = self._selector.choose(row, kind)
        if isinstance(caller, str):
            nowhere = Span(FOLDER, 1, 1, 1, 1)
            return JobEnvironment({}, "", nowhere, (1, 1), {}, _SHELLS[""], "", nowhere, None, (), caller, None, row)
        program = self._programs.get(id(caller))
        if program is None:
            program = self._programs[id(caller)] = _Program(caller)
        return program.environment(row, runner or Unknown("RUNNER_NAME"))


# --- types of inputs -------------------------------------------------------------------------------------------------


def _shape(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if value is None or value == "":
        return "nothing" if value is None else "an empty string"
    return f"the {'boolean' if isinstance(value, bool) else 'string' if isinstance(value, str) else 'number'} {value!r}"


def _as_input(value: Any, kind: str) -> tuple[Any, str | None]:
    """The value of an input of a type, and what GitHub refuses about it.

    GitHub makes a string of a scalar where a string is declared; else types must agree, and an object is refused (the
    template reader of the public runner, `TemplateEvaluator.Validate`). For what it refuses the closest value goes on.
    """
    if isinstance(value, Unknown | Partial):
        return value, None
    if isinstance(value, dict | list):
        return Unknown(f"{_shape(value)} where a {kind} is declared"), _shape(value)
    if kind == "boolean":
        if isinstance(value, bool):
            return value, None
        return str(to_text(value)).lower() == "true", _shape(value)
    if kind == "number":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value, None
        return parse_number(str(to_text(value))), _shape(value)
    return to_text(value), None


def _marked(text: Any) -> tuple[str, dict[str, Unknown]]:
    """A text with marks in the place of what is not known, and what the marks stand for."""
    unknowns: dict[str, Unknown] = {}
    pieces: list[str] = []
    for part in text.parts if isinstance(text, Partial) else (text,):
        if isinstance(part, Unknown):
            mark = f"{MARK_START}{len(unknowns)}{MARK_END}"
            unknowns[mark] = part
            pieces.append(mark)
        else:
            pieces.append(part)
    return "".join(pieces), unknowns


# --- one caller, compiled --------------------------------------------------------------------------------------------

Evaluator: TypeAlias = Callable[[Mapping[str, Any]], Any]


class _Varying:
    """The names whose values depend on the row or the runner, per context; None stands for all names of a context."""

    def __init__(self) -> None:
        self._names: dict[str, set[str] | None] = {}

    def add(self, context: str, name: str | None) -> None:
        if name is None:
            self._names[context] = None
            return
        known = self._names.setdefault(context, set())
        if known is not None:
            known.add(name.lower())

    def __contains__(self, path: tuple[str, ...]) -> bool:
        if path[0] not in self._names:
            return False
        names = self._names[path[0]]
        return names is None or len(path) == 1 or path[1].lower() in names

    def touches(self, pair: Field) -> bool:
        return any(path in self for path in pair.references())


@dataclass(slots=True)
class _Stage:
    """How the inputs of one called workflow follow from a row.

    `plain` strings are a field of the row, `nested` ones a field of an object in it; both skip the evaluator.
    """

    contexts: dict[str, Any]
    fixed: dict[str, Any]
    plain: list[tuple[str, str, Field]] = field(default_factory=list)
    nested: list[tuple[str, str, str, Field]] = field(default_factory=list)
    computed: list[tuple[str, Evaluator, str, Field]] = field(default_factory=list)


def _needed(fields: Iterable[Field]) -> set[str] | None:
    """The inputs that some fields read; None where one reads all of them."""
    names: set[str] = set()
    for pair in fields:
        for path in pair.references():
            if path[0] == "inputs":
                if len(path) == 1:
                    return None
                names.add(path[1].lower())
    return names


class _Program:
    """A caller compiled: what does not depend on the row is computed once."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.problems: list[Problem] = []
        self._refusals: dict[tuple[int, str], Problem] = {}
        self._scripts: dict[tuple[Any, ...], tuple[str, dict[str, Unknown]]] = {}
        self.given: list[dict[str, Field]] = []
        self.declared: list[Mapping[str, Input]] = []
        self._stages: list[_Stage] = []
        self._row_contexts: dict[str, Any] = {}
        self._other_axes = self._fixed_axes() if len(caller.chain[caller.row_level].job.axes) > 1 else None
        launch = caller.chain[-1]
        self._shell = self._run_setting("shell")
        self._directory = self._run_setting("working-directory")
        run = caller.step.run
        assert run is not None
        template = run.template
        self._run_parts = template.parts if template is not None else ()
        self._run_expressions = template.expressions if template is not None else ()
        self._run_span = run.node.span
        self._note([run])
        origin = run.node.subspan(0, 0) if isinstance(run.node, Scalar) else self._run_span
        self._run_origin = (origin.line, origin.column)
        contexts, varying = self._inputs()
        self.layers: tuple[tuple[Field, ...], ...] = (launch.workflow.env, launch.job.env, caller.step.env)
        self._compile_environment(contexts, varying)

    # reading

    def _run_setting(self, name: str) -> str:
        launch = self.caller.chain[-1]
        own = self.caller.step.shell if name == "shell" else self.caller.step.working_directory
        defaults = [pair for pair in (*launch.workflow.defaults, *launch.job.defaults) if pair.name == name]
        chosen = own or (defaults[-1] if defaults else None)
        return "" if chosen is None else str(to_text(chosen.evaluate({})))

    def _note(self, pairs: Iterable[Field]) -> None:
        for pair in pairs:
            self.problems.extend(pair.problems)

    def _inputs(self) -> tuple[dict[str, Any], _Varying]:
        """Follow the inputs down the chain; the contexts and what varies of them at the last level."""
        chain = self.caller.chain
        root = chain[0].workflow
        declared = root.dispatch_inputs if "workflow_dispatch" in root.events else root.call_inputs or {}
        fixed = {one.name: _as_input(one.fallback({}), one.type)[0] for one in declared.values()}
        self.declared.append(declared)
        event = Context(
            "github.event",
            {
                "inputs": {name: to_text(value) for name, value in fixed.items()},
                "pull_request": Context("github.event.pull_request", {"labels": []}),
            },
        )
        github = Context("github", {"event": event})
        contexts: dict[str, Any] = {"github": github, "inputs": fixed}
        varying = _Varying()
        for number, level in enumerate(chain):
            if number == self.caller.row_level:
                self._row_contexts = contexts
                varying.add("matrix", self.caller.row_path[1] if len(self.caller.row_path) > 1 else None)
                contexts = {**contexts, "matrix": Context("matrix", self._fixed_axes())}
            if number + 1 < len(chain):
                target = chain[number + 1].workflow.call_inputs or {}
                stage, varying = self._called(level.job.inputs, target, number, contexts, varying)
                if number >= self.caller.row_level:
                    self._stages.append(stage)
                contexts = stage.contexts
        return contexts, varying

    def _fixed_axes(self) -> dict[str, Any]:
        """The other matrix keys that have one value."""
        found: dict[str, Any] = {}
        for axis in self.caller.chain[self.caller.row_level].job.axes:
            items = axis.node.items if isinstance(axis.node, Sequence) else []
            if len(items) == 1 and isinstance(items[0], Scalar) and "${{" not in items[0].text:
                found[axis.name] = items[0].value
        return found

    def _called(
        self,
        given: tuple[Field, ...],
        declared: Mapping[str, Input],
        level: int,
        contexts: dict[str, Any],
        varying: _Varying,
    ) -> tuple[_Stage, _Varying]:
        """The inputs of the workflow that a level calls."""
        below = self.caller.chain[level + 1]
        readers = [*below.job.inputs, *below.workflow.env, *below.job.env]
        readers.extend(pair for step in below.job.steps for pair in (*step.env, *([step.run] if step.run else [])))
        needed = _needed(readers)
        by_name = {pair.name.lower(): pair for pair in given}
        self.given.append(by_name)
        self.declared.append(declared)
        self._note(given)
        for name, pair in by_name.items():
            if name not in declared:
                text = f"{pair.name!r} is passed to {below.workflow.path}, which does not declare it"
                self.problems.append(Problem(text, pair.span, "input-undeclared"))
        stage = _Stage({"github": contexts["github"]}, {})
        after = _Varying()
        for name, one in declared.items():
            passed = by_name.get(name)
            if name in self.caller.switched:
                stage.fixed[one.name] = _as_input(True, one.type)[0]
            elif passed is None:
                if one.required:
                    text = f"the required input {one.name!r} of {below.workflow.path} is not passed"
                    span = self.caller.chain[level].job.span
                    self.problems.append(Problem(text, span, "input-missing"))
                stage.fixed[one.name] = _as_input(one.fallback(stage.contexts), one.type)[0]
            elif varying.touches(passed):
                after.add("inputs", name)
                stage.fixed[one.name] = None
                if needed is None or name in needed:
                    self._vary(stage, one, passed)
            else:
                value, refused = _as_input(passed.evaluate(contexts), one.type)
                stage.fixed[one.name] = value
                if refused is not None:
                    self.problems.append(self._refusal(passed, one.type, refused))
        stage.contexts["inputs"] = stage.fixed
        return stage, after

    def _vary(self, stage: _Stage, one: Input, passed: Field) -> None:
        template = passed.template
        if template is None:
            return
        single = template.single
        path = static_path(single.node) if single is not None else None
        prefix = len(self.caller.row_path)
        own = path[prefix:] if path is not None and path[:prefix] == self.caller.row_path and not self._stages else ()
        if len(own) == 1 and one.type == "string":
            stage.plain.append((one.name, own[0], passed))
        elif len(own) == 2 and one.type == "string":
            stage.nested.append((one.name, *own, passed))
        else:
            stage.computed.append((one.name, template.evaluate, one.type, passed))

    def _refusal(self, passed: Field, kind: str, refused: str) -> Problem:
        key = (id(passed), refused)
        problem = self._refusals.get(key)
        if problem is None:
            text = f"the input {passed.name!r} is declared as {kind} and gets {refused}"
            problem = self._refusals[key] = Problem(text, passed.span, "input-type")
        return problem

    # the environment

    def _earlier(self, steps: Iterable[Step]) -> dict[str, Any]:
        """Variables that the steps before the launch step set for later ones through `GITHUB_ENV`."""
        found: dict[str, Any] = {}
        for step in steps:
            if step.index >= self.caller.step.index:
                break
            script = step.run.node.text if step.run is not None and isinstance(step.run.node, Scalar) else ""
            for name, value in _SET_FOR_LATER.findall(script) if "GITHUB_ENV" in script else ():
                known = step.condition is None and _PLAIN.fullmatch(value) is not None
                found[name] = value if known else Unknown(f"{name} set by an earlier step")
        return found

    def _compile_environment(self, contexts: dict[str, Any], varying: _Varying) -> None:
        launch = self.caller.chain[-1]
        varying.add("runner", None)
        values: dict[str, Any] = {name: Unknown(name) for name in _RUNNER_VARIABLES}
        values.update(GITHUB_ACTIONS="true", CI="true", GITHUB_JOB=launch.job.id)
        self._copies: list[tuple[str, str]] = []
        self._job_values: list[tuple[str, Evaluator | None, Any]] = []
        self._step_values: list[tuple[str, Evaluator, Field]] = []
        for number, layer in enumerate(self.layers[:2]):
            self._note(layer)
            for pair in layer:
                copied = self._input_copied(pair, varying) if number == 0 else None
                if copied is not None:
                    self._copies.append((pair.name, copied))
                    varying.add("env", pair.name)
                elif varying.touches(pair):
                    self._job_values.append((pair.name, self._evaluator(pair), pair))
                    varying.add("env", pair.name)
                else:
                    value = self._word(pair, pair.evaluate({**contexts, "env": values}), self.problems)
                    if ("env", pair.name) in varying:
                        self._job_values.append((pair.name, None, value))
                    else:
                        values[pair.name] = value
        for name, value in self._earlier(launch.job.steps).items():
            values[name] = value
            self._job_values.append((name, None, value))
        step_fixed: dict[str, Any] = {}
        self._note(self.layers[2])
        for pair in self.layers[2]:
            if varying.touches(pair):
                self._step_values.append((pair.name, self._evaluator(pair), pair))
            else:
                step_fixed[pair.name] = self._word(pair, pair.evaluate({**contexts, "env": values}), self.problems)
        self._values = values
        self._step_fixed = step_fixed
        self._problems = tuple(self.problems)
        fixed = values | step_fixed
        self._maybe_partial = [
            *(name for name, value in fixed.items() if isinstance(value, Partial)),
            *(copy[0] for copy in self._copies),
            *(op[0] for op in self._job_values),
            *(op[0] for op in self._step_values),
        ]

    def _evaluator(self, pair: Field) -> Evaluator:
        template = pair.template
        return pair.evaluate if template is None else template.evaluate

    def _input_copied(self, pair: Field, varying: _Varying) -> str | None:
        """The declared name of the string input that a value is, if it is just that."""
        template = None if pair.constant else pair.template
        path = static_path(template.single.node) if template is not None and template.single is not None else None
        if path is None or len(path) != 2 or path[0] != "inputs" or path not in varying or not self._stages:
            return None
        one = self.declared[-1].get(path[1].lower())
        return one.name if one is not None and one.type == "string" else None

    def _word(self, pair: Field, value: Any, problems: list[Problem]) -> Any:
        """The string that GitHub makes of a value of `env:`; an object is refused."""
        if isinstance(value, dict | list):
            text = f"{pair.name!r} is {_shape(value)} where a string is expected"
            problems.append(Problem(text, pair.span, "env-type"))
            return Unknown(text)
        return to_text(value)

    def environment(self, row: Mapping[str, Any], runner: str | Unknown) -> JobEnvironment:
        """Run the program for one row."""
        problems: list[Problem] = []
        contexts = self._follow(row, problems)
        contexts["runner"] = Context("runner", {"name": runner})
        inputs = contexts["inputs"]
        values = self._values.copy()
        values["RUNNER_NAME"] = runner
        contexts["env"] = values
        for name, source in self._copies:
            values[name] = inputs[source]
        for name, evaluate, pair in self._job_values:
            if evaluate is None:
                values[name] = pair
                continue
            value = evaluate(contexts)
            values[name] = value if value.__class__ is str else self._word(pair, value, problems)
        stepped = [(name, evaluate(contexts), pair) for name, evaluate, pair in self._step_values]
        values.update(self._step_fixed)
        for name, value, pair in stepped:
            values[name] = value if value.__class__ is str else self._word(pair, value, problems)
        script, unknowns = self._script(contexts)
        for name in self._maybe_partial:
            value = values[name]
            if value.__class__ is Partial:
                values[name] = list(value.parts)
        return JobEnvironment(
            values,
            script,
            self._run_span,
            self._run_origin,
            unknowns,
            _SHELLS.get(self._shell, self._shell),
            self._directory,
            self.caller.span,
            self.caller,
            (*self._problems, *problems) if problems else self._problems,
            None,
            self,
            row,
        )

    def _follow(self, row: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
        """The contexts of the launch job for one row."""
        path = self.caller.row_path
        matrix: Any = row if len(path) == 1 else {path[1]: row}
        if self._other_axes is not None:
            matrix = Context("matrix", {**self._other_axes, **matrix})
        contexts: dict[str, Any] = {**self._row_contexts, "matrix": matrix}
        for stage in self._stages:
            inputs = stage.fixed.copy()
            for name, key, pair in stage.plain:
                value = row.get(key, _MISSING)
                if value.__class__ is not str:
                    value = self._string(lookup(row, key) if value is _MISSING else value, pair, problems)
                inputs[name] = value
            for name, outer, key, pair in stage.nested:
                inner = row.get(outer)
                value = inner.get(key, _MISSING) if inner.__class__ is dict else _MISSING
                if value.__class__ is not str:
                    if value is _MISSING:
                        value = index(lookup(row, outer), key)
                    value = self._string(value, pair, problems)
                inputs[name] = value
            for name, evaluate, kind, pair in stage.computed:
                value = evaluate(contexts)
                if value.__class__ is not str or kind != "string":
                    value, refused = _as_input(value, kind)
                    if refused is not None:
                        problems.append(self._refusal(pair, kind, refused))
                inputs[name] = value
            contexts = {**stage.contexts, "inputs": inputs}
        return contexts

    def _string(self, value: Any, pair: Field, problems: list[Problem]) -> Any:
        if value.__class__ is int and -1_000_000 < value < 1_000_000:
            return str(value)
        value, refused = _as_input(value, "string")
        if refused is not None:
            problems.append(self._refusal(pair, "string", refused))
        return value

    def _script(self, contexts: Mapping[str, Any]) -> tuple[str, dict[str, Unknown]]:
        """The launch script; jobs whose expressions give the same texts share one string."""
        texts = tuple([to_text(part.evaluate(contexts)) for part in self._run_expressions])
        known = self._scripts.get(texts)
        if known is None:
            values = iter(texts)
            parts = self._run_parts
            text = concat([next(values) if isinstance(part, Expression) else part for part in parts])
            known = self._scripts[texts] = _marked(text)
        return known

    # provenance

    def trace(self, name: str, row: Mapping[str, Any]) -> list[tuple[Span, str]]:
        """The chain of one variable, from its definition to the fields of the row."""
        tracer = _Tracer(self, row)
        tracer.variable(name, len(self.layers))
        return tracer.steps

    def row_fields(self, name: str, row: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """The fields of the row at the end of that chain."""
        tracer = _Tracer(self, row)
        tracer.variable(name, len(self.layers))
        return tracer.fields


class _Tracer:
    """Collects the places that a value came through, each once."""

    def __init__(self, program: _Program, row: Mapping[str, Any]) -> None:
        self.program = program
        self.row = row
        self.steps: list[tuple[Span, str]] = []
        self.fields: list[tuple[str, ...]] = []

    def add(self, span: Span, text: str) -> bool:
        if (span, text) in self.steps or len(self.steps) >= MAX_TRACE:
            return False
        self.steps.append((span, text))
        return True

    def variable(self, name: str, layers: int) -> None:
        """The definition of a variable among the first `layers` of workflow, job and step."""
        level = len(self.program.caller.chain) - 1
        for number in range(layers - 1, -1, -1):
            for pair in reversed(self.program.layers[number]):
                if pair.name == name:
                    if self.add(pair.span, pair.shown):
                        self.references(pair, level, number)
                    return

    def references(self, pair: Field, level: int, layers: int) -> None:
        for path in pair.references():
            if path[0] == "env" and len(path) > 1:
                self.variable(path[1], layers)
            elif path[0] == "inputs" and len(path) > 1:
                self.input(path[1].lower(), level)
            elif path[: len(self.program.caller.row_path)] == self.program.caller.row_path:
                self.row_field(path, level)

    def input(self, name: str, level: int) -> None:
        declared = self.program.declared[level].get(name)
        if declared is not None:
            self.add(declared.span, declared.shown)
        passed = self.program.given[level - 1].get(name) if level > 0 else None
        if passed is not None and self.add(passed.span, passed.shown):
            self.references(passed, level - 1, 0)

    def row_field(self, path: tuple[str, ...], level: int) -> None:
        caller = self.program.caller
        if level != caller.row_level:
            return
        keys = path[len(caller.row_path) :]
        if keys and keys not in self.fields:
            self.fields.append(keys)
        value: Any = self.row
        for key in keys:
            value = lookup(value, key) if isinstance(value, dict) else None
        shown = json.dumps(value, ensure_ascii=False, default=repr)
        self.add(caller.axis.span, f"{'.'.join(path)} = {shown[:200]}, from {caller.axis.shown}")
