"""shellcheck on the scripts that a change touches: a separate process with a time limit that follows no `source`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from botlint.core.span import Span
from botlint.engine.analysis.scripts import MAX_SCRIPT, is_archived, script_paths
from botlint.engine.context import Context

MAX_SCRIPTS = 60
MAX_SECONDS = 20.0
MAX_OUTPUT = 4 * 1024 * 1024

BREAKS = frozenset(map(int, "1036 1072 1073 1078 1097 2057 2168 2171 2242 2281".split()))
"""Codes of what is wrong whenever the line runs. Flags as commands and blanks around `=` have rules of their own."""

DOUBTFUL = frozenset(
    map(
        int,
        (
            "1128 2050 2055 2056 2070 2071 2072 2076 2077 2078 2079 2081 2088 2091 2092 2107 2108 2109 2110 2123 2125 "
            "2141 2142 2144 2157 2158 2159 2160 2161 2188 2189 2193 2194 2195 2200 2201 2203 2210 2211 2216 2217 2218 "
            "2221 2222 2227 2238 2252 2259 2260 2261 2276 2277 2278 2279 2280 2282 2284 2285 2286 2287 2288 2289 2290 "
            "2291 2301 2303 2309 2315 2316 2319 2320 2321 2322 2323 2327 2328"
        ).split(),
    )
)
"""Codes of what hardly anybody means."""


@dataclass(frozen=True, slots=True)
class ShellFinding:
    """What shellcheck says about one place of a script."""

    path: str
    code: int
    message: str
    span: Span

    @property
    def breaks(self) -> bool:
        """Whether the line is wrong whenever it runs."""
        return self.code in BREAKS


def shell_findings(context: Context) -> list[ShellFinding]:
    """What shellcheck finds in changed scripts and did not find before; with the option `shellcheck: all`, in all.

    Nothing is run without a base unless the option says so, and never if it is `off`. That shellcheck is not installed
    or takes too long is noted.
    """
    mode = str(context.option("shellcheck", "changed"))
    if mode == "off" or (mode != "all" and context.base is None):
        return []
    texts: dict[str, str] = {}
    before: dict[str, str] = {}
    for path in script_paths(context):
        source = context.files.text(path)
        old = context.base.files.text(path) if context.base is not None else None
        if source is None or is_archived(path) or (old is not None and old.text == source.text):
            continue
        if len(source.text) > MAX_SCRIPT:
            continue  # which is noted where it is walked
        texts[path] = source.text
        if old is not None:
            before[path] = old.text
        if len(texts) >= MAX_SCRIPTS:
            context.note("budget", f"shellcheck looks at {MAX_SCRIPTS} changed scripts only")
            break
    found = _run(context, texts)
    known = {(one.path, one.code, _line(before[one.path], one.span.line)) for one in _run(context, before)}
    return [one for one in found if (one.path, one.code, _line(texts[one.path], one.span.line)) not in known]


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip() if number <= len(lines) else ""


def _program() -> str | None:
    beside = Path(sys.executable).with_name("shellcheck")
    return str(beside) if beside.is_file() else shutil.which("shellcheck")


def _run(context: Context, texts: Mapping[str, str]) -> list[ShellFinding]:
    """Runs shellcheck on copies under names of ours, so that no name of a repository reaches a command line."""
    program = _program()
    if not texts:
        return []
    if program is None:
        context.note("rule", "shellcheck is not installed: scripts are checked without it")
        return []
    with tempfile.TemporaryDirectory(prefix="botlint-") as folder:
        paths: dict[str, str] = {}
        for number, (path, text) in enumerate(texts.items()):
            copy = os.path.join(folder, f"{number}.sh")  # noqa: PTH118 - compared with the text that shellcheck prints
            Path(copy).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
            paths[copy] = path
        codes = ",".join(f"SC{code}" for code in sorted(BREAKS | DOUBTFUL))
        command = [program, "--norc", "--shell=bash", "--format=json1", f"--include={codes}", *paths]
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program on copies of ours
                command, capture_output=True, timeout=MAX_SECONDS, check=False, cwd=folder, stdin=subprocess.DEVNULL
            )
            said = json.loads(done.stdout[:MAX_OUTPUT] or b"{}")
        except subprocess.TimeoutExpired:
            context.note("budget", f"shellcheck took more than {MAX_SECONDS:.0f} seconds")
            return []
        except (OSError, ValueError) as error:
            context.note("rule", f"shellcheck failed: {type(error).__name__}")
            return []
    return [_finding(paths[one["file"]], one) for one in said.get("comments", []) if one.get("file") in paths]


def _finding(path: str, one: Mapping[str, object]) -> ShellFinding:
    numbers = [value if isinstance(value := one.get(name), int) else 1 for name in _PLACE]
    line, column, end_line, end_column = numbers
    code = one.get("code")
    span = Span(path, line, column, end_line, end_column)
    return ShellFinding(path, code if isinstance(code, int) else 0, str(one.get("message", "")), span)


_PLACE = ("line", "column", "endLine", "endColumn")
