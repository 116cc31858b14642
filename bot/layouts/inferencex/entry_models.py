"""The schema that a revision's generator enforces on master configs, read from its pydantic classes as a syntax tree.

The generator refuses to print anything when one entry is invalid, so an invalid entry is a problem of the change. Which
fields exist, which are required and what they may hold differs from revision to revision; the classes say so, and so
does the presence of each cross-field check. Values are judged as pydantic judges them: `"8"` is an integer, `true` is
one too, but `8` is not a text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from botlint.layouts.inferencex.python_source import PythonSource

Place = tuple[str | int, ...]
Complaint = tuple[Place, str]

SINGLE_NODE = "SingleNodeMasterConfigEntry"
MULTI_NODE = "MultiNodeMasterConfigEntry"

MAX_TYPE_DEPTH = 8
MAX_COMPLAINTS = 100


@dataclass(frozen=True, slots=True)
class FieldType:
    """A type annotation. `kind` is a builtin name, `literal`, `model`, `list`, `map` or `any`."""

    kind: str
    optional: bool = False
    item: FieldType | None = None
    model: str = ""
    choices: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelField:
    """One field of a model: `key` is its name in YAML; the limits are those of pydantic's `Field`."""

    key: str
    of: FieldType
    required: bool = True
    strict: bool = False
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    min_length: int = 0

    @property
    def sure_type(self) -> type | None:
        """A type whose every value is accepted, so that most values need no closer look."""
        if (self.above, self.at_least, self.at_most) != (None, None, None) or self.min_length:
            return None
        return _SURE_TYPES.get(self.of.kind)


@dataclass(frozen=True, slots=True)
class Model:
    """A class: its fields by their names in YAML, and what is derived from them once."""

    fields: Mapping[str, ModelField]
    sure_types: Mapping[str, type | None]
    required: tuple[str, ...]

    @staticmethod
    def of(fields: Iterable[ModelField]) -> Model:
        """The model with these fields."""
        by_key = {item.key: item for item in fields}
        return Model(
            by_key,
            {key: item.sure_type for key, item in by_key.items()},
            tuple(key for key, item in by_key.items() if item.required),
        )


_SURE_TYPES: Mapping[str, type] = {"str": str, "int": int, "bool": bool, "float": float}

Models = Mapping[str, Model]


@dataclass(frozen=True, slots=True)
class Validation:
    """The models by class name, and which cross-field checks the revision has."""

    models: Models
    checks: frozenset[str]
    range_is_positive: bool = True
    cluster_prefix: str = "cluster:"


# --- reading the classes --------------------------------------------------------------------------------------------

CHECKS = {
    "_validate_conc_fields": "concurrency",
    "_validate_tp_context_topology": "dcp",
    "_validate_single_node_topology": "dcp-single",
    "_validate_worker_hardware_pair": "hardware-pair",
    "_validate_kv_offload_fields": "offload",
    "_validate_agentic_runner_is_cluster": "cluster-runner",
    "_validate_component_metadata_scope": "component-scope",
    "validate_topology_fields": "topology",
    "validate_dram_offload_capacity": "dram",
    "at_least_one_scenario": "scenario",
    "validate_component_version": "component-version",
}
_ALL_CHECKS = frozenset(CHECKS.values()) - {"dcp-single"}


def read_validation(generator: PythonSource, checks: PythonSource | None) -> Validation:
    """The input schema of a revision; before there were classes for it, that of the generator's own checks."""
    if checks is not None and {SINGLE_NODE, MULTI_NODE} <= checks.classes.keys():
        models = {name: Model.of(_fields(checks, node)) for name, node in checks.classes.items() if _is_model(node)}
        defined = {node.name: node for node in _all_functions(checks)}
        found = frozenset(check for name, check in CHECKS.items() if name in defined)
        prefix = checks.constants.get("CLUSTER_LABEL_PREFIX")
        return Validation(
            models=models,
            checks=found,
            range_is_positive=_refuses_zero_start(defined.get("_validate_conc_fields")),
            cluster_prefix=prefix if isinstance(prefix, str) else "cluster:",
        )
    return LEGACY_VALIDATION if generator.quotes("seq-len-configs") else NEWEST_VALIDATION


def _is_model(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "BaseModel" for base in node.bases)


def _all_functions(source: PythonSource) -> Iterator[ast.FunctionDef]:
    yield from source.functions.values()
    for node in source.classes.values():
        yield from (inner for inner in node.body if isinstance(inner, ast.FunctionDef))


def _refuses_zero_start(function: ast.FunctionDef | None) -> bool:
    if function is None:
        return False
    for node in ast.walk(function):
        match node:
            case ast.Compare(
                left=ast.Attribute(attr="conc_start"), ops=[ast.LtE()], comparators=[ast.Constant(value=0)]
            ):
                return True
    return False


def _fields(source: PythonSource, node: ast.ClassDef) -> Iterator[ModelField]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                options = _options(value)
                alias = source.resolve(options.get("alias"))
                yield ModelField(
                    key=alias if isinstance(alias, str) else name,
                    of=_type(source, annotation),
                    required=value is None
                    or (_is_field(value) and not {"default", "default_factory"} & options.keys()),
                    strict=_constant(options.get("strict")) is True,
                    above=_number(options.get("gt")),
                    at_least=_number(options.get("ge")),
                    at_most=_number(options.get("le")),
                    min_length=int(_number(options.get("min_length")) or 0),
                )


def _is_field(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Field"


def _options(value: ast.expr | None) -> dict[str, ast.expr]:
    if not isinstance(value, ast.Call) or not _is_field(value):
        return {}
    options = {option.arg: option.value for option in value.keywords if option.arg}
    if value.args:
        options["default"] = value.args[0]
    return options


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _number(node: ast.expr | None) -> float | None:
    value = _constant(node)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_CONTAINERS = {"List": "list", "list": "list", "Dict": "map", "dict": "map"}


def _type(source: PythonSource, node: ast.expr, depth: int = 0) -> FieldType:
    if depth > MAX_TYPE_DEPTH:
        return FieldType("any")
    match node:
        case ast.Name(id="str" | "int" | "bool" | "float" as name):
            return FieldType(name)
        case ast.Name(id=name) if name in source.classes:
            return FieldType("model", model=name)
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            found = _type(source, inner, depth + 1)
            return FieldType(found.kind, True, found.item, found.model, found.choices)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return FieldType("literal", choices=tuple(_constant(item) for item in items))
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in _CONTAINERS:
            last = inner.elts[-1] if isinstance(inner, ast.Tuple) and inner.elts else inner
            return FieldType(_CONTAINERS[name], item=_type(source, last, depth + 1))
    return FieldType("any")


# --- the newest schema, and the one before there were classes -------------------------------------------------------

_STR, _INT, _BOOL = FieldType("str"), FieldType("int"), FieldType("bool")
_SPEC = FieldType("literal", choices=("mtp", "draft_model", "none"))


def _model(*fields: ModelField) -> Model:
    return Model.of(fields)


def _maybe(
    key: str, of: FieldType, *, above: float | None = None, at_most: float | None = None, min_length: int = 0
) -> ModelField:
    type_ = FieldType(of.kind, True, of.item, of.model, of.choices)
    return ModelField(key, type_, required=False, above=above, at_most=at_most, min_length=min_length)


def _size(key: str) -> ModelField:
    return ModelField(key, _INT, required=False, strict=True, above=0)


def _listed(key: str, model: str, *, required: bool = True) -> ModelField:
    return ModelField(key, FieldType("list", not required, FieldType("model", model=model)), required=required)


_SIZES = (_size("pp"), _size("dcp-size"), _size("pcp-size"))
_CONCURRENCY = (_maybe("conc-start", _INT), _maybe("conc-end", _INT), _maybe("conc-list", FieldType("list", item=_INT)))
_ROUTER = _maybe("router", FieldType("model", model="ComponentMetadata"))
_TRANSFER = _maybe("kv-p2p-transfer", _STR, min_length=1)
_SPECULATION = ModelField("spec-decoding", _SPEC, required=False)
_HEAD = tuple(ModelField(key, _STR) for key in ("image", "model", "model-prefix", "precision", "framework", "runner"))
_WORKER = FieldType("model", model="WorkerConfig")


def _scenarios(single_or_multi: str) -> Model:
    return _model(
        _listed("fixed-seq-len", f"{single_or_multi}SeqLenConfig", required=False),
        _listed("agentic-coding", "AgenticCodingConfig", required=False),
    )


def _lengths(search_space: str) -> Model:
    return _model(ModelField("isl", _INT), ModelField("osl", _INT), _listed("search-space", search_space))


NEWEST_VALIDATION = Validation(
    models={
        "ComponentMetadata": _model(ModelField("name", _STR, min_length=1), ModelField("version", _STR, min_length=1)),
        "KVOffloadBackendMetadata": _model(
            ModelField("name", _STR, min_length=1), _maybe("version", _STR, min_length=1)
        ),
        "WorkerConfig": _model(
            ModelField("num-worker", _INT),
            ModelField("tp", _INT),
            *_SIZES,
            ModelField("ep", _INT),
            ModelField("dp-attn", _BOOL),
            _maybe("hardware", _STR, min_length=1),
            _maybe("additional-settings", FieldType("list", item=_STR)),
        ),
        "SingleNodeSearchSpaceEntry": _model(
            ModelField("tp", _INT),
            *_SIZES,
            _maybe("ep", _INT),
            _SPECULATION,
            _maybe("dp-attn", _BOOL),
            _ROUTER,
            *_CONCURRENCY,
        ),
        "MultiNodeSearchSpaceEntry": _model(
            _SPECULATION,
            ModelField("prefill", _WORKER),
            ModelField("decode", _WORKER),
            _ROUTER,
            _TRANSFER,
            *_CONCURRENCY,
        ),
        "AgenticCodingSearchSpaceEntry": _model(
            _maybe("tp", _INT),
            *_SIZES,
            _maybe("ep", _INT),
            _maybe("dp-attn", _BOOL),
            _SPECULATION,
            _maybe("prefill", _WORKER),
            _maybe("decode", _WORKER),
            _maybe("kv-offloading", FieldType("literal", choices=("none", "dram"))),
            _maybe("kv-offload-backend", FieldType("model", model="KVOffloadBackendMetadata")),
            _ROUTER,
            _TRANSFER,
            *_CONCURRENCY,
        ),
        "AgenticCodingConfig": _model(
            _listed("search-space", "AgenticCodingSearchSpaceEntry"),
            _maybe("dram-utilization", FieldType("float"), above=0, at_most=1),
        ),
        "SingleNodeSeqLenConfig": _lengths("SingleNodeSearchSpaceEntry"),
        "MultiNodeSeqLenConfig": _lengths("MultiNodeSearchSpaceEntry"),
        "SingleNodeScenarios": _scenarios("SingleNode"),
        "MultiNodeScenarios": _scenarios("MultiNode"),
        SINGLE_NODE: _model(
            *_HEAD,
            ModelField("multinode", FieldType("literal", choices=(False,))),
            ModelField("disagg", FieldType("literal", choices=(False,)), required=False),
            _ROUTER,
            ModelField("scenarios", FieldType("model", model="SingleNodeScenarios")),
        ),
        MULTI_NODE: _model(
            *_HEAD,
            ModelField("multinode", FieldType("literal", choices=(True,))),
            ModelField("disagg", _BOOL, required=False),
            _ROUTER,
            _TRANSFER,
            ModelField("scenarios", FieldType("model", model="MultiNodeScenarios")),
        ),
    },
    checks=_ALL_CHECKS,
)

LEGACY_VALIDATION = Validation(
    models={
        "SearchSpaceEntry": _model(
            ModelField("tp", _INT),
            ModelField("conc-start", _INT),
            ModelField("conc-end", _INT),
            _maybe("ep", _INT),
            _maybe("dp-attn", _BOOL),
        ),
        "SeqLenConfig": _lengths("SearchSpaceEntry"),
        SINGLE_NODE: _model(*_HEAD, _listed("seq-len-configs", "SeqLenConfig")),
    },
    checks=frozenset(),
    range_is_positive=False,
)


# --- judging an entry -----------------------------------------------------------------------------------------------


def complaints(validation: Validation, entry: object) -> list[Complaint]:
    """What the revision's generator would refuse in one entry, with the place inside it; at most 100 things."""
    if not isinstance(entry, dict):
        return [((), "an entry must be a mapping")]
    multi = bool(entry.get("multinode", False)) and MULTI_NODE in validation.models
    found = list(islice(_judge_model(validation, MULTI_NODE if multi else SINGLE_NODE, entry, ()), MAX_COMPLAINTS))
    return found or list(islice(_judge_entry(validation, entry), MAX_COMPLAINTS))


def model_complaints(validation: Validation, name: str, value: object) -> list[Complaint]:
    """What a class of the revision would refuse in a value, with the place inside it; at most 100 things."""
    if not isinstance(value, dict):
        return [((), "must be a mapping")]
    return list(islice(_judge_model(validation, name, value, ()), MAX_COMPLAINTS))


def allowed_keys(validation: Validation, name: str, place: Place) -> tuple[str, ...]:
    """The keys that a mapping may have at a place inside a value of a class; none where that is not known."""
    for step in place:
        model = validation.models.get(name)
        known = model.fields.get(str(step)) if model is not None else None
        if isinstance(step, int):
            continue
        if known is None:
            return ()
        of = known.of.item if known.of.kind in ("list", "map") and known.of.item is not None else known.of
        if of.kind != "model":
            return ()
        name = of.model
    model = validation.models.get(name)
    return tuple(model.fields) if model is not None else ()


def _judge_model(validation: Validation, name: str, value: dict[object, object], at: Place) -> Iterator[Complaint]:
    model = validation.models.get(name)
    if model is None:
        return
    fields, sure = model.fields, model.sure_types
    for key, inner in value.items():
        if isinstance(key, str) and type(inner) is sure.get(key):
            continue
        known = fields.get(key) if isinstance(key, str) else None
        if known is None:
            if not isinstance(key, str) or key.replace("_", "-") not in fields:
                yield (*at, str(key)), f"unknown field '{key}'"
        else:
            yield from _judge_field(validation, known, inner, (*at, known.key))
    for key in model.required:
        if key not in value and key.replace("-", "_") not in value:
            yield at, f"required field '{key}' is missing"


def _judge_field(validation: Validation, known: ModelField, value: object, at: Place) -> Iterator[Complaint]:
    if value is None and known.of.optional:
        return
    yield from _judge_type(validation, known.of, value, at, known.strict)
    if isinstance(value, str | list) and len(value) < known.min_length:
        yield at, f"'{known.key}' must not be empty"
    if isinstance(value, int | float):
        if known.above is not None and value <= known.above:
            yield at, f"'{known.key}' is {value}, it must be greater than {known.above}"
        if known.at_least is not None and value < known.at_least:
            yield at, f"'{known.key}' is {value}, it must be at least {known.at_least}"
        if known.at_most is not None and value > known.at_most:
            yield at, f"'{known.key}' is {value}, it must be at most {known.at_most}"


def _judge_type(
    validation: Validation, of: FieldType, value: object, at: Place, strict: bool = False
) -> Iterator[Complaint]:
    key = at[-1] if at else ""
    if of.kind == "model":
        if isinstance(value, dict):
            yield from _judge_model(validation, of.model, value, at)
        else:
            yield at, f"'{key}' must be a mapping"
    elif of.kind == "list":
        if isinstance(value, list):
            item_type = of.item or FieldType("any")
            sure = _SURE_TYPES.get(item_type.kind)
            for index, item in enumerate(value):
                if type(item) is not sure:
                    yield from _judge_type(validation, item_type, item, (*at, index))
        else:
            yield at, f"'{key}' must be a list"
    elif of.kind == "map":
        if not isinstance(value, dict):
            yield at, f"'{key}' must be a mapping"
    elif of.kind == "literal":
        if not any(value == choice and type(value) is type(choice) for choice in of.choices):
            yield at, f"'{key}' is {value!r}, allowed are {', '.join(repr(choice) for choice in of.choices)}"
    elif of.kind != "any" and not _ACCEPTS[of.kind](value, strict):
        yield at, f"'{key}' is {value!r}, not {_NAMES[of.kind]}"


_NAMES = {"str": "a text", "int": "an integer", "bool": "true or false", "float": "a number"}
_BOOL_TEXTS = frozenset({"0", "1", "true", "false", "yes", "no", "on", "off", "y", "n", "t", "f"})


def _accepts_int(value: object, strict: bool) -> bool:
    if strict or type(value) is int:
        return type(value) is int
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().lstrip("+-").isdecimal())


def _accepts_bool(value: object, strict: bool) -> bool:
    if isinstance(value, bool) or strict:
        return isinstance(value, bool)
    return (isinstance(value, int | float) and value in (0, 1)) or (
        isinstance(value, str) and value.lower() in _BOOL_TEXTS
    )


def _accepts_float(value: object, strict: bool) -> bool:
    if isinstance(value, str) and not strict:
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float) and not (strict and isinstance(value, bool))


_ACCEPTS: Mapping[str, Callable[[object, bool], bool]] = {
    "str": lambda value, _strict: isinstance(value, str),
    "int": _accepts_int,
    "bool": _accepts_bool,
    "float": _accepts_float,
}


# --- cross-field checks; only for entries whose fields are sound ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Arm:
    place: Place
    scenario: str
    config: dict[str, object]
    values: dict[str, object]
    workers: tuple[tuple[str, dict[str, object]], ...] = field(default=())


def _arms(entry: dict[object, object]) -> Iterator[_Arm]:
    scenarios = entry.get("scenarios")
    lists: list[tuple[Place, str, object]] = [(("seq-len-configs",), "fixed-seq-len", entry.get("seq-len-configs"))]
    if isinstance(scenarios, dict):
        lists += [(("scenarios", str(name)), str(name), configs) for name, configs in scenarios.items()]
    for place, scenario, configs in lists:
        for position, config in enumerate(configs if isinstance(configs, list) else ()):
            arms = config.get("search-space") if isinstance(config, dict) else None
            for index, arm in enumerate(arms if isinstance(arms, list) else ()):
                if isinstance(arm, dict):
                    roles = ((role, arm.get(role)) for role in ("prefill", "decode"))
                    workers = tuple((role, worker) for role, worker in roles if isinstance(worker, dict))
                    yield _Arm((*place, position, "search-space", index), scenario, config, arm, workers)


def _judge_entry(validation: Validation, entry: dict[object, object]) -> Iterator[Complaint]:
    checks = validation.checks
    arms = list(_arms(entry))
    scenarios = entry.get("scenarios")
    if "scenario" in checks and isinstance(scenarios, dict) and not any(scenarios.values()):
        yield ("scenarios",), "at least one scenario must be given"
    agentic = isinstance(scenarios, dict) and scenarios.get("agentic-coding")
    runner = entry.get("runner")
    if "cluster-runner" in checks and agentic and not str(runner).startswith(validation.cluster_prefix):
        yield ("runner",), f"agentic scenarios need a runner label that starts with '{validation.cluster_prefix}'"
    for arm in arms:
        yield from _judge_arm(validation, arm)
    if "component-scope" in checks:
        yield from _judge_components(entry, arms)


def _judge_arm(validation: Validation, arm: _Arm) -> Iterator[Complaint]:
    checks = validation.checks
    if "concurrency" in checks:
        yield from _judge_concurrency(validation, arm)
    if checks & {"dcp", "dcp-single"} and isinstance(arm.values.get("tp"), int):
        yield from _judge_context(arm.place, arm.values)
    if "dcp" in checks:
        for role, worker in arm.workers:
            yield from _judge_context((*arm.place, role), worker)
    if "hardware-pair" in checks and len({bool(worker.get("hardware")) for _, worker in arm.workers}) > 1:
        yield arm.place, "'hardware' must be given for both 'prefill' and 'decode', or for neither"
    if "component-version" in checks:
        for key in ("router", "kv-offload-backend"):
            component = arm.values.get(key)
            if isinstance(component, dict) and str(component.get("version")).startswith("image:"):
                yield (*arm.place, key, "version"), "a component's version must not be an image"
    if arm.scenario == "agentic-coding":
        yield from _judge_agentic(checks, arm)


def _judge_concurrency(validation: Validation, arm: _Arm) -> Iterator[Complaint]:
    start, end, values = (arm.values.get(key) for key in ("conc-start", "conc-end", "conc-list"))
    has_range = start is not None and end is not None
    if has_range and values:
        yield arm.place, "'conc-list' and 'conc-start'/'conc-end' exclude each other"
    elif not has_range and not values:
        yield arm.place, "either 'conc-list' or both 'conc-start' and 'conc-end' must be given"
    elif isinstance(start, int) and isinstance(end, int):
        if validation.range_is_positive and min(start, end) <= 0:
            yield (*arm.place, "conc-start"), "'conc-start' and 'conc-end' must be greater than 0"
        elif start > end:
            yield (*arm.place, "conc-start"), f"'conc-start' ({start}) is greater than 'conc-end' ({end})"
    elif isinstance(values, list) and any(isinstance(value, int) and value <= 0 for value in values):
        yield (*arm.place, "conc-list"), "entries of 'conc-list' must be greater than 0"


def _judge_context(place: Place, values: Mapping[str, object]) -> Iterator[Complaint]:
    tp, dcp = values.get("tp"), values.get("dcp-size", 1)
    if isinstance(tp, int) and isinstance(dcp, int) and dcp > 0 and tp % dcp:
        yield (*place, "dcp-size"), f"'tp' ({tp}) must be divisible by 'dcp-size' ({dcp})"


def _judge_agentic(checks: frozenset[str], arm: _Arm) -> Iterator[Complaint]:
    values = arm.values
    offloading, backend = values.get("kv-offloading"), values.get("kv-offload-backend")
    if "offload" in checks:
        if offloading in (None, "none") and backend not in (None, ""):
            yield (*arm.place, "kv-offload-backend"), "'kv-offload-backend' needs a 'kv-offloading' that is not 'none'"
        elif offloading not in (None, "none") and not backend:
            yield (*arm.place, "kv-offloading"), f"'kv-offloading: {offloading}' needs 'kv-offload-backend'"
    if "topology" in checks:
        single = values.get("tp") is not None
        roles = {role for role, _ in arm.workers}
        if roles if single else len(roles) < 2:
            yield arm.place, "an agentic arm has either 'tp' or both 'prefill' and 'decode'"
        elif single and offloading is None and "offload" in checks:
            yield arm.place, "a single-node agentic arm needs 'kv-offloading'"
        elif not single and checks & {"dcp", "dcp-single"}:
            for key in ("pp", "dcp-size", "pcp-size"):
                if key in values:
                    yield (*arm.place, key), f"a multi-node agentic arm cannot have '{key}'"
    if "dram" in checks and offloading == "dram" and arm.config.get("dram-utilization") is None:
        yield (*arm.place, "kv-offloading"), "'kv-offloading: dram' needs 'dram-utilization'"


def _judge_components(entry: dict[object, object], arms: list[_Arm]) -> Iterator[Complaint]:
    for key in ("router", "kv-p2p-transfer"):
        inside = [arm for arm in arms if arm.values.get(key) is not None]
        if entry.get(key) is not None and inside:
            yield (*inside[0].place, key), f"'{key}' is given for the entry and for an arm"
    transfers = [arm for arm in arms if arm.values.get("kv-p2p-transfer") is not None]
    if transfers and not entry.get("multinode"):
        yield (*transfers[0].place, "kv-p2p-transfer"), "'kv-p2p-transfer' is only for multi-node entries"
    if entry.get("disagg") and entry.get("kv-p2p-transfer") is None and (not arms or len(transfers) < len(arms)):
        yield ("disagg",), "'disagg: true' needs 'kv-p2p-transfer' for the entry or for every arm"
