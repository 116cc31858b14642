"""What launchers allocate, import and run, as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from botlint.documents import bash
from botlint.engine.analysis.scripts import Scripts, is_host
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts
from botlint.engine.context import Context
from botlint.repo.files import join_path

MAX_FILES = 8


# ---------------------------------------------------------------------------------------------------- image imports


@dataclass(frozen=True, slots=True)
class ImageImport:
    """An `enroot import`; `locked` if a lock is taken around it, `shared` if its file's name is no job's own."""

    facts: ScriptFacts
    target: str
    locked: bool
    shared: bool
    start: int
    end: int


_IMPORT = re.compile(r"\benroot\s+import\b(?P<rest>[^\n;&|]*)")
_TARGET = re.compile(r"(?:-o|--output)[= ]+(?:\\?[\"'])?(?P<path>[^\s\"'\\]+)")
_OWN = re.compile(r"JOB_?ID|\$\$|mktemp|RANDOM|RUNNER_NAME|BASHPID|\btmp\b|_tmp|TMPDIR|/tmp/")

LOCK_DISTANCE = 1_500
"""Characters before an import in which the lock that guards it stands."""


def image_imports(found: Scripts) -> Iterator[ImageImport]:
    """The image imports of all scripts."""
    for facts in found.by_path.values():
        if "enroot" not in facts.text:
            continue
        code = facts.code
        for match in _IMPORT.finditer(code):
            line = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
            if re.search(r"\b(?:echo|printf)\b|#", line):
                continue
            target = _TARGET.search(match["rest"])
            path = target["path"] if target else ""
            value = _value_text(facts, path)
            locked = _locked(facts, match.start())
            yield ImageImport(facts, path, locked, _OWN.search(f"{path} {value}") is None, match.start(), match.end())


def _locked(facts: ScriptFacts, offset: int) -> bool:
    """Whether a lock is taken in the text of the function, else of the command, that holds an offset."""
    holding = [call for call in facts.calls if call.start <= offset < call.end]
    function = next((call.function for call in holding if call.function), "")
    if function:
        node = facts.functions[function]
        return "flock" in facts.code[node.pos : node.end]
    if any("flock" in facts.code[call.start : call.end] for call in holding):
        return True
    if holding and max(holding, key=lambda call: call.end - call.start).name != "enroot":
        return False
    return "flock" in facts.code[max(0, offset - LOCK_DISTANCE) : offset]


def _value_text(facts: ScriptFacts, path: str) -> str:
    names = re.findall(r"\$\{?(\w+)", path)
    values = [one.assign.value for name in names for one in facts.assigned.get(name, ())]
    return " ".join(value.text for value in values if value is not None)


# ------------------------------------------------------------------------------------------------------ allocations


@dataclass(frozen=True, slots=True)
class Allocation:
    """A request for a node's GPUs; `partial` if their number depends on the job.

    `port` is a constant port that the launcher gives the server, `port_by_job` if it comes from the job's number.
    """

    facts: ScriptFacts
    command: str
    exclusive: bool
    partial: bool
    port: str
    port_by_job: bool
    start: int
    end: int
    port_start: int
    port_end: int


_GPUS = re.compile(r"--(?:gres=gpu|gpus(?:-per-node)?[= ])\S*")
_JOB_PORT = re.compile(r"JOB_?ID")
_PORT_HANDED = re.compile(r"(?<![\w])PORT=(\d+)\b")


def allocations(found: Scripts) -> Iterator[Allocation]:
    """The allocations that launchers make."""
    for path, facts in found.by_path.items():
        if not is_host(path):
            continue
        for call in facts.calls:
            if call.name not in ("salloc", "srun", "sbatch"):
                continue
            text = facts.text[call.start : call.end]
            gpus = _GPUS.search(text)
            if gpus is None or "--jobid" in text:
                continue
            port, start, end, by_job = _port(facts)
            yield Allocation(
                facts,
                call.name,
                "--exclusive" in text,
                "$" in gpus.group(),
                port,
                by_job,
                call.start,
                call.start + len(call.name),
                start,
                end,
            )


def _port(facts: ScriptFacts) -> tuple[str, int, int, bool]:
    """A constant port that the launcher hands over with its place, and whether the port comes from the job's number."""
    values = facts.assigned.get("PORT", [])
    if any(one.assign.value is not None and _JOB_PORT.search(one.assign.value.text) for one in values):
        return "", -1, -1, True
    for one in values:
        value = one.assign.value
        if value is not None and (value.literal or "").isdigit():
            return value.literal or "", one.assign.pos + one.shift, one.assign.end + one.shift, False
    for call in facts.calls:
        if call.name == "srun":
            text = facts.text[call.start : call.end]
            match = _PORT_HANDED.search(text)
            if match:
                return match[1], call.start + match.start(), call.start + match.end(), False
    return "", -1, -1, False


# ------------------------------------------------------------------------------------------------------ script paths


@dataclass(frozen=True, slots=True)
class ScriptPath:
    """A path of a benchmark's script that a launcher builds from variables.

    `dotless` if a variable is followed by `sh` without a dot. `spec` if the path or the launcher depends on the
    speculative decoding; `spec_files` are scripts for it that the path would reach with the suffix that they have.
    """

    facts: ScriptFacts
    text: str
    dotless: bool
    spec: bool
    spec_files: tuple[str, ...]
    start: int
    end: int


_SPEC = re.compile(r"spec|mtp|draft", re.IGNORECASE)


def script_paths_built(found: Scripts) -> Iterator[ScriptPath]:
    """The script paths that launchers build."""
    context = found.context
    scripts = [path for path in context.files.paths() if path.endswith(".sh") and "benchmarks/" in path]
    for path, facts in found.by_path.items():
        if not is_host(path):
            continue
        spec = any(_SPEC.search(read.name) for read in facts.reads)
        for word, start in _path_words(facts):
            parts = _flat(word)
            if not any(isinstance(part, bash.Param) for part in parts):
                continue
            text = word.text.strip("\"'")
            last, before = parts[-1], parts[-2] if len(parts) > 1 else None
            dotless = _plain(last) == "sh" and isinstance(before, bash.Param)
            if not dotless and not _plain(last).endswith(".sh"):
                continue
            reached = () if spec or _SPEC.search(text) else _spec_files(parts, scripts)
            yield ScriptPath(facts, text, dotless, spec, reached, start, start + len(word.text))


def _path_words(facts: ScriptFacts) -> Iterator[tuple[bash.Word, int]]:
    for call in facts.calls:
        if call.name in ("echo", "printf", "[", "test", "sed", "grep", "find", "ls", "cp", "mv", "rm"):
            continue
        for number, word in enumerate(call.words):
            if "benchmarks/" in word.text and "$" in word.text and "sh" in word.text[-5:]:
                yield word, call.word_start(number)
    for values in facts.assigned.values():
        for one in values:
            value = one.assign.value
            if value is not None and "benchmarks/" in value.text and "$" in value.text and "sh" in value.text[-5:]:
                yield value, one.assign.end + one.shift - len(value.text)


def _flat(word: bash.Word) -> list[bash.Part]:
    out: list[bash.Part] = []
    for part in word.parts:
        inner: Iterable[bash.Part] = part.parts if isinstance(part, bash.DoubleQuoted) else (part,)
        for piece in inner:
            if isinstance(piece, str) and out and isinstance(out[-1], str):
                out[-1] = out[-1] + piece
            else:
                out.append(piece)
    return out


def _plain(part: bash.Part | None) -> str:
    return part if isinstance(part, str) else part.text if isinstance(part, bash.Quoted) else ""


def _spec_files(parts: list[bash.Part], scripts: list[str]) -> tuple[str, ...]:
    """The scripts with `_mtp` that a path stands for if that is added at its end, where the one without is there."""
    pattern = "".join(re.escape(_plain(part)) if _plain(part) else "[^ ]*?" for part in parts)
    pattern = pattern.removesuffix(re.escape(".sh"))
    if pattern.endswith("?"):
        return ()
    wanted = re.compile(rf"{pattern}_mtp\.sh\Z")
    return tuple(path for path in scripts if wanted.match(path))[:MAX_FILES]


# ---------------------------------------------------------------------------------------------------- model branches


@dataclass(frozen=True, slots=True)
class ModelBranch:
    """A comparison of MODEL_PREFIX with a value; `known` if a config has it, `precision` if it ends with one."""

    facts: ScriptFacts
    value: str
    known: bool
    precision: str
    prefix: str
    start: int
    end: int


_COMPARES = re.compile(
    r"\$\{?MODEL_PREFIX(?::?-)?\}?[\"']?\s*(?:==|=)\s*(?P<quote>[\"']?)(?P<value>[\w.-]+)(?P=quote)(?=[\s\])&|;])"
)
_PREFIX = re.compile(r"^\s*model-prefix:\s*[\"']?([\w.-]+)", re.MULTILINE)
_PRECISION = re.compile(r"(?P<prefix>.+)-(?P<precision>(?:mx|nv)?(?:fp4|fp8)|bf16|fp16|int4|int8)\Z")


def model_prefixes(context: Context) -> frozenset[str]:
    """The model prefixes of all configs, deprecated ones included."""
    found: set[str] = set()
    for folder in ("configs", ".github/configs"):
        for path in context.files.paths(folder):
            source = context.files.text(path) if path.endswith((".yaml", ".yml")) else None
            if source is not None:
                found.update(_PREFIX.findall(source.text))
    return frozenset(found)


def model_branches(found: Scripts) -> Iterator[ModelBranch]:
    """The comparisons of model prefixes in launchers; none where no config says which there are."""
    known = model_prefixes(found.context)
    for path, facts in found.by_path.items():
        if not known or not is_host(path):
            continue
        for match in _COMPARES.finditer(facts.code):
            value = match["value"]
            form = _PRECISION.match(value)
            yield ModelBranch(
                facts,
                value,
                value in known,
                form["precision"] if form else "",
                form["prefix"] if form else "",
                match.start("value"),
                match.end("value"),
            )


# ----------------------------------------------------------------------------------------------------- removed paths


@dataclass(frozen=True, slots=True)
class RemovedPath:
    """A file or folder of the repository that a script removes."""

    facts: ScriptFacts
    path: str
    folder: bool
    start: int
    end: int


def removed_paths(found: Scripts) -> Iterator[RemovedPath]:
    """What scripts remove of the repository that they run in."""
    files = found.context.files
    for facts in found.by_path.values():
        for call in facts.calls:
            words = call.words[1:] if call.name == "sudo" else call.words
            if not words or words[0].text != "rm":
                continue
            moved = _changes_folder(facts, call)
            for number in range(1, len(call.words)):
                word = call.words[number]
                path = None if word.text.startswith("-") else found.paths.evaluate(word, facts)
                if path is None or (moved and not path.anchored):
                    continue
                clean = join_path("", path.text)
                if clean and (files.is_file(clean) or files.is_dir(clean)):
                    start = call.word_start(number)
                    yield RemovedPath(facts, clean, files.is_dir(clean), start, start + len(word.text.rstrip("\\\n")))


def _changes_folder(facts: ScriptFacts, before: Call) -> bool:
    return any(call.name in ("cd", "pushd") and call.start < before.start for call in facts.calls)
