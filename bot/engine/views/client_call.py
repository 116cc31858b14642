"""Calls of the client that sends a benchmark's requests."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_servers import is_mtp, scenario, servers
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    found = servers(context)
    for client in found.clients():
        facts = client.facts
        flags = client.flags()
        ports = {
            server.value("--port") or server.value("--server-port") or "" for server in found.servers_of(facts.path)
        }
        yield Core(
            facts.path,
            {
                "command": " ".join(word.text for word in client.call.words[: client.first]),
                "flags": [flag for flag, token in flags.items() if token.sure],
                "possible_flags": list(flags),
                "opaque": client.opaque,
                "port": client.value("--port") or "",
                "server_port": ports.pop() if len(ports) == 1 else "",
                "mtp": is_mtp(facts),
                "scenario": scenario(facts),
                "script": facts.path,
                "archived": is_archived(facts.path),
            },
            {"call": facts.span(client.call.start, client.call.start + len(client.call.words[0].text))},
        )


VIEW = View(
    "client_call",
    "A call of the client that sends the requests of a fixed-sequence benchmark.",
    (
        Fact("command", "string", "The words that name the client."),
        Fact("flags", "list<string>", "The flags that it gets in any case."),
        Fact("possible_flags", "list<string>", "The flags that it may get."),
        Fact("opaque", "list<string>", "Variables that may hold more flags and are set elsewhere."),
        Fact("port", "string", "The port that it asks, as it is written, else empty."),
        Fact("server_port", "string", "The port that the only server of the script listens on, as it is written."),
        Fact("mtp", "bool", "Whether the script is one for speculative decoding by its name."),
        Fact("scenario", "string", "fixed (prompts of fixed lengths), agentic, multi (several nodes) or other."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"call": "the call"},
    build,
)
