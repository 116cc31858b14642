"""Pathname expansion against the known files."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from botlint.shell.paths import normal, relative_to_workspace
from botlint.shell.patterns import (
    matches,
    quote_pattern,
)
from botlint.shell.process import UNKNOWN_INSIDE
from botlint.shell.values import Value, concat, derive, hole, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def glob(shell: Shell, field: list[tuple[Value, bool]]) -> list[Value]:
    """Pathname expansion of one field against the known files; what only the machine knows stays a hole."""
    plain = concat([v for v, _ in field])
    escaped = concat([derive(quote_pattern, v) if q else v for v, q in field])
    text = shell.concrete(escaped)
    if text is None:
        return [plain]
    literal = text_of(plain)
    assert literal is not None
    if not _really_globs(text, shell.shopt.get("extglob", False)):
        return [re.sub(r"\\(.)", r"\1", text) if "\\" in text else literal]
    found = _find(shell, text)
    if found is None:
        return [hole(f"files matching {literal}")]
    if found:
        return [*found]
    if shell.shopt.get("failglob"):
        raise shell.discard(f"no match: {literal}")
    return [] if shell.shopt.get("nullglob") else [literal]


@lru_cache(maxsize=1024)
def _really_globs(text: str, extglob: bool = False) -> bool:
    bare = re.sub(r"\\.", "", text)
    return (
        "*" in bare
        or "?" in bare
        or ("[" in bare and "]" in bare)
        or (extglob and re.search(r"[+@!]\(", bare) is not None)
    )


def _find(shell: Shell, text: str) -> list[str] | None:
    """The paths that match a pattern, None if only the machine knows."""
    prefix = "/" if text.startswith("/") else ""
    where = shell.canonical(prefix or ".")
    assert where is not None
    results = [(prefix, where)]
    components = [c for c in text.split("/") if c]
    for number, component in enumerate(components):
        last = number == len(components) - 1
        only_directories = not last or text.endswith("/")
        following: list[tuple[str, str]] = []
        for shown, at in results:
            found = _matching(shell, component, at, only_directories)
            if found is None:
                return None
            following.extend((f"{shown}{name}{'' if last or not name else '/'}", path) for name, path in found)
        results = following
    shown_paths = sorted({shown for shown, _ in results if shown})
    return [f"{f}/" if not f.endswith("/") else f for f in shown_paths] if text.endswith("/") else shown_paths


def _matching(shell: Shell, component: str, at: str, only_directories: bool) -> list[tuple[str, str]] | None:
    """(name, canonical path) of what matches one component in a directory; '' is the directory itself (of `**`)."""
    extglob = shell.shopt.get("extglob", False)
    if not _really_globs(component, extglob):
        name = re.sub(r"\\(.)", r"\1", component)
        path = normal(f"{at.rstrip('/')}/{name}")
        kind = shell.kind_at(path)
        return [(name, path)] if kind == "dir" or (kind == "file" and not only_directories) or kind == "unknown" else []
    if component == "**" and shell.shopt.get("globstar"):
        return _below(shell, at, only_directories)
    names = names_in(shell, at)
    if names is None:
        return None
    hidden = component.startswith(".") or shell.shopt.get("dotglob", False)
    ignore = shell.shopt.get("nocaseglob", False)
    found = [
        (name, f"{at.rstrip('/')}/{name}")
        for name in names
        if (hidden or not name.startswith(".")) and matches(component, name, extglob=extglob, ignore_case=ignore)
    ]
    return [f for f in found if shell.kind_at(f[1]) == "dir"] if only_directories else found


MAX_BELOW = 5_000


def _below(shell: Shell, at: str, only_directories: bool) -> list[tuple[str, str]] | None:
    """Everything below a directory, which itself counts as ''."""
    found: list[tuple[str, str]] = [("", at)]
    todo = [("", at)]
    while todo:
        shown, directory = todo.pop()
        names = names_in(shell, directory)
        if names is None:
            return None
        for name in names:
            if name.startswith(".") and not shell.shopt.get("dotglob"):
                continue
            path = f"{directory.rstrip('/')}/{name}"
            below = f"{shown}/{name}" if shown else name
            is_directory = shell.kind_at(path) == "dir"
            if is_directory:
                todo.append((below, path))
            if is_directory or not only_directories:
                found.append((below, path))
        if len(found) > MAX_BELOW:
            return None
    return found


def names_in(shell: Shell, directory: str) -> list[str] | None:
    """Names in a canonical directory, None if only the machine knows."""
    names: set[str] = set()
    inner = relative_to_workspace(directory)
    own = shell.files.own(directory)
    if inner is None and (own is None or own.kind != "dir"):
        return None
    if shell.files.holds_named(directory):
        return None
    if inner is not None and shell.files.base.is_dir(inner):
        listed = shell.files.base.list_dir(inner)
        if listed is None:
            return None
        names.update(listed)
    for where, entry in shell.files.entries:
        if entry.inside and (where == directory or directory.startswith(where + "/")):
            source = relative_to_workspace(entry.inside + directory[len(where) :])
            if entry.inside == UNKNOWN_INSIDE or source is None:
                return None
            listed = shell.files.base.list_dir(source)
            if listed is None:
                return None
            names.update(listed)
        if where.startswith(directory.rstrip("/") + "/"):
            name = where[len(directory.rstrip("/")) + 1 :].partition("/")[0]
            direct = where == f"{directory.rstrip('/')}/{name}"
            if entry.kind in ("file", "dir"):
                names.add(name)
            elif entry.kind == "missing" and direct:
                names.discard(name)
    return sorted(names)
