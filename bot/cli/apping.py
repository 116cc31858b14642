"""What `serve` and `worker` share: where the App's settings and secrets come from."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from botlint.core.errors import UsageError

if TYPE_CHECKING:
    from botlint.server.runtime import Config

P = ParamSpec("P")
R = TypeVar("R")

DATABASE = "botlint.db"

_OPTIONS = (
    click.option("--app-id", type=click.IntRange(1), envvar="BOTLINT_APP_ID", help="The App's id. [BOTLINT_APP_ID]"),
    click.option(
        "--private-key",
        metavar="FILE",
        envvar="BOTLINT_PRIVATE_KEY_FILE",
        help="The App's private key (PEM); or its text in BOTLINT_PRIVATE_KEY. [BOTLINT_PRIVATE_KEY_FILE]",
    ),
    click.option(
        "--webhook-secret",
        metavar="FILE",
        envvar="BOTLINT_WEBHOOK_SECRET_FILE",
        help="The webhook's secret, one a line while it is changed, the new one first; or its text in "
        "BOTLINT_WEBHOOK_SECRET. [BOTLINT_WEBHOOK_SECRET_FILE]",
    ),
    click.option(
        "--database",
        metavar="FILE|URL",
        envvar="BOTLINT_DATABASE",
        default=DATABASE,
        show_default=True,
        help="An SQLite file for one process, postgresql://USER@HOST/NAME for several. [BOTLINT_DATABASE]",
    ),
    click.option(
        "--api",
        metavar="URL",
        envvar="BOTLINT_GITHUB_API",
        help="GitHub's API, for GitHub Enterprise Server: https://HOST/api/v3. [BOTLINT_GITHUB_API]",
    ),
    click.option(
        "--url",
        metavar="URL",
        default="",
        envvar="BOTLINT_URL",
        help="Where the App is reached, for links to details pages. [BOTLINT_URL]",
    ),
    click.option(
        "--account",
        "accounts",
        multiple=True,
        metavar="LOGIN",
        envvar="BOTLINT_ACCOUNTS",
        help="Serve this account only; several times for several. [BOTLINT_ACCOUNTS]",
    ),
    click.option(
        "--resolve-threads",
        is_flag=True,
        envvar="BOTLINT_RESOLVE_THREADS",
        help="Ask for tokens that may write contents: without, GitHub resolves no thread. [BOTLINT_RESOLVE_THREADS]",
    ),
    click.option(
        "--smoke",
        is_flag=True,
        envvar="BOTLINT_SMOKE",
        help="Start smoke runs where a repository asks for them; the App needs Actions: read and write. "
        "[BOTLINT_SMOKE]",
    ),
    click.option("--tasks", "slots", type=click.IntRange(1, 64), default=4, show_default=True, help="Tasks at once."),
    click.option(
        "--processes",
        type=click.IntRange(1, 64),
        default=2,
        show_default=True,
        help="Reviewing processes; each needs a core and about 1 GB of memory.",
    ),
    click.option(
        "--grace",
        type=click.FloatRange(0, 3600),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="How long running tasks may take to end when the process is told to stop.",
    ),
    click.option(
        "--silence",
        type=click.FloatRange(1, 3600),
        default=30.0,
        show_default=True,
        metavar="SECONDS",
        help="After which a silent process is taken for dead, and others go on with its tasks.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        default="info",
        show_default=True,
        envvar="BOTLINT_LOG_LEVEL",
        help="The least level of log lines, which are JSON on stderr. [BOTLINT_LOG_LEVEL]",
    ),
)


def app_options(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command the options that `config_of` takes."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), function)


def config_of(
    *,
    app_id: int | None,
    private_key: str | None,
    webhook_secret: str | None,
    database: str,
    api: str | None,
    url: str,
    accounts: tuple[str, ...],
    resolve_threads: bool,
    smoke: bool,
    slots: int,
    processes: int,
    grace: float,
    silence: float,
    log_level: str,
    **more: Any,
) -> Config:
    """The App's configuration, with logs set up. Raises UsageError for what is missing."""
    with packages():
        from botlint.github.client import API
        from botlint.server import logs
        from botlint.server.runtime import Config
    if app_id is None:
        raise UsageError("--app-id is missing; it is shown on the App's page at GitHub")
    key = _secret("BOTLINT_PRIVATE_KEY", private_key, "--private-key")
    if "PRIVATE KEY-----" not in key:
        raise UsageError("--private-key is no private key in PEM form")
    secrets = tuple(
        line.strip() for line in _secret("BOTLINT_WEBHOOK_SECRET", webhook_secret, "--webhook-secret").splitlines()
    )
    if not all(len(secret) >= 8 for secret in secrets):
        raise UsageError("--webhook-secret has a secret of fewer than 8 characters")
    if url and not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise UsageError("--url has to begin with https://")
    logs.set_up(log_level)
    return Config(
        app=app_id,
        private_key=key,
        webhook_secrets=secrets,
        database=database,
        api=(api or API).rstrip("/"),
        url=url,
        accounts=frozenset(login.lower() for login in accounts),
        resolve_threads=resolve_threads,
        smoke=smoke,
        slots=slots,
        processes=processes,
        grace=grace,
        silence=silence,
        **more,
    )


@contextmanager
def packages() -> Iterator[None]:
    """Says what to install where an import does not find a package of the App's. Raises UsageError then."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"a server needs more packages ({error.name} is missing): pip install 'botlint[app]'"
        ) from error


def _secret(variable: str, path: str | None, option: str) -> str:
    """A secret from a file or from the environment, out of which it is taken; never from the command line."""
    given = os.environ.pop(variable, "")
    if path is not None:
        try:
            given = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise UsageError(f"cannot read the file of {option}: {reason}") from None
    if not given.strip():
        raise UsageError(f"{option} is missing (a file, or {variable})")
    return given.strip()
