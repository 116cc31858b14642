"""The shell scripts of a revision that belong to runs, each walked once, and how they reach one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from botlint.documents.bash import Param, Word
from botlint.engine.analysis.scripts_paths import Paths
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts, walk
from botlint.engine.context import Context

ENDINGS = (".sh", ".slurm", ".sbatch", ".bash")
_SHELL = re.compile(rb"#!\s*/\S*(?:/env\s+)?(?:\S*/)?(?:ba|da|k|z)?sh\b")
_SKIPPED = re.compile(r"(?:^|/)(?:tests?|docs?|\.github|node_modules|third_party|vendor)/")
_FOLDERS = ("benchmarks/", "runners/", "launchers/", "scripts/")
_PLAIN_NAME = re.compile(r"[^./][^./]*\Z")
_ARCHIVED = re.compile(r"(?:^|/)(?:deprecated|archived?|legacy|attic|old)/")

MAX_SCRIPTS = 3_000
MAX_SCRIPT = 1_000_000
"""Bytes of a script that is walked."""

MAX_TEXT = 6_000_000
"""Bytes of all scripts that are walked; small ones come first."""


@dataclass(frozen=True, slots=True)
class SourceCall:
    """One `source` of a script: the path it leads to in the repository, None where that is not known."""

    call: Call
    target: str | None
    beside: bool
    """Whether the path starts at the script's own folder or the repository's root, not at the working directory."""


def _facts(context: Context, path: str) -> ScriptFacts | None:
    """The facts of a script, those of an unchanged one from the base; None if it cannot be read."""
    script = context.script(path)
    if script is None:
        return None

    def read(_text: str, name: str) -> ScriptFacts:
        facts = walk(script, name)
        if script.problem is not None:
            facts.dynamic = True
        return facts

    return context.of_file("facts", path, read)


class Scripts:
    """The walked scripts by path. Everything else is found when it is asked for."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.files = context.files
        self.by_path: dict[str, ScriptFacts] = {}
        for path in _affordable(context, script_paths(context)):
            facts = _facts(context, path)
            if facts is not None:
                self.by_path[path] = facts

    @cached_property
    def paths(self) -> Paths:
        return Paths(self.files)

    @cached_property
    def sources(self) -> Mapping[str, list[SourceCall]]:
        """The `source` calls of each script."""
        return {path: self._sources(facts) for path, facts in self.by_path.items()}

    def _sources(self, facts: ScriptFacts) -> list[SourceCall]:
        found: list[SourceCall] = []
        for call in facts.calls:
            if call.name in ("source", ".") and len(call.words) > 1:
                path = self.paths.evaluate(call.words[1], facts)
                found.append(SourceCall(call, None if path is None else path.text, path is not None and path.anchored))
        return found

    @cached_property
    def sourced_by(self) -> Mapping[str, set[str]]:
        """The scripts that source each script directly."""
        found: dict[str, set[str]] = {}
        for path, calls in self.sources.items():
            for one in calls:
                target = self.library(path, one)
                if target is not None:
                    found.setdefault(target, set()).add(path)
        return found

    def library(self, path: str, one: SourceCall) -> str | None:
        """The script of the repository that a `source` reads; by its name alone where the path is not known."""
        if one.target is not None and one.target in self.by_path:
            return one.target
        name = one.call.words[1].text.strip("\"'").rpartition("/")[2]
        if one.target is not None or "$" in name:
            return None
        return self.by_name(name, near=path)

    def by_name(self, name: str, near: str) -> str | None:
        """The script of that base name that is nearest to another one; None if there is none."""
        found = self._names.get(name, [])
        if len(found) <= 1:
            return found[0] if found else None
        return max(found, key=lambda path: (_common(path, near), -len(path)))

    @cached_property
    def _names(self) -> Mapping[str, list[str]]:
        names: dict[str, list[str]] = {}
        for path in self.by_path:
            names.setdefault(path.rpartition("/")[2], []).append(path)
        return names

    def libraries(self, path: str) -> list[str]:
        """The scripts that a script sources, directly or not, itself not included."""
        done: dict[str, None] = {}
        todo = [path]
        while todo:
            here = todo.pop()
            for one in self.sources.get(here, ()):
                target = self.library(here, one)
                if target is not None and target not in done and target != path:
                    done[target] = None
                    todo.append(target)
        return list(done)

    def users(self, path: str) -> list[str]:
        """The scripts that source this one, directly or not."""
        done: dict[str, None] = {}
        todo = [path]
        while todo:
            for user in self.sourced_by.get(todo.pop(), ()):
                if user not in done and user != path:
                    done[user] = None
                    todo.append(user)
        return list(done)

    def around(self, path: str) -> list[ScriptFacts]:
        """The scripts that share variables with this one: what it sources, who sources it, and what they source."""
        near = {path: None, **dict.fromkeys(self.libraries(path))}
        for user in self.users(path):
            near[user] = None
            near.update(dict.fromkeys(self.libraries(user)))
        return [self.by_path[one] for one in near]


def _common(one: str, other: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def scripts(context: Context) -> Scripts:
    """The walked scripts of a revision, made once."""
    return context.once(Scripts)


def script_paths(context: Context) -> list[str]:
    """The shell scripts that runs are made of: below benchmarks and runners, and launchers at the root."""
    found: list[str] = []
    files = context.files
    for path in files.paths():
        if path.endswith(ENDINGS):
            if ("/" not in path or path.startswith(_FOLDERS)) and not _SKIPPED.search(path):
                found.append(path)
        elif path.startswith(_FOLDERS) and _PLAIN_NAME.match(path.rpartition("/")[2]):
            content = files.read(path)
            if content is not None and _SHELL.match(content[:64]):
                found.append(path)
    if len(found) > MAX_SCRIPTS:
        context.note("budget", f"{len(found):,} scripts, more than the {MAX_SCRIPTS:,} that are looked at")
    return found[:MAX_SCRIPTS]


def _affordable(context: Context, paths: Iterable[str]) -> list[str]:
    """The scripts that can be walked in bounded time; the others are noted."""
    sizes = {path: len(context.files.read(path) or b"") for path in paths}
    left = MAX_TEXT
    kept: set[str] = set()
    for path, size in sorted(sizes.items(), key=lambda one: one[1]):
        if size <= min(left, MAX_SCRIPT):
            left -= size
            kept.add(path)
        else:
            limit = f"{MAX_SCRIPT:,} of one script" if size > MAX_SCRIPT else f"{MAX_TEXT:,} of all scripts"
            context.note("budget", f"{size:,} bytes: only {limit} are looked at", path, 1)
    return [path for path in sizes if path in kept]


def run_words(call: Call) -> Iterable[Word]:
    """The words of a command that name a script which it runs."""
    for word in call.words:
        if ".sh" in word.text or ".slurm" in word.text or ".sbatch" in word.text:
            yield word


def names_in(word: Word) -> list[str]:
    """The variables that a word expands."""
    found: list[str] = []
    for part in word.parts:
        inner = getattr(part, "parts", (part,))
        found.extend(one.name for one in inner if isinstance(one, Param))
    return found


def is_archived(path: str) -> bool:
    """Whether a script lies in a folder of scripts that are kept but not run."""
    return _ARCHIVED.search(path) is not None


def is_host(path: str) -> bool:
    """Whether a script runs on a runner's own machine, whose environment is not known."""
    return "/" not in path or path.startswith(("runners/", "launchers/"))
