"""A PostgreSQL cluster of the tests' own, in a temporary folder, run by a user without privileges."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

import sqlalchemy as sa

from botlint.server.database import Database


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps them beside the search path."""
    debian = max((path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=None)
    found = shutil.which("initdb")
    return debian or (Path(found).resolve().parent if found else None)


class Cluster:
    """A cluster that listens on a socket in its own folder only."""

    def __init__(self) -> None:
        folder = programs()
        assert folder is not None
        self._programs = folder
        self._user = _unprivileged()
        self._folder = Path(tempfile.mkdtemp(prefix="botlint-pg-"))
        if self._user:
            shutil.chown(self._folder, self._user)
        self._data = self._folder / "data"
        self._run("initdb", "-D", str(self._data), "-U", "botlint", "-A", "trust", "--no-sync", "-E", "UTF8")
        options = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-D", str(self._data), "-o", options, "-l", str(self._folder / "log"), "-w", "start")

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"b{uuid.uuid4().hex}"
        self._run("createdb", "-h", str(self._folder), "-U", "botlint", name)
        return f"postgresql://botlint@/{name}?host={self._folder}"

    def restart(self) -> None:
        """Stop the cluster as a crash would, and start it again."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")
        options = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-D", str(self._data), "-o", options, "-l", str(self._folder / "log"), "-w", "start")

    def close(self) -> None:
        """Stop the cluster and remove it."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            user=self._user,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
        )


def dump(database: Database) -> str:
    """All that a database holds, as text."""
    tables = sa.MetaData()
    with database.begin() as connection:
        for schema in (None, "dbos") if database.shared else (None,):
            tables.reflect(connection, schema=schema)
        return "\n".join(repr(row) for table in tables.tables.values() for row in connection.execute(table.select()))


def _unprivileged() -> str | None:
    """Whom to run it as: the server refuses to be root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise AssertionError("no user without privileges")
