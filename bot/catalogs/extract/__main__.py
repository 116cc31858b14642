"""Entry of the extracting process: `python -m botlint.catalogs.extract FRAMEWORK SOURCE VERSION OUTPUT`."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

_FRAMEWORKS = ("atom", "lmcache", "sglang", "vllm")
_REFUSED = ("os.system", "os.exec", "os.posix_spawn", "socket.connect", "socket.getaddrinfo", "subprocess.Popen")


def _refuse(event: str, _: tuple[Any, ...]) -> None:
    """Audit hook: reading an argument parser needs no network and no other process."""
    if event in _REFUSED:
        raise PermissionError(f"{event} is not allowed while a catalog is extracted")


def main(arguments: list[str]) -> int:
    """Write the snapshot of one framework version; exit status 2 for wrong arguments."""
    if len(arguments) != 4 or arguments[0] not in _FRAMEWORKS:
        print("usage: python -m botlint.catalogs.extract FRAMEWORK SOURCE VERSION OUTPUT", file=sys.stderr)
        return 2
    framework, source, version, output = arguments
    sys.addaudithook(_refuse)
    module = importlib.import_module(f"botlint.catalogs.extract.{framework}")
    with Path(os.devnull).open("w") as sink, contextlib.redirect_stdout(sink):
        snapshot = module.extract(Path(source).resolve(), version)
    Path(output).write_text(json.dumps(snapshot, sort_keys=True), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
