"""Runner labels and runners next to the launcher scripts that workflows start on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from botlint.engine.context import Context

WORKFLOWS = ".github/workflows"
CLUSTER = "cluster:"
_LAUNCH = re.compile(r"runners/launch_\$\{RUNNER_NAME%%([^*}]{1,4})\*\}\.sh")


def separator(context: Context) -> str:
    """Up to which text of a runner's name the launcher is named: `_` in `launch_${RUNNER_NAME%%_*}.sh`."""
    for path in context.files.paths(WORKFLOWS):
        source = context.files.text(path) if path.endswith((".yml", ".yaml")) else None
        if source is not None and (match := _LAUNCH.search(source.text)) is not None:
            return match[1]
    return "_"


def launcher_of(context: Context, runner: str) -> str:
    """The launcher script for a runner."""
    return f"runners/launch_{runner.partition(context.once(separator))[0]}.sh"


def launchers_for(context: Context, label: object) -> tuple[str, ...]:
    """The launcher scripts of the runners that a label stands for."""
    runners = context.runners.for_label(label) if isinstance(label, str) else ()
    return tuple(dict.fromkeys(launcher_of(context, runner.name) for runner in runners))


def launchers(context: Context) -> tuple[str, ...]:
    """The launcher scripts that there are; a link counts if it leads to a file."""
    files = context.files
    found = [path for path in files.paths("runners") if path.startswith("runners/launch_") and path.endswith(".sh")]
    linked = [path for path in files.links() if path.startswith("runners/launch_") and files.resolve_link(path)]
    return tuple(dict.fromkeys((*found, *linked)))


def hardware(label: str) -> str:
    """The hardware that a label begins with: `b300` of `cluster:b300-nv`."""
    return label.removeprefix(CLUSTER).partition("-")[0].partition("_")[0]
