"""`botlint serve`: the GitHub App."""

from __future__ import annotations

from typing import Any

import click

from botlint.cli.apping import app_options, config_of, packages
from botlint.cli.common import Settings, common_options
from botlint.core.errors import UsageError


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port to listen on.")
@click.option("--receive-only", is_flag=True, help="Do no tasks: `botlint worker` does them.")
@click.option("--manifest", is_flag=True, help="Print the manifest to register the App with at --url, and end.")
@app_options
@common_options
def serve(settings: Settings, /, host: str, port: int, receive_only: bool, manifest: bool, **options: Any) -> int:
    """Receive webhooks and review pull requests as a GitHub App.

    Reviews what webhooks tell of, and what was missed while it was away. Everything accepted is kept in the database
    until it is done; SIGTERM lets running tasks come to their end. See docs/app.md.
    """
    if manifest:
        return _manifest(settings, options["url"], options["smoke"])
    config = config_of(**options)
    if receive_only and "://" not in config.database:
        raise UsageError("--receive-only needs a database that workers share: --database postgresql://...")
    from botlint.server.runtime import Runtime, serve

    runtime = Runtime(config, works=not receive_only)
    return 0 if serve(runtime, host, port, lambda at: settings.note(f"botlint: listening on {host}:{at}")) else 3


def _manifest(settings: Settings, url: str, smoke: bool) -> int:
    if not url.startswith("https://"):
        raise UsageError("--manifest needs the address of the App: --url https://HOST")
    import json

    with packages():
        from botlint.server.manifest import manifest

    with settings.open_output() as stream:
        stream.write(json.dumps(manifest(url, smoke=smoke), indent=2) + "\n")
    return 0
