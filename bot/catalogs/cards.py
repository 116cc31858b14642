"""Model cards: fetch a model's configuration files once and keep them, so that `check` never needs the network."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from botlint.catalogs.models import ModelFacts, facts_from_config, model_facts
from botlint.core.errors import CannotFinish, UsageError

HUB = "https://huggingface.co"
MAX_BYTES = 2 * 1024 * 1024
TIMEOUT_SECONDS = 20.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")

Fetch = Callable[[str], bytes | None]
"""Returns the body at an address, or None where there is nothing."""


def cache_folder() -> Path:
    """Return where fetched cards are kept: `$XDG_CACHE_HOME/botlint/models`, by default below `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "botlint" / "models"


def read_card(name: str, folder: Path) -> ModelFacts | None:
    """Return a model that was fetched before, or None; a broken file counts as none."""
    try:
        card = json.loads(_path(name, folder).read_text(encoding="utf-8"))
        return _facts(name, card["config"], card.get("quantization"), card["source"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def fetch_card(name: str, folder: Path, fetch: Fetch | None = None, *, refresh: bool = False) -> ModelFacts:
    """Return the facts in a model's `config.json`, from the cache or from the hub.

    Raises UsageError for something that is no model id, CannotFinish when the hub has no such file or does not answer.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise UsageError(f"{name!r} is not a model id (ORGANISATION/NAME)")
    known = None if refresh else read_card(name, folder)
    if known is not None:
        return known
    get = fetch or http_fetch
    source = f"{HUB}/{name}/resolve/main/config.json"
    config = _json(get(source), source)
    if config is None:
        raise CannotFinish(f"{source} does not exist; the model may be gated or private")
    quantization = _json(get(f"{HUB}/{name}/resolve/main/hf_quant_config.json"), source)
    _store(_path(name, folder), {"source": source, "config": config, "quantization": quantization})
    return _facts(name, config, quantization, source)


def http_fetch(url: str, *, accept: str = "application/json", limit: int = MAX_BYTES) -> bytes | None:
    """Return a body of bounded size within bounded time, or None for 401, 403 and 404.

    Raises CannotFinish on any other trouble, and when httpx is not installed.
    """
    try:
        import httpx
    except ModuleNotFoundError:
        raise CannotFinish("fetching needs httpx: pip install 'botlint[catalog]'") from None
    headers = {"User-Agent": "botlint", "Accept": accept}
    try:
        with httpx.stream("GET", url, headers=headers, timeout=TIMEOUT_SECONDS, follow_redirects=True) as response:
            if response.status_code in (401, 403, 404):
                return None
            response.raise_for_status()
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > limit:
                    raise CannotFinish(f"{url} is larger than {limit} bytes")
            return bytes(body)
    except httpx.HTTPError as error:
        raise CannotFinish(f"{url}: {error or type(error).__name__}") from error


def _json(body: bytes | None, source: str) -> dict[str, Any] | None:
    if body is None:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise CannotFinish(f"{source} is not JSON") from error
    if not isinstance(value, dict):
        raise CannotFinish(f"{source} is not a JSON object")
    return value


def _path(name: str, folder: Path) -> Path:
    return folder / f"{name.replace('/', '--', 1)}.json"


def _store(path: Path, card: Mapping[str, Any]) -> None:
    """Write atomically; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(card, sort_keys=True), encoding="utf-8")
        draft.replace(path)
    except OSError:
        return


def _facts(name: str, config: Mapping[str, Any], quantization: Mapping[str, Any] | None, source: str) -> ModelFacts:
    return model_facts(name, facts_from_config(config, quantization), source)
