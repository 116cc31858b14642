"""Options of servers that split a model and are constants."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_servers import scenario, servers, size_options
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in size_options(servers(context)):
        facts = one.server.facts
        yield Core(
            f"{facts.path}:{one.option}",
            {
                "option": one.option,
                "variable": one.variable,
                "value": one.value,
                "followed": one.followed,
                "siblings": one.siblings,
                "framework": one.server.kind,
                "scenario": scenario(facts),
                "script": facts.path,
                "archived": is_archived(facts.path),
            },
            {"option": facts.span(one.start, one.end)},
        )


VIEW = View(
    "size_option",
    "An option of a server that splits a model over GPUs, written as a constant that no condition decides.",
    (
        Fact("option", "string", "The option."),
        Fact("variable", "string", "The variable that holds what the arm says about it."),
        Fact("value", "string", "The constant, empty for a switch."),
        Fact("followed", "bool", "Whether the script reads the variable."),
        Fact("siblings", "int", "How many other scripts that start servers read it."),
        Fact("framework", "string", "vllm, sglang, atom or trt."),
        Fact("scenario", "string", "fixed (prompts of fixed lengths), agentic, multi (several nodes) or other."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"option": "the option"},
    build,
)
