"""Commands of scripts that start a server, as they are written: also of scripts that no job reaches."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_servers import is_mtp, prefix_caching, scenario, servers
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "atom": "ATOM", "trt": "TensorRT-LLM"}
_OFF = {"vllm": "--no-enable-prefix-caching", "sglang": "--disable-radix-cache"}


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for server in servers(context).servers():
        facts = server.facts
        flags = server.flags()
        yield Core(
            f"{facts.path}:{server.kind}",
            {
                "framework": server.kind,
                "name": _NAMES.get(server.kind, server.kind),
                "scenario": scenario(facts),
                "prefix_caching": prefix_caching(context, server),
                "switch": _OFF.get(server.kind, ""),
                "flags": list(flags),
                "opaque": server.opaque,
                "mtp": is_mtp(facts),
                "script": facts.path,
                "archived": is_archived(facts.path),
            },
            {"command": facts.span(server.call.start, server.call.end)},
        )


VIEW = View(
    "server_command",
    "A command of a script that starts a server, with the flags that variables of the script add to it.",
    (
        Fact("framework", "string", "vllm, sglang, atom or trt."),
        Fact("name", "string", "The framework's name as people write it."),
        Fact("scenario", "string", "fixed (prompts of fixed lengths), agentic, multi (several nodes) or other."),
        Fact("prefix_caching", "string", "on, off, sometimes (a condition decides) or unknown."),
        Fact("switch", "string", "The flag that turns prefix caching off, else empty."),
        Fact("flags", "list<string>", "The flags that it may get."),
        Fact("opaque", "list<string>", "Variables that may hold more flags and are set elsewhere."),
        Fact("mtp", "bool", "Whether the script is one for speculative decoding by its name."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"command": "the command"},
    build,
)
