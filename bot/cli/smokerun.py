"""`botlint smoke run`: start one job's server with the smallest honest changes, and ask it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import click

from botlint.cli.common import Settings, common_options
from botlint.core.errors import NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.smoke.model import SmokeRequest, Stage, Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"

EXIT_CODES = {"pass": 0, "fail": 1, "infrastructure": 3, "inconclusive": 3}

MAX_SUMMARY = 900_000
"""Bytes of a step's summary: GitHub takes a little more than these."""


@click.command("run")
@click.argument("request", metavar="FILE")
@click.option(
    "--plan", "number", type=click.IntRange(min=1), metavar="N", help="Which plan of a document with several."
)
@click.option(
    "--stages", metavar="A,B", help="Stages: probe,parse,serve,load,evaluate,stop (default: all but evaluate)."
)
@click.option("--limit", "limits", multiple=True, metavar="STAGE=SECONDS...", help="How long a stage may take.")
@click.option("--compare", metavar="FILE", help="The base's plan, which is run first, or its verdict.")
@click.option("--head", metavar="SHA", help="The commit that the plan was made from.")
@click.option("--base", metavar="SHA", help="The commit that it is compared with.")
@click.option("--nonce", metavar="TEXT", help="A mark that the verdict repeats.")
@click.option("--python", metavar="FILE", help="The engine's Python (default: that of the engine's programme).")
@click.option(
    "--work", type=click.Path(file_okay=False, path_type=Path), help="The run's folder (default: one in /tmp)."
)
@click.option("--model", metavar="PATH", help="Another model in the place of the plan's.")
@click.option("--device", type=click.Choice(["gpu", "cpu"]), help="`cpu`: development without a GPU.")
@click.option("--layers", metavar="N|all", help="Layers that the model keeps (default: 4).")
@click.option("--weights", type=click.Choice(["dummy", "real"]), help="Load the model's weights (default: dummy).")
@click.option("--max-model-len", metavar="N|plan", help="The longest context (default: 2048).")
@click.option("--concurrency", metavar="N,M", help="Requests at a time (default: 1 and the smallest of the arm).")
@click.option("--isl", type=click.IntRange(1, 100_000), help="Tokens of a prompt (default: 128).")
@click.option("--osl", type=click.IntRange(1, 100_000), help="Tokens of an answer (default: 32).")
@click.option("--requests", type=click.IntRange(1, 10_000), help="Requests at each concurrency (default: 8).")
@click.option("--eval-limit", type=click.IntRange(1, 100_000), help="Questions of the evaluation (default: 50).")
@click.option("--download", is_flag=True, help="Let the engine download what is not on the machine.")
@click.option("--allow-env", multiple=True, metavar="NAME...", help="Pass a variable on that would be refused.")
@click.option("--allow-option", multiple=True, metavar="NAME...", help="Pass an option on that would be refused.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", help="How to print it."
)
@click.option("--json", "json_file", metavar="FILE", help="Write the JSON form there as well.")
@click.option("--summary", metavar="FILE", help=f"Append Markdown there (default: ${SUMMARY_VARIABLE}).")
@common_options
def run_smoke(
    settings: Settings, /, request: str, form: str, json_file: str | None, summary: str | None, **given: Any
) -> int:
    """Start the server of one job for minutes, ask it, and say how that went.

    FILE (`-`: stdin) holds a request (botlint.smoke-request/1) or plans as `botlint plan --format json` writes them. It
    is data: only servers that are known are started, with words and variables that were checked, and nothing of the
    repository is sourced or executed.

    \b
    Exit codes: 0 pass; 1 fail; 2 usage; 3 infrastructure or inconclusive; 4 no plan to run.

    \b
    Examples:
      botlint plan ENTRY --where tp=4 conc=1 --format json | botlint smoke run -
      botlint smoke run head.json --compare base.json --json verdict.json
      botlint smoke run head.json --stages probe
      botlint smoke run plan.json --device cpu --model ./tiny-model
    """
    from botlint.smoke.jsonform import verdict_form
    from botlint.smoke.run import Machine, run
    from botlint.smoke.show import render_markdown, render_text

    wanted = _with_options(_request(request, given["number"]), given)
    compare = None if given["compare"] is None else _compared(given["compare"], wanted, given)
    work = given["work"] or Path(tempfile.gettempdir()) / f"botlint-smoke-work-{os.getuid()}"
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        verdict = run(wanted, Machine(work, given["python"], tell=settings.note), compare)
    finally:
        signal.signal(signal.SIGTERM, before)
    text = _json(verdict_form(verdict))
    if json_file is not None:
        _write(json_file, text, "w")
    place = summary if summary is not None else os.environ.get(SUMMARY_VARIABLE)
    if place:
        _write(place, render_markdown(verdict)[:MAX_SUMMARY], "a")
    with settings.open_output() as stream:
        stream.write(
            text if form == "json" else render_markdown(verdict) if form == "markdown" else render_text(verdict)
        )
    return EXIT_CODES[verdict.verdict]


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """A workflow that is cancelled ends its steps so; the server is to be ended too."""
    raise KeyboardInterrupt


def _json(form: dict[str, Any]) -> str:
    import json

    return json.dumps(form, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _write(path: str, text: str, mode: str) -> None:
    try:
        with Path(path).open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from error


def _read(path: str) -> bytes:
    """Raises UsageError where there is nothing to read."""
    from botlint.smoke.jsonform import MAX_BYTES

    try:
        if path == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(path).open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path!r}: {error.strerror}") from error


def _request(path: str, number: int | None) -> SmokeRequest:
    """The request of a document, or one for a plan of it.

    Raises UsageError for other documents and where several plans leave a choice; NothingToCheck where there is none.
    """
    from botlint.smoke.jsonform import checked, document, read_request
    from botlint.smoke.model import SmokeRequest

    text = _read(path)
    value = document(text)
    if isinstance(value, dict) and value.get("schema") == "botlint.smoke-request/1":
        return read_request(text)
    checked("plan.schema.json", value)
    plans = value["plans"]
    if not plans:
        raise NothingToCheck(f"{path}: no plan")
    if number is None and len(plans) > 1:
        raise UsageError(f"{path}: {len(plans)} plans; --plan N says which, `botlint plan --where` makes fewer")
    if number is not None and number > len(plans):
        raise UsageError(f"{path}: there is no plan {number}, only {len(plans)}")
    return SmokeRequest(plan=plans[(number or 1) - 1])


def _compared(path: str, head: SmokeRequest, given: dict[str, Any]) -> SmokeRequest | Verdict:
    from botlint.smoke.jsonform import document, read_verdict

    value = document(_read(path)) if path != "-" else None
    if isinstance(value, dict) and value.get("schema") == "botlint.smoke/1":
        return read_verdict(_read(path))
    base = _request(path, None)
    return replace(_with_options(base, given), head=base.head or head.base, base=None)


def _with_options(request: SmokeRequest, given: dict[str, Any]) -> SmokeRequest:
    """A request with what the command line says; that counts more."""
    from botlint.smoke.jsonform import checked, request_form

    honest = {
        "model": None if given["model"] is None else _model(given["model"]),
        "device": given["device"],
        "layers": _number(given["layers"], "--layers", "all"),
        "max_model_len": _number(given["max_model_len"], "--max-model-len", "plan"),
        "dummy_weights": None if given["weights"] is None else given["weights"] == "dummy",
        "download": given["download"] or None,
        "allow_env": tuple(given["allow_env"]) or None,
        "allow_options": tuple(given["allow_option"]) or None,
    }
    changed: dict[str, Any] = {name: value for name, value in honest.items() if value is not None}
    changed |= {name: None for name, value in changed.items() if value == 0 and name in ("layers", "max_model_len")}
    load: dict[str, Any] = {name: given[name] for name in ("isl", "osl", "requests") if given[name] is not None}
    if given["concurrency"] is not None:
        load["concurrency"] = tuple(_number(one, "--concurrency", "") or 1 for one in given["concurrency"].split(","))
    wanted = replace(
        request,
        honest=replace(request.honest, **changed),
        load=replace(request.load, **load),
        limits=replace(request.limits, **_limits(given["limits"])),
        **{name: given[name] for name in ("head", "base", "nonce") if given[name] is not None},
    )
    if given["eval_limit"] is not None:
        wanted = replace(wanted, eval_limit=given["eval_limit"])
    if given["stages"] is not None:
        wanted = replace(wanted, stages=cast("tuple[Stage, ...]", tuple(given["stages"].split(","))))
    checked("smoke-request.schema.json", request_form(wanted))
    return wanted


def _model(text: str) -> str:
    """A model's folder by its whole path, as the server runs elsewhere; a name stays."""
    return str(Path(text).absolute()) if Path(text).is_dir() else text


def _number(text: str | None, option: str, none: str) -> int | None:
    """A whole number; 0 for the word that means none, None where nothing was given."""
    if text is None:
        return None
    if text == none:
        return 0
    if not text.isdecimal() or len(text) > 9 or int(text) == 0:
        raise UsageError(f"{option}: {text!r} is no number" + (f" and not {none!r}" if none else ""))
    return int(text)


def _limits(given: tuple[str, ...]) -> dict[str, float]:
    from botlint.smoke.model import STAGES

    found: dict[str, float] = {}
    for one in given:
        name, _, text = one.partition("=")
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if name not in STAGES or not 0 < seconds <= 86_400:
            raise UsageError(f"--limit {one!r}: not STAGE=SECONDS with a stage of {', '.join(STAGES)}")
        found[name] = seconds
    return found
