"""Requests to a server that may answer anything: bounded in time and size, checked, and timed."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from botlint.core.errors import CannotFinish
from botlint.core.visible import visible
from botlint.smoke.jsonform import whole
from botlint.smoke.measure import Mode, Sample, figures
from botlint.smoke.metrics import NAMES, Names, Samples, acceptance, counters, read_metrics
from botlint.smoke.model import Counters, Figures, Load

if TYPE_CHECKING:
    import httpx

MAX_ANSWER = 8_000_000
"""Bytes of one answer that are read."""

MAX_WORDS = 100_000

_SHOWN = 300
_CHECK_WORDS = 24
_CHECK_TOKENS = 16
_SEEN = 2.0
_PATIENCE = 8
"""How often an engine's counters are read until they agree, in less than 2 seconds."""
_PATHS: Mapping[Mode, str] = {"completions": "/v1/completions", "chat": "/v1/chat/completions"}
_WORDS = (
    "time year people way day man thing woman life child world school state family student group country problem hand "
    "part place case week company system program question work government number night point home water room mother "
    "area money story fact month lot right study book eye job word business issue side kind head house service friend"
).split()

T = TypeVar("T")


class BadAnswer(Exception):  # noqa: N818 (it is the answer that is bad)
    """An answer that a server of this kind must not give; the message says what was wrong with it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The server: where it listens, what its model is called there, and how to stop waiting for it.

    `trouble` says why there is no use in waiting any longer; None while there is. With `weights` that are none of
    chance, every answer has a text; tokens that chance chose may be bytes that make none.
    """

    port: int
    framework: str
    trouble: Callable[[], str | None]
    weights: bool = False

    @property
    def base(self) -> str:
        """The address; only the loopback is ever asked."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def names(self) -> Names:
        """What its counters are called."""
        return NAMES.get(self.framework, Names())


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load found out; `notes` are for people, `wrong` says where counters contradict answers."""

    figures: tuple[Figures, ...]
    notes: tuple[str, ...]
    wrong: tuple[str, ...]
    logprobs: bool


def ready(target: Target, seconds: float) -> str | None:
    """Why the server is not ready yet, None if it says it is; asks once."""
    return _run(_ready(target), seconds, "it did not answer in time")


def model_name(target: Target, seconds: float) -> str:
    """What the server calls its model.

    Raises BadAnswer where it names none in time.
    """

    async def ask() -> str:
        async with _client(target) as client:
            return await _model(client)

    try:
        return asyncio.run(asyncio.wait_for(ask(), seconds))
    except TimeoutError:
        raise BadAnswer("/v1/models is not answered in time") from None


def load(target: Target, load: Load, concurrency: Sequence[int], seconds: float) -> Loaded:
    """Ask for completions and chat, first to check the answers, then to measure them.

    Raises BadAnswer as soon as an answer is wrong, the server is in trouble, or time is up (then TimeoutError).
    """
    return asyncio.run(asyncio.wait_for(_load(target, load, concurrency), seconds))


def _run(what: Awaitable[T], seconds: float, late: str) -> T | str:
    async def bounded() -> T:
        return await asyncio.wait_for(what, seconds)

    try:
        return asyncio.run(bounded())
    except TimeoutError:
        return late


def _client(target: Target) -> httpx.AsyncClient:
    try:
        import httpx
    except ImportError as error:
        raise CannotFinish("no httpx here, with which a server is asked: pip install 'botlint[smoke]'") from error
    return httpx.AsyncClient(
        base_url=target.base,
        # Neither proxies nor credentials of the environment have anything to do with a server of our own.
        trust_env=False,
        follow_redirects=False,
        timeout=None,  # noqa: S113 (the whole load has a limit)
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        headers={"Accept-Encoding": "identity", "User-Agent": "botlint-smoke"},
    )


async def _ready(target: Target) -> str | None:
    import httpx

    async with _client(target) as client:
        try:
            status, _ = await _get(client, "/health")
            if status != 200:
                return f"/health answers {status}"
            await _model(client)
        except httpx.TransportError as error:
            return f"no connection ({type(error).__name__})"
        except BadAnswer as error:
            return str(error)
    return None


async def _load(target: Target, load: Load, concurrency: Sequence[int]) -> Loaded:
    import httpx

    async with _client(target) as client:
        watch = asyncio.ensure_future(_watch(target))
        work = asyncio.ensure_future(_loads(client, target, load, concurrency))
        try:
            await asyncio.wait((watch, work), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise BadAnswer(watch.result())
        except httpx.TransportError as error:
            # A connection breaks a moment before the end of the process can be seen.
            with suppress(TimeoutError):
                raise BadAnswer(await asyncio.wait_for(asyncio.shield(watch), _SEEN)) from error
            raise BadAnswer(f"the connection broke: {_told(error)}") from error
        except BadAnswer as error:
            trouble = target.trouble()
            raise BadAnswer(f"{error}; {trouble}" if trouble and trouble != str(error) else str(error)) from error
        finally:
            watch.cancel()
            work.cancel()


async def _watch(target: Target) -> str:
    while (trouble := target.trouble()) is None:
        await asyncio.sleep(0.2)
    return trouble


async def _loads(client: httpx.AsyncClient, target: Target, load: Load, concurrency: Sequence[int]) -> Loaded:
    model = await _model(client)
    notes: list[str] = []
    wrong: list[str] = []
    measured: list[Figures] = []
    modes: list[tuple[Mode, float]] = []
    logprobs = False
    for mode in _PATHS:
        tokens, seen, note = await _check(client, target, model, mode)
        if note:
            notes.append(note)
        if tokens is not None:
            modes.append((mode, tokens))
        logprobs = logprobs or seen
    for at_a_time in concurrency:
        for mode, tokens in modes:
            words = max(1, min(MAX_WORDS, round(load.isl / tokens)))
            number = max(load.requests, 2 * at_a_time if at_a_time > 1 else 1)
            before = await _metrics(client)
            samples = await _burst(client, model, mode, words, load.osl, number, at_a_time)
            silent = sum(not one.text for one in samples)
            if silent and (target.weights or silent == len(samples)):
                raise BadAnswer(f"{mode}: {silent} of {len(samples)} answers are empty")
            output = sum(one.output_tokens for one in samples)
            server, after = await _settled(
                client, target.names, before, len(samples), output, 1 if wrong else _PATIENCE
            )
            if server is not None and server.output_tokens not in (None, output):
                wrong.append(
                    f"{mode} at concurrency {at_a_time}: the engine counted {server.output_tokens} tokens, "
                    f"its answers {output}"
                )
            measured.append(figures(mode, at_a_time, samples, acceptance(target.names, before, after), server))
    return Loaded(tuple(measured), tuple(notes), tuple(wrong), logprobs)


async def _check(client: httpx.AsyncClient, target: Target, model: str, mode: Mode) -> tuple[float | None, bool, str]:
    """Tokens per word of a prompt (None: there is no such endpoint), whether log-probabilities came, and a note."""
    body = _body(model, mode, _prompt(_CHECK_WORDS, 0), _CHECK_TOKENS)
    asked = {**body, **({"logprobs": True, "top_logprobs": 1} if mode == "chat" else {"logprobs": 1})}
    status, content = await _post(client, mode, asked)
    if status == 400 and "logprob" in content.decode("utf-8", "replace").lower():
        status, content = await _post(client, mode, body)
    if mode == "chat" and status == 400 and "chat template" in content.decode("utf-8", "replace").lower():
        return None, False, "chat: the model has no chat template"
    if status != 200:
        raise BadAnswer(f"{mode} answers {status}: {_shown(content)}")
    answer = _object(content, mode)
    choice = _first_choice(answer, mode)
    message = choice.get("message") if mode == "chat" else choice
    text = _answer_text(message)
    prompt, output = _usage(answer, mode)
    if not output or (target.weights and not text):
        raise BadAnswer(f"{mode}: the answer is empty ({output} tokens)")
    values = _logprobs(choice.get("logprobs"), mode)
    if any(not math.isfinite(value) for value in values):
        raise BadAnswer(f"{mode}: a log-probability is not finite")
    note = "" if values else f"{mode}: the engine gives no log-probabilities"
    return max(prompt, 1) / _CHECK_WORDS, bool(values), note


async def _burst(
    client: httpx.AsyncClient, model: str, mode: Mode, words: int, tokens: int, number: int, at_a_time: int
) -> list[Sample]:
    turns = iter(range(number))
    samples: list[Sample] = []

    async def worker() -> None:
        for turn in turns:
            body = _body(model, mode, _prompt(words, turn + 1), tokens)
            samples.append(await _streamed(client, mode, body))

    workers = [asyncio.ensure_future(worker()) for _ in range(min(at_a_time, number))]
    try:
        await asyncio.gather(*workers)
    finally:
        for one in workers:
            one.cancel()
    return samples


async def _streamed(client: httpx.AsyncClient, mode: Mode, body: Mapping[str, Any]) -> Sample:
    asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
    sent = time.perf_counter()
    pieces: list[float] = []
    usage: tuple[int, int] | None = None
    text = False
    async with client.stream("POST", _PATHS[mode], json=asked) as response:
        if response.status_code != 200:
            content = await _bounded(response.aiter_raw())
            raise BadAnswer(f"{mode} answers {response.status_code}: {_shown(content)}")
        async for data in _events(response.aiter_raw()):
            now = time.perf_counter()
            event = _object(data, mode)
            if event.get("error") is not None:
                raise BadAnswer(f"{mode}: {_shown(data)}")
            if event.get("usage") is not None:
                usage = _usage(event, mode)
            choices = event.get("choices")
            if not isinstance(choices, list) or not choices:
                continue
            choice = _first_choice(event, mode)
            delta = choice.get("delta") if mode == "chat" else choice
            found = _answer_text(delta)
            # The first event of a chat only names the role.
            if found or pieces or mode == "completions" or not (isinstance(delta, Mapping) and "role" in delta):
                pieces.append(now)
            text = text or bool(found)
    if usage is None:
        raise BadAnswer(f"{mode}: the stream ended without its usage")
    if not pieces or not usage[1]:
        raise BadAnswer(f"{mode}: the answer is empty ({usage[1]} tokens)")
    return Sample(sent, tuple(pieces), *usage, text)


async def _settled(
    client: httpx.AsyncClient, names: Names, before: Samples, requests: int, output: int, patience: int
) -> tuple[Counters | None, Samples]:
    """What the engine counted, read again for a while: it counts a request a moment after the last piece is out."""
    for turn in range(patience):
        after = await _metrics(client)
        server = counters(names, before, after)
        if server.output_tokens in (None, output) and server.requests in (None, requests):
            break
        await asyncio.sleep(0.05 * (turn + 1))
    return (server if server.output_tokens is not None else None), after


async def _metrics(client: httpx.AsyncClient) -> Samples:
    status, content = await _get(client, "/metrics")
    return read_metrics(content.decode("utf-8", "replace")) if status == 200 else {}


async def _model(client: httpx.AsyncClient) -> str:
    """What the server calls its model."""
    status, content = await _get(client, "/v1/models")
    if status != 200:
        raise BadAnswer(f"/v1/models answers {status}: {_shown(content)}")
    listed = _object(content, "/v1/models").get("data")
    first = listed[0] if isinstance(listed, list) and listed else None
    name = first.get("id") if isinstance(first, Mapping) else None
    if not isinstance(name, str) or not name:
        raise BadAnswer(f"/v1/models names no model: {_shown(content)}")
    return name


async def _get(client: httpx.AsyncClient, path: str) -> tuple[int, bytes]:
    async with client.stream("GET", path) as response:
        return response.status_code, await _bounded(response.aiter_raw())


async def _post(client: httpx.AsyncClient, mode: Mode, body: Mapping[str, Any]) -> tuple[int, bytes]:
    async with client.stream("POST", _PATHS[mode], json=body) as response:
        return response.status_code, await _bounded(response.aiter_raw())


async def _bounded(chunks: AsyncIterator[bytes]) -> bytes:
    found = bytearray()
    async for chunk in chunks:
        found += chunk
        if len(found) > MAX_ANSWER:
            raise BadAnswer(f"an answer of more than {MAX_ANSWER} bytes")
    return bytes(found)


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of server-sent events, up to `[DONE]`."""
    rest = b""
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_ANSWER:
            raise BadAnswer(f"an answer of more than {MAX_ANSWER} bytes")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            line = line.strip()
            if not line or line.startswith((b":", b"event:", b"id:", b"retry:")):
                continue
            if not line.startswith(b"data:"):
                raise BadAnswer(f"the stream is none of events: {_shown(line)}")
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            yield data
    if rest.strip():
        raise BadAnswer(f"the stream ended within an event: {_shown(rest)}")


def _body(model: str, mode: Mode, prompt: str, tokens: int) -> dict[str, Any]:
    common = {"model": model, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "skip_special_tokens": False}
    if mode == "chat":
        return {**common, "messages": [{"role": "user", "content": prompt}]}
    return {**common, "prompt": prompt}


def _prompt(words: int, turn: int) -> str:
    """Words of a prompt: others for each turn, so that a cache of prefixes does not answer; the same in every run."""
    chosen = random.Random(turn)  # noqa: S311 (nothing secret)
    return " ".join(chosen.choice(_WORDS) for _ in range(words))


def _object(content: bytes, where: str) -> Mapping[str, Any]:
    def refuse(text: str) -> float:
        return float(text)

    try:
        value = json.loads(content, parse_constant=refuse, parse_int=whole)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        raise BadAnswer(f"{where}: the answer is no JSON object: {_shown(content)}")
    return value


def _first_choice(answer: Mapping[str, Any], mode: str) -> Mapping[str, Any]:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, Mapping):
        raise BadAnswer(f"{mode}: the answer has no choices: {_shown(json.dumps(answer).encode())}")
    return first


def _answer_text(message: object) -> str:
    """The text of a message, of a piece of one, or of a choice; what a model thought counts too."""
    if not isinstance(message, Mapping):
        return ""
    parts = (message.get(key) for key in ("content", "text", "reasoning", "reasoning_content"))
    return "".join(part for part in parts if isinstance(part, str))


def _usage(answer: Mapping[str, Any], mode: str) -> tuple[int, int]:
    usage = answer.get("usage")
    found = [usage.get(key) if isinstance(usage, Mapping) else None for key in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(value, int) and 0 <= value < 10**9 for value in found):
        raise BadAnswer(f"{mode}: the answer does not say its tokens")
    return found[0] or 0, found[1] or 0


def _logprobs(value: object, mode: Mode) -> list[float]:
    """The log-probabilities of an answer's tokens, as far as it has them."""
    if not isinstance(value, Mapping):
        return []
    if mode == "completions":
        listed = value.get("token_logprobs")
        found = listed if isinstance(listed, list) else []
    else:
        listed = value.get("content")
        found = [one.get("logprob") for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return [float(one) for one in found if isinstance(one, int | float)]


def _shown(content: bytes) -> str:
    text = content[: 4 * _SHOWN].decode("utf-8", "replace")
    return visible(text, _SHOWN) or "nothing"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
