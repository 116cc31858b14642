"""Changes that scripts make to the engine of the image, and overrides of the model's architecture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from botlint.documents import bash
from botlint.engine.analysis.scripts import Scripts, scripts
from botlint.engine.analysis.scripts_servers import servers
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts
from botlint.engine.context import Context

WAIVERS = "docs/waiver"
MAX_DEPTH = 3

_ENGINES = r"vllm|sglang|sgl_kernel|atom|aiter|tensorrt_llm|flashinfer|deep_ep|deep_gemm|lmcache|mooncake|nixl|mori"
_PACKAGE = re.compile(
    rf"(?:site|dist)-packages/(?:{_ENGINES})\b|/sgl-workspace/|/(?:app|opt|workspace)/(?:vllm|sglang|ATOM|aiter)\b"
    rf"|\bimport\s+(?:{_ENGINES})\b|\bfind_spec\(\s*[\"'](?:{_ENGINES})\b|\bfrom\s+(?:{_ENGINES})\b[\w.]*\s+import"
)
_WRITES = re.compile(
    r"\bopen\([^()\n]*,\s*(?:mode=)?[\"'](?:w|a|r\+)[bt+]*[\"']|\.write_text\(|\.write_bytes\(|fileinput\.input\([^)]*inplace"
)
_ENGINE_SOURCE = re.compile(r"git\+https?://\S*/(?:vllm|sglang|ATOM|aiter|TensorRT-LLM)(?:\.git)?\b")


@dataclass(frozen=True, slots=True)
class EnginePatch:
    """A change of the engine that the image brings: by `sed`, `patch`, `python` or `copy`."""

    facts: ScriptFacts
    kind: str
    target: str
    waiver: str
    """The waiver that names the script or what calls it, else empty."""
    start: int
    end: int


class Waivers:
    """The waivers of a revision: which scripts each of them names."""

    def __init__(self, context: Context) -> None:
        self._texts = {
            path: source.text
            for path in context.files.paths(WAIVERS)
            if path.endswith(".md") and (source := context.files.text(path)) is not None
        }
        self._scripts = scripts(context)
        self._found: dict[str, str] = {}

    @cached_property
    def asked_for(self) -> bool:
        """Whether the repository's documents ask for waivers at all."""
        if self._texts:
            return True
        files = self._scripts.files
        for path in files.paths("docs"):
            source = files.text(path) if path.endswith(".md") else None
            if source is not None and "waiver" in source.text.lower():
                return True
        return False

    def of(self, path: str) -> str:
        """The waiver that names a script, or a script that names it; empty if there is none."""
        if not self._texts:
            return ""
        found = self._found.get(path)
        if found is None:
            found = self._found[path] = self._find(path)
        return found

    def _find(self, path: str) -> str:
        names = [path.rpartition("/")[2]]
        names.extend(
            other.rpartition("/")[2] for other, facts in self._scripts.by_path.items() if names[0] in facts.code
        )
        return next((waiver for waiver, text in self._texts.items() if any(name in text for name in names)), "")


class Patches:
    """The patches of all scripts."""

    def __init__(self, context: Context) -> None:
        self.scripts: Scripts = scripts(context)
        self.waivers = context.once(Waivers)

    @cached_property
    def found(self) -> list[EnginePatch]:
        out: list[EnginePatch] = []
        for path, facts in self.scripts.by_path.items():
            if path.startswith("runners/"):
                continue
            for kind, target, start, end in _patches(facts):
                out.append(EnginePatch(facts, kind, target, self.waivers.of(path), start, end))
        return out


def _patches(facts: ScriptFacts) -> Iterator[tuple[str, str, int, int]]:
    code = facts.code
    interesting = _WRITES.search(code) or "sed -i" in code or "patch" in code or " apply" in code
    if not interesting:
        return
    for call in facts.calls:
        name = call.name.rpartition("/")[2]
        if name == "sed":
            yield from _sed(facts, call)
        elif name == "git" and any(word.text == "apply" for word in call.words[1:4]):
            if not any(word.text in ("--check", "--reverse") for word in call.words):
                yield "patch", "git apply", call.start, call.end
        elif name == "patch" and len(call.words) > 1 and not any(word.text == "--dry-run" for word in call.words):
            yield "patch", "patch", call.start, call.end
        elif name.startswith("python") and "-c" in [word.text for word in call.words]:
            text = facts.text[call.start : call.end]
            if _WRITES.search(text) and _PACKAGE.search(text):
                yield "python", _target(text), call.start, call.end
    for start, body in facts.heredocs:
        text = body.text
        if _WRITES.search(text) and _PACKAGE.search(text) and _feeds_python(facts, start):
            yield "python", _target(text), start, start + len(text)


def _sed(facts: ScriptFacts, call: Call) -> Iterator[tuple[str, str, int, int]]:
    words = call.words
    if not any(word.text.startswith(("-i", "--in-place")) or re.match(r"-[a-zA-Z]*i", word.text) for word in words[1:]):
        return
    for word in words[2:]:
        text = " ".join(_texts(facts, word, 0))
        match = _PACKAGE.search(text)
        if match:
            yield "sed", word.text.strip("\"'"), call.start, call.end
            return


def _texts(facts: ScriptFacts, word: bash.Word, depth: int) -> Iterator[str]:
    """The text of a word and of the values of the variables in it."""
    yield word.text
    if depth < MAX_DEPTH:
        for name in re.findall(r"\$\{?(\w+)", word.text):
            for one in facts.assigned.get(name, ()):
                if one.assign.value is not None and one.assign.value.text != word.text:
                    yield from _texts(facts, one.assign.value, depth + 1)


def _target(text: str) -> str:
    match = re.search(r"[\"'](/[\w./*-]+\.py)[\"']", text) or _PACKAGE.search(text)
    return "" if match is None else match.group().strip("\"'")


def _feeds_python(facts: ScriptFacts, start: int) -> bool:
    line = facts.text.rfind("\n", 0, max(0, start - 1)) + 1
    return re.search(r"python|tee|cat\s*>\S*\.py", facts.text[line:start]) is not None


@dataclass(frozen=True, slots=True)
class Override:
    """A flag of a server that changes the model's configuration, with the keys that its value sets."""

    facts: ScriptFacts
    flag: str
    keys: tuple[str, ...]
    waiver: str
    start: int
    end: int


_OVERRIDES = ("--hf-overrides", "--hf_overrides", "--json-model-override-args")


def overrides(context: Context) -> Iterator[Override]:
    """The overrides of model configurations that servers of scripts get."""
    waivers = context.once(Waivers)
    for server in servers(context).servers():
        tokens = server.tokens
        for number, token in enumerate(tokens):
            if token.flag not in _OVERRIDES:
                continue
            after = tokens[number + 1].text if number + 1 < len(tokens) else ""
            value = token.text.partition("=")[2] or after
            keys = tuple(dict.fromkeys(re.findall(r"[\"']?([A-Za-z_]\w*)[\"']?\s*:", value)))
            path = server.facts.path
            yield Override(server.facts, token.flag, keys, waivers.of(path), token.start, token.end)
