"""`source` statements of scripts whose path is known."""

from __future__ import annotations

import re
from collections.abc import Iterable

from botlint.engine.analysis.scripts import Scripts, SourceCall, is_archived, scripts
from botlint.engine.analysis.scripts_walk import ScriptFacts
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

_CHECKED = re.compile(r"-[efrs]\s")


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    found = scripts(context)
    for path, calls in found.sources.items():
        facts = found.by_path[path]
        for one in calls:
            target = one.target
            if target is None or context.files.is_file(target):
                continue
            name = target.rpartition("/")[2]
            moved = found.by_name(name, near=path)
            used = _used(found, facts, moved)
            yield Core(
                f"{path}:{target}",
                {
                    "target": target,
                    "anchored": one.beside,
                    "guarded": _guarded(one),
                    "made": _made(facts, name),
                    "elsewhere": moved or "",
                    "uses": used,
                    "script": path,
                    "archived": is_archived(path),
                },
                {"path": facts.span(one.call.word_start(1), one.call.word_start(1) + len(one.call.words[1].text))},
            )


def _guarded(one: SourceCall) -> bool:
    """Whether the script itself reckons with a file that is not there."""
    return one.call.place in ("condition", "alternative") or any(_CHECKED.search(guard) for guard in one.call.guards)


def _made(facts: ScriptFacts, name: str) -> bool:
    """Whether the script writes a file of that name, or makes the environment that the file belongs to."""
    if re.search(rf">\s*[\"']?[^\s\"']*{re.escape(name)}", facts.code):
        return True
    return name == "activate" and ("venv" in facts.code or "conda" in facts.code)


def _used(found: Scripts, facts: ScriptFacts, moved: str | None) -> list[str]:
    """The functions of the file that the script calls, as far as a file of that name exists elsewhere."""
    if moved is None:
        return []
    theirs = found.by_path[moved].functions.keys() - facts.functions.keys()
    return sorted({call.name for call in facts.calls} & theirs)


VIEW = View(
    "source_statement",
    "A `source` of a script whose path within the repository is known and where there is no file.",
    (
        Fact("target", "string", "The path within the repository."),
        Fact("anchored", "bool", "Whether the path starts at the script's folder or the repository's root."),
        Fact("guarded", "bool", "Whether the script tests for the file or goes on without it."),
        Fact("made", "bool", "Whether the script makes the file before."),
        Fact("elsewhere", "string", "A script of the same name elsewhere in the repository, else empty."),
        Fact("uses", "list<string>", "The functions of that script that this one calls."),
        Fact("script", "string", "The script with the statement."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"path": "the path that is sourced"},
    build,
)
