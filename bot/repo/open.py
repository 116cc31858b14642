"""Where a command's PATH and revision become files."""

from __future__ import annotations

import os
from pathlib import Path

from botlint.core.errors import UsageError
from botlint.repo.files import Files
from botlint.repo.git import GitRevision
from botlint.repo.worktree import Worktree


def open_files(path: str | os.PathLike[str], rev: str | None = None) -> Files:
    """The working tree at `path`, or the revision `rev` of the git repository there.

    Raises UsageError if `path` is not a directory, has no working tree, or `rev` is unknown; CannotFinish without git.
    """
    root = Path(path)
    if not root.is_dir():
        raise UsageError(f"not a directory: {root}")
    if rev is not None:
        return GitRevision(root, rev)
    if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
        raise UsageError(f"{root} is a bare git repository, which has no working tree; name a revision")
    return Worktree(root)
