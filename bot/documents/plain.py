"""YAML of our own as plain values: quick, without spans. What a repository wrote is read by `yaml`."""

from __future__ import annotations

from typing import Any

import yaml


def load_plain(text: str) -> Any:
    """The value of a YAML text that ships with botlint."""
    return yaml.load(text, yaml.CSafeLoader)


def dump_plain(value: object, *, flow: bool | None = False, width: int = 1_000) -> str:
    """A value as YAML, keys in their order; with `flow=None` the innermost collections are on one line."""
    text: str = yaml.safe_dump(value, sort_keys=False, default_flow_style=flow, width=width)
    return text
