"""Which workflow job gets a generated row: callers of templates that start a launcher, found by structure, not by name.

* A *launch step* is a step whose `run:` starts a script under `runners/`; a *caller* is a job whose matrix comes from
  an expression and which is, or reaches through `uses:`, a job with a launch step.
* A caller takes single-node or multi-node rows by what it reads (`matrix.config.prefill` or `matrix.config.tp`),
  agentic rows and eval rows by what it passes (`scenario-type`, `eval-only: true`) or by the words in its matrix
  expression (`.single_node['agentic']`, `.multinode_evals`), and one sequence length by a word such as `8k1k` there.
* Of several callers that fit, one is preferred that takes the workload from the row over one that writes `isl` and
  `osl` itself, and one that gets all rows over one that gets a selection of another caller's rows (a canary); then by
  what triggers it (push or schedule, pull request, dispatch); then the one that names the sequence length; then the one
  whose constants agree with the row; then the template that most callers use; then the shortest chain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

from botlint.core.span import Problem, Span
from botlint.documents.expressions import Call, Index, Node, children, static_path, to_text
from botlint.documents.expressions import Literal as Constant
from botlint.documents.workflow import Field, Job, Step, TemplateCache, Workflow, load_workflow
from botlint.documents.yaml import Scalar

FOLDER = ".github/workflows"
MAX_FILES = 500
MAX_CHAIN = 10  # GitHub's limit on nested reusable workflows
MAX_CHAINS = 1_000
MAX_LEVELS = 20_000
MAX_LINE = 10_000

Kind: TypeAlias = Literal["throughput", "eval", "own-eval"]
"""What a row is dispatched for; `own-eval` is the eval of a row that is no eval row of the generator."""

EVAL_INPUTS = ("run-eval", "eval-only")
"""The inputs by which a template runs nothing but an eval."""

_LAUNCH = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else|if|exec|bash|sh|source|sudo|time|nohup|env)\s|^\.\s|\s\.\s)\s*(?:-[\w-]+\s+)*[\"']?"
    r"(?:\./|\$\{?(?:GITHUB_WORKSPACE|PWD)\}?[\"']?/|\$\{\{\s*github\.workspace\s*\}\}/)?runners/[^\s;&|]+"
)
_NOT_A_COMMAND = re.compile(r"(?:#|echo\b|printf\b|:\s)")
# How an `if:` starts that nothing can make true.
_FALSE = re.compile(r"(?:\$\{\{)?[\s(]*(?:false\b|null\b|0|''|!\s*true\b)")
_SEQUENCE = re.compile(r"(\d{1,4})k(\d{1,4})k")
_WORDS = re.compile(r"\d+k\d+k|[A-Za-z]+")


class SourceText(Protocol):
    """The text of a file."""

    @property
    def text(self) -> str:
        """The decoded content."""


class Files(Protocol):
    """The files of a revision, as far as they are needed here."""

    def paths(self, prefix: str = "") -> Sequence[str]:
        """The paths below a directory."""

    def text(self, path: str) -> SourceText | None:
        """The decoded content of a file."""


@dataclass(frozen=True, slots=True)
class Level:
    """One job of a chain of called workflows, with the workflow that it is in."""

    workflow: Workflow
    job: Job


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """A workflow job that gets generated rows, and how a row of it reaches the launch step."""

    workflow: str
    job: str
    template: str
    """The workflow file with the launch step."""
    matrix: str
    """The text of the matrix expression."""
    span: Span
    chain: tuple[Level, ...] = field(repr=False)
    step: Step = field(repr=False)
    row_level: int
    axis: Field = field(repr=False)
    row_path: tuple[str, ...]
    """Where expressions find the row: ('matrix', 'config'), or ('matrix',) where the rows are the whole matrix."""
    multinode: bool | None
    agentic: bool | None
    evaluation: bool
    sequence: tuple[int, int] | None
    workload: tuple[str, str] | None
    """`isl` and `osl` where the caller writes them itself."""
    selection: bool
    trigger: int
    constants: tuple[tuple[str, str], ...] = field(repr=False)
    switched: frozenset[str] = frozenset()
    """Boolean inputs that are true whatever the caller passes."""

    def fits(self, multinode: bool, agentic: bool | None, sizes: tuple[Any, Any]) -> bool:
        """Whether a row with these properties is one of the caller's, evals aside; None: agentic or not."""
        if self.multinode not in (None, multinode) or (agentic is not None and self.agentic not in (None, agentic)):
            return False
        if self.sequence is not None:
            return self.sequence == sizes
        return self.workload is None or self.workload == (str(sizes[0]), str(sizes[1]))

    def mismatches(self, row: Mapping[str, Any]) -> int:
        """How many of the constants that the caller passes differ from the row's field of that name."""
        return sum(name in row and to_text(row[name]) != text for name, text in self.constants)


@dataclass(slots=True)
class _Matrix:
    """What a matrix expression says about its rows."""

    words: list[str] = field(default_factory=list)
    outputs: list[tuple[str, str]] = field(default_factory=list)


def _source(pair: Field) -> str:
    return pair.node.text if isinstance(pair.node, Scalar) else ""


def launch_step(job: Job) -> Step | None:
    for step in job.steps:
        if step.run is None or "runners/" not in _source(step.run) or _never(step.condition):
            continue
        if any(
            "runners/" in line and len(line) <= MAX_LINE and not _NOT_A_COMMAND.match(line) and _LAUNCH.search(line)
            for line in map(str.strip, _source(step.run).splitlines())
        ):
            return step
    return None


def _never(condition: Field | None) -> bool:
    """Whether an `if:` is false whatever the run is."""
    if condition is None or not _FALSE.match(_source(condition)) or condition.template is None:
        return False
    single = condition.template.single
    return single is not None and single.truth({}) is False


def _row_axis(job: Job) -> tuple[Field, tuple[str, ...]] | None:
    """The key of a job's matrix that an expression fills, with the path by which a row is read."""
    if job.matrix is not None:
        return job.matrix, ("matrix",)
    for axis in job.axes:
        if axis.template is not None and axis.template.single is not None:
            if axis.name == "include":
                return axis, ("matrix",)
            if _holds_rows(job, axis.name):
                return axis, ("matrix", axis.name)
    return None


def _holds_rows(job: Job, axis: str) -> bool:
    """Whether the items of a matrix key are used as rows: a field of them is read, or they are passed on as JSON."""
    for pair in _readers(job):
        for expression in pair.template.expressions if pair.template is not None else ():
            for path in expression.references:
                whole = len(path) == 2 and "tojson" in expression.source.lower()
                if path[:2] == ("matrix", axis) and (len(path) > 2 or whole):
                    return True
    return False


def _readers(job: Job) -> Iterator[Field]:
    yield from job.inputs
    yield from job.env
    for step in job.steps:
        yield from step.env
        if step.run is not None:
            yield step.run


def _tail(node: Node) -> tuple[list[str], Node]:
    """The fixed keys at the end of `fromJson(...).a['b']`, and the node before them."""
    keys: list[str] = []
    while isinstance(node, Index) and isinstance(node.key, Constant) and isinstance(node.key.value, str):
        keys.insert(0, node.key.value)
        node = node.base
    return keys, node


def _inspect(chain: Sequence[Level], level: int, node: Node, found: _Matrix) -> None:
    """Collect the names by which a matrix expression picks its rows, through the inputs of called workflows."""
    path = static_path(node)
    if path is not None:
        if path[0] == "needs" and len(path) == 4:
            found.outputs.append((path[1], path[3]))
        elif path[0] == "inputs" and len(path) > 1 and level > 0:
            found.words.extend(path[1:])
            for pair in chain[level - 1].job.inputs:
                template = None if pair.constant else pair.template
                if pair.name.lower() == path[1].lower() and template is not None and template.single is not None:
                    _inspect(chain, level - 1, template.single.node, found)
        return
    keys, base = _tail(node)
    found.words.extend(keys)
    for child in children(base) if base is not node or isinstance(base, Call) else children(node):
        _inspect(chain, level, child, found)


def _trigger(events: Sequence[str]) -> int:
    if any(event in ("push", "schedule") for event in events):
        return 0
    if any(event in ("pull_request", "pull_request_target", "merge_group") for event in events):
        return 1
    return 2


def _words(names: Iterable[str]) -> list[str]:
    return [word.lower() for name in names for word in _WORDS.findall(name)]


def _is_multinode(reads: set[str], words: Sequence[str], names: Sequence[str]) -> bool | None:
    if "prefill" in reads or "decode" in reads:
        return True
    if "tp" in reads:
        return False
    for group in (words, names):
        if any(word in ("multi", "multinode") for word in group):
            return True
        if "single" in group:
            return False
    return None


def _caller(chain: tuple[Level, ...], step: Step) -> tuple[Caller, _Matrix] | None:
    """Read a chain as a caller of rows; None where no job of it has a matrix from an expression."""
    for level in range(len(chain) - 1, -1, -1):
        job = chain[level].job
        found = _row_axis(job)
        if found is None:
            continue
        axis, row_path = found
        single = axis.template.single if axis.template is not None else None
        if single is None:
            return None
        matrix = _Matrix()
        _inspect(chain, level, single.node, matrix)
        return _described(chain, step, level, axis, row_path, single.source, matrix), matrix
    return None


def _described(
    chain: tuple[Level, ...],
    step: Step,
    level: int,
    axis: Field,
    row_path: tuple[str, ...],
    source: str,
    matrix: _Matrix,
) -> Caller:
    job = chain[level].job
    words = _words(matrix.words) or _words(name for _, name in matrix.outputs)
    depth = len(row_path)
    reads = {
        path[depth]
        for pair in _readers(job)
        for path in pair.references()
        if path[:depth] == row_path and len(path) > depth
    }
    given = {pair.name: pair for pair in job.inputs}
    constants = {name: str(to_text(pair.evaluate({}))) for name, pair in given.items() if pair.constant}
    sizes = next((match for word in words if (match := _SEQUENCE.fullmatch(word))), None)
    agentic: bool | None = "agentic" in words
    if not agentic and "scenario-type" in given:
        agentic = "agentic" in constants["scenario-type"] if "scenario-type" in constants else None
    workload = all(constants.get(name, "0") not in ("", "0") for name in ("isl", "osl"))
    return Caller(
        workflow=chain[0].workflow.path,
        job=job.id,
        template=chain[-1].workflow.path,
        matrix=source,
        span=job.span,
        chain=chain,
        step=step,
        row_level=level,
        axis=axis,
        row_path=row_path,
        multinode=_is_multinode(reads, words, _words((job.id, chain[-1].workflow.path))),
        agentic=agentic,
        evaluation=constants.get("eval-only") == "true" or not {"eval", "evals"}.isdisjoint(words),
        sequence=None if sizes is None else (int(sizes[1]) * 1024, int(sizes[2]) * 1024),
        workload=(constants["isl"], constants["osl"]) if workload else None,
        selection=False,
        trigger=_trigger(chain[0].workflow.events),
        constants=tuple(constants.items()),
    )


# --- all callers of a revision ---------------------------------------------------------------------------------------


def _target(workflows: Mapping[str, Workflow], uses: str) -> Workflow | None:
    target = workflows.get(uses[2:]) if uses.startswith("./") else None
    return target if target is not None and target.call_inputs is not None else None


class _Search:
    """Follows `uses:` from job to job; the number of jobs that it visits is bounded, since chains multiply."""

    def __init__(self, workflows: Mapping[str, Workflow]) -> None:
        self.workflows = workflows
        self.left = MAX_LEVELS
        self.found: list[tuple[Caller, _Matrix]] = []

    def follow(self, chain: tuple[Level, ...]) -> None:
        """Collect the callers among the ways from the last job of a chain to a launch step."""
        job = chain[-1].job
        self.left -= 1
        if self.left < 0 or len(self.found) >= MAX_CHAINS or _never(job.condition):
            return
        if job.uses is None:
            step = launch_step(job)
            caller = None if step is None else _caller(chain, step)
            if caller is not None:
                self.found.append(caller)
            return
        target = _target(self.workflows, job.uses)
        if target is None or len(chain) >= MAX_CHAIN or any(level.workflow is target for level in chain):
            return
        for inner in target.jobs.values():
            self.follow((*chain, Level(target, inner)))


def _roots(workflows: Mapping[str, Workflow]) -> list[Workflow]:
    """The workflows that an event starts, and those that are only called but by no one here."""
    called = {job.uses for workflow in workflows.values() for job in workflow.jobs.values() if job.uses is not None}
    return [
        workflow
        for workflow in workflows.values()
        if set(workflow.events) != {"workflow_call"} or f"./{workflow.path}" not in called
    ]


def _selects(job: Job, sources: set[tuple[str, str]]) -> bool:
    """Whether a job reads rows that other callers get, and so passes on a selection of them."""
    pairs = [pair for step in job.steps for pair in (*step.env, *step.inputs, *([step.run] if step.run else []))]
    return any(
        len(path) > 3 and path[0] == "needs" and (path[1], path[3]) in sources
        for pair in pairs
        if "needs" in _source(pair)
        for path in pair.references()
    )


def _mark_selections(found: list[tuple[Caller, _Matrix]]) -> list[Caller]:
    sources: dict[str, set[tuple[str, str]]] = {}
    for caller, matrix in found:
        sources.setdefault(caller.chain[caller.row_level].workflow.path, set()).update(matrix.outputs)
    marked: list[Caller] = []
    for caller, matrix in found:
        workflow = caller.chain[caller.row_level].workflow
        givers = [workflow.jobs.get(job) for job, _ in matrix.outputs]
        selection = bool(givers) and all(
            giver is not None and _selects(giver, sources[workflow.path]) for giver in givers
        )
        marked.append(replace(caller, selection=True) if selection else caller)
    return marked


def load_workflows(files: Files) -> tuple[dict[str, Workflow], tuple[Problem, ...]]:
    """Read the workflow files that call others or start a launcher; others do not matter here."""
    paths = [
        path
        for path in files.paths(FOLDER)
        if path.endswith((".yml", ".yaml")) and path.count("/") == FOLDER.count("/") + 1
    ]
    workflows: dict[str, Workflow] = {}
    problems: list[Problem] = []
    templates: TemplateCache = {}
    for path in paths[:MAX_FILES]:
        source = files.text(path)
        if source is None or not ("runners/" in source.text or f"./{FOLDER}/" in source.text):
            continue
        workflows[path] = load_workflow(source.text, path, templates)
        problems.extend(workflows[path].problems)
    if len(paths) > MAX_FILES:
        where = Span(paths[MAX_FILES], 1, 1, 1, 1)
        problems.append(Problem(f"only the first {MAX_FILES} workflow files are read", where, "workflow"))
    return workflows, tuple(problems)


def find_callers(workflows: Mapping[str, Workflow]) -> tuple[Caller, ...]:
    """All callers, those first that are preferred whatever the row is."""
    search = _Search(workflows)
    for root in _roots(workflows):
        for job in root.jobs.values():
            search.follow((Level(root, job),))
    callers = _mark_selections(search.found)
    popularity = Counter(caller.template for caller in callers)
    order = {id(caller): number for number, caller in enumerate(callers)}
    return tuple(
        sorted(
            callers,
            key=lambda caller: (
                *_rank(caller),
                -popularity[caller.template],
                len(caller.chain),
                caller.workflow,
                order[id(caller)],
            ),
        )
    )


def _rank(caller: Caller) -> tuple[bool, bool, int, bool]:
    return caller.selection, caller.workload is not None, caller.trigger, caller.sequence is None


class Selector:
    """Chooses the caller of a row; the choice is remembered by what it depends on."""

    def __init__(self, callers: Sequence[Caller]) -> None:
        self._callers = callers
        self._known: dict[tuple[Any, ...], list[Caller]] = {}

    def choose(self, row: Mapping[str, Any], kind: Kind) -> Caller | str:
        """The caller that dispatches a row, or why there is none."""
        multinode = row.get("prefill") is not None
        scenario = row.get("scenario-type")
        agentic = scenario.__class__ is str and "agentic" in scenario
        isl, osl = row.get("isl"), row.get("osl")
        sizes = (isl if isl.__class__ is int else None, osl if osl.__class__ is int else None)
        evaluation = kind != "throughput" or row.get("eval-only") is True
        own = kind == "own-eval"
        key = (multinode, agentic, sizes, evaluation, own)
        best = self._known.get(key)
        if best is None:
            choose = self._own_eval if own else self._best
            best = self._known[key] = choose(multinode, agentic, sizes, evaluation)
        if len(best) == 1:
            return best[0]
        if best:
            return min(best, key=lambda caller: caller.mismatches(row))
        if not self._callers:
            return "no workflow gives generated rows to a step that starts a script under runners/"
        words = ["agentic" if agentic else f"isl {isl}, osl {osl}", "eval" if evaluation else "throughput"]
        return f"no workflow job takes {'multi-node' if multinode else 'single-node'} rows ({', '.join(words)})"

    def _best(self, multinode: bool, agentic: bool, sizes: tuple[Any, Any], evaluation: bool) -> list[Caller]:
        """The equally ranked callers of the first group that fits.

        An eval row with no caller of its own goes where the evals go, else where the other rows go (with `run-eval`).
        """
        fitting = [c for c in self._callers if c.evaluation is evaluation and c.fits(multinode, agentic, sizes)]
        if not fitting and evaluation:
            fitting = [c for c in self._callers if c.evaluation and c.fits(multinode, None, sizes)]
            fitting = fitting or [c for c in self._callers if c.fits(multinode, agentic, sizes)]
        return [caller for caller in fitting if _rank(caller) == _rank(fitting[0])]

    def _own_eval(self, multinode: bool, agentic: bool, sizes: tuple[Any, Any], evaluation: bool) -> list[Caller]:
        """The callers of evals of such rows; where there are none, those of the rows themselves, switched to evals."""
        if any(c.evaluation is evaluation and c.fits(multinode, agentic, sizes) for c in self._callers):
            return self._best(multinode, agentic, sizes, evaluation)
        return [replace(c, switched=frozenset(EVAL_INPUTS)) for c in self._best(multinode, agentic, sizes, False)]
