"""`botlint worker`: does the tasks of an App that another process receives."""

from __future__ import annotations

from typing import Any

import click

from botlint.cli.apping import app_options, config_of
from botlint.cli.common import Settings, common_options
from botlint.core.errors import UsageError


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address for /healthz and /metrics.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port for /healthz and /metrics; none without.")
@app_options
@common_options
def worker(settings: Settings, /, host: str, port: int | None, **options: Any) -> int:
    """Do the tasks that `botlint serve` keeps in a PostgreSQL database; any number may run, on any machine.

    A worker that dies is found out by the others, which go on with what it left. See docs/app.md.
    """
    config = config_of(**options)
    if "://" not in config.database:
        raise UsageError("a worker needs the database of the receiver: --database postgresql://...")
    from botlint.server.runtime import Runtime, serve, work

    runtime = Runtime(config, receives=False)
    if port is None:
        return 0 if work(runtime, lambda: settings.note("botlint: working")) else 3
    return 0 if serve(runtime, host, port, lambda at: settings.note(f"botlint: health on {host}:{at}")) else 3
