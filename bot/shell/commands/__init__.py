"""Models of external commands: what a command writes for known arguments and input, or None when that is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Protocol

from botlint.shell.commands.base import MAX_TEXT, Call, Files, Implementation, Output, Unmodelled, no_files

__all__ = ["MODELS", "WITHOUT_INPUT", "Model", "sed_in_place"]

# Commands that never read standard input.
WITHOUT_INPUT = frozenset({"basename", "dirname", "seq", "echo", "printf", "expr", "true", "false", "test", "["})


def sed_in_place(args: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """For a sed call that edits files in place: the arguments that make the script, and the files; else None."""
    from botlint.shell.commands.sed import split_in_place

    return split_in_place(args)


class Model(Protocol):
    """A command: its arguments without the name, its standard input (None: not known), and the files it may read."""

    def __call__(self, args: Sequence[str], stdin: str | None = "", files: Files = no_files) -> Output | None:
        """The exit status and the standard output, or None when the model does not know them."""


def _model(module: str, function: str) -> Model:
    """The model that `function` of a module of this package implements; the module is imported at the first call."""

    @lru_cache(maxsize=1)
    def load() -> Implementation:
        implementation: Implementation = getattr(import_module(f"botlint.shell.commands.{module}"), function)
        return implementation

    def model(args: Sequence[str], stdin: str | None = "", files: Files = no_files) -> Output | None:
        try:
            status, output = load()(Call(tuple(args), stdin, files, _run_without_input))
        except (Unmodelled, RecursionError):
            return None
        return None if len(output) > MAX_TEXT else (status, output)

    return model


def _run_without_input(name: str, args: Sequence[str]) -> Output | None:
    return MODELS[name](args) if name in WITHOUT_INPUT else None


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "[": _model("expr", "bracket"),
        "awk": _model("awk", "awk"),
        "base64": _model("digests", "base64"),
        "basename": _model("text", "basename"),
        "cat": _model("text", "cat"),
        "cut": _model("text", "cut"),
        "dirname": _model("text", "dirname"),
        "echo": _model("text", "echo"),
        "egrep": _model("grep", "egrep"),
        "expr": _model("expr", "expr"),
        "false": _model("text", "false"),
        "fgrep": _model("grep", "fgrep"),
        "gawk": _model("awk", "awk"),
        "grep": _model("grep", "grep"),
        "head": _model("text", "head"),
        "jq": _model("jq", "jq"),
        "mawk": _model("awk", "awk"),
        "md5sum": _model("digests", "md5sum"),
        "nl": _model("text", "nl"),
        "numfmt": _model("arguments", "numfmt"),
        "paste": _model("text", "paste"),
        "printf": _model("text", "printf"),
        "rev": _model("text", "rev"),
        "sed": _model("sed", "sed"),
        "seq": _model("text", "seq"),
        "sha1sum": _model("digests", "sha1sum"),
        "sha224sum": _model("digests", "sha224sum"),
        "sha256sum": _model("digests", "sha256sum"),
        "sha384sum": _model("digests", "sha384sum"),
        "sha512sum": _model("digests", "sha512sum"),
        "sort": _model("sorting", "sort"),
        "tac": _model("text", "tac"),
        "tail": _model("text", "tail"),
        "tee": _model("text", "tee"),
        "test": _model("expr", "test"),
        "tr": _model("text", "tr"),
        "true": _model("text", "true"),
        "uniq": _model("text", "uniq"),
        "wc": _model("text", "wc"),
        "xargs": _model("arguments", "xargs"),
    }
)
