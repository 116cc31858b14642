"""What a revision's matrix generator does, read from its Python source as a syntax tree.

The generator is a script of the repository under review, so it is never imported or run. It has changed often (fields
were added one by one, eval rules were replaced, the duration became a constant ...). Every difference that shows in a
row is found here as a fact in the source: which keys a row literal has and in which order, which constants exist, which
functions group rows for evals. What cannot be found keeps the newest behaviour, the default value of each fact.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeVar

from botlint.layouts.inferencex.entry_models import NEWEST_VALIDATION, Validation, read_validation
from botlint.layouts.inferencex.python_source import PythonSource
from botlint.repo.files import Files

GENERATOR_NAME = "generate_sweep_configs.py"
GENERATOR_PATHS = (f"utils/matrix_logic/{GENERATOR_NAME}", f"utils/matrix-logic/{GENERATOR_NAME}")

FIXED = "fixed-seq-len"
AGENTIC = "agentic-coding"

Path = tuple[str, ...]

_SETS_EVAL_ONLY = re.compile(r"\[Fields\.EVAL_ONLY\.value\]\s*=[^=]")
_Node = TypeVar("_Node", bound=ast.expr | ast.stmt)


@dataclass(frozen=True, slots=True)
class RowShape:
    """The keys of one kind of row in the generator's order, and the text values that it writes literally."""

    keys: tuple[str, ...]
    constants: Mapping[str, str] = field(default_factory=dict)


_HEAD = ("image", "model", "model-prefix", "precision", "framework", "runner")

NEWEST_SHAPES: Mapping[tuple[str, bool], RowShape] = {
    (FIXED, False): RowShape(
        (
            *_HEAD,
            "isl",
            "osl",
            "tp",
            "pp",
            "dcp-size",
            "pcp-size",
            "conc",
            "max-model-len",
            "ep",
            "dp-attn",
            "spec-decoding",
            "exp-name",
            "disagg",
            "run-eval",
        )
    ),
    (FIXED, True): RowShape(
        (
            *_HEAD,
            "isl",
            "osl",
            "spec-decoding",
            "prefill",
            "decode",
            "conc",
            "max-model-len",
            "exp-name",
            "disagg",
            "run-eval",
        )
    ),
    (AGENTIC, False): RowShape(
        (
            *_HEAD,
            "tp",
            "pp",
            "dcp-size",
            "pcp-size",
            "ep",
            "dp-attn",
            "spec-decoding",
            "conc",
            "kv-offloading",
            "total-cpu-dram-gb",
            "duration",
            "exp-name",
            "scenario-type",
        )
    ),
    (AGENTIC, True): RowShape(
        (
            *_HEAD,
            "spec-decoding",
            "prefill",
            "decode",
            "conc",
            "kv-offloading",
            "total-cpu-dram-gb",
            "duration",
            "exp-name",
            "disagg",
            "scenario-type",
        )
    ),
}


@dataclass(frozen=True, slots=True)
class EvalFacts:
    """How rows are chosen for accuracy evals. The defaults are the newest policy."""

    marked_by_default: bool = True
    evals_only: bool = True
    all_evals: bool = True
    sets_eval_only: bool = True
    sequence: tuple[int, int] = (8192, 1024)
    min_conc: int | None = 16
    single_policy: Literal["top-and-median", "tp-extremes"] = "top-and-median"
    single_group: tuple[Path, ...] = tuple(
        (key,) for key in ("model", "runner", "framework", "precision", "isl", "osl", "spec-decoding", "dp-attn")
    )
    multi_policy: Literal["none", "median-of-largest", "highest"] = "highest"
    multi_group: tuple[Path, ...] = ()
    skipped_groups: tuple[tuple[str, ...], ...] = ()
    same_topology_ignores: frozenset[str] = frozenset(
        {"conc", "run-eval", "eval-only", "eval-conc", "eval-all-concs", "exp-name"}
    )
    marks_agentic_rows: bool = True
    agentic_single: bool = True
    agentic_group: tuple[Path, ...] = tuple((key,) for key in ("model", "runner", "framework", "precision"))
    agentic_multi: bool = True
    all_policy: Literal["merge", "split", "median"] = "merge"
    all_only_sequence: bool = True
    all_agentic_single: bool = True
    all_agentic_multi: bool = True


@dataclass(frozen=True, slots=True)
class GeneratorFacts:
    """Everything about a revision's generator that a row depends on. The defaults are the newest behaviour."""

    path: str | None = None
    shapes: Mapping[tuple[str, bool], RowShape] = field(default_factory=lambda: NEWEST_SHAPES)
    late_keys: tuple[str, ...] = ("kv-offload-backend",)
    component_keys: tuple[str, ...] = ("router", "kv-p2p-transfer")
    sequence_names: Mapping[tuple[int, int], str] = field(
        default_factory=lambda: {(1024, 1024): "1k1k", (8192, 1024): "8k1k"}
    )
    length_margin: int = 256
    worker_defaults: tuple[str, ...] = ("pp", "dcp-size", "pcp-size")
    agentic_batch: int | None = 1
    duration: int = 3600
    duration_from_config: bool = False
    dram_cap_mib: int = 2_861_022
    dram_gpu_factors: tuple[str, ...] = ("tp", "pp", "pcp-size")
    agentic_name_has_spec: bool = True
    agentic_name_has_worker_flags: bool = True
    evals: EvalFacts = field(default_factory=EvalFacts)
    validation: Validation = NEWEST_VALIDATION


def read_generator_facts(files: Files) -> GeneratorFacts:
    """The facts of the revision's generator; without a readable generator those of the newest one."""
    for path in GENERATOR_PATHS:
        source = files.text(path)
        if source is not None:
            checks = files.text(f"{path.rpartition('/')[0]}/validation.py")
            return _facts_of(path, source.text, checks.text if checks else "")
    return GeneratorFacts()


_UNNEEDED = "main|generate_(?!full_sweep$).*|runner_.*|expand_config_keys|validate_.*|load_.*|.*MatrixEntry"
_UNNEEDED_CHECKS = "load_.*|validate_(?!component_version$).*|.*MatrixEntry|Changelog.*"


@lru_cache(maxsize=8)
def _facts_of(path: str, generator: str, validation: str) -> GeneratorFacts:
    """Cached by content: the two revisions of a diff nearly always have the same generator."""
    checks = PythonSource.parse(validation, unneeded=_UNNEEDED_CHECKS)
    source = PythonSource.parse(generator, checks, unneeded=_UNNEEDED)
    if source is None:
        return GeneratorFacts(path=path)
    sweep = source.functions.get("generate_full_sweep")
    if sweep is None:
        return GeneratorFacts(path=path)
    nodes = _walk(sweep)
    shapes = _row_shapes(source, nodes)
    stored = set(_stored_keys(source, nodes))
    duration_default = _duration_from_config(source, nodes)
    newest = GeneratorFacts()
    return GeneratorFacts(
        path=path,
        shapes=shapes,
        late_keys=tuple(key for key in newest.late_keys if key in stored),
        component_keys=_component_keys(source),
        sequence_names={pair: name for name, pair in source.sequences.items()} or newest.sequence_names,
        length_margin=_length_margin(nodes, newest.length_margin),
        worker_defaults=_worker_defaults(source),
        agentic_batch=source.integer("MAX_MULTINODE_AGENTIC_CONCURRENCIES_PER_ALLOCATION"),
        duration=(
            source.integer("DEFAULT_AGENTIC_DURATION_SECONDS") or newest.duration
            if duration_default is None
            else duration_default
        ),
        duration_from_config=duration_default is not None,
        dram_cap_mib=source.integer("MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB") or newest.dram_cap_mib,
        dram_gpu_factors=tuple(key for key in newest.dram_gpu_factors if key in source.members.values()),
        agentic_name_has_spec="_spec-" in source.text,
        agentic_name_has_worker_flags=source.quotes("dpa"),
        evals=_eval_facts(source),
        validation=read_validation(source, checks),
    )


# --- rows -----------------------------------------------------------------------------------------------------------


def _row_shapes(source: PythonSource, nodes: list[ast.AST]) -> Mapping[tuple[str, bool], RowShape]:
    """The last row literal of each kind: earlier ones of the same kind are a test mode's, or were overwritten."""
    shapes = dict(NEWEST_SHAPES)
    for literal in _in_order(nodes, ast.Dict):
        keys = tuple(key for node in literal.keys if isinstance(key := source.resolve(node), str))
        if len(keys) != len(literal.keys) or not {"image", "exp-name"} <= set(keys):
            continue
        constants = {
            key: value.value
            for key, value in zip(keys, literal.values, strict=True)
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
        }
        shapes[FIXED if "isl" in keys else AGENTIC, "prefill" in keys] = RowShape(keys, constants)
    return shapes


def _stored_keys(source: PythonSource, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            key = source.resolve(node.slice)
            if isinstance(key, str):
                yield key


def _component_keys(source: PythonSource) -> tuple[str, ...]:
    function = source.functions.get("component_metadata")
    if function is None:
        return ()
    for node in _walk(function):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple):
            return tuple(key for item in node.iter.elts if isinstance(key := source.resolve(item), str))
    return GeneratorFacts().component_keys


def _length_margin(nodes: list[ast.AST], default: int) -> int:
    """`n` of `isl + osl + n`."""
    for node in nodes:
        match node:
            case ast.BinOp(
                left=ast.BinOp(left=ast.Name(id="isl"), op=ast.Add(), right=ast.Name(id="osl")),
                op=ast.Add(),
                right=ast.Constant(value=int(margin)),
            ):
                return margin
    return default


def _worker_defaults(source: PythonSource) -> tuple[str, ...]:
    function = source.functions.get("with_worker_parallelism_defaults")
    if function is None:
        return ()
    for literal in _in_order(_walk(function), ast.Dict):
        return tuple(key for node in literal.keys if isinstance(key := source.resolve(node), str))
    return ()


def _duration_from_config(source: PythonSource, nodes: list[ast.AST]) -> int | None:
    """The default in `config.get(duration, default)`, or None when no config can set the duration."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, ast.Constant(value=int(default))]):
                if source.resolve(key) == "duration":
                    return default
    return None


# --- evals ----------------------------------------------------------------------------------------------------------


def _eval_facts(source: PythonSource) -> EvalFacts:
    mark = source.functions.get("mark_eval_entries")
    if mark is None or not source.quotes("--evals-only"):
        return EvalFacts(marked_by_default=False, evals_only=False, all_evals=False, marks_agentic_rows=False)
    newest = EvalFacts()
    nodes = _walk(mark)
    groups = [group for group in _groups(source, nodes) if group]
    single = next((g for g in groups if ("isl",) in g), newest.single_group)
    multi = next((g for g in groups if ("isl",) not in g and any(path[0] == "prefill" for path in g)), ())
    agentic = next((g for g in groups if ("isl",) not in g and all(len(path) == 1 for path in g)), ())
    topology_uses = _topology_uses(nodes)
    enabled = source.constants.get("AGENTIC_EVALS_DISABLED") is not True
    everything = source.functions.get("mark_all_eval_entries")
    all_nodes = _walk(everything) if everything else []
    all_uses = _topology_uses(all_nodes)
    return EvalFacts(
        marked_by_default=source.quotes("--no-evals"),
        evals_only=True,
        all_evals=source.quotes("--all-evals"),
        sets_eval_only=_SETS_EVAL_ONLY.search(source.text) is not None,
        sequence=_eval_sequence(source, nodes) or newest.sequence,
        min_conc=source.integer("MIN_EVAL_CONC"),
        single_policy="tp-extremes" if _takes_extremes_of_tp(source, nodes) else "top-and-median",
        single_group=single,
        multi_policy="highest" if topology_uses else "median-of-largest" if multi else "none",
        multi_group=multi,
        skipped_groups=tuple(_skipped_groups(nodes)),
        same_topology_ignores=_ignored_fields(source) or newest.same_topology_ignores,
        marks_agentic_rows=not _last_loop_skips(mark),
        agentic_single=bool(agentic) and enabled,
        agentic_group=agentic or newest.agentic_group,
        agentic_multi=topology_uses > 1,
        all_policy=_all_policy(source, all_nodes, all_uses),
        all_only_sequence=_eval_sequence(source, all_nodes) is not None,
        all_agentic_single=enabled and _marks_agentic(source, all_nodes),
        all_agentic_multi=all_uses > 1,
    )


def _groups(source: PythonSource, nodes: list[ast.AST]) -> Iterator[tuple[Path, ...]]:
    """The tuples of row values that rows are grouped by, in source order."""
    for node in _in_order(nodes, ast.Assign):
        if isinstance(node.value, ast.Tuple):
            paths = [_row_path(source, item) for item in node.value.elts]
            yield tuple(path for path in paths if path) if all(paths) else ()


def _row_path(source: PythonSource, node: ast.expr) -> Path:
    """The path of keys that `row[a]`, `row.get(a)` or `row.get(a, {}).get(b)` reads, or () for anything else."""
    match node:
        case ast.Name():
            return ()
        case ast.Subscript(value=inner, slice=key):
            pass
        case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[key, *_]):
            pass
        case _:
            return ()
    name = source.resolve(key)
    if not isinstance(name, str):
        return ()
    return (name,) if isinstance(inner, ast.Name) else (*outer, name) if (outer := _row_path(source, inner)) else ()


def _eval_sequence(source: PythonSource, nodes: list[ast.AST]) -> tuple[int, int] | None:
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=table), slice=ast.Constant(value=str(key))):
                if table == source.sequence_table:
                    return source.sequences.get(key)
    return None


def _takes_extremes_of_tp(source: PythonSource, nodes: list[ast.AST]) -> bool:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="min" | "max")):
                if any(source.resolve(inner) == "tp" for inner in _walk(node) if isinstance(inner, ast.Attribute)):
                    return True
    return False


def _topology_uses(nodes: list[ast.AST]) -> int:
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("_parallelism_key")
        for node in nodes
    )


def _ignored_fields(source: PythonSource) -> frozenset[str]:
    for function in source.all_functions():
        if function.name.endswith("_parallelism_key"):
            for literal in _in_order(_walk(function), ast.Set):
                return frozenset(key for item in literal.elts if isinstance(key := source.resolve(item), str))
    return frozenset()


def _skipped_groups(nodes: list[ast.AST]) -> Iterator[tuple[str, ...]]:
    """The group prefixes of `if key[:n] == (...): continue`."""
    for node in nodes:
        match node:
            case ast.If(
                test=ast.Compare(
                    left=ast.Subscript(slice=ast.Slice()), ops=[ast.Eq()], comparators=[ast.Tuple(elts=items)]
                ),
                body=[ast.Continue()],
            ):
                values = (item.value for item in items if isinstance(item, ast.Constant))
                yield tuple(value for value in values if isinstance(value, str))


def _last_loop_skips(mark: ast.FunctionDef) -> bool:
    loops = [node for node in mark.body if isinstance(node, ast.For)]
    return bool(loops) and any(isinstance(node, ast.Continue) for node in _walk(loops[-1]))


def _all_policy(source: PythonSource, nodes: list[ast.AST], uses: int) -> Literal["merge", "split", "median"]:
    mentioned = {source.resolve(node) for node in nodes if isinstance(node, ast.Attribute)}
    return "merge" if "eval-all-concs" in mentioned else "split" if uses else "median"


def _marks_agentic(source: PythonSource, nodes: list[ast.AST]) -> bool:
    """Whether the branch for agentic rows marks anything."""
    for node in nodes:
        match node:
            case ast.If(test=ast.Compare(comparators=[ast.Constant(value="agentic-coding")]), body=body):
                return any(
                    source.resolve(inner) == "run-eval"
                    for statement in body
                    for inner in _walk(statement)
                    if isinstance(inner, ast.Attribute)
                )
    return False


def _walk(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree but contexts and operators; `ast.walk` takes twice as long."""
    nodes = [tree]
    for node in nodes:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                nodes.extend([item for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.expr | ast.stmt | ast.arguments | ast.slice):
                nodes.append(value)
    return nodes


def _in_order(nodes: list[ast.AST], kind: type[_Node]) -> list[_Node]:
    found = [node for node in nodes if isinstance(node, kind)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))
