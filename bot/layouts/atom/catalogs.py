"""Catalogs of launch commands: JSON files whose entries become rows of a workflow's matrix.

Three forms hold benchmarks: `models` with variants that share a model's settings, `families` of flat variants, and
flat `models` that are put together from `templates`. A plain list holds models whose accuracy is measured. A row has
the keys and values that the repository's own matrix builder gives it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from botlint.core.span import Problem, Span
from botlint.documents.yaml import Node, find, load_yaml
from botlint.layouts.base import RowPath
from botlint.repo.files import Files

FOLDER = ".github/benchmark"

MAX_ROWS = 5_000
"""Rows of one catalog, and of all of them."""

MAX_PAIRS = 50_000
"""Pairs of a variant and a scenario of one catalog that are looked at."""

MAX_CONCURRENCIES = 500
"""Concurrencies of a scenario."""

Form = Literal["variants", "families", "templates", "accuracy"]

Renames = Literal["", "row", "matrix"]


class MalformedError(Exception):
    """A part of a catalog that the matrix builder would fail on."""

    def __init__(self, message: str, path: Sequence[str | int]) -> None:
        super().__init__(message)
        self.path = tuple(path)


@dataclass(frozen=True, slots=True)
class Catalog:
    """One catalog: its values, and the nodes that say where they are written."""

    path: str
    form: Form
    data: Any
    root: Node | None

    def span(self, path: Sequence[str | int]) -> Span:
        """Where the value at a path is written; of a value that is not there, where the nearest one around it is."""
        for length in range(len(path), -1, -1):
            node = find(self.root, path[:length])
            if node is not None:
                return node.span
        return Span(self.path, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a matrix.

    `variables` are those of the lines `NAME=VALUE` that the container gets; `known` what rules know under other names;
    `spelt` the row with all spellings of its keys, where the workflow has others than the catalog.
    """

    entry: str
    config: Span
    arm: Span
    index: int
    scenario: str
    row: Mapping[str, object]
    known: Mapping[str, object]
    places: Mapping[RowPath, Span]
    variables: tuple[tuple[str, str, Span], ...] = ()
    spelt: Mapping[str, object] | None = None

    @property
    def matrix(self) -> Mapping[str, object]:
        """What the workflow's expressions see of the row."""
        return self.row if self.spelt is None else self.spelt


@dataclass(frozen=True, slots=True)
class Grid:
    """The requests that a workflow measures where nobody asks for others, as its matrix builder gets them."""

    params: tuple[Mapping[str, object], ...] = ()
    extra_concurrency: tuple[int, ...] = ()
    long_pairs: tuple[tuple[int, int], ...] = ()
    """Lengths of requests that entries marked for them get instead."""
    long_mark: str = ""
    skipped: tuple[tuple[int, str, frozenset[str]], ...] = ()
    """A concurrency, a key of entries, and the texts of it with which an entry does not get that concurrency."""

    def is_long(self, model: Mapping[str, Any]) -> bool:
        """Whether an entry is marked for long requests, of which all concurrencies are one row."""
        return bool(self.long_mark) and self.long_mark in str(model.get("prefix", ""))


def catalog_paths(files: Files) -> list[str]:
    """The paths of what may be catalogs."""
    return [path for path in files.paths(FOLDER) if path.endswith(".json") and path.count("/") == FOLDER.count("/") + 1]


def read_catalogs(files: Files) -> tuple[list[Catalog], list[Problem]]:
    """All catalogs of a revision, by path; what is no catalog is left out, what cannot be read is a problem."""
    found: list[Catalog] = []
    problems: list[Problem] = []
    for path in catalog_paths(files):
        source = files.text(path)
        if source is None:
            continue
        try:
            data = json.loads(source.text)
        except json.JSONDecodeError as error:
            at = Span(path, error.lineno, error.colno, error.lineno, error.colno + 1)
            problems.append(Problem(f"not JSON: {error.msg}", at, "catalog"))
            continue
        except (RecursionError, ValueError):
            problems.append(Problem("too deep or too large numbers", Span(path, 1, 1, 1, 1), "catalog"))
            continue
        form = form_of(data)
        if form is not None:
            found.append(Catalog(path, form, data, load_yaml(source.text, path).root))
    return found, problems


def form_of(data: object) -> Form | None:
    """Which form of catalog a document has; None for other documents."""
    if isinstance(data, list):
        named = all(isinstance(one, dict) and "model_name" in one and "model_path" in one for one in data)
        return "accuracy" if data and named else None
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("families"), list):
        return "families"
    models = data.get("models")
    if not isinstance(models, list) or not models:
        return None
    return "templates" if "templates" in data else "variants" if any("path" in one for one in _dicts(models)) else None


def rows(catalog: Catalog, grid: Grid, *, renames: Renames = "") -> tuple[list[Item], list[Problem]]:
    """The rows of a catalog in the builder's order; entries that it would fail on are problems and left out.

    `renames`: whether older spellings of keys are taken too, in the row or only where the workflow reads it.
    """
    problems: list[Problem] = []
    reader = _Reader(catalog, problems, renames)
    made = {"variants": _variants, "families": _families, "templates": _templates, "accuracy": _accuracy}[catalog.form]
    items: list[Item] = []
    try:
        for item in made(reader, grid):
            items.append(item)
            if len(items) >= MAX_ROWS:
                problems.append(Problem(f"more than {MAX_ROWS} rows", catalog.span(()), "catalog"))
                break
    except MalformedError as error:
        problems.append(Problem(str(error), catalog.span(error.path), "catalog"))
    return items, problems


def _dicts(values: object) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed access to a catalog's values; what is missing or of another type is a `MalformedError`."""

    catalog: Catalog
    problems: list[Problem]
    renames: Renames

    def objects(self, path: RowPath) -> Iterator[tuple[RowPath, dict[str, Any]]]:
        """The objects of a list, each with its path; what is no object is a problem."""
        values = self.at(path)
        if not isinstance(values, list):
            raise MalformedError(f"{path[-1] if path else 'the catalog'} is not a list", path)
        for number, value in enumerate(values):
            if isinstance(value, dict):
                yield (*path, number), value
            else:
                self.refuse("an entry that is no object", (*path, number))

    def at(self, path: RowPath) -> Any:
        """The value at a path; None where there is none."""
        value = self.catalog.data
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def refuse(self, message: str, path: RowPath) -> None:
        self.problems.append(Problem(message, self.catalog.span(path), "catalog"))

    def text(self, owner: Mapping[str, Any], key: str, path: RowPath) -> str:
        value = owner.get(key)
        if not isinstance(value, str):
            raise MalformedError(f"{key} is not a text" if key in owner else f"{key} is missing", (*path, key))
        return value

    def lines(self, path: RowPath) -> Iterator[tuple[str, str, Span]]:
        """The variables of a text of `NAME=VALUE` lines, each with where the text is written."""
        value = self.at(path)
        if isinstance(value, str):
            span = self.catalog.span(path)
            for line in value.split("\n"):
                name, equals, rest = line.strip().partition("=")
                if equals and name.isidentifier():
                    yield name, rest, span


def _scenario(isl: object, osl: object) -> str:
    """The short name of a pair of lengths: 1k1k for whole multiples of 1024, else 1000_100."""
    if isinstance(isl, int) and isinstance(osl, int) and isl >= 1024 <= osl and not isl % 1024 and not osl % 1024:
        return f"{isl // 1024}k{osl // 1024}k"
    return f"{isl}_{osl}"


# --- models with variants --------------------------------------------------------------------------------------------


DEFAULT_CONC_MIN, DEFAULT_CONC_MAX = 0, 256
"""Between which concurrencies a variant runs that says nothing of it."""

DEFAULT_RATIO = 0.8
"""How much the lengths of requests vary where a scenario says nothing of it."""

DEFAULT_KV_CACHE_DTYPE = "fp8"


def _variants(reader: _Reader, _grid: Grid) -> Iterator[Item]:
    """One row for each variant of a model and each pair of lengths, with all concurrencies."""
    groups: dict[tuple[object, ...], tuple[Item, list[int]]] = {}
    for number, (item, concurrencies) in enumerate(_of_models(reader)):
        if number >= MAX_PAIRS or len(groups) > MAX_ROWS:
            break
        row = item.row
        key = tuple(row[k] for k in ("prefix", "suffix", "model_path", "server_args", "env_vars", *_LENGTHS))
        groups.setdefault(key, (item, []))[1].extend(concurrencies)
    for item, concurrencies in groups.values():
        concurrencies.sort()
        row = {**item.row, "concurrency": json.dumps(concurrencies)}
        known = {**item.known, "conc": concurrencies[0] if len(concurrencies) == 1 else concurrencies}
        yield Item(
            item.entry, item.config, item.arm, item.index, item.scenario, row, known, item.places, item.variables
        )


_LENGTHS = ("isl", "osl", "ratio")


def _of_models(reader: _Reader) -> Iterator[tuple[Item, list[int]]]:
    for path, model in reader.objects(("models",)):
        try:
            yield from _of_model(reader, path, model)
        except MalformedError as error:
            reader.refuse(str(error), error.path)


def _of_model(reader: _Reader, path: RowPath, model: dict[str, Any]) -> Iterator[tuple[Item, list[int]]]:
    written = _dicts(model.get("variants"))
    variants = list(enumerate(written)) if written else [(0, {"label": "", "suffix": ""})]
    for number, variant in variants:
        at: RowPath = (*path, "variants", number) if written else path
        row, places = _server(reader, path, model, at, variant)
        lines = [*reader.lines((*path, "env_vars"))] if "env_vars" in model else []
        lines += [*reader.lines((*at, "env_vars"))] if "env_vars" in variant and written else []
        entry = f"{row['prefix']}{row['suffix']}"
        known: dict[str, object] = {"model": row["model_path"]}
        tp = model.get("config", {}).get("tp")
        if type(tp) is int:
            known["tp"] = tp
        for scenario_path, scenario, concurrencies in _scenarios(reader, path, model, at, variant):
            isl, osl = scenario.get("isl"), scenario.get("osl")
            if type(isl) is not int or type(osl) is not int:
                raise MalformedError("isl and osl are not numbers", scenario_path)
            ratio = scenario.get("random_range_ratio", DEFAULT_RATIO)
            item = Item(
                entry,
                reader.catalog.span((*path, "prefix")),
                reader.catalog.span(at),
                number,
                _scenario(isl, osl),
                {
                    **row,
                    "isl": isl,
                    "osl": osl,
                    "ratio": ratio,
                    "ratio_str": _ratio(ratio, scenario_path),
                    "scenario": _scenario(isl, osl),
                },
                known,
                {
                    **places,
                    ("isl",): reader.catalog.span((*scenario_path, "isl")),
                    ("osl",): reader.catalog.span((*scenario_path, "osl")),
                    ("conc",): reader.catalog.span((*scenario_path, "concurrency")),
                },
                tuple(lines),
            )
            yield item, concurrencies


def _server(
    reader: _Reader, path: RowPath, model: dict[str, Any], at: RowPath, variant: dict[str, Any]
) -> tuple[dict[str, object], dict[RowPath, Span]]:
    """The part of a row that all scenarios of a variant share, and where its values are written."""
    config = model.get("config", {})
    if not isinstance(config, dict):
        raise MalformedError("config is no object", (*path, "config"))
    span = reader.catalog.span
    label = variant.get("label", "")
    suffix = variant.get("suffix", "")
    if not isinstance(suffix, str):
        raise MalformedError("suffix is not a text", (*at, "suffix"))
    display = reader.text(model, "display", path)
    own_path = variant.get("path", model.get("path"))
    if not isinstance(own_path, str):
        raise MalformedError("path is missing", (*path, "path"))
    variables = [text for text in (model.get("env_vars", ""), variant.get("env_vars", "")) if text]
    row: dict[str, object] = {
        "display": display + (f" {label}" if label else ""),
        "prefix": reader.text(model, "prefix", path),
        "suffix": suffix,
        "model_path": own_path,
        "server_args": _arguments(config, variant),
        "bench_args": variant.get("bench_args", ""),
        "env_vars": "\n".join(map(str, variables)),
        "runner": reader.text(model, "runner", path),
    }
    model_at = (*at, "path") if "path" in variant else (*path, "path")
    places: dict[RowPath, Span] = {
        ("display",): span((*path, "display")),
        ("prefix",): span((*path, "prefix")),
        ("model_path",): span(model_at),
        ("model",): span(model_at),
        ("runner",): span((*path, "runner")),
    }
    if "extra_args" in variant:
        places["server_args",] = span((*at, "extra_args"))
    for key in ("extra_args", "kv_cache_dtype", "tp", "trust_remote_code"):
        if key in config:
            places["server_args" if not places.get(("server_args",)) else f"config.{key}",] = span(
                (*path, "config", key)
            )
    if "tp" in config:
        places["tp",] = span((*path, "config", "tp"))
    if variables:
        places["env_vars",] = span((*at, "env_vars") if "env_vars" in variant else (*path, "env_vars"))
    if "env_vars" in variant and "env_vars" in model:
        places["model.env_vars",] = span((*path, "env_vars"))
    if "bench_args" in variant:
        places["bench_args",] = span((*at, "bench_args"))
    return row, places


def _arguments(config: Mapping[str, Any], variant: Mapping[str, Any]) -> str:
    """The server's options as one text."""
    parts = [f"--kv_cache_dtype {config.get('kv_cache_dtype', DEFAULT_KV_CACHE_DTYPE)}"]
    if config.get("tp") is not None:
        parts.append(f"-tp {config['tp']}")
    if config.get("trust_remote_code"):
        parts.append("--trust-remote-code")
    parts.extend(str(one["extra_args"]) for one in (config, variant) if one.get("extra_args"))
    return " ".join(parts)


def _scenarios(
    reader: _Reader, path: RowPath, model: dict[str, Any], at: RowPath, variant: dict[str, Any]
) -> Iterator[tuple[RowPath, dict[str, Any], list[int]]]:
    """The scenarios that a variant runs, with the concurrencies that it takes of each."""
    where: RowPath = ("default_scenarios",)
    if variant.get("scenarios"):
        where = (*at, "scenarios")
    elif model.get("scenarios"):
        where = (*path, "scenarios")
    elif not isinstance(reader.catalog.data.get("default_scenarios"), list):
        return
    lowest, highest = variant.get("conc_min", DEFAULT_CONC_MIN), variant.get("conc_max", DEFAULT_CONC_MAX)
    if type(lowest) is not int or type(highest) is not int:
        raise MalformedError("conc_min and conc_max are not numbers", at)
    for scenario_path, scenario in reader.objects(where):
        every = scenario.get("concurrency")
        if not isinstance(every, list) or not all(type(one) is int for one in every):
            raise MalformedError("concurrency is not a list of numbers", (*scenario_path, "concurrency"))
        if len(every) > MAX_CONCURRENCIES:
            raise MalformedError(f"more than {MAX_CONCURRENCIES} concurrencies", (*scenario_path, "concurrency"))
        taken = [one for one in every if lowest <= one <= highest]
        if taken:
            yield scenario_path, scenario, taken


def _ratio(value: object, path: RowPath) -> str:
    """A ratio as names of result files have it."""
    try:
        number = float(value)  # type: ignore[arg-type]
        return str(int(number)) if number == int(number) else str(number)
    except (TypeError, ValueError, OverflowError):
        raise MalformedError("random_range_ratio is not a number", path) from None


# --- families, templates ---------------------------------------------------------------------------------------------


def _families(reader: _Reader, grid: Grid) -> Iterator[Item]:
    """Flat variants of a family: one row for each request, or for each pair of lengths where an entry asks for it."""
    for path, family in reader.objects(("families",)):
        shared = {key: value for key, value in family.items() if key not in ("choice_label", "variants")}
        for number, (at, variant) in enumerate(reader.objects((*path, "variants"))):
            model = {**shared, **variant}
            places: dict[RowPath, Span] = {}
            for key in model:
                places["model", key] = reader.catalog.span((*(at if key in variant else path), key))
            owner = at if "env_vars" in variant else path
            lines = tuple(reader.lines((*owner, "env_vars"))) if "env_vars" in model else ()
            flat = _Flat(model, reader.catalog.span(at), number, _named(places), lines)
            cases = list(_requests(model, grid))
            groups = _by_lengths(cases) if grid.is_long(model) else [[case] for case in cases]
            for group in groups:
                yield flat.item({"model": model, "params": group[0], "cases": group}, group)


def _templates(reader: _Reader, grid: Grid) -> Iterator[Item]:
    """Flat models whose texts are put together from named templates."""
    templates = reader.catalog.data.get("templates")
    for path, written in reader.objects(("models",)):
        model = dict(written)
        places: dict[RowPath, Span] = {("model", key): reader.catalog.span((*path, key)) for key in model}
        lines: list[tuple[str, str, Span]] = []
        for key, separator in (("extra_args", " "), ("env_vars", "\n")):
            table = templates.get(key) if isinstance(templates, dict) else None
            known = table if isinstance(table, dict) else {}
            model[key] = _joined(written.get(key, ""), known, separator)
            for number, place in enumerate(_parts(written.get(key, ""), known, (*path, key), key)):
                places["model", f"{key}.{number}" if number else key] = reader.catalog.span(place)
                if key == "env_vars":
                    lines.extend(reader.lines(place))
        flat = _Flat(model, reader.catalog.span(path), 0, _named(places), tuple(lines))
        for case in _requests(model, grid):
            yield flat.item({"model": model, "params": case}, [case])


def _named(places: dict[RowPath, Span]) -> dict[RowPath, Span]:
    """Places by the names that rules know too."""
    for key, name in (("tp_size", "tp"), ("path", "model"), ("runner", "runner")):
        if ("model", key) in places:
            places[name,] = places["model", key]
    return places


def _joined(value: object, templates: Mapping[str, object], separator: str) -> object:
    if isinstance(value, str):
        return templates.get(value, value)
    if isinstance(value, list):
        return separator.join(str(templates.get(str(part), str(part))) for part in value if str(part))
    return value


def _parts(value: object, templates: Mapping[str, object], path: RowPath, key: str) -> Iterator[RowPath]:
    """Where the pieces of a text are written: templates under their names, the rest in place."""
    if isinstance(value, str):
        yield ("templates", key, value) if value in templates else path
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield ("templates", key, part) if isinstance(part, str) and part in templates else (*path, number)


@dataclass(frozen=True, slots=True)
class _Flat:
    """An entry of which every request is a row."""

    model: Mapping[str, Any]
    span: Span
    number: int
    places: Mapping[RowPath, Span]
    lines: tuple[tuple[str, str, Span], ...]

    def item(self, row: Mapping[str, object], cases: Sequence[Mapping[str, object]]) -> Item:
        """The row of some requests."""
        model, first = self.model, cases[0]
        concurrencies = [case["concurrency"] for case in cases]
        known: dict[str, object] = {
            "model": model.get("path") or model.get("source_path"),
            "runner": model.get("runner"),
            "isl": first["input_length"],
            "osl": first["output_length"],
            "conc": concurrencies[0] if len(concurrencies) == 1 else concurrencies,
            "tp": model.get("tp_size"),
        }
        return Item(
            str(model.get("prefix", "")),
            self.places.get(("model", "prefix"), self.span),
            self.span,
            self.number,
            _scenario(first["input_length"], first["output_length"]),
            row,
            {name: value for name, value in known.items() if value is not None},
            self.places,
            self.lines,
        )


def _requests(model: Mapping[str, Any], grid: Grid) -> Iterator[Mapping[str, object]]:
    """The requests that an entry is measured with, each once."""
    together = grid.is_long(model)
    supported, excluded = _names(model, "supported_input_output_pairs"), _names(model, "excluded_input_output_pairs")
    allowed = _numbers(model.get("supported_concurrency_values"))
    by_pair = model.get("supported_concurrency_values_by_pair")
    seen: set[tuple[object, ...]] = set()
    for param in grid.params:
        bases = [
            {**param, "input_length": isl, "output_length": osl, "random_range_ratio": "0.0"}
            for isl, osl in grid.long_pairs
        ]
        for base in bases if together else [param]:
            for case in [base, *({**base, "concurrency": one} for one in grid.extra_concurrency)]:
                key = (*(case[name] for name in ("input_length", "output_length", "concurrency")), str(case[_RATIO]))
                if key in seen:
                    continue
                seen.add(key)
                pair = f"{case['input_length']}x{case['output_length']}"
                if (supported and pair not in supported) or pair in excluded:
                    continue
                here = _numbers(by_pair.get(pair)) if isinstance(by_pair, dict) else frozenset()
                concurrency = case["concurrency"]
                if any(some and concurrency not in some for some in (here, allowed)):
                    continue
                if any(concurrency == one and str(model.get(name)) in texts for one, name, texts in grid.skipped):
                    continue
                yield case


_RATIO = "random_range_ratio"


def _names(model: Mapping[str, Any], key: str) -> frozenset[str]:
    value = model.get(key)
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else frozenset()


def _numbers(value: object) -> frozenset[int]:
    return frozenset(one for one in value if type(one) is int) if isinstance(value, list) else frozenset()


def _by_lengths(cases: Sequence[Mapping[str, object]]) -> list[list[Mapping[str, object]]]:
    """The cases of each pair of lengths, sorted by lengths, ratio and concurrency."""

    def pair(case: Mapping[str, Any]) -> tuple[Any, ...]:
        return case["input_length"], case["output_length"], str(case[_RATIO])

    groups: dict[tuple[Any, ...], list[Mapping[str, object]]] = {}
    for case in sorted(cases, key=lambda one: (*pair(one), one["concurrency"])):
        groups.setdefault(pair(case), []).append(case)
    return [groups[key] for key in sorted(groups)]


# --- accuracy --------------------------------------------------------------------------------------------------------


_OLDER = {"extra_args": "extraArgs", "accuracy_test_threshold": "accuracy_threshold"}


def _renamed(written: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with the newer spellings of its keys."""
    model = {key: value for key, value in written.items() if key != "extraArgs"}
    if "extra_args" not in model and "extraArgs" in written:
        model["extra_args"] = written["extraArgs"]
    if "accuracy_test_threshold" not in model and "accuracy_threshold" in model:
        model["accuracy_test_threshold"] = model["accuracy_threshold"]
    return {"test_level": "nightly", **model}


def _accuracy(reader: _Reader, _grid: Grid) -> Iterator[Item]:
    """A plain list: each entry is a row."""
    for number, (path, written) in enumerate(reader.objects(())):
        model = _renamed(written) if reader.renames == "row" else written
        places: dict[RowPath, Span] = {
            (key,): reader.catalog.span((*path, key if key in written else _OLDER.get(key, key))) for key in model
        }
        if "model_path" in model:
            places["model",] = places["model_path",]
        yield Item(
            str(model["model_name"]),
            places["model_name",],
            reader.catalog.span(path),
            number,
            "accuracy",
            model,
            {"model": model["model_path"]} if isinstance(model["model_path"], str) else {},
            places,
            tuple(reader.lines((*path, "env_vars"))) if "env_vars" in model else (),
            {**_renamed(written), **written} if reader.renames == "matrix" else None,
        )
