"""A smoke run: its stages one after the other, each within its limit, whatever the server does."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from botlint.catalogs.hardware import Hardware, find_hardware
from botlint.core.errors import BotlintError, CannotFinish
from botlint.core.visible import visible
from botlint.smoke import client, evaluate
from botlint.smoke.adapt import NoStart, Place, Start, adapt, model_of
from botlint.smoke.conclude import conclude, other_version
from botlint.smoke.jsonform import whole
from botlint.smoke.measure import deltas
from botlint.smoke.model import (
    STAGES,
    Cause,
    Figures,
    JobName,
    Json,
    Log,
    SmokeRequest,
    Stage,
    StageResult,
    Status,
    Verdict,
)
from botlint.smoke.process import Child, end, look, start, take_orphans
from botlint.smoke.signatures import causes
from botlint.smoke.state import WorkFolder, work_folder
from botlint.smoke.variables import runner_environment

MAX_REPORT = 1_000_000
"""Bytes of a child's answer that are read."""

MAX_CONFIG = 2_000_000
MAX_CONCURRENCY = 64

_CHECKS = 0.1
_MEMORY_GB = 2.0
"""Memory of a GPU that may stay in use after the end: what other processes take meanwhile."""

_LOG_LINES = 60

# Runs a file as a script without its folder among those that modules are imported from.
_AS_SCRIPT = (
    "import runpy,sys\n"
    "sys.path[:]=[path for path in sys.path if path]\n"
    "del sys.argv[0]\n"
    "runpy.run_path(sys.argv[0],run_name='__main__')\n"
)
_PROBE = Path(__file__).with_name("probe.py")
_PARSER = Path(__file__).with_name("engineparser.py")


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a run takes place: its folder, the engine's Python (None: found by the engine's programme), and whom to
    tell what happens."""

    work: Path
    python: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    tell: Callable[[str], None] = lambda _: None


class Failed(Exception):  # noqa: N818 (a stage's end)
    """A stage that did not go well: why; in the details, `blame` is "machine" where that is to blame for certain."""

    def __init__(self, message: str, status: Status = "failed", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status: Status = status
        self.details = dict(details or {})


_MACHINE = {"blame": "machine"}


def run(request: SmokeRequest, machine: Machine, compare: SmokeRequest | Verdict | None = None) -> Verdict:
    """Run what a request asks for; with `compare`, that of the base first (or its verdict as it is).

    Raises CannotFinish if the work folder cannot be used.
    """
    take_orphans()
    base = compare
    if isinstance(base, SmokeRequest):
        machine.tell("the base revision first")
        base = _one(replace(base, stages=request.stages, limits=request.limits, load=request.load), machine)
    found = _one(request, machine)
    if base is None:
        return found
    base = replace(base, compared=None, deltas=())
    reason = found.reason
    if found.verdict != "pass" and (base.verdict, base.stage) == (found.verdict, found.stage):
        reason += "; the base revision ends the same way"
    elif base.verdict != "pass":
        reason += f"; the base revision: {base.verdict} ({base.reason})"
    return replace(found, reason=reason, base=base.head, compared=base, deltas=deltas(base.figures, found.figures))


def job_name(plan: Json) -> JobName:
    """Which job a plan is of."""
    job = plan.get("job")
    row = job if isinstance(job, Mapping) else {}
    arm = plan.get("arm")
    place = arm if isinstance(arm, Mapping) else {}
    number = place.get("index")
    return JobName(
        entry=_text(plan.get("entry"), 500) or "?",
        scenario=_text(place.get("scenario"), 200) or _text(row.get("scenario-type"), 200) or "?",
        arm=number if isinstance(number, int) and number >= 0 else None,
        concurrency=_smallest(row.get("conc")),
        name=_text(row.get("exp-name"), 500),
        runner=_text(plan.get("runner"), 200),
    )


def concurrency_of(request: SmokeRequest) -> tuple[int, ...]:
    """The numbers of requests at a time: what was asked for, or 1 and the smallest of the job's arm."""
    if request.load.concurrency is not None:
        return request.load.concurrency
    job = request.plan.get("job")
    smallest = request.smallest_concurrency or _smallest(job.get("conc") if isinstance(job, Mapping) else None) or 1
    return tuple(dict.fromkeys((1, min(smallest, MAX_CONCURRENCY))))


def _one(request: SmokeRequest, machine: Machine) -> Verdict:
    if "evaluate" in request.stages:
        # Scores of weights by chance say nothing.
        request = replace(request, honest=replace(request.honest, dummy_weights=False, layers=None))
    if "load" in request.stages or "evaluate" in request.stages:
        wanted = {*request.stages, "serve"}
        request = replace(request, stages=tuple(one for one in STAGES if one in wanted))
    with work_folder(machine.work) as folder:
        return _Run(request, machine, folder).go()


class _Run:
    """One run and what it has found so far."""

    def __init__(self, request: SmokeRequest, machine: Machine, folder: WorkFolder) -> None:
        self.request = request
        self.machine = machine
        self.folder = folder
        self.environment = runner_environment(machine.environment)
        self.began = time.monotonic()
        self.started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.stages: list[StageResult] = []
        self.versions: dict[str, str] = {}
        self.figures: tuple[Figures, ...] = ()
        self.scores: dict[str, float] | None = None
        self.causes: list[Cause] = []
        self.log = Log()
        self.child: Child | None = None
        self.memory: list[float] = []
        self.port = _free_port()

    def go(self) -> Verdict:
        if self.folder.cleared:
            self.machine.tell(self.folder.cleared)
        found = self._adapt()
        if isinstance(found, NoStart):
            return self._verdict(None, "inconclusive", None, found.reason)
        self.start = found
        works: dict[Stage, Callable[[float], tuple[str, dict[str, Any]]]] = {
            "probe": self._probe,
            "parse": self._parse,
            "serve": self._serve,
            "load": self._load,
            "evaluate": self._evaluate,
        }
        try:
            for name, work in works.items():
                if name in self.request.stages:
                    self._stage(name, work)
        finally:
            if self.child is not None:
                self._keep_log(self.child)
            if self.child is not None or "stop" in self.request.stages:
                self._stage("stop", self._stop, always=True)
        end_of_it = conclude(self.stages, self.causes, found.doubts, self._other_engine(found))
        return self._verdict(found, end_of_it.verdict, end_of_it.stage, end_of_it.reason)

    def _other_engine(self, started: Start) -> str | None:
        """How the engine here is another than the plan's, None where it is the same or nobody knows."""
        server = self.request.plan.get("server")
        planned = _text(server.get("version"), 100) if isinstance(server, Mapping) else None
        here = self.versions.get(started.framework)
        if not other_version(planned, here):
            return None
        return f"{started.framework} {here} is here, and the plan is for {planned}"

    def _adapt(self) -> Start | NoStart:
        scratch = self.folder.scratch
        for name in ("tmp", "run"):
            (scratch / name).mkdir()
        honest = self.request.honest
        model = model_of(self.request.plan, honest)
        place = Place(
            port=self.port,
            scratch=str(scratch),
            config=None if model is None else _config(model, self.environment),
        )
        return adapt(self.request.plan, honest, place)

    def _stage(self, name: Stage, work: Callable[[float], tuple[str, dict[str, Any]]], always: bool = False) -> None:
        limit = self.request.limits.of(name)
        if not always and any(one.status != "ok" for one in self.stages):
            self.stages.append(StageResult(name, "skipped", 0.0, limit, "an earlier stage did not go well"))
            return
        self.machine.tell(f"{name} (at most {limit:.0f} s) ...")
        began = time.monotonic()
        status: Status = "ok"
        try:
            message, details = work(began + limit)
        except Failed as failure:
            status, message, details = failure.status, str(failure), failure.details
        except client.BadAnswer as error:
            status, message, details = "failed", str(error), {}
        except BotlintError as error:
            status, message, details = "failed", str(error), dict(_MACHINE)
        seconds = time.monotonic() - began
        self.stages.append(StageResult(name, status, round(seconds, 3), limit, visible(message, 2_000), details))
        self.machine.tell(f"{name}: {status} after {seconds:.1f} s: {visible(message, 500)}")

    def _probe(self, deadline: float) -> tuple[str, dict[str, Any]]:
        start_of, cpu = self.start, self.request.honest.device == "cpu"
        hardware = _hardware(self.request.plan)
        options = ["--count", str(1 if cpu else start_of.gpus), "--device", "cpu" if cpu else "gpu"]
        if hardware is not None and not cpu:
            options += ["--expect", hardware.target, "--memory-gb", str(hardware.memory_gb)]
            options += ["--share", str(start_of.share)]
        report = self._look(options, deadline)
        if isinstance(report.get("torch"), str):
            self.versions["torch"] = visible(report["torch"], 100)
        self.memory = _free(report)
        problems = [visible(str(one), 500) for one in report.get("problems", ())]
        report["expected"] = None if cpu or hardware is None else hardware.target
        if problems:
            raise Failed("; ".join(problems[:5]), details=report)
        devices = report.get("devices", [])
        names = sorted({f"{one.get('name')} ({one.get('architecture')})" for one in devices})
        return f"{len(devices)} x {', '.join(names)}: products right", report

    def _look(self, options: Sequence[str], deadline: float) -> dict[str, Any]:
        """The report of the probe."""
        output = self.folder.scratch / "probe.json"
        output.unlink(missing_ok=True)
        python = self._python()
        self._script(python, _PROBE, [*options, "--output", str(output)], deadline, None, "the probe")
        report = _report(output)
        if report is None:
            raise Failed("the probe gave no report", details=_MACHINE)
        return report

    def _parse(self, deadline: float) -> tuple[str, dict[str, Any]]:
        output = self.folder.scratch / "parse.json"
        own = {change.what for change in self.start.changes if change.new is not None}
        asked = {
            "framework": self.start.framework,
            "argv": list(self.start.options),
            "variables": sorted(set(self.start.env) - own),
            "output": str(output),
        }
        said = self._script(
            self._python(), _PARSER, [], deadline, json.dumps(asked).encode(), f"the parser of {self.start.framework}"
        )
        answer = _report(output)
        if answer is None:
            self.causes += causes(said, self.start.framework)
            raise Failed(f"the parser of {self.start.framework} gave no answer: {_last(said)}", details=_MACHINE)
        versions = answer.get("versions")
        if isinstance(versions, Mapping):
            self.versions |= {visible(str(k), 100): visible(str(v), 100) for k, v in list(versions.items())[:20]}
        message = str(answer.get("message", ""))
        if answer.get("accepted") is None:
            raise Failed(message, details=_MACHINE)
        unknown = [visible(str(name), 200) for name in answer.get("unknown", ())]
        details: dict[str, Any] = {"unknown-variables": unknown}
        if not answer["accepted"]:
            self.causes += causes(message.splitlines(), self.start.framework)
            raise Failed(message, details=details)
        told = f"; variables that this version does not know: {', '.join(unknown[:10])}" if unknown else ""
        return f"{len(self.start.options)} words accepted{told}", details

    def _serve(self, deadline: float) -> tuple[str, dict[str, Any]]:
        argv = [self._programme(), *self.start.argv[1:]]
        child = start(argv, self._server_environment(), self.folder.scratch / "run", self.folder.token)
        self.child = child
        self.folder.note(child, self.port)
        target = self._target(child)
        last = "it was not asked yet"
        while True:
            trouble = target.trouble()
            if trouble is not None:
                raise Failed(trouble, details=self._said(child))
            left = deadline - time.monotonic()
            if left <= 0:
                raise Failed(f"not ready within the limit: {last}", "timeout", self._said(child))
            answer = client.ready(target, max(0.1, min(2.0, left)))
            if answer is None:
                break
            last = answer
            time.sleep(min(_CHECKS, max(0.0, deadline - time.monotonic())))
        return "ready", self._said(child)

    def _load(self, deadline: float) -> tuple[str, dict[str, Any]]:
        child = self._running()
        lines = child.output.lines
        load = self.request.load
        longest = self.request.honest.max_model_len
        if longest is not None:
            load = replace(load, isl=max(1, min(load.isl, longest // 2)), osl=max(1, min(load.osl, longest // 4)))
        target = self._target(child)
        try:
            loaded = client.load(target, load, concurrency_of(self.request), max(0.1, deadline - time.monotonic()))
        except TimeoutError:
            raise Failed("the requests were not answered within the limit", "timeout", self._said(child)) from None
        except client.BadAnswer as error:
            raise Failed(target.trouble() or str(error), details={**self._said(child), "answer": str(error)}) from None
        self.figures = loaded.figures
        # The last lines of the log may still be on their way.
        time.sleep(min(0.2, max(0.0, deadline - time.monotonic())))
        errors = [line for line in child.output.telling(lines) if _is_error(line)]
        if errors:
            raise Failed(f"an error in the log: {errors[0].strip()[:300]}", details=self._said(child))
        number = sum(one.requests for one in loaded.figures)
        details: dict[str, Any] = {"notes": list(loaded.notes), "log-probabilities": loaded.logprobs}
        if loaded.wrong:
            raise Failed("; ".join(loaded.wrong), details=details)
        return f"{number} requests answered" + "".join(f"; {note}" for note in loaded.notes), details

    def _evaluate(self, deadline: float) -> tuple[str, dict[str, Any]]:
        child = self._running()
        output = self.folder.scratch / "scores"
        model = client.model_name(self._target(child), 10)
        options = evaluate.options(model, self.port, self.request.eval_limit, str(output))
        python = self._python()
        said = self._child([python, "-m", "lm_eval", *options], deadline, None, "lm-eval")
        scores = evaluate.read_scores(output)
        if not scores:
            self.causes += causes(said, None)
            if any("No module named lm_eval" in line for line in said):
                raise Failed("lm-eval is not installed here", details=_MACHINE)
            raise Failed(f"lm-eval gave no scores: {_last(said)}")
        self.scores = scores
        shown = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
        return f"{self.request.eval_limit} questions: {shown}", {}

    def _stop(self, deadline: float) -> tuple[str, dict[str, Any]]:
        details: dict[str, Any] = {}
        problems: list[str] = []
        how = "nothing was started"
        child, self.child = self.child, None
        if child is not None:
            gone = child.status() is not None
            ended = end(child)
            details["killed"] = ended.killed
            how = "it had to be killed" if ended.killed else "it had ended" if gone else "it ended when asked to"
            if ended.left:
                problems.append(f"{len(ended.left)} processes did not end even when killed")
            if not _is_free(self.port):
                problems.append(f"something still listens on port {self.port}")
        if self.memory and child is not None and self.request.honest.device == "gpu":
            problems += self._memory_back(deadline, details)
        left = self.folder.clear()
        if left:
            problems.append(f"{len(left)} files could not be removed: {left[0]}")
        if problems:
            raise Failed("; ".join(problems), details=details)
        return f"{how}; nothing is left", details

    def _memory_back(self, deadline: float, details: dict[str, Any]) -> list[str]:
        """Why the memory of the GPUs is not as free as before; drivers give it back a little after the end."""
        missing: list[float] = []
        while True:
            options = ["--memory-only", "--count", str(len(self.memory))]
            try:
                free = _free(self._look(options, deadline))
            except Failed as failure:
                return [str(failure)]
            missing = [before - now for before, now in zip(self.memory, free, strict=False)]
            details["memory-missing-gb"] = [round(one, 2) for one in missing]
            if all(one <= _MEMORY_GB for one in missing):
                return []
            if time.monotonic() + 2 > deadline:
                return [
                    f"device {n} has {one:.0f} GB less than before" for n, one in enumerate(missing) if one > _MEMORY_GB
                ]
            time.sleep(1)

    def _script(
        self, python: str, script: Path, options: Sequence[str], deadline: float, stdin: bytes | None, what: str
    ) -> list[str]:
        return self._child([python, "-c", _AS_SCRIPT, str(script), *options], deadline, stdin, what)

    def _child(self, argv: Sequence[str], deadline: float, stdin: bytes | None, what: str) -> list[str]:
        """Run a programme to its end; the lines that it wrote. One that runs past the deadline is ended."""
        child = start(argv, self._server_environment(), self.folder.scratch / "run", self.folder.token, stdin)
        try:
            while child.status() is None:
                if time.monotonic() > deadline:
                    raise Failed(f"{what} did not end within the limit", "timeout")
                trouble = self._target(self.child).trouble() if self.child is not None else None
                if trouble is not None:
                    raise Failed(trouble)
                time.sleep(0.05)
        finally:
            if self.child is None:
                end(child)
            else:
                # Marks are the server's too: only this programme's own group is ended.
                end(replace(child, token=f"{child.token}-"))
        return child.output.kept()

    def _running(self) -> Child:
        if self.child is None:
            raise Failed("no server was started")
        return self.child

    def _target(self, child: Child) -> client.Target:
        return client.Target(self.port, self.start.framework, lambda: _trouble(child), self.start.weights)

    def _said(self, child: Child) -> dict[str, Any]:
        self._keep_log(child)
        return {"log-lines": child.output.lines}

    def _keep_log(self, child: Child) -> None:
        """Keep the end of the log, and what it says about causes if something went wrong."""
        if child.status() is not None:
            # The last lines of a server that ended are still being read.
            child.output.join(0.5)
        self.log = child.output.log(_LOG_LINES)
        if any(one.status != "ok" for one in self.stages) or child.status() is not None:
            known = {one.signature for one in self.causes}
            found = causes(child.output.kept(), self.start.framework)
            self.causes += [one for one in found if one.signature not in known]

    def _server_environment(self) -> dict[str, str]:
        return {**self.environment, **self.start.env, "TMPDIR": str(self.folder.scratch / "tmp")}

    def _python(self) -> str:
        return engine_python(self.machine.python, self.start.argv[0], self.environment)

    def _programme(self) -> str:
        """The file of the engine's programme.

        Raises CannotFinish if there is none.
        """
        name, python = self.start.argv[0], self._python()
        if name == "python":
            return python
        beside = Path(python).parent / name
        if self.machine.python is not None and os.access(beside, os.X_OK):
            return str(beside)
        found = shutil.which(name, path=self.environment.get("PATH"))
        if found is None:
            raise CannotFinish(f"there is no {name} on this machine")
        return str(Path(found).absolute())

    def _verdict(self, started: Start | None, verdict: Any, stage: Stage | None, reason: str) -> Verdict:
        request = self.request
        server = request.plan.get("server")
        version = server.get("version") if isinstance(server, Mapping) else None
        framework = server.get("framework") if isinstance(server, Mapping) else None
        return Verdict(
            verdict=verdict,
            reason=visible(reason, 2_000),
            job=job_name(request.plan),
            framework=started.framework if started else _text(framework, 100),
            stage=stage,
            head=request.head,
            base=request.base,
            nonce=request.nonce,
            planned_version=_text(version, 100),
            versions=self.versions,
            argv=started.argv if started else (),
            env=started.env if started else {},
            stages=tuple(self.stages),
            figures=self.figures,
            causes=tuple(self.causes[:10]) if verdict != "pass" else (),
            changes=started.changes if started else (),
            log=replace(self.log, tail=tuple(visible(line, 1_000) for line in self.log.tail)),
            evaluation=self.scores,
            started=self.started,
            seconds=round(time.monotonic() - self.began, 3),
        )


def engine_python(given: str | None, programme: str, environment: Mapping[str, str]) -> str:
    """The Python that has the engine: the given one, the one that the engine's programme names in its first line, or
    the first on the path."""
    if given is not None:
        return str(Path(given).absolute())
    path = environment.get("PATH")
    if programme != "python":
        found = shutil.which(programme, path=path)
        if found is not None:
            with suppress(OSError), Path(found).open("rb") as stream:
                first = stream.readline(300).decode("utf-8", "replace").strip()
                named = first.removeprefix("#!").strip()
                if first.startswith("#!") and os.access(named, os.X_OK) and "python" in Path(named).name:
                    return named
    return shutil.which("python3", path=path) or shutil.which("python", path=path) or sys.executable


def _trouble(child: Child) -> str | None:
    """Why there is no use in waiting for a server any longer."""
    status = child.status()
    if status is not None:
        if status < 0:
            return f"the server was ended by signal {-status}"
        return f"the server ended with status {status}"
    if child.output.flooded:
        return "the server floods its log"
    seen = look(child.pid)
    return "the server is gone" if seen is not None and seen.zombie else None


def _is_error(line: str) -> bool:
    head = line[:80]
    return " ERROR " in f" {head}" or "Traceback (most recent call last)" in line or "CRITICAL" in head


def _hardware(plan: Json) -> Hardware | None:
    """What the plan's runner has."""
    job = plan.get("job")
    for label in (plan.get("runner"), job.get("runner") if isinstance(job, Mapping) else None):
        if isinstance(label, str) and (found := find_hardware(label)) is not None:
            return found
    return None


def _config(model: str, environment: Mapping[str, str]) -> Json | None:
    """The model's `config.json`, from its folder or from the hub's cache on this machine; None where it is not."""
    folder = Path(model)
    found: Path | None = folder / "config.json"
    if not folder.is_dir():
        home = environment.get("HF_HOME") or f"{environment.get('HOME', '')}/.cache/huggingface"
        cache = Path(environment.get("HF_HUB_CACHE") or f"{home}/hub")
        snapshots = cache / f"models--{model.replace('/', '--')}" / "snapshots"
        found = next(iter(sorted(snapshots.glob("*/config.json"))), None)
    if found is None:
        return None
    return _report(found, MAX_CONFIG)


def _report(path: Path, limit: int = MAX_REPORT) -> dict[str, Any] | None:
    """A JSON object from a file, None where there is none of bounded size."""
    try:
        with path.open("rb") as stream:
            text = stream.read(limit + 1)
        value = json.loads(text, parse_int=whole) if len(text) <= limit else None
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _free(report: Json) -> list[float]:
    devices = report.get("devices")
    found = [one.get("free_gb") for one in devices if isinstance(one, Mapping)] if isinstance(devices, list) else []
    return [float(one) for one in found if isinstance(one, int | float)]


def _last(lines: Sequence[str]) -> str:
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "it wrote nothing")


def _smallest(value: object) -> int | None:
    numbers = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int) and one > 0]
    return min(numbers, default=None)


def _text(value: object, limit: int) -> str | None:
    return visible(value, limit) if isinstance(value, str) else None


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as asking:
        asking.settimeout(1)
        return asking.connect_ex(("127.0.0.1", port)) != 0
