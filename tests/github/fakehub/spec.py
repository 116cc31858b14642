"""Requests and answers held against GitHub's OpenAPI description.

Requests strictly: GitHub takes and ignores a property that it does not know, so a misspelt one would go unnoticed; here
unknown ones are refused, in the query and in the body. Answers of the fake loosely, with a list of where the real API
is known to differ from its description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator, FormatChecker

DATA = Path(__file__).parents[1] / "data"

_SIDES = frozenset({"LEFT", "RIGHT"})
_METHODS = ("delete", "get", "patch", "post", "put")
# Path parameters that may hold slashes.
_WIDE = frozenset({"path", "ref", "basehead", "tree_sha"})
# Where the description says less than the API demands.
_COMMENTS = "pulls/create-review"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A known difference between the real API and its description: what the fake answers there is right."""

    operation: str
    """A pattern of operations."""
    path: str
    """A pattern of the place in the answer, as in `0/line`."""
    message: str
    """A pattern of what the validation says."""
    why: str


_OF_COMMENTS = r"pulls/.*comments?(-for-review)?"
DEVIATIONS = (
    Deviation(
        _OF_COMMENTS,
        r"(\d+/)?(original_)?(start_)?(line|side|position)",
        "None is not of type",
        "null on a comment on a file, on an outdated one, and (the start) on a single line",
    ),
    Deviation(
        r"apps/list-installations",
        r"\d+/account",
        "'",
        "an account is a user, an organization or an enterprise, and not all of them at once",
    ),
    Deviation(r"pulls/(get|list)", r"(\d+/)?head/repo", "None is not of type", "the fork of the head may be deleted"),
)


@dataclass(frozen=True, slots=True)
class Match:
    """The operation of a request, with its path parameters."""

    operation: str
    route: str
    method: str
    parameters: Mapping[str, str]


class Spec:
    """The operations of the description."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = _as_json_schema(whole)
        self._routes: list[tuple[re.Pattern[str], str]] = []
        self._validators: dict[str, Draft202012Validator] = {}
        paths = self._whole["paths"]
        # Long before short, fixed words before parameters: some of these take slashes.
        for route in sorted(paths, key=lambda one: (-one.count("/"), [part[:1] == "{" for part in one.split("/")])):
            parts = [
                ("(?P<%s>.+)" if name in _WIDE else "(?P<%s>[^/]+)") % name if name else re.escape(fixed)
                for fixed, name in re.findall(r"([^{}]+)|\{([^{}]+)\}", route)
            ]
            self._routes.append((re.compile("".join(parts)), route))

    def match(self, method: str, path: str) -> Match | None:
        """The operation that a request means."""
        for pattern, route in self._routes:
            found = pattern.fullmatch(path)
            operation = self._whole["paths"][route].get(method.lower()) if found else None
            if found and operation:
                parameters = {name: unquote(text) for name, text in found.groupdict().items()}
                return Match(operation["operationId"], route, method.lower(), parameters)
        return None

    def operations(self) -> Sequence[str]:
        """The ids of all operations."""
        return sorted(
            item[method]["operationId"]
            for item in self._whole["paths"].values()
            for method in _METHODS
            if method in item
        )

    def request_faults(self, match: Match, query: Sequence[tuple[str, str]], body: bytes) -> list[str]:
        """What is wrong with a request."""
        return [*self._query_faults(match, query), *self._body_faults(match, body)]

    def _query_faults(self, match: Match, query: Sequence[tuple[str, str]]) -> Iterator[str]:
        known = {
            (one["in"], one["name"]): one for one in map(self._resolved, self._operation(match).get("parameters", ()))
        }
        for name, text in query:
            parameter = known.get(("query", name))
            if parameter is None:
                yield f"query: unknown parameter {name!r}"
            else:
                yield from self._parameter_faults(f"query {name}", parameter["schema"], text)
        for name, text in match.parameters.items():
            if ("path", name) in known:
                yield from self._parameter_faults(f"path {name}", known["path", name]["schema"], text)

    def _parameter_faults(self, place: str, schema: Mapping[str, Any], text: str) -> Iterator[str]:
        schema = self._resolved(schema)
        value: Any = text
        kinds = schema.get("type", "string")
        if kinds == "integer" and re.fullmatch(r"-?\d+", text):
            value = int(text)
        elif kinds == "boolean" and text in ("true", "false"):
            value = text == "true"
        for error in self._validator(schema).iter_errors(value):
            yield f"{place}: {error.message}"

    def _body_faults(self, match: Match, body: bytes) -> Iterator[str]:
        wanted = self._operation(match).get("requestBody")
        if wanted is None:
            if body not in (b"", b"{}"):
                yield "body: this operation takes none"
            return
        if not body:
            if wanted.get("required"):
                yield "body: missing"
            return
        try:
            value = json.loads(body)
        except ValueError as error:
            yield f"body: {error}"
            return
        schema = wanted["content"]["application/json"]["schema"]
        for fault in self._validator(schema).iter_errors(value):
            yield f"body {_place(fault.absolute_path)}: {_reason(fault)}"
        yield from (f"body {path}: unknown property" for path in self._unknown(schema, value, ""))
        if match.operation == _COMMENTS and isinstance(value, dict):
            yield from _review_faults(value)

    def response_faults(self, match: Match, status: int, body: Any) -> list[str]:
        """What an answer does not share with the description, known deviations left out."""
        responses = self._operation(match)["responses"]
        response = responses.get(str(status))
        if response is None:
            return [] if status >= 400 else [f"answer {status} is not described"]
        content = self._resolved(response).get("content", {}).get("application/json")
        if content is None:
            return [] if body is None else [f"answer {status} has no body by the description"]
        faults = []
        for error in self._validator(content["schema"]).iter_errors(body):
            for leaf in _leaves(error):
                place = "/".join(str(part) for part in leaf.absolute_path)
                if not any(
                    re.fullmatch(one.operation, match.operation)
                    and re.fullmatch(one.path, place)
                    and leaf.message.startswith(one.message)
                    for one in DEVIATIONS
                ):
                    faults.append(f"answer {status} {place or '(whole)'}: {_short(leaf.message)}")
        return faults

    def _unknown(self, schema: Mapping[str, Any], value: Any, place: str) -> Iterator[str]:
        """Places in a value that no part of the schema names."""
        schema = self._resolved(schema)
        if isinstance(value, list):
            for index, one in enumerate(value):
                if "items" in schema:
                    yield from self._unknown(schema["items"], one, f"{place}/{index}")
            return
        if not isinstance(value, dict):
            return
        named, rest = self._named(schema)
        for name, one in value.items():
            if name in named:
                yield from self._unknown(named[name], one, f"{place}/{name}")
            elif rest is None:
                yield f"{place}/{name}"

    def _named(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The properties that a schema or one of its alternatives names, and what others may be (None: nothing)."""
        schema = self._resolved(schema)
        named = dict(schema.get("properties", {}))
        rest = schema.get("additionalProperties")
        # Free-form objects, as the inputs of a workflow, have neither properties nor a word on them.
        if rest is True and named:
            rest = None
        if rest is None and not named and not any(one in schema for one in ("oneOf", "anyOf", "allOf")):
            rest = True
        for key in ("oneOf", "anyOf", "allOf"):
            for one in schema.get(key, ()):
                more, _ = self._named(one)
                named = {**more, **named}
        return named, rest

    def _operation(self, match: Match) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._whole["paths"][match.route][match.method]
        return found

    def _resolved(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in value:
            target: Any = self._whole
            for part in value["$ref"][2:].split("/"):
                target = target[part]
            value = target
        return value

    def _validator(self, schema: Mapping[str, Any]) -> Draft202012Validator:
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            # References lead into the components of the whole description.
            wrapped = {**schema, "components": self._whole["components"]}
            self._validators[key] = Draft202012Validator(wrapped, format_checker=FormatChecker())
        return self._validators[key]


@cache
def load_spec() -> Spec:
    """The description in data/."""
    return Spec(json.loads((DATA / "spec.json").read_text(encoding="utf-8")))


def _review_faults(body: Mapping[str, Any]) -> Iterator[str]:
    """Rules for the comments of a review that the description leaves out."""
    comments = body.get("comments")
    for index, comment in enumerate(comments if isinstance(comments, list) else ()):
        if not isinstance(comment, dict):
            continue
        place = f"body /comments/{index}"
        for name in ("side", "start_side"):
            if name in comment and comment[name] not in _SIDES:
                yield f"{place}/{name}: {comment[name]!r} is not LEFT or RIGHT"
        if "position" in comment:
            yield f"{place}/position: deprecated, use line and side"
        elif "line" not in comment:
            yield f"{place}: neither line nor position"
        if "start_side" in comment and "start_line" not in comment:
            yield f"{place}/start_side: without start_line"
    if "event" not in body:
        yield "body: without event the review stays pending, for its author alone"
    if "commit_id" not in body:
        yield "body: without commit_id the review is on whatever the head is by then"


def _as_json_schema(value: Any) -> Any:
    """OpenAPI 3.0's `nullable` said in JSON Schema."""
    if isinstance(value, list):
        return [_as_json_schema(one) for one in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _as_json_schema(one) for key, one in value.items() if key != "nullable"}
    if value.get("nullable") is True:
        if isinstance(changed.get("type"), str):
            changed["type"] = [changed["type"], "null"]
            if "enum" in changed and None not in changed["enum"]:
                changed["enum"] = [*changed["enum"], None]
        else:
            changed = {"anyOf": [changed, {"type": "null"}]}
    return changed


def _leaves(error: Any) -> Iterator[Any]:
    """The errors of the alternative that fits best, instead of `is not valid under any`."""
    if not error.context:
        yield error
        return
    branches: dict[Any, list[Any]] = {}
    for one in error.context:
        branches.setdefault(one.schema_path[0], []).append(one)
    # An alternative of another type is not what was meant.
    best = min(
        branches.values(),
        key=lambda some: (any(len(one.path) == 0 and one.validator == "type" for one in some), len(some)),
    )
    for one in best:
        yield from _leaves(one)


def _reason(error: Any) -> str:
    return "; ".join(f"{_place(leaf.absolute_path)} {_short(leaf.message)}" for leaf in _leaves(error))


def _short(text: str) -> str:
    """A message without the middle of the value that it quotes."""
    return text if len(text) <= 240 else f"{text[:120]} ... {text[-120:]}"


def _place(path: Any) -> str:
    return "/" + "/".join(str(part) for part in path)
