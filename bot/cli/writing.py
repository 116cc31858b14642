"""Files of a working tree that a command writes: inside the tree, through no link, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from botlint.core.errors import CannotFinish
from botlint.repo.files import is_safe_path


def write_inside(root: Path, path: str, content: bytes, before: bytes | None) -> None:
    """Replaces a file below `root`, whose content was `before` (None: there was none); its mode stays.

    Raises CannotFinish for links, for a file that changed meanwhile, and if it cannot be written.
    """
    target = root / path
    try:
        if not is_safe_path(path) or any(part.is_symlink() for part in _below(root, path)):
            raise CannotFinish(f"{path}: a symbolic link or a path outside is not written")
        if (target.read_bytes() if target.exists() else None) != before:
            raise CannotFinish(f"{path} changed in the meantime; nothing is written to it")
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".botlint-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            Path(name).chmod(target.stat().st_mode & 0o7777 if before is not None else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CannotFinish(f"cannot write {path}: {error.strerror}") from error


def _below(root: Path, path: str) -> list[Path]:
    parts = path.split("/")
    return [root.joinpath(*parts[: number + 1]) for number in range(len(parts))]


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
