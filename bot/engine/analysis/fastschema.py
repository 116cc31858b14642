"""A quick look whether a value surely follows a schema, so that the thorough validator runs only on what may not.

It knows the keywords that our schemas use. What it passes, jsonschema passes too; what it does not pass is left to
jsonschema, which also words the errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

Check = Callable[[object], bool]

_TYPES: Mapping[str, Check] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description", "default", "examples"})
_KNOWN = frozenset(
    {
        "$ref",
        "type",
        "properties",
        "patternProperties",
        "additionalProperties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "pattern",
        "minimum",
        "exclusiveMinimum",
        "maximum",
        "minLength",
        "minItems",
        "minProperties",
        "propertyNames",
    }
)


@cache
def _schema(name: str) -> dict[str, Any]:
    text = resources.files("botlint.schemas").joinpath(name).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def _compiled(name: str) -> Check:
    root = _schema(name)
    made: dict[str, Check] = {}

    def resolved(reference: str) -> Check:
        def check(value: object) -> bool:
            if reference not in made:
                made[reference] = _compile(_target(root, reference), resolved)
            return made[reference](value)

        return check

    return _compile(root, resolved)


def _target(root: dict[str, Any], reference: str) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found[step]
    return found


def _compile(schema: Any, resolved: Callable[[str], Check]) -> Check:
    if isinstance(schema, bool):
        return lambda _: schema
    if schema.keys() - _KNOWN - _ANNOTATIONS:
        return lambda _: False
    checks: list[Check] = []
    if "$ref" in schema:
        checks.append(resolved(schema["$ref"]))
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        checks.append(_any([_TYPES[name] for name in types]))
    if "enum" in schema or "const" in schema:
        choices = schema.get("enum", [schema.get("const")])
        checks.append(lambda value: any(value == one and type(value) is type(one) for one in choices))
    if "anyOf" in schema:
        checks.append(_any([_compile(one, resolved) for one in schema["anyOf"]]))
    checks += _bounds(schema)
    if "items" in schema:
        item = _compile(schema["items"], resolved)
        checks.append(lambda value: not isinstance(value, list) or all(map(item, value)))
    if schema.keys() & {"properties", "patternProperties", "additionalProperties", "required", "propertyNames"}:
        checks.append(_object(schema, resolved))
    return checks[0] if len(checks) == 1 else lambda value: all(check(value) for check in checks)


def _any(checks: list[Check]) -> Check:
    return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)


def _bounds(schema: Mapping[str, Any]) -> list[Check]:
    checks: list[Check] = []
    if "pattern" in schema:
        pattern = re.compile(schema["pattern"])
        checks.append(lambda value: not isinstance(value, str) or pattern.search(value) is not None)
    number = _TYPES["number"]
    bounds: tuple[tuple[str, Callable[[Any, Any], bool], Check], ...] = (
        ("minimum", lambda value, bound: value >= bound, number),
        ("exclusiveMinimum", lambda value, bound: value > bound, number),
        ("maximum", lambda value, bound: value <= bound, number),
        ("minLength", lambda value, bound: len(value) >= bound, _TYPES["string"]),
        ("minItems", lambda value, bound: len(value) >= bound, _TYPES["array"]),
        ("minProperties", lambda value, bound: len(value) >= bound, _TYPES["object"]),
    )
    for name, holds, applies in bounds:
        if name in schema:
            checks.append(_bound(schema[name], holds, applies))
    return checks


def _bound(bound: object, holds: Callable[[Any, Any], bool], applies: Check) -> Check:
    return lambda value: not applies(value) or holds(value, bound)


def _object(schema: Mapping[str, Any], resolved: Callable[[str], Check]) -> Check:
    own = {name: _compile(one, resolved) for name, one in schema.get("properties", {}).items()}
    patterns = [
        (re.compile(text), _compile(one, resolved)) for text, one in schema.get("patternProperties", {}).items()
    ]
    other = _compile(schema.get("additionalProperties", True), resolved)
    names = _compile(schema.get("propertyNames", True), resolved)
    required = frozenset(schema.get("required", ()))

    def check(value: object) -> bool:
        if not isinstance(value, dict):
            return True
        if not required <= value.keys():
            return False
        for key, inner in value.items():
            if not isinstance(key, str) or not names(key):
                return False
            known = own.get(key)
            matched = [one for pattern, one in patterns if pattern.search(key)]
            if known is None and not matched:
                matched = [other]
            if (known is not None and not known(inner)) or not all(one(inner) for one in matched):
                return False
        return True

    return check


def quick_check(name: str, value: object) -> bool:
    """Whether a value surely follows `schemas/NAME`."""
    return _compiled(name)(value)


def known_properties(name: str, place: Sequence[str | int]) -> list[str]:
    """The keys that the schema has for the mapping at a place; those of all its forms are taken together."""
    root = _schema(name)
    here: list[Any] = [root]
    for step in place:
        here = [below for one in here for below in _below(root, one, step)]
    found: dict[str, None] = {}
    for one in here:
        for schema in _unfolded(root, one):
            found.update(dict.fromkeys(schema.get("properties", {})))
    return list(found)


def take_unknown(name: str, value: object) -> Iterator[list[str | int]]:
    """Takes the keys out of a value's mappings that the schema closes to them, and gives their places."""
    stack: list[tuple[list[Any], Any, list[str | int]]] = [([_schema(name)], value, [])]
    root = _schema(name)
    while stack:
        schemas, here, place = stack.pop()
        if not isinstance(here, dict):
            continue
        forms = [form for schema in schemas for form in _unfolded(root, schema)]
        closed = any("properties" in form for form in forms) and all(
            form.get("additionalProperties", True) is False for form in forms if "properties" in form
        )
        known = {key for form in forms for key in form.get("properties", {})}
        for key in list(here):
            if closed and key not in known:
                del here[key]
                yield [*place, key]
            else:
                stack.append(
                    ([one for schema in schemas for one in _below(root, schema, key)], here[key], [*place, key])
                )


def _unfolded(root: dict[str, Any], schema: Any) -> list[dict[str, Any]]:
    if not isinstance(schema, dict):
        return []
    found = [schema]
    if "$ref" in schema:
        found += _unfolded(root, _target(root, schema["$ref"]))
    for one in schema.get("anyOf", ()):
        found += _unfolded(root, one)
    return found


def _below(root: dict[str, Any], schema: Any, step: str | int) -> list[Any]:
    found: list[Any] = []
    for one in _unfolded(root, schema):
        if isinstance(step, int):
            found.append(one.get("items", True))
        elif step in one.get("properties", {}):
            found.append(one["properties"][step])
        elif isinstance(one.get("additionalProperties"), dict):
            found.append(one["additionalProperties"])
    return found
