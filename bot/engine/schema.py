"""Values against the JSON Schemas that ship."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

MAX_ERRORS = 100
"""Errors of one document that are told."""


@cache
def _validator(name: str) -> Any:
    # Takes a while to import, and most runs need none.
    import jsonschema

    schema = json.loads(resources.files("botlint.schemas").joinpath(name).read_text(encoding="utf-8"))
    cls = jsonschema.validators.validator_for(schema)
    return cls(schema)


def schema_errors(name: str, value: object) -> Iterator[tuple[Sequence[str | int], str]]:
    """The path and message of each place where a value does not follow the schema `schemas/NAME`."""
    for number, error in enumerate(_validator(name).iter_errors(value)):
        if number >= MAX_ERRORS:
            return
        yield list(error.absolute_path), error.message[:500]
