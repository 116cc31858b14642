"""The commands of scripts that start a server or a benchmark's client, with the flags that variables add."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from botlint.documents import bash
from botlint.engine.analysis.scripts import Scripts
from botlint.engine.analysis.scripts_walk import Assigned, Call, ScriptFacts
from botlint.engine.context import Context

Framework = Literal["vllm", "sglang", "atom", "trt"]

_NO_SERVERS = frozenset("echo printf grep pkill pgrep kill pip pip3 uv which command hash".split())

MAX_DEPTH = 5
MAX_WORDS = 400

_MODULES: dict[str, Framework] = {
    "vllm.entrypoints.openai.api_server": "vllm",
    "sglang.launch_server": "sglang",
    "atom.entrypoints.openai_server": "atom",
    "trtllm-serve": "trt",
}
_PROGRAMS: dict[str, Framework] = {"vllm": "vllm", "sglang": "sglang"}
_ENTRYPOINT = re.compile(r"--entrypoint[= ]\S*?\b(vllm|sglang|trtllm-serve)\Z")
_MENTION = re.compile(r"\bserve\b|api_server|launch_server|openai_server|trtllm-serve|benchmark_serving|bench")
_AGENTIC_CALLS = frozenset(("build_replay_cmd", "run_agentic_replay_and_write_outputs", "resolve_trace_source"))
_CLIENT = re.compile(r"(?:^|/)benchmark_serving(?:\.py)?\Z|vllm\.benchmarks|sglang\.bench_serving")
_FLAGS_NAME = re.compile(r"arg|flag|opt|extra|param|config", re.IGNORECASE)
_MTP = re.compile(r"_mtp(?=[_.-]|\Z)")


@dataclass(frozen=True, slots=True)
class Token:
    """One word that a command may get; `sure` if no condition decides that, `via` its variable."""

    text: str
    sure: bool
    via: str
    start: int
    end: int

    @property
    def flag(self) -> str:
        """The flag's name, empty for a value."""
        return self.text.split("=", 1)[0] if self.text.startswith("-") and len(self.text) > 1 else ""


@dataclass(eq=False)
class Command:
    """A command with the words that it may get."""

    facts: ScriptFacts
    call: Call
    kind: str
    """The framework of a server, `client` for a benchmark's client."""
    first: int
    """The number of the word after the program."""

    @cached_property
    def tokens(self) -> list[Token]:
        out: list[Token] = []
        for number in range(self.first, len(self.call.words)):
            word = self.call.words[number]
            start = self.call.word_start(number)
            _expand(self.facts, word, True, "", start, start + len(word.text), out, 0)
        return out[:MAX_WORDS]

    @cached_property
    def opaque(self) -> list[str]:
        """The variables by whose name they hold flags and whose value the script does not give."""
        found: dict[str, None] = {}
        for token in self.tokens:
            if token.text.startswith("$") and _FLAGS_NAME.search(token.text):
                found[token.text[1:]] = None
        return list(found)

    def flags(self) -> dict[str, Token]:
        """The first token of each flag; one that is sure before one that is not."""
        found: dict[str, Token] = {}
        for token in self.tokens:
            flag = token.flag
            if flag and (flag not in found or (token.sure and not found[flag].sure)):
                found[flag] = token
        return found

    def value(self, flag: str) -> str | None:
        """The value after the first occurrence of a flag, None without one."""
        tokens = self.tokens
        for number, token in enumerate(tokens):
            if token.flag == flag:
                if "=" in token.text:
                    return token.text.split("=", 1)[1]
                return tokens[number + 1].text if number + 1 < len(tokens) else None
        return None


def _whole(word: bash.Word) -> Iterator[str]:
    """The variables of a word that may be flags: unquoted or arrays, with nothing else in the word."""
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], bash.DoubleQuoted):
        inner = parts[0].parts
        if len(inner) == 1 and isinstance(inner[0], bash.Param) and inner[0].index in ("@", "*"):
            yield inner[0].name
        return
    if parts and all(isinstance(part, bash.Param) for part in parts):
        for part in parts:
            if isinstance(part, bash.Param):
                yield part.name


def _expand(
    facts: ScriptFacts, word: bash.Word, sure: bool, via: str, start: int, end: int, out: list[Token], depth: int
) -> None:
    """Adds the words that a word may become."""
    if len(out) >= MAX_WORDS:
        return
    names = list(_whole(word)) if word.literal is None else []
    if not names or depth >= MAX_DEPTH:
        out.append(Token(_text(word), sure, via, start, end))
        return
    for name in names:
        values = facts.assigned.get(name, ())
        if not values:
            out.append(Token(f"${name}", sure, via, start, end))
        for one in values:
            _assigned(facts, one, sure and not one.guards, name, out, depth + 1)


def _assigned(facts: ScriptFacts, one: Assigned, sure: bool, name: str, out: list[Token], depth: int) -> None:
    node = one.assign
    start, end = node.pos + one.shift, node.end + one.shift
    for _, _, word in node.array or ():
        found = facts.text.find(word.text, start, end)
        if found >= 0:
            start = found
        _expand(facts, word, sure, name, start, start + len(word.text) if found >= 0 else end, out, depth)
    if node.value is None:
        return
    for part in node.value.parts:
        inner: Sequence[bash.Part] = part.parts if isinstance(part, bash.DoubleQuoted) else (part,)
        for piece in inner:
            if isinstance(piece, bash.Param) and piece.name != name:
                _expand(facts, bash.Word((piece,), f"${piece.name}"), sure, name, start, end, out, depth)
    for text in _split(_text(node.value)):
        found = facts.text.find(text, start, end) if text.startswith("-") else -1
        place = (found, found + len(text)) if found >= 0 else (start, end)
        out.append(Token(text, sure, name, *place))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _text(word: bash.Word) -> str:
    """The text of a word; what it expands is written as in the script."""
    if word.literal is not None:
        return word.literal
    out = ""
    for part in word.parts:
        inner: Sequence[bash.Part] = part.parts if isinstance(part, bash.DoubleQuoted) else (part,)
        for piece in inner:
            if isinstance(piece, str):
                out += piece
            elif isinstance(piece, bash.Quoted):
                out += piece.text
            elif isinstance(piece, bash.Param):
                out += f"${piece.name}"
            else:
                out += "$()"
    return out


class Servers:
    """The servers and clients that scripts start, by script."""

    def __init__(self, context: Context) -> None:
        self.scripts: Scripts = context.once(Scripts)
        self.by_path: dict[str, list[Command]] = {}
        for path, facts in self.scripts.by_path.items():
            found = list(_commands(facts))
            if found:
                self.by_path[path] = found

    def servers(self) -> Iterator[Command]:
        """Every server."""
        for found in self.by_path.values():
            yield from (one for one in found if one.kind != "client")

    def servers_of(self, path: str) -> list[Command]:
        """The servers that one script starts."""
        return [one for one in self.by_path.get(path, ()) if one.kind != "client"]

    def clients(self) -> Iterator[Command]:
        """Every client of a fixed-sequence benchmark."""
        for found in self.by_path.values():
            yield from (one for one in found if one.kind == "client")


def _commands(facts: ScriptFacts) -> Iterator[Command]:
    mentions = [match.start() for match in _MENTION.finditer(facts.text)]
    for call in facts.calls:
        if call.name == "run_benchmark_serving":
            yield Command(facts, call, "client", 1)
            continue
        at = bisect_left(mentions, call.start)
        if not mentions or (call.name and (at == len(mentions) or mentions[at] >= call.end)):
            continue
        found = _server(call.words)
        if found is not None:
            yield Command(facts, call, *found)
        elif call.name == "" and (kind := _server_in_array(facts, call)):
            yield Command(facts, call, kind, 0)
        elif call.name.startswith(("python", "docker", "srun", "podman")) or call.name == "":
            for number, word in enumerate(call.words):
                if _CLIENT.search(word.literal or ""):
                    yield Command(facts, call, "client", number + 1)
                    break


def _server_in_array(facts: ScriptFacts, call: Call) -> str:
    """The framework of a server whose command line is held by an array, else empty."""
    for word in call.words:
        for name in _whole(word):
            for one in facts.assigned.get(name, ()):
                found = _server([piece for _, _, piece in one.assign.array or ()])
                if found is not None:
                    return found[0]
    return ""


def _server(words: Sequence[bash.Word]) -> tuple[str, int] | None:
    """The framework of a server that a command starts, and the number of the first word after it."""
    entry = ""
    if not words or words[0].text in _NO_SERVERS:
        return None
    for number, word in enumerate(words):
        text = word.literal or ""
        module = _MODULES.get(text.rpartition("/")[2])
        if module is not None and (number == 0 or words[number - 1].text == "-m" or text.endswith("trtllm-serve")):
            return module, number + 1
        if text == "serve" and number:
            before = (words[number - 1].literal or "").rpartition("/")[2]
            if before in _PROGRAMS:
                return _PROGRAMS[before], number + 1
            if entry:
                return entry, number + 1
        found = _ENTRYPOINT.match(word.text) or (number and _ENTRYPOINT.match(f"{words[number - 1].text} {word.text}"))
        if found:
            entry = "trt" if found[1] == "trtllm-serve" else found[1]
    return None


def scenario(facts: ScriptFacts) -> str:
    """What a script measures: `agentic`, `fixed` (prompts of fixed lengths), `multi` (several nodes), or `other`."""
    path = facts.path
    if "agentic" in path or not facts.called.isdisjoint(_AGENTIC_CALLS):
        return "agentic"
    if path.startswith("benchmarks/multi_node/"):
        return "multi"
    if facts.has_client or "fixed_seq_len" in path:
        return "fixed"
    return "fixed" if path.count("/") <= 1 and not path.startswith("runners/") else "other"


def is_mtp(facts: ScriptFacts) -> bool:
    """Whether a script by its name is that of the runs with speculative decoding."""
    return _MTP.search(facts.path.rpartition("/")[2]) is not None


def servers(context: Context) -> Servers:
    """The servers and clients of a revision's scripts."""
    return context.once(Servers)


_CONFIG_OFF = {
    "vllm": re.compile(
        r"^[ \t]*(?:no[-_]enable[-_]prefix[-_]caching:\s*true|enable[-_]prefix[-_]caching:\s*false)", re.MULTILINE
    ),
    "sglang": re.compile(r"^[ \t]*disable[-_]radix[-_]cache:\s*true", re.MULTILINE | re.IGNORECASE),
}
_FLAGS_OFF = {"vllm": "--no-enable-prefix-caching", "sglang": "--disable-radix-cache"}
_VARIABLES_OFF = {"sglang": "SGLANG_RADIX_FORCE_MISS"}
_FALSE = frozenset(("0", "false", "False", ""))


def prefix_caching(context: Context, server: Command) -> str:
    """Whether a server shares prefixes: `on`, `off`, `sometimes` (a condition decides), or `unknown`.

    vLLM V1 and SGLang share them by default. SGLang with SGLANG_RADIX_FORCE_MISS=1 never finds one.
    """
    flag = _FLAGS_OFF.get(server.kind)
    if flag is None:
        return "unknown"
    flags = server.flags()
    token = flags.get(flag) or flags.get(flag.replace("-", "_").replace("__", "--", 1))
    if token is not None:
        return "off" if token.sure else "sometimes"
    if server.kind == "vllm" and (server.value("--enable-prefix-caching") or "").lower() == "false":
        return "off"
    if "--config" in flags and _CONFIG_OFF[server.kind].search(server.facts.text):
        return "off"
    name = _VARIABLES_OFF.get(server.kind)
    if name is not None:
        scripts = context.once(Scripts)
        around = [server.facts, *(scripts.by_path[path] for path in scripts.libraries(server.facts.path))]
        values = [one for facts in around for one in facts.assigned.get(name, ())]
        values = [one for one in values if one.assign.value is None or one.assign.value.literal not in _FALSE]
        if values:
            return "off" if any(not one.guards for one in values) else "sometimes"
    return "unknown" if server.opaque or "--config" in flags else "on"


@dataclass(frozen=True, slots=True)
class SizeOption:
    """An option of a server that splits a model, written as a constant; `variable` is the arm's setting for it."""

    server: Command
    option: str
    variable: str
    value: str
    start: int
    end: int
    followed: bool
    """Whether the script reads the variable at all."""
    siblings: int
    """How many other scripts with such a server read it."""


_SWITCHES: dict[tuple[str, str], str] = {
    ("vllm", "--enable-expert-parallel"): "EP_SIZE",
    ("atom", "--enable-expert-parallel"): "EP_SIZE",
    ("sglang", "--enable-ep-moe"): "EP_SIZE",
    ("sglang", "--enable-dp-attention"): "DP_ATTENTION",
    ("atom", "--enable-dp-attention"): "DP_ATTENTION",
}
_SIZES: dict[str, str] = {
    **dict.fromkeys(("--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--tp_size"), "TP"),
    **dict.fromkeys(("--ep-size", "--ep", "--ep_size", "--expert-parallel-size"), "EP_SIZE"),
}


def size_options(found: Servers) -> Iterator[SizeOption]:
    """The constant options of servers, where other scripts with such servers follow a variable."""
    scripts = {server.facts.path: server.facts for server in found.servers()}
    read = {path: {one.name for one in facts.reads} for path, facts in scripts.items()}
    readers = {name: {path for path in read if name in read[path]} for name in ("TP", "EP_SIZE", "DP_ATTENTION")}
    for server in found.servers():
        tokens = server.tokens
        for number, token in enumerate(tokens):
            flag = token.flag
            variable = _SWITCHES.get((server.kind, flag))
            value = ""
            if variable is None:
                variable = _SIZES.get(flag)
                after = tokens[number + 1].text if number + 1 < len(tokens) else ""
                value = token.text.partition("=")[2] or after
                if variable is None or not value.isdigit():
                    continue
            if token.sure and not server.call.guards:
                path = server.facts.path
                readers_of = readers[variable]
                yield SizeOption(
                    server, flag, variable, value, token.start, token.end, path in readers_of, len(readers_of - {path})
                )


@dataclass(frozen=True, slots=True)
class SizeGuard:
    """A test of a size that every job satisfies, around something that should not always happen."""

    variable: str
    test: str
    start: int
    end: int


_GUARD = re.compile(
    r"""^[ \t]*(?:if|elif)[ \t]+(?P<test>
    \[\[?[ ]+["']?\$\{?(?P<a>\w+)(?::?-\d*)?\}?["']?[ ]+(?:-ge[ ]+["']?1|-gt[ ]+["']?0|-ne[ ]+["']?0)["']?[ ]+\]\]?
    |\(\([ ]*\$?\{?(?P<b>\w+)(?::?-\d*)?\}?[ ]*(?:>=[ ]*1|>[ ]*0|!=[ ]*0)[ ]*\)\)
    )(?=[ \t]*(?:;|\n|&&[ \t]|\#))""",
    re.MULTILINE | re.VERBOSE,
)
_SIZE_NAME = re.compile(r"(?:(?:PREFILL|DECODE)_)?(?:TP|PP|EP|DCP|PCP|DP)(?:_SIZE)?\Z")
_STOPS = re.compile(r"[^\n]*\n(?:[ \t]*(?:echo|printf)[^\n]*\n)*[ \t]*(?:exit|return|true|:)\b")


def size_guards(facts: ScriptFacts) -> Iterator[SizeGuard]:
    """The tests of parallel sizes that hold for every job, as a size is at least 1."""
    for match in _GUARD.finditer(facts.code):
        name = match["a"] or match["b"]
        if _SIZE_NAME.match(name) and not _STOPS.match(facts.code, match.end()):
            yield SizeGuard(name, match["test"], match.start("test"), match.end("test"))
