"""What shellcheck says about changed scripts."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts_shellcheck import shell_findings
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in shell_findings(context):
        yield Core(
            f"{one.path}:SC{one.code}",
            {"code": f"SC{one.code}", "message": one.message, "breaks": one.breaks, "script": one.path},
            {"place": one.span},
        )


VIEW = View(
    "shell_finding",
    "What shellcheck says about a script that the change touches and did not say before; selected codes only.",
    (
        Fact("code", "string", "The code, such as SC2215."),
        Fact("message", "string", "What shellcheck says."),
        Fact("breaks", "bool", "Whether a line with that code is wrong whenever it runs."),
        Fact("script", "string", "The script."),
    ),
    {"place": "the place"},
    build,
)
