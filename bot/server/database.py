"""Where the App keeps what must survive it: one SQLite file, or a PostgreSQL database that several processes share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from botlint.core.errors import CannotFinish, UsageError
from botlint.core.redact import redact
from botlint.core.visible import visible

_TABLES = sa.MetaData()

EXECUTORS = sa.Table(
    "botlint_executor",
    _TABLES,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("beat", sa.Float, nullable=False),
)
"""Who is alive, by its last beat."""

DUTIES = sa.Table(
    "botlint_duty",
    _TABLES,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("done", sa.Float, nullable=False),
)
"""When each of the duties that one process does for all was last taken up."""

PAGES = sa.Table(
    "botlint_page",
    _TABLES,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Details pages, compressed, by the secret part of their address."""


class Database:
    """The App's own tables, beside those of the queue; all times are those of the database's clock."""

    def __init__(self, url: str) -> None:
        self.url = normal_url(url)
        kind = self.url.get_backend_name()
        self.shared = kind == "postgresql"
        arguments = {"connect_timeout": 10} if self.shared else {"timeout": 20}
        try:
            self._engine = sa.create_engine(self.url, connect_args=arguments, pool_pre_ping=self.shared, pool_size=4)
        except (SQLAlchemyError, ImportError) as error:
            raise UsageError(f"cannot use a database of the kind {kind!r}") from error
        self.now = sa.text(
            "extract(epoch from clock_timestamp())" if self.shared else "(julianday('now') - 2440587.5) * 86400.0"
        )

    def prepare(self) -> None:
        """Create the tables that are not there yet; processes that start at the same moment may all try.

        Raises CannotFinish where the database does not answer or does not let us.
        """
        for attempt in range(3):
            try:
                _TABLES.create_all(self._engine)
                return
            except DBAPIError as error:
                if attempt == 2:
                    reason = visible(redact(str(error.orig)), 300)
                    raise CannotFinish(f"the database cannot be used: {reason}") from None

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """A transaction, committed at the end."""
        with self._engine.begin() as connection:
            yield connection

    def seconds(self, connection: sa.Connection) -> float:
        """The database's clock."""
        return float(connection.execute(sa.select(self.now)).scalar_one())

    def take(self, duty: str, period: float) -> bool:
        """Whether this process shall do a duty now: nobody has taken it up for `period` seconds."""
        with self.begin() as connection:
            now = self.seconds(connection)
            taken = connection.execute(
                sa.update(DUTIES).where(DUTIES.c.name == duty, DUTIES.c.done <= now - period).values(done=now)
            )
            if taken.rowcount:
                return True
            if connection.execute(sa.select(DUTIES.c.done).where(DUTIES.c.name == duty)).first() is not None:
                return False
        try:
            with self.begin() as connection:
                connection.execute(sa.insert(DUTIES).values(name=duty, done=self.seconds(connection)))
        except sa.exc.IntegrityError:  # another process was faster
            return False
        return True

    def ping(self) -> None:
        """Ask the database something; it raises where there is no answer."""
        with self._engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def normal_url(text: str) -> sa.URL:
    """The address of a database; a plain path is that of an SQLite file.

    Raises UsageError for what is neither SQLite nor PostgreSQL.
    """
    if "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    try:
        url = sa.make_url(text)
    except (SQLAlchemyError, ValueError) as error:
        raise UsageError("--database is no address of a database: postgresql://user@host/name, or a file") from error
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("postgresql+psycopg", "sqlite"):
        raise UsageError(f"--database takes a file (SQLite) or postgresql://, not {url.drivername}://")
    return url
