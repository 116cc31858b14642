"""Clients that documents show, with the servers of the same document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from botlint.engine.analysis.command import CATALOGS
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View
from botlint.layouts.base import Job
from botlint.layouts.commands import EMBEDDING
from botlint.plan.model import LaunchPlan, Server, Word

_MODEL_ARGUMENT = re.compile(r"(?:^|,)model=([^,]+)")


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    servers: dict[str, list[tuple[Job, LaunchPlan]]] = {}
    for job, plan in context.commands:
        servers.setdefault(job.arm.path, []).append((job, plan))
    for job, plan in context.clients:
        server = plan.launch.server
        of_document = servers.get(job.arm.path, [])
        # What is written beside a text of a YAML file may start servers too.
        if server is None or not of_document or job.arm.path.lower().endswith(EMBEDDING):
            continue
        found = [one.launch.server for _, one in of_document if one.launch.server is not None]
        names = [name for one in found for name in _served(one)]
        values: dict[str, object] = {
            "program": server.framework,
            "engines": sorted({CATALOGS.get(one.framework, one.framework) for one in found}),
        }
        asked = _asked(server.argv)
        if asked:
            values["model"] = asked
        if None not in names:
            values["served"] = list(dict.fromkeys(name for name in names if name is not None))
        yield Core(job.entry, values, {"client": job.arm, "server": of_document[0][0].arm})


def _asked(argv: Sequence[Word]) -> str | None:
    """The name of the model that a client asks for; None where it is not known."""
    named = _value(argv, "--served-model-name") or _value(argv, "--model")
    arguments = _value(argv, "--model_args")
    if arguments:
        found = _MODEL_ARGUMENT.search(arguments)
        return found[1] if found is not None else None
    return named if all(isinstance(word, str) for word in argv) else None


def _served(server: Server) -> Iterator[str | None]:
    """The names by which a server knows its model; None for one that is not known."""
    names = [*_values(server.argv, "--served-model-name"), *_values(server.argv, "--served_model_name")]
    if names:
        yield from names
        return
    model = _value(server.argv, "--model") or _value(server.argv, "--model-path")
    if model is None and server.argv[1:2] == ("serve",) and len(server.argv) > 2:
        word = server.argv[2]
        model = word if isinstance(word, str) and not word.startswith("-") else None
    yield model


def _value(argv: Sequence[Word], name: str) -> str | None:
    return next(iter(_values(argv, name)), None)


def _values(argv: Sequence[Word], name: str) -> list[str | None]:
    """The words behind an option, up to the next one."""
    for index, word in enumerate(argv):
        if isinstance(word, str) and word.startswith(f"{name}="):
            return [word.partition("=")[2]]
        if word == name:
            found: list[str | None] = []
            for following in argv[index + 1 :]:
                if isinstance(following, str) and following.startswith("-"):
                    break
                found.append(following if isinstance(following, str) else None)
            return found
    return []


VIEW = View(
    name="document_client",
    doc="A client (lm_eval, a benchmark) that a document shows together with servers.",
    facts=(
        Fact("program", "string", "lm_eval, vllm-bench, sglang-bench, atom-bench or benchmark"),
        Fact("model", "string", "the name of the model that it asks for"),
        Fact("served", "list<string>", "the names by which the document's servers know their models"),
        Fact("engines", "list<string>", "the engines of the document's servers"),
    ),
    anchors={"client": "the client's command", "server": "the first server's command"},
    build=_build,
)
