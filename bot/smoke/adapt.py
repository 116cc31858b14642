"""What is started for a plan: its command line and environment with the smallest honest changes, each of them listed.

A plan comes from a revision of a stranger. It is data: only servers that are known are started, options and variables
with which an engine would load code or read files of the plan's choice are refused, and every word is a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botlint.core.unknown import Unknown
from botlint.core.visible import visible
from botlint.plan.arguments import Argument, read_arguments
from botlint.plan.model import Word, word_text
from botlint.plan.servers import MODULES
from botlint.smoke.model import Change, Honest, Json
from botlint.smoke.variables import left_out, matters, refused

MAX_WORDS = 2_000
MAX_TEXT = 100_000

_PYTHON = re.compile(r"python(?:3(?:\.\d{1,2})?)?")
_PYTHON_FLAGS = frozenset({"-u", "-B", "-O"})
_SCRATCH = ("/tmp/", "/var/tmp/")  # noqa: S108 (how paths begin that a job makes for itself)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine calls what a run changes, counts or refuses.

    `code` are options with which it loads code or settings from a place that the option names; `exact` are options
    that begin like one of those and are none. `dropped` are options that a run cannot have, with the reason. `caches`
    are variables that say where an engine keeps what it compiles.
    """

    port: str
    length: tuple[str, ...]
    overrides: str
    dummy: tuple[str, ...]
    model: tuple[str, ...]
    tensor: frozenset[str]
    data: frozenset[str]
    pipeline: frozenset[str]
    share: str
    default_share: float
    speculation: tuple[str, str]
    eager: tuple[str, ...]
    load_formats: tuple[str, ...] = ()
    positional: bool = False
    code: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    dropped: Mapping[str, str] = field(default_factory=dict)
    added: tuple[tuple[str, str], ...] = ()
    cpu_only: tuple[str, ...] = ()
    no_cpu: tuple[str, ...] = ()
    caches: tuple[str, ...] = ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
    variables: Mapping[str, str] = field(default_factory=dict)
    cpu_variables: Mapping[str, str] = field(default_factory=dict)


_PLAIN_HTTP = "the run asks over plain HTTP on the loopback"
_NO_KEY = "the run asks without a key"
_FILE = "a file beside the server, which a run does not have"

DIALECTS: Mapping[str, Dialect] = {
    "vllm": Dialect(
        port="--port",
        length=("--max-model-len",),
        overrides="--hf-overrides",
        dummy=("--load-format", "dummy"),
        load_formats=("--load-format",),
        model=("--model",),
        positional=True,
        tensor=frozenset({"--tensor-parallel-size", "-tp"}),
        data=frozenset({"--data-parallel-size", "-dp"}),
        pipeline=frozenset({"--pipeline-parallel-size", "-pp"}),
        share="--gpu-memory-utilization",
        default_share=0.9,
        speculation=("--speculative-config", "method"),
        eager=("--enforce-eager",),
        code=frozenset(
            {
                "--config",
                "--tool-parser-plugin",
                "--reasoning-parser-plugin",
                "--middleware",
                "--worker-cls",
                "--worker-extension-cls",
                "--scheduler-cls",
                "--logits-processors",
                "--io-processor-plugin",
                "--log-config-file",
                "--allowed-local-media-path",
                "--hf-config-path",
            }
        ),
        exact=frozenset({"--reasoning-parser", "--allowed-local-media"}),
        dropped={
            "--uds": "the run asks over the loopback",
            "--ssl-keyfile": _PLAIN_HTTP,
            "--ssl-certfile": _PLAIN_HTTP,
            "--ssl-ca-certs": _PLAIN_HTTP,
            "--ssl-cert-reqs": _PLAIN_HTTP,
            "--root-path": _PLAIN_HTTP,
            "--api-key": _NO_KEY,
            "--download-dir": "weights are neither loaded nor stored",
            "--disable-log-stats": "the run reads the engine's counters",
        },
        cpu_only=("--dtype", "float32"),
        no_cpu=("--attention-backend", "--moe-backend", "--kv-cache-dtype", "--dtype", "--quantization"),
        caches=("VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"),
        variables={"VLLM_NO_USAGE_STATS": "1", "VLLM_DO_NOT_TRACK": "1"},
        cpu_variables={"VLLM_CPU_KVCACHE_SPACE": "1"},
    ),
    "sglang": Dialect(
        port="--port",
        length=("--context-length",),
        overrides="--json-model-override-args",
        dummy=("--load-format", "dummy"),
        load_formats=("--load-format",),
        model=("--model-path", "--model"),
        tensor=frozenset({"--tensor-parallel-size", "--tp-size", "--tp"}),
        data=frozenset({"--data-parallel-size", "--dp-size", "--dp"}),
        pipeline=frozenset({"--pipeline-parallel-size", "--pp-size", "--pp"}),
        share="--mem-fraction-static",
        default_share=0.85,
        speculation=("--speculative-algorithm", ""),
        eager=("--disable-cuda-graph",),
        code=frozenset(
            {
                "--config",
                "--forward-hooks",
                "--custom-sigquit-handler",
                "--custom-weight-loader",
                "--decrypted-config-file",
                "--decrypted-draft-config-file",
            }
        ),
        dropped={
            "--ssl-keyfile": _PLAIN_HTTP,
            "--ssl-certfile": _PLAIN_HTTP,
            "--api-key": _NO_KEY,
            "--admin-api-key": _NO_KEY,
            "--file-storage-path": _FILE,
            "--download-dir": "weights are neither loaded nor stored",
        },
        added=(("--enable-metrics", "the run reads the engine's counters"),),
        cpu_only=("--device", "cpu", "--dtype", "float32"),
        no_cpu=("--device", "--attention-backend", "--moe-runner-backend", "--kv-cache-dtype", "--dtype"),
    ),
    "atom": Dialect(
        port="--server-port",
        length=("--max-model-len",),
        overrides="--hf-overrides",
        # Weights of this kind are finite, those of the bare option are whatever was in memory.
        dummy=("--load_dummy", "xavier"),
        load_formats=("--load-dummy",),
        model=("--model",),
        tensor=frozenset({"--tensor-parallel-size", "-tp"}),
        data=frozenset({"--data-parallel-size", "-dp"}),
        pipeline=frozenset({"--pipeline-parallel-size", "-pp"}),
        share="--gpu-memory-utilization",
        default_share=0.9,
        speculation=("--method", ""),
        eager=("--enforce-eager",),
        dropped={"--torch-profiler-dir": "nothing is profiled", "--request-log": "the run knows its requests"},
    ),
}
"""Engines that a run can start."""

_NO_TAPS = re.compile(r"ngram\w*|suffix|draft_model|\w*mtp|nextn|", re.IGNORECASE)
"""Ways of speculating that do not read hidden states of chosen layers, so that the model may have fewer of them."""

_TRUST = "--trust-remote-code"
_MODULE_KEYS = ("_module_path",)
_PLUGIN_KEYS = ("_plugin",)
"""How keys end under which an engine is told a module, or a file with code."""

_QUALIFIED = ("--compilation-config", "--distributed-executor-backend")
_QUALIFIED_SHORT = frozenset({"-cc", "-O"})
"""Options whose texts may be names of objects, which vLLM imports (vllm/utils/import_utils.py)."""

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_MODULES = frozenset({"vllm", "sglang", "atom", "lmcache", "mooncake", "nixl", "mori"})
"""Packages from which an engine may take a connector: they are in its image or nowhere."""

_OTHER_PROCESSES = {"LMCacheMPConnector": "LMCache's server"}
"""Connectors that need a process of their own, which the scripts start beside the server."""

_LAYER_HOMES = ((), ("text_config",), ("llm_config",), ("language_config",), ("thinker_config", "text_config"))
"""Where the files of models keep the number of layers of the language model."""

_MAX_LIST_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Start:
    """What is started: `argv[0]` is the bare name of a programme, `options` are what the engine's parser reads.

    `doubts` say what was left out that may matter: a failure is then none of the plan for certain.
    """

    framework: str
    argv: tuple[str, ...]
    options: tuple[str, ...]
    env: Mapping[str, str]
    changes: tuple[Change, ...]
    doubts: tuple[str, ...]
    gpus: int
    share: float
    weights: bool


@dataclass(frozen=True, slots=True)
class NoStart:
    """Why nothing is started."""

    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """What the machine gives to a run: a free port, a folder of its own, the model's `config.json` if it is there."""

    port: int
    scratch: str
    config: Json | None = None


def model_of(plan: Json, honest: Honest) -> str | None:
    """The model that a run will load, None where the plan does not say."""
    if honest.model is not None:
        return honest.model
    server = plan.get("server")
    words = _words(server.get("argv")) if isinstance(server, Mapping) else None
    command = None if words is None else _command(words)
    if isinstance(command, _Command):
        word = _model_word(command)
        if isinstance(word, str):
            return word
    job = plan.get("job")
    model = job.get("model") if isinstance(job, Mapping) else None
    return model if isinstance(model, str) else None


def adapt(plan: Json, honest: Honest, place: Place) -> Start | NoStart:
    """What is started for a plan, with every change; or why nothing can be.

    A pure function: it looks at nothing but its arguments.
    """
    if plan.get("outcome") != "serves" or not isinstance(server := plan.get("server"), Mapping):
        return NoStart(f"the plan serves nothing: its outcome is {visible(str(plan.get('outcome')), 100)}")
    if server.get("roles"):
        return NoStart("the server is spread over several nodes or roles; a smoke run has one node")
    words = _words(server.get("argv"))
    if words is None:
        return NoStart("the plan's command line is no list of words of bounded size")
    command = _command(words)
    if isinstance(command, NoStart):
        return command
    work = _Work(command, honest, place, plan)
    reason = work.options() or work.variables(server)
    return NoStart(reason) if reason else work.start()


@dataclass(frozen=True, slots=True)
class _Command:
    framework: str
    head: tuple[str, ...]
    arguments: tuple[Argument, ...]
    first: tuple[Word, ...]

    @property
    def dialect(self) -> Dialect:
        return DIALECTS[self.framework]


def _words(value: object) -> tuple[Word, ...] | None:
    """The words of a JSON command line; None for anything else, or for what no process can be given."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not 0 < len(value) <= MAX_WORDS:
        return None
    words = tuple(_word(one) for one in value)
    return None if any(word is None for word in words) else tuple(word for word in words if word is not None)


def _word(value: object) -> Word | None:
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT and "\0" not in value else None
    if not isinstance(value, Sequence):
        return None
    pieces: list[str | Unknown] = []
    for piece in value:
        if isinstance(piece, Mapping) and isinstance(reason := piece.get("unknown"), str):
            pieces.append(Unknown(reason[:500]))
        elif isinstance(piece, str) and len(piece) <= MAX_TEXT and "\0" not in piece:
            pieces.append(piece)
        else:
            return None
    return "".join(map(str, pieces)) if all(isinstance(piece, str) for piece in pieces) else tuple(pieces)


def _command(words: Sequence[Word]) -> _Command | NoStart:
    """The engine that a command line starts: nothing but the servers that are known, by their bare names."""
    name = words[0]
    shown = visible(word_text(name), 100)
    if not isinstance(name, str):
        return NoStart(f"the programme is not known: {shown}")
    if name in ("vllm", "sglang") and len(words) > 1 and words[1] == "serve":
        framework, head, rest = name, [name, "serve"], words[2:]
    elif _PYTHON.fullmatch(name):
        index = 1
        while index < len(words) and words[index] in _PYTHON_FLAGS:
            index += 1
        module = words[index + 1] if words[index : index + 1] == ("-m",) and index + 1 < len(words) else None
        found = MODULES.get(module) if isinstance(module, str) else None
        if found is None or found not in DIALECTS or not isinstance(module, str) or module.endswith(".cli.main"):
            return NoStart(f"{shown} does not run the module of a server that a smoke run can start")
        framework, head, rest = found, ["python", "-m", module], words[index + 2 :]
    else:
        return NoStart(f"{shown} is no server that a smoke run can start ({', '.join(DIALECTS)})")
    arguments = read_arguments(("server", *rest))
    # The first argument holds the programme and the words before the first option.
    return _Command(framework, tuple(head), tuple(arguments[1:]), arguments[0].words[1:] if arguments else ())


def _norm(name: str) -> str:
    """The name of an option in one spelling: `_` is `-`, and what follows the first dot is a key."""
    return name.partition(".")[0].replace("_", "-")


def _model_word(command: _Command) -> Word | None:
    if command.dialect.positional and command.first:
        return command.first[0]
    for argument in command.arguments:
        if _norm(argument.name) in command.dialect.model and argument.words:
            return argument.words[0]
    return None


class _Work:
    """Builds a start; `options` and `variables` say why it cannot be, if so."""

    def __init__(self, command: _Command, honest: Honest, place: Place, plan: Json) -> None:
        self.command = command
        self.dialect = command.dialect
        self.honest = honest
        self.place = place
        self.plan = plan
        self.changes: list[Change] = []
        self.doubts: list[str] = []
        self.kept: list[Argument] = []
        self.words: list[str] = []
        self.env: dict[str, str] = {}
        self.method = ""

    def change(self, what: str, old: str | None, new: str | None, why: str) -> None:
        if old != new:
            self.changes.append(Change(what, old, new, why))

    def options(self) -> str | None:
        for argument in self.command.arguments:
            reason = self._refused(argument)
            if reason is not None:
                return reason
        self._keep()
        reason = self._model() or self._settings()
        if reason is not None:
            return reason
        for argument in self.kept:
            for number, word in enumerate(argument.words):
                text = self._resolved(argument.name, word)
                if text is None:
                    where = argument.name or "the command line"
                    return f"{where} has a part that only the job knows: {visible(word_text(word), 200)}"
                if argument.joined:
                    self.words.append(f"{argument.name}={text}")
                elif number == 0 and argument.name:
                    self.words += [argument.name, text]
                else:
                    self.words.append(text)
            if not argument.words:
                self.words.append(argument.name)
        return self._modules()

    def _refused(self, argument: Argument) -> str | None:
        """Why an option keeps everything from being started; argparse takes unique beginnings of options too."""
        name = _norm(argument.name)
        if not name.startswith("--") or len(name) < 3 or name in self.dialect.exact:
            return None
        for one in sorted(self.dialect.code):
            known = name == one or (one.startswith(name) and not self._known(name))
            if known and one not in self.honest.allow_options:
                return f"{argument.name} makes the engine load code or settings of the plan's choice: not started"
        if name == "--headless" or (name == "--nnodes" and argument.words[:1] not in ((), ("1",))):
            return "the server is spread over several nodes; a smoke run has one"
        trusts = _TRUST.startswith(name) and not self._known(name)
        if trusts and self.honest.download and _TRUST not in self.honest.allow_options:
            return "--trust-remote-code with downloads would run code from a hub: not started"
        return None

    def _known(self, name: str) -> bool:
        """Whether a beginning of a refused option is an option of its own that runs change."""
        return name in (*self.dialect.model, *self.dialect.length, self.dialect.port, self.dialect.overrides)

    def _keep(self) -> None:
        """Leave out options that a run cannot have."""
        cpu = self.honest.device == "cpu"
        for argument in self.command.arguments:
            name = _norm(argument.name)
            why = self.dialect.dropped.get(name)
            if why is None and cpu and name in self.dialect.no_cpu:
                why = "development on the CPU, which has none of it"
            if why is None and name == "--chat-template" and any("/" in word_text(word) for word in argument.words):
                why = "a file of the checkout, which a run does not read: the model's own template is used"
            if why is None:
                self.kept.append(argument)
                continue
            value = argument.words[:1]
            self.change(argument.name, word_text(value[0]) if value else "", None, why)
            # What an option does not take is a word of its own.
            if len(argument.words) > 1:
                self.kept.append(Argument("", argument.words[1:]))

    def _take(self, *names: str) -> list[Argument]:
        """Options of these names, no longer among those that are kept."""
        taken = [one for one in self.kept if one.name and _norm(one.name) in names]
        self.kept = [one for one in self.kept if one not in taken]
        for one in taken:
            if not one.joined and len(one.words) > 1:
                self.kept.append(Argument("", one.words[1:]))
        return taken

    def _model(self) -> str | None:
        first = list(self.command.first)
        old = _model_word(self.command)
        if self.dialect.positional and first:
            first.pop(0)
            taken = None
        else:
            options = self._take(*self.dialect.model)
            taken = options[-1].name if options else self.dialect.model[0]
        new = self.honest.model
        why = "the model that the run was given"
        if new is None and isinstance(old, str):
            new = old
        if new is None:
            job = self.plan.get("job")
            named = job.get("model") if isinstance(job, Mapping) else None
            new, why = (named, "where the job keeps it is only known there") if isinstance(named, str) else (None, "")
        if new is None:
            return "the plan does not say which model"
        if "://" in new or new.startswith("-"):
            return f"a model at {visible(new, 100)} is not loaded"
        self.change("model", None if old is None else word_text(old), new, why)
        if taken is None:
            self.words.append(new)
        else:
            self.words += [taken, new]
        if first:
            self.kept.insert(0, Argument("", tuple(first)))
        return None

    def _settings(self) -> str | None:
        dialect, honest = self.dialect, self.honest
        self._replace(("--host",), "--host", _LOOPBACK, "nobody else needs to reach it")
        self._replace((_norm(dialect.port),), dialect.port, str(self.place.port), "a port that is free")
        self._length()
        self.method = self._speculation()
        if honest.dummy_weights:
            old = self._text_of(self._take(*dialect.load_formats))
            self.change(dialect.dummy[0], old, " ".join(dialect.dummy[1:]), "no weights are needed to see it start")
            self._append(dialect.dummy)
        reason = self._layers()
        if reason is not None:
            return reason
        for name, why in dialect.added:
            if not self._take(name):
                self.change(name, None, "", why)
            self._append((name,))
        if honest.device == "cpu":
            self._take(*dialect.eager)
            self.change(dialect.eager[0], None, "", "development on the CPU: no graphs")
            self._append(dialect.eager)
            self.change(" ".join(dialect.cpu_only), None, "", "development on the CPU")
            self._append(dialect.cpu_only)
        return None

    def _append(self, words: Sequence[str]) -> None:
        self.kept.append(Argument(words[0], tuple(words[1:])))

    def _replace(self, names: tuple[str, ...], option: str, new: str, why: str) -> None:
        old = self._text_of(self._take(*names))
        self.change(option, old, new, why)
        self._append((option, new))

    @staticmethod
    def _text_of(options: Sequence[Argument]) -> str | None:
        if not options:
            return None
        return word_text(options[-1].words[0]) if options[-1].words else ""

    def _length(self) -> None:
        limit = self.honest.max_model_len
        if limit is None:
            return
        names = tuple(map(_norm, self.dialect.length))
        found = [one for one in self.kept if one.name and _norm(one.name) in names]
        old = self._text_of(found)
        if old is not None and old.isdecimal() and len(old) < 10 and int(old) <= limit:
            return
        self._replace(names, self.dialect.length[0], str(limit), "a short context needs little memory")

    def _speculation(self) -> str:
        """How the plan speculates, empty if it does not."""
        option, key = self.dialect.speculation
        for argument in self.kept:
            if _norm(argument.name) != option or not argument.words:
                continue
            text = word_text(argument.words[0])
            if not key:
                return text
            if argument.name.partition(".")[2] == key:
                return text
            value = _json(text)
            if isinstance(value, Mapping) and isinstance(value.get(key), str):
                return str(value[key])
            if isinstance(value, Mapping) and "model" in value:
                return "by a draft"
        return ""

    def _layers(self) -> str | None:
        """Fewer layers, by the overrides that the plan has already and one more."""
        wanted = self.honest.layers
        option = self.dialect.overrides
        if wanted is None or not self.honest.dummy_weights:
            return None
        if _NO_TAPS.fullmatch(self.method) is None or self.place.config is None:
            return None
        ours, old, new = fewer_layers(self.place.config, wanted)
        if ours is None:
            return None
        existing: dict[str, Any] = {}
        texts: list[str] = []
        for argument in [one for one in self.kept if one.name and _norm(one.name) == option]:
            if not argument.words or not isinstance(argument.words[0], str):
                return f"{option} has a part that only the job knows"
            text, path = argument.words[0], argument.name.partition(".")[2]
            value = _json(text)
            if path:
                value = _nested(path.split("."), text if value is None else value)
            if not isinstance(value, Mapping):
                # What is no JSON stays as it is, for the engine to say so.
                return None
            existing = merged(existing, value)
            texts.append(text)
        self._take(option)
        text = json.dumps(merged(existing, ours))
        self.change(
            option, " ".join(texts) or None, text, f"{new} of {old} layers, at least one of each kind, are enough"
        )
        self._append((option, text))
        return None

    def _resolved(self, name: str, word: Word) -> str | None:
        """The text of a word; parts that only the job knows are made up where the word is a path of its own."""
        if isinstance(word, str):
            return word
        start = word[0] if word else ""
        if not isinstance(start, str) or not start.startswith(_SCRATCH):
            return None
        known = "-".join(piece for piece in word if isinstance(piece, str))
        new = f"{self.place.scratch}/{_NOT_IN_NAMES.sub('-', known).strip('-.')[:100] or 'folder'}"
        self.change(name or "a word", word_text(word), new, "a folder of the run's own")
        return new

    def _modules(self) -> str | None:
        """Why a module or a connector keeps everything from being started."""
        for argument in self.kept:
            name = _norm(argument.name)
            qualified = name in _QUALIFIED_SHORT or (len(name) > 2 and any(one.startswith(name) for one in _QUALIFIED))
            for word in argument.words:
                value = (_json(word) if isinstance(word, str) else None) or (word if qualified else None)
                path = argument.name.split(".")[1:]
                if path:
                    value = _nested(path, value or word)
                for key, text in _strings(value):
                    reason = None if argument.name in self.honest.allow_options else _foreign(key, text, qualified)
                    if reason is not None:
                        return f"{argument.name} names {reason}: {visible(text, 100)}"
                    if key == "kv_connector" and text in _OTHER_PROCESSES:
                        return f"the server needs {_OTHER_PROCESSES[text]}, which a smoke run does not start"
                    if key == "kv_role" and text in ("kv_producer", "kv_consumer"):
                        return "the server is one half of a disaggregated pair; a smoke run has one server"
        return None

    def variables(self, server: Json) -> str | None:
        scripts: list[str] = []
        for key in ("env", "runtime-env"):
            given = server.get(key)
            if not isinstance(given, Mapping):
                continue
            if len(given) > MAX_WORDS:
                return "the plan has too many variables"
            for name, value in given.items():
                self._variable(str(name), value, scripts)
        if scripts:
            shown = ", ".join(sorted(set(scripts)))
            self.change("variables", shown, None, "variables of scripts, which the engine does not read")
        self._own_variables()
        return None

    def _variable(self, name: str, value: object, scripts: list[str]) -> None:
        word = _word(value)
        shown = visible(name, 200)
        if left_out(name) and name not in self.honest.allow_env:
            scripts.append(shown)
            return
        if name in self.dialect.caches and name not in self.honest.allow_env:
            return
        reason = None if name in self.honest.allow_env else refused(name)
        if reason is None and word is None:
            reason = "no text"
        if reason is not None or word is None:
            self.change(shown, None if word is None else word_text(word), None, f"not passed on: {reason}")
            if matters(name):
                self.doubts.append(f"{shown} was not passed on ({reason})")
            return
        text = self._resolved(name, word)
        if text is None:
            self.change(shown, word_text(word), None, "only the job knows its value")
            self.doubts.append(f"{shown} has a value that only the job knows")
            return
        self.env[name] = text

    def _own_variables(self) -> None:
        """Those that a run sets itself."""
        own = {name: f"{self.place.scratch}/{name.lower()}" for name in self.dialect.caches}
        own |= self.dialect.variables
        if not self.honest.download:
            own |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        if self.honest.device == "cpu":
            own |= self.dialect.cpu_variables
        server = self.plan.get("server")
        given = server.get("env") if isinstance(server, Mapping) else None
        for name, value in own.items():
            if name in self.honest.allow_env and name in self.env:
                continue
            old = _word(given.get(name)) if isinstance(given, Mapping) and name in given else None
            why = "nothing is downloaded" if name.endswith("_OFFLINE") else "nothing is told to others"
            if name in self.dialect.caches:
                why = "a folder of the run's own, which is removed after it"
            elif name in self.dialect.cpu_variables:
                why = "development on the CPU"
            self.change(name, None if old is None else word_text(old), value, why)
            self.env[name] = value

    def start(self) -> Start:
        head = self.command.head
        words = tuple(self.words)
        return Start(
            framework=self.command.framework,
            argv=(*head, *words),
            options=words,
            env=dict(sorted(self.env.items())),
            changes=tuple(self.changes),
            doubts=tuple(self.doubts),
            gpus=self._gpus(),
            share=self._share(),
            weights=not self.honest.dummy_weights,
        )

    def _number(self, names: frozenset[str], default: float) -> float:
        found = default
        for argument in self.kept:
            if _norm(argument.name) in names and argument.words:
                text = word_text(argument.words[0])
                if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", text):
                    found = float(text)
        return found

    def _gpus(self) -> int:
        dialect = self.dialect
        data = self._number(dialect.data, 1)
        names = {_norm(one.name) for one in self.kept}
        if self.command.framework == "sglang" and "--enable-dp-attention" in names:
            # Its replicas share the GPUs of tensor parallelism (sglang/srt/server_args.py).
            data = 1
        return max(1, int(self._number(dialect.tensor, 1) * self._number(dialect.pipeline, 1) * data))

    def _share(self) -> float:
        return min(1.0, self._number(frozenset({self.dialect.share}), self.dialect.default_share))


def fewer_layers(config: Json, wanted: int) -> tuple[dict[str, Any] | None, int, int]:
    """Overrides with which a model has fewer layers, and the numbers before and after; None where it stays as it is.

    Lists with one item per layer are cut with it. As many layers stay as it takes to have one of each kind, and one
    layer of experts after those that are dense.
    """
    for home in _LAYER_HOMES:
        part: Any = config
        for key in home:
            part = part.get(key) if isinstance(part, Mapping) else None
        number = part.get("num_hidden_layers") if isinstance(part, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 10_000:
            continue
        new = _enough(part, number, wanted)
        if new >= number:
            return None, number, number
        return _nested(home, {**_cut(part, number, new, 0), "num_hidden_layers": new}), number, new
    return None, 0, 0


def _enough(part: Json, number: int, wanted: int) -> int:
    enough = max(1, wanted)
    dense = part.get("first_k_dense_replace")
    if isinstance(dense, int) and 0 < dense < number:
        enough = max(enough, dense + 1)
    every = part.get("full_attention_interval")
    if isinstance(every, int) and 0 < every < number:
        enough = -(-enough // every) * every
    for kinds in _lists(part, number, 0):
        first = {repr(kind): index for index, kind in reversed(list(enumerate(kinds)))}
        enough = max(enough, max(first.values()) + 1 if len(first) <= 8 else enough)
    return min(number, enough)


def _lists(part: Json, number: int, depth: int) -> list[list[Any]]:
    found: list[list[Any]] = []
    for value in part.values():
        if isinstance(value, list) and len(value) == number:
            found.append(value)
        elif isinstance(value, Mapping) and depth < _MAX_LIST_DEPTH:
            found += _lists(value, number, depth + 1)
    return found


def _cut(part: Json, number: int, new: int, depth: int) -> dict[str, Any]:
    """The lists with one item per layer, cut; settings that hold one are given whole."""
    found: dict[str, Any] = {}
    for key, value in part.items():
        if isinstance(value, list) and len(value) == number:
            found[key] = value[:new]
        elif isinstance(value, Mapping) and depth < _MAX_LIST_DEPTH and _lists(value, number, depth + 1):
            found[key] = {**value, **_cut(value, number, new, depth + 1)}
    return found


def merged(one: Json, other: Json) -> dict[str, Any]:
    """Two objects as one, key by key; what both say, the second says."""
    found = dict(one)
    for key, value in other.items():
        before = found.get(key)
        found[key] = merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return found


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _strings(value: Any) -> list[tuple[str, str]]:
    """Every text of a value with the key under which it stands."""
    found: list[tuple[str, str]] = []
    left = [("", value)]
    while left:
        key, one = left.pop()
        if isinstance(one, str):
            found.append((key, one))
        elif isinstance(one, Mapping):
            left.extend((str(name), inner) for name, inner in one.items())
        elif isinstance(one, list):
            left.extend((key, inner) for inner in one)
    return found


def _foreign(key: str, text: str, qualified: bool) -> str | None:
    """What code a text of an option names that is none of an engine, if it does."""
    key = key.replace("-", "_")
    if key.endswith(_PLUGIN_KEYS) and text:
        return "a file with code"
    module = key.endswith(_MODULE_KEYS) or (qualified and _DOTTED.fullmatch(text) is not None)
    return "a module that is none of an engine" if module and text.partition(".")[0] not in _MODULES else None
