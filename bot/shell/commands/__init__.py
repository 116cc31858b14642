"""Models of external commands: what a command writes for known arguments and input, or None when that is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from botlint.shell.commands import arguments, awk, expr, grep, jq, sed, sorting, text
from botlint.shell.commands.base import MAX_TEXT, Call, Files, Implementation, Output, Unmodelled, no_files

__all__ = ["MODELS", "WITHOUT_INPUT", "Model", "sed_in_place"]

# Commands that never read standard input.
WITHOUT_INPUT = frozenset({"basename", "dirname", "seq", "echo", "printf", "expr", "true", "false", "test", "["})


sed_in_place = sed.split_in_place


class Model(Protocol):
    """A command: its arguments without the name, its standard input (None: not known), and the files it may read."""

    def __call__(self, args: Sequence[str], stdin: str | None = "", files: Files = no_files) -> Output | None:
        """The exit status and the standard output, or None when the model does not know them."""


def _model(implementation: Implementation) -> Model:
    def model(args: Sequence[str], stdin: str | None = "", files: Files = no_files) -> Output | None:
        try:
            status, output = implementation(Call(tuple(args), stdin, files))
        except (Unmodelled, RecursionError):
            return None
        return None if len(output) > MAX_TEXT else (status, output)

    return model


def _run_without_input(name: str, args: Sequence[str]) -> Output | None:
    return MODELS[name](args) if name in WITHOUT_INPUT else None


MODELS: Mapping[str, Model] = MappingProxyType(
    {
        "basename": _model(text.basename),
        "dirname": _model(text.dirname),
        "seq": _model(text.seq),
        "cut": _model(text.cut),
        "tr": _model(text.tr),
        "head": _model(text.head),
        "tail": _model(text.tail),
        "wc": _model(text.wc),
        "sort": _model(sorting.sort),
        "uniq": _model(text.uniq),
        "rev": _model(text.rev),
        "tac": _model(text.tac),
        "paste": _model(text.paste),
        "nl": _model(text.nl),
        "base64": _model(text.base64),
        "md5sum": _model(text.checksum("md5")),
        "sha1sum": _model(text.checksum("sha1")),
        "sha224sum": _model(text.checksum("sha224")),
        "sha256sum": _model(text.checksum("sha256")),
        "sha384sum": _model(text.checksum("sha384")),
        "sha512sum": _model(text.checksum("sha512")),
        "echo": _model(text.echo),
        "printf": _model(text.printf),
        "expr": _model(expr.expr),
        "test": _model(expr.test),
        "[": _model(expr.bracket),
        "jq": _model(jq.jq),
        "numfmt": _model(arguments.numfmt),
        "xargs": _model(arguments.xargs(_run_without_input)),
        "cat": _model(text.cat),
        "tee": _model(text.tee),
        "true": _model(text.true),
        "false": _model(text.false),
        "grep": _model(grep.grep),
        "egrep": _model(grep.egrep),
        "fgrep": _model(grep.fgrep),
        "sed": _model(sed.sed),
        "awk": _model(awk.awk),
        "mawk": _model(awk.awk),
        "gawk": _model(awk.awk),
    }
)
