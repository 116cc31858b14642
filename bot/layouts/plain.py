"""The layout of any repository with scripts that start servers: each script is a job, or one for each row of a matrix.

Options (all optional): `scripts` are globs of the scripts, by default those whose text starts a server. `matrix` gives
values per variable, which are combined, or a list of such mappings. `matrix-file` is a JSON or YAML file with rows, at
`rows` in it; `environment` says which field of a row each variable of a script is, and `arguments` the words behind the
script, with `{field}` for a field's value. `script-field` is the field of a row that names its script. `facts` says
which field is what rules know as `model`, `tp`, `conc` ...
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product

from botlint.core.globs import matches
from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents.yaml import Mapping as MappingNode
from botlint.documents.yaml import Node, find, load_yaml, to_plain
from botlint.documents.yaml import Sequence as SequenceNode
from botlint.layouts.base import CommandJob, Loaded, RowPath, Start, Word
from botlint.layouts.commands import may_launch, unset_variables
from botlint.repo.files import Files

SETTINGS = ".botlint.yaml"

MAX_JOBS = 5_000
"""Jobs of a repository."""

MAX_SCRIPT = 1_000_000
"""Characters of a script that is looked at."""

SCENARIO = "script"

SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch")

OPTIONS = frozenset("scripts matrix matrix-file rows environment arguments script-field facts".split())

_KNOWN = frozenset("model image framework runner precision tp pp ep conc isl osl dp-attn spec-decoding".split())
"""Facts that rules know by these names."""

_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_FIELD = re.compile(r"\{([\w.-]+)\}")
_AGAIN = {"tensor-parallel-size": "tp", "tp-size": "tp", "ep-size": "ep", "concurrency": "conc", "model-name": "model"}


@dataclass(slots=True)
class _Reading:
    files: Files
    options: Mapping[str, object]
    settings: Node | None
    problems: list[Problem] = field(default_factory=list)

    def problem(self, message: str, *path: str) -> None:
        """Says what is wrong with an option."""
        self.problems.append(Problem(message, self.span("layout-options", *path), "layout"))

    def span(self, *path: str | int) -> Span:
        """Where a setting is written."""
        for length in range(len(path), -1, -1):
            node = find(self.settings, path[:length])
            if node is not None:
                return node.span
        return Span(SETTINGS, 1, 1, 1, 1)

    def names(self, option: str) -> Mapping[str, str]:
        """An option that maps names to names."""
        value = self.options.get(option, {})
        if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
            return {str(name): str(one) for name, one in value.items()}
        self.problem(f"{option}: expected a mapping of names", option)
        return {}

    def texts(self, option: str) -> list[str]:
        """An option that is a text or a list of texts."""
        value = self.options.get(option, [])
        listed = value if isinstance(value, list) else [value]
        if all(isinstance(one, str) for one in listed):
            return [str(one) for one in listed]
        self.problem(f"{option}: expected texts", option)
        return []


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the matrix, with the places of its values and of itself."""

    values: Mapping[str, object]
    place: Span
    places: Mapping[RowPath, Span]


def recognise(files: Files) -> bool:
    """Whether a repository has a script that starts a server."""
    return next(_launching(files), None) is not None


def load(files: Files, options: Mapping[str, object]) -> Loaded:
    """The jobs of a repository; never raises."""
    source = files.text(SETTINGS)
    reading = _Reading(files, options, load_yaml(source.text, SETTINGS).root if source is not None else None)
    for name in options:
        if name not in OPTIONS:
            reading.problem(f"the layout `plain` has no option {name!r}", name)
    jobs: list[CommandJob] = []
    for job in _jobs(reading):
        if len(jobs) >= MAX_JOBS:
            reading.problem(f"more than {MAX_JOBS:,} jobs: the others are left out", "matrix")
            break
        jobs.append(job)
    return Loaded(jobs, tuple(reading.problems))


def _launching(files: Files) -> Iterator[str]:
    """The scripts whose text starts a server."""
    for path in files.paths():
        if not path.endswith(SCRIPTS) or path.startswith(".") or "/." in path:
            continue
        source = files.text(path)
        if source is not None and len(source.text) <= MAX_SCRIPT and may_launch(source.text):
            yield path


def _scripts(reading: _Reading) -> list[str]:
    globs = reading.texts("scripts")
    if not globs:
        return list(_launching(reading.files))
    found = [path for path in reading.files.paths() if any(matches(glob, path) for glob in globs)]
    if not found:
        reading.problem("scripts: no file of the repository has such a name", "scripts")
    return found


def _jobs(reading: _Reading) -> Iterator[CommandJob]:
    rows = list(islice(_rows(reading), MAX_JOBS + 1))
    with_matrix = bool({"matrix", "matrix-file"} & reading.options.keys())
    by_field = reading.options.get("script-field")
    if not with_matrix:
        for path in _scripts(reading):
            yield _job(reading, path, _Row({}, Span(path, 1, 1, 1, 1), {}), 0, given=False)
        return
    if isinstance(by_field, str):
        for number, row in enumerate(rows):
            script = row.values.get(by_field)
            if isinstance(script, str) and reading.files.is_file(script.removeprefix("./")):
                yield _job(reading, script.removeprefix("./"), row, number, given=True)
            else:
                message = f"{by_field}: no script {str(script)[:80]!r}"
                reading.problems.append(Problem(message, row.places.get((by_field,), row.place), "layout"))
        return
    for path in _scripts(reading):
        for number, row in enumerate(rows):
            yield _job(reading, path, row, number, given=True)


# ---------------------------------------------------------------------------------------------------------------- rows


def _rows(reading: _Reading) -> Iterator[_Row]:
    if "matrix" in reading.options:
        yield from _combined(reading, reading.options["matrix"])
    name = reading.options.get("matrix-file")
    if name is None:
        return
    source = reading.files.text(name) if isinstance(name, str) else None
    if source is None:
        reading.problem(f"matrix-file: no file {str(name)[:80]!r}", "matrix-file")
        return
    document = load_yaml(source.text, source.path)
    reading.problems.extend(document.problems)
    at = reading.options.get("rows")
    path = at.split(".") if isinstance(at, str) and at else []
    yield from _of_file(reading, source.path, find(document.root, path))


def _of_file(reading: _Reading, path: str, node: Node | None) -> Iterator[_Row]:
    """The rows of a file: a list of mappings, or a mapping with one for each name."""
    if isinstance(node, SequenceNode):
        named: Iterable[tuple[str, Node]] = (("", item) for item in node.items)
    elif isinstance(node, MappingNode):
        named = ((key.text, value) for key, value in node.pairs())
    else:
        reading.problem(f"matrix-file: no rows in {path}", "rows" if "rows" in reading.options else "matrix-file")
        return
    for name, item in named:
        if not isinstance(item, MappingNode):
            problem = Problem("a row is a mapping of fields", item.span, "layout")
            reading.problems.append(problem)
            continue
        values = {key.text: to_plain(value) for key, value in item.pairs()}
        places: dict[RowPath, Span] = {(key.text,): value.span for key, value in item.pairs()}
        yield _Row({"name": name, **values} if name else values, item.span, places)


def _combined(reading: _Reading, matrix: object) -> Iterator[_Row]:
    """The rows of values per variable, in the order in which they are written."""
    parts: list[tuple[int | None, object]] = [(None, matrix)]
    if isinstance(matrix, list):
        parts = list(enumerate(matrix))
    for number, part in parts:
        if not isinstance(part, Mapping):
            reading.problem("matrix: expected values per variable", "matrix")
            continue
        before: tuple[str | int, ...] = ("layout-options", "matrix", *(() if number is None else (number,)))
        lists = [value if isinstance(value, list) else [value] for value in part.values()]
        for chosen in product(*(list(enumerate(values)) for values in lists)):
            places: dict[RowPath, Span] = {}
            for (name, value), (index, _) in zip(part.items(), chosen, strict=True):
                below: tuple[str | int, ...] = (name, index) if isinstance(value, list) else (name,)
                places[name,] = reading.span(*before, *below)
            row = {name: value for name, (_, value) in zip(part, chosen, strict=True)}
            yield _Row(row, reading.span(*before), places)


# ---------------------------------------------------------------------------------------------------------------- jobs


def _job(reading: _Reading, path: str, row: _Row, number: int, *, given: bool) -> CommandJob:
    values: dict[str, Word] = {}
    sources: dict[str, tuple[tuple[Span, str], ...]] = {}
    fields: dict[str, tuple[tuple[str, ...], ...]] = {}
    for variable, name in _variables(reading, row).items():
        if name not in row.values:
            continue
        text = _text(row.values[name])
        values[variable] = text
        fields[variable] = ((name,),)
        if (name,) in row.places:
            sources[variable] = ((row.places[name,], text),)
    if not given:
        source = reading.files.text(path)
        for name in unset_variables(source.text) if source is not None else ():
            values[name] = Unknown(f"nothing in the settings gives ${name}")
    start = Start(
        run=f"bash {shlex.quote(path)}{_arguments(reading, row)}\n",
        run_span=row.place,
        run_origin=(row.place.line, row.place.column),
        values=values,
        shell="",
        sources=sources,
        fields=fields,
    )
    facts, places = _facts(reading, row)
    whole = Span(path, 1, 1, 1, 1)
    return CommandJob(
        entry=path,
        config=whole,
        arm=row.place,
        scenario=SCENARIO,
        arm_index=number,
        row=row.values,
        start=start,
        places={**row.places, **places},
        known=facts,
    )


def _variables(reading: _Reading, row: _Row) -> Mapping[str, str]:
    """The field of the row that each variable is: as the options say, else of the same name, in capitals for files."""
    asked = reading.names("environment")
    if asked:
        return asked
    if "matrix" in reading.options:
        return {name: name for name in row.values if _VARIABLE.fullmatch(name)}
    return {upper: name for name in row.values if _VARIABLE.fullmatch(upper := re.sub(r"[-. ]", "_", name).upper())}


def _arguments(reading: _Reading, row: _Row) -> str:
    words = []
    for word in reading.texts("arguments"):
        filled = _FIELD.sub(lambda match: _text(row.values.get(match[1], "")), word)
        words.append(f" {shlex.quote(filled)}")
    return "".join(words)


def _facts(reading: _Reading, row: _Row) -> tuple[dict[str, object], dict[RowPath, Span]]:
    """What rules know by their own names, and where it is written."""
    asked = reading.names("facts")
    found: dict[str, object] = {}
    places: dict[RowPath, Span] = {}
    named = {**{_fact_name(name): name for name in row.values}, **asked}
    for fact, name in named.items():
        if fact in _KNOWN and name in row.values and (fact in asked or fact != name):
            found[fact] = row.values[name]
            if (name,) in row.places:
                places[fact,] = row.places[name,]
    return found, places


def _fact_name(name: str) -> str:
    plain = name.lower().replace("_", "-")
    return _AGAIN.get(plain, plain)


def _text(value: object) -> str:
    """A value of a row as a variable holds it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    if isinstance(value, Mapping):
        return json.dumps(value, default=str)
    return str(value)
