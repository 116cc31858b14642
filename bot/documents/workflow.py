"""GitHub workflow files: jobs, steps, inputs, environments and matrices, every value with its place and expressions.

The shape is that of GitHub's page "Workflow syntax for GitHub Actions"; values are read with the YAML 1.2 core schema,
as GitHub does (`on` is a text, `0.10` is the number 0.1). What has an unexpected shape is left out with a `Problem`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from botlint.core.span import Problem, Span
from botlint.documents.expressions import Template, compile_condition, compile_template, to_text
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Node, Scalar, Schema, Sequence, YamlDocument, load_yaml, to_plain

MAX_STEPS = 10_000

# Compiled texts by text and kind: the same expression stands in many jobs. Only texts without problems are kept.
TemplateCache: TypeAlias = dict[tuple[str, bool], Template]


class Field:
    """One `name: value` of a workflow file whose value may hold expressions; they are compiled when first used."""

    __slots__ = ("_cache", "_condition", "_template", "key", "name", "node")

    def __init__(
        self, name: str, key: Scalar | None, node: Node, cache: TemplateCache, condition: bool = False
    ) -> None:
        self.name = name
        self.key = key
        self.node = node
        self._cache = cache
        self._condition = condition
        self._template: Template | None = None

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.node!r})"

    @property
    def span(self) -> Span:
        """Where the pair is written, from the key to the end of the value."""
        value = self.node.span
        if self.key is None or self.key.span.path != value.path:
            return value
        key = self.key.span
        if (key.line, key.column) > (value.line, value.column):  # the value is an alias of something further up
            return key
        return Span(key.path, key.line, key.column, value.end_line, value.end_column)

    @property
    def shown(self) -> str:
        """The pair on one line, for people."""
        text = " ".join(self.node.source.split()) if isinstance(self.node, Scalar) else f"({self.node.kind})"
        return f"{self.name}: {text if len(text) <= 300 else text[:297] + '...'}"

    @property
    def constant(self) -> bool:
        """Whether the value is a scalar without expressions."""
        return isinstance(self.node, Scalar) and not self._condition and "${{" not in self.node.text

    @property
    def template(self) -> Template | None:
        """The compiled text of a scalar; None for a mapping or a sequence."""
        if self._template is None and isinstance(self.node, Scalar):
            key = (self.node.text, self._condition)
            self._template = self._cache.get(key)
            if self._template is None:
                build = compile_condition if self._condition else compile_template
                self._template = build(self.node.text, self.node.subspan)
                if not self._template.problems:
                    self._cache[key] = self._template
        return self._template

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the expressions of the value."""
        template = None if self.constant else self.template
        return () if template is None else template.problems

    def evaluate(self, contexts: Mapping[str, Any]) -> Any:
        """The value: a single expression and a plain number, boolean or null keep their type."""
        if not isinstance(self.node, Scalar):
            return to_plain(self.node)
        if self.constant:
            return self.node.value
        template = self.template
        return None if template is None else template.evaluate(contexts)

    def references(self) -> Iterator[tuple[str, ...]]:
        """The fixed paths that the value's expressions read."""
        if not self.constant and self.template is not None:
            yield from self.template.references()


@dataclass(frozen=True, slots=True)
class Input:
    """A declared input of a called or dispatched workflow."""

    name: str
    type: str
    required: bool
    default: Field | None
    span: Span
    shown: str

    def fallback(self, contexts: Mapping[str, Any]) -> Any:
        """The value of an input that is not given: its default, else the empty value of its type."""
        if self.default is not None:
            return self.default.evaluate(contexts)
        return {"boolean": False, "number": 0}.get(self.type, "")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job."""

    index: int
    name: Field | None
    uses: Field | None
    run: Field | None
    shell: Field | None
    working_directory: Field | None
    condition: Field | None
    env: tuple[Field, ...]
    inputs: tuple[Field, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Job:
    """One job; `uses` and `inputs` (its `with:`) if it calls a workflow, `steps` if not."""

    id: str
    uses: str | None
    inputs: tuple[Field, ...]
    matrix: Field | None
    """The whole `strategy.matrix` where it is one expression."""
    axes: tuple[Field, ...]
    """The keys of `strategy.matrix` where it is a mapping."""
    needs: tuple[str, ...]
    condition: Field | None
    env: tuple[Field, ...]
    outputs: tuple[Field, ...]
    defaults: tuple[Field, ...]
    """The `defaults.run` keys of the job."""
    steps: tuple[Step, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow file. `call_inputs` is None where it cannot be called from another workflow."""

    path: str
    name: str
    events: tuple[str, ...]
    call_inputs: Mapping[str, Input] | None
    dispatch_inputs: Mapping[str, Input]
    env: tuple[Field, ...]
    defaults: tuple[Field, ...]
    jobs: Mapping[str, Job]
    problems: tuple[Problem, ...]


class _Reader:
    """Reads one file, noting what has an unexpected shape."""

    def __init__(self, path: str, cache: TemplateCache) -> None:
        self.path = path
        self.cache = cache
        self.problems: list[Problem] = []

    def refuse(self, what: str, node: Node) -> None:
        self.problems.append(Problem(f"{what}, not a {node.kind}", node.span, "workflow"))

    def mapping(self, node: Node | None, what: str) -> YamlMapping | None:
        if node is None or (isinstance(node, Scalar) and node.value is None):
            return None
        if isinstance(node, YamlMapping):
            return node
        self.refuse(f"{what} is a mapping", node)
        return None

    def fields(self, node: Node | None, what: str) -> tuple[Field, ...]:
        if isinstance(node, Scalar) and "${{" in node.text:
            return ()
        mapping = self.mapping(node, what)
        return (
            () if mapping is None else tuple(Field(key.text, key, value, self.cache) for key, value in mapping.pairs())
        )

    def field(self, mapping: YamlMapping, name: str, condition: bool = False) -> Field | None:
        node = mapping.get(name)
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.refuse(f"{name!r} is a text", node)
            return None
        return Field(name, mapping.key_node(name), node, self.cache, condition)

    def names(self, node: Node | None) -> tuple[str, ...]:
        if isinstance(node, Scalar):
            return () if node.value is None else (node.text,)
        if isinstance(node, Sequence):
            return tuple(item.text for item in node.items if isinstance(item, Scalar))
        return tuple(key.text for key, _ in node.pairs()) if isinstance(node, YamlMapping) else ()

    def inputs(self, node: Node | None, default_type: str) -> dict[str, Input]:
        """Declared inputs by lower-case name: GitHub does not distinguish case."""
        found: dict[str, Input] = {}
        declared = self.mapping(node, "'inputs'")
        for key, value in declared.pairs() if declared is not None else ():
            spec = self.mapping(value, f"the input {key.text!r}")
            options = {} if spec is None else {name.text: (name, option) for name, option in spec.pairs()}
            kind = self.option(options, "type") or default_type
            required = self.option(options, "required") == "true"
            default = options.get("default")
            if default is not None and not isinstance(default[1], Scalar):
                self.refuse(f"the default of the input {key.text!r} is a {kind}", default[1])
                default = None
            found[key.text.lower()] = Input(
                name=key.text,
                type=kind,
                required=required,
                default=None if default is None else Field("default", *default, self.cache),
                span=key.span,
                shown=_shown_input(key.text, kind, required, None if default is None else default[1]),
            )
        return found

    def option(self, options: Mapping[str, tuple[Scalar, Node]], name: str) -> str | None:
        node = options[name][1] if name in options else None
        return str(to_text(node.value)) if isinstance(node, Scalar) and node.value is not None else None

    def run_defaults(self, mapping: YamlMapping) -> tuple[Field, ...]:
        defaults = self.mapping(mapping.get("defaults"), "'defaults'")
        return () if defaults is None else self.fields(defaults.get("run"), "'defaults.run'")

    def step(self, index: int, node: Node) -> Step | None:
        step = self.mapping(node, "a step")
        if step is None:
            return None
        return Step(
            index=index,
            name=self.field(step, "name"),
            uses=self.field(step, "uses"),
            run=self.field(step, "run"),
            shell=self.field(step, "shell"),
            working_directory=self.field(step, "working-directory"),
            condition=self.field(step, "if", condition=True),
            env=self.fields(step.get("env"), "'env'"),
            inputs=self.fields(step.get("with"), "'with'"),
            span=step.span,
        )

    def steps(self, node: Node | None) -> tuple[Step, ...]:
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            self.refuse("'steps' is a sequence", node)
            return ()
        read = [self.step(number, item) for number, item in enumerate(node.items[:MAX_STEPS])]
        return tuple(step for step in read if step is not None)

    def job(self, key: Scalar, node: Node) -> Job | None:
        job = self.mapping(node, f"the job {key.text!r}")
        if job is None:
            return None
        uses = self.field(job, "uses")
        strategy = self.mapping(job.get("strategy"), "'strategy'")
        matrix = None if strategy is None else strategy.get("matrix")
        single = isinstance(matrix, Scalar)
        return Job(
            id=key.text,
            uses=None if uses is None else str(to_text(uses.evaluate({}))),
            inputs=self.fields(job.get("with"), "'with'"),
            matrix=self.field(strategy, "matrix") if single and strategy is not None else None,
            axes=() if single else self.fields(matrix, "'matrix'"),
            needs=self.names(job.get("needs")),
            condition=self.field(job, "if", condition=True),
            env=self.fields(job.get("env"), "'env'"),
            outputs=self.fields(job.get("outputs"), "'outputs'"),
            defaults=self.run_defaults(job),
            steps=self.steps(job.get("steps")),
            span=key.span,
        )

    def workflow(self, root: YamlMapping) -> Workflow:
        events = root.get("on")
        called = dispatched = None
        callable_ = False
        if isinstance(events, YamlMapping):
            callable_ = "workflow_call" in events
            call = self.mapping(events.get("workflow_call"), "'workflow_call'")
            called = None if call is None else call.get("inputs")
            dispatch = self.mapping(events.get("workflow_dispatch"), "'workflow_dispatch'")
            dispatched = None if dispatch is None else dispatch.get("inputs")
        names = self.names(events)
        jobs = self.mapping(root.get("jobs"), "'jobs'")
        read = {key.text: self.job(key, node) for key, node in jobs.pairs()} if jobs is not None else {}
        name = root.get("name")
        return Workflow(
            path=self.path,
            name=name.text if isinstance(name, Scalar) else self.path,
            events=names,
            call_inputs=self.inputs(called, "string") if callable_ or "workflow_call" in names else None,
            dispatch_inputs=self.inputs(dispatched, "string"),
            env=self.fields(root.get("env"), "'env'"),
            defaults=self.run_defaults(root),
            jobs={name: job for name, job in read.items() if job is not None},
            problems=tuple(self.problems),
        )


@dataclass(frozen=True, slots=True)
class Action:
    """An action of the repository that is made of steps."""

    path: str
    inputs: Mapping[str, Input]
    steps: tuple[Step, ...]
    problems: tuple[Problem, ...]


def load_action(text: str, path: str, templates: TemplateCache | None = None) -> Action:
    """Read an `action.yml`; never raises. One that is not made of steps has none."""
    document = load_yaml(text, path, Schema.CORE)
    reader = _Reader(path, {} if templates is None else templates)
    reader.problems.extend(document.problems)
    root = document.root if isinstance(document.root, YamlMapping) else None
    runs = reader.mapping(root.get("runs"), "'runs'") if root is not None else None
    return Action(
        path=path,
        inputs=reader.inputs(root.get("inputs"), "string") if root is not None else {},
        steps=reader.steps(runs.get("steps")) if runs is not None else (),
        problems=tuple(reader.problems),
    )


def _shown_input(name: str, kind: str, required: bool, default: Node | None) -> str:
    shown = f"input {name}: {kind}" + (", required" if required else "")
    return f"{shown}, default {default.source}" if isinstance(default, Scalar) else shown


def load_workflow(text: str, path: str, templates: TemplateCache | None = None) -> Workflow:
    """Read one workflow file; never raises. What could not be read is in `problems` and left out.

    Files that are read with the same `templates` share their compiled expressions.
    """
    return read_workflow(load_yaml(text, path, Schema.CORE), templates)


def read_workflow(document: YamlDocument, templates: TemplateCache | None = None) -> Workflow:
    """As `load_workflow`, from a document that was read with the core schema."""
    path = document.path
    reader = _Reader(path, {} if templates is None else templates)
    reader.problems.extend(document.problems)
    root = document.root
    if isinstance(root, YamlMapping):
        return reader.workflow(root)
    if root is not None:
        reader.refuse("a workflow is a mapping", root)
    elif not document.problems:
        reader.problems.append(Problem("the file is empty", Span(path, 1, 1, 1, 1), "workflow"))
    return Workflow(path, path, (), None, {}, (), (), {}, tuple(reader.problems))
