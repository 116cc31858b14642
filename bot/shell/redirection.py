"""Redirections of a command."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import expansion, variables
from botlint.shell.process import (
    FileEntry,
)
from botlint.shell.streams import In, Out
from botlint.shell.values import Value, concat, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def redirect(shell: Shell, redirects: Sequence[bash.Redirect], lasting: bool = False) -> dict[int, Out | In] | None:
    """Applies redirections; the descriptors as they were, or None (with everything restored) if one fails."""
    before = shell.fds
    shell.fds = dict(before)
    for item in redirects:
        if not _redirect_one(shell, item, lasting):
            shell.fds = before
            return None
    return before


def restore_descriptors(shell: Shell, before: dict[int, Out | In]) -> None:
    """Ends redirections; what was written to a `>( )` is now read by its command."""
    shell.fds = before
    if not shell.readers:
        return
    ended = [(out, body) for out, body in shell.readers if not any(out is kept for kept in before.values())]
    shell.readers = [r for r in shell.readers if r not in ended]
    for out, body in ended:
        shell.fds = {**before, 0: In(concat(out.chunks or []))}
        shell.subshell(partial(shell.run, body))
        shell.fds = before


def _redirect_one(shell: Shell, item: bash.Redirect, lasting: bool) -> bool:
    op = item.op
    fd: int
    if isinstance(item.fd, str):
        if op in ("<&", ">&") and item.target.text == "-":
            number = shell.concrete(variables.variable_text(shell, item.fd)) or ""
            shell.fds.pop(int(number) if number.isdigit() else -1, None)
            return True
        fd = next(n for n in range(10, 1000) if n not in shell.fds)
        shell.assign(item.fd, str(fd))
    elif item.fd is not None:
        fd = item.fd
    else:
        fd = 0 if op[0] == "<" else 1
    if op == "<<":
        shell.fds[fd] = In(expansion.string(shell, item.target))
        return True
    if op == "<<<":
        shell.fds[fd] = In(concat([expansion.string(shell, item.target), "\n"]))
        return True
    if op in ("<&", ">&"):
        return _duplicate(shell, item, op, fd)
    parts = item.target.parts
    if len(parts) == 1 and isinstance(parts[0], bash.ProcessSub):
        return _process_substitution(shell, parts[0], fd, lasting)
    values = expansion.fields(shell, item.target)
    if len(values) != 1:
        shell.complain(f"{item.target.text}: ambiguous redirect")
        return False
    path = values[0]
    if op in ("&>", "&>>"):
        return _to_file(shell, path, op, (1, 2))
    if op in (">", ">>", ">|", "<>"):
        return _to_file(shell, path, op, (fd,))
    return _from_file(shell, path, fd)


def _duplicate(shell: Shell, item: bash.Redirect, op: str, fd: int) -> bool:
    target = expansion.string(shell, item.target)
    text = shell.concrete(target)
    if text == "-":
        shell.fds.pop(fd, None)
        return True
    if text is not None and text.rstrip("-").isdigit():
        number = int(text.rstrip("-"))
        if number not in shell.fds:
            shell.complain(f"{text}: Bad file descriptor")
            return False
        shell.fds[fd] = shell.fds[number]
        if text.endswith("-"):
            shell.fds.pop(number, None)
        return True
    if op == "<&" or item.fd is not None:
        return True
    return _to_file(shell, target, ">", (1, 2))


def _process_substitution(shell: Shell, part: bash.ProcessSub, fd: int, lasting: bool) -> bool:
    if not part.write:
        shell.fds[fd] = In(shell.capture_raw(part.body))
        return True
    first = part.body[0]
    if lasting and isinstance(first, bash.Command) and first.words and first.words[0].literal == "tee":
        # `exec > >(tee log)`: everything still comes to the standard output.
        shell.fds[fd] = shell.fds.get(1, Out())
        return True
    out = Out([])
    shell.readers.append((out, part.body))
    shell.fds[fd] = out
    return True


def _to_file(shell: Shell, path: Value, op: str, fds: tuple[int, ...]) -> bool:
    number = shell.descriptor(path)
    out: Out | In
    if path in ("/dev/null", "/dev/tty", "/dev/full", "/dev/zero"):
        out = Out()
    elif number is not None:
        if number not in shell.fds:
            shell.complain(f"{text_of(path)}: No such file or directory")
            return False
        out = shell.fds[number]
    else:
        where, entry = shell.entry(path)
        problem = _cannot_write(shell, path, where, entry, op)
        if problem:
            shell.complain(f"{text_of(path)}: {problem}")
            return False
        out = Out(None, shell.open_file(path, op in (">", ">|", "&>")), "file")
    for fd in fds:
        shell.fds[fd] = out
    return True


def _cannot_write(shell: Shell, path: Value, where: str, entry: FileEntry, op: str) -> str:
    if path == "":
        return "No such file or directory"
    if entry.kind == "dir":
        return "Is a directory"
    if entry.kind == "file" and op == ">" and shell.options.get("noclobber"):
        return "cannot overwrite existing file"
    if shell.world.machine is not None and where and shell.kind_at(where.rpartition("/")[0]) in ("missing", "file"):
        return "No such file or directory"
    return ""


def _from_file(shell: Shell, path: Value, fd: int) -> bool:
    number = shell.descriptor(path)
    if number is not None:
        if number not in shell.fds:
            shell.complain(f"{text_of(path)}: No such file or directory")
            return False
        shell.fds[fd] = shell.fds[number]
        return True
    where, entry = shell.entry(path)
    if entry.kind == "missing" or path == "":
        shell.complain(f"{text_of(path) or where}: No such file or directory")
        return False
    shell.fds[fd] = In(shell.read_file(path))
    return True
