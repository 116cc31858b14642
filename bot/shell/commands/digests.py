"""Models of the tools that encode and sum bytes."""

from __future__ import annotations

import base64 as base64_codec
import binascii
import hashlib
from functools import partial

from botlint.shell.commands.base import (
    Call,
    Output,
    Unmodelled,
    join_lines,
    read_options,
    to_bytes,
    to_text,
    whole_number,
)


def base64(call: Call) -> Output:
    """Base64 of the input, or back."""
    options = read_options(call.args, "dw:i", {"decode": "d", "wrap": "w", "ignore-garbage": "i"})
    if len(options.operands) > 1:
        return 1, ""
    text = call.text(options.operands)
    if options.has("d"):
        try:
            return 0, to_text(base64_codec.b64decode(to_bytes(text.replace("\n", "")), validate=True))
        except binascii.Error as error:
            raise Unmodelled("base64 that is not valid") from error
    encoded = base64_codec.b64encode(to_bytes(text)).decode()
    width = whole_number(options.last("w") or "76")
    if not width:
        return 0, encoded
    return 0, join_lines([encoded[at : at + width] for at in range(0, len(encoded), width)])


def _checksum(algorithm: str, call: Call) -> Output:
    operands = read_options(call.args, "t", {"text": "t"}).operands or ("-",)
    lines = []
    for operand in operands:
        if "\\" in operand or "\n" in operand:
            raise Unmodelled("an escaped file name")
        digest = hashlib.new(algorithm, to_bytes(call.text([operand])), usedforsecurity=False).hexdigest()
        lines.append(f"{digest}  {operand}")
    return 0, join_lines(lines)


md5sum = partial(_checksum, "md5")
sha1sum = partial(_checksum, "sha1")
sha224sum = partial(_checksum, "sha224")
sha256sum = partial(_checksum, "sha256")
sha384sum = partial(_checksum, "sha384")
sha512sum = partial(_checksum, "sha512")
