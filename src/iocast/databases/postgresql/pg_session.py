"""A connection to PostgreSQL that reads only, bounded in time, under the name of iocast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.databases.address import parsed
from iocast.databases.database import AskPassword
from iocast.databases.driver import needed_for
from iocast.databases.query import LostError, RefusedError, Session
from iocast.errors import DatabaseError, SpecError
from iocast.formats.database_rows.row_shapes import Row

STATEMENT_TIMEOUT_MS = 5000
CONNECT_TIMEOUT_S = 10
OURS = "/* iocast */"  # by which our own statements are known among all others; one in front of them would be dropped
_WAY_OUT = "give the password in PGPASSWORD, in ~/.pgpass or in a service file, or wait to be asked for it"
# Classes of SQLSTATE and single ones after which asking again is of no use: no right to it, not there, not preloaded.
_LASTING = ("42", "0A", "55000")


def dialler(url: str, ask: AskPassword | None) -> tuple[str, Callable[[], Session]]:
    """The URL without secrets, and what connects to it. Raises SpecError for a URL with a password in it."""
    address = parsed(url, _WAY_OUT)
    if "options" in address.options:
        raise SpecError("the URL must not set options of the session: iocast sets them", "leave ?options= out")
    asked: list[str] = []  # the answer, kept for the second connection, in no object that prints itself

    def dial() -> Session:
        return _dial(url, address.redacted, ask, asked)

    return address.redacted, dial


def _driver() -> Any:
    """psycopg, with the parts that are used."""
    with needed_for("PostgreSQL"):
        import psycopg
        import psycopg.conninfo
        import psycopg.rows
    return psycopg


def _dial(url: str, redacted: str, ask: AskPassword | None, asked: list[str]) -> Session:
    psycopg = _driver()
    conninfo = _conninfo(url)
    settings: dict[str, Any] = {
        "application_name": "iocast",
        "connect_timeout": CONNECT_TIMEOUT_S,
        "client_encoding": "UTF8",
        "options": f"-c default_transaction_read_only=on -c statement_timeout={STATEMENT_TIMEOUT_MS}"
        " -c idle_in_transaction_session_timeout=60000",
    }
    for attempt in range(2):
        secret = {"password": asked[0]} if asked else {}
        try:
            connection = psycopg.connect(**{**conninfo, **settings, **secret}, autocommit=True)
        except psycopg.OperationalError as error:
            if attempt or asked or ask is None or not _wants_password(error):
                raise _refused(redacted, error, conninfo) from None
            asked.append(ask(f"password for {redacted}: "))
        else:
            return PgSession(connection)
    raise AssertionError("unreachable")


def _conninfo(url: str) -> dict[str, Any]:
    """The parts of a URL as libpq reads them. Raises SpecError."""
    psycopg = _driver()
    try:
        found: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its text may have parts of the URL in it
        raise SpecError("libpq cannot read this URL", "postgresql://user@host:5432/database") from None
    return found


def _wants_password(error: Exception) -> bool:
    """No password was at hand, or not the right one: a connection that failed has no code for it."""
    unanswered = getattr(getattr(error, "pgconn", None), "needs_password", False)
    return bool(unanswered) or "password authentication failed" in str(error)


def _refused(redacted: str, error: Exception, conninfo: dict[str, Any]) -> DatabaseError:
    said = " ".join(str(error).split())
    hint = _WAY_OUT if _wants_password(error) else "check host, port and database: psql takes the same URL"
    if "role" in said and "does not exist" in said:
        hint = "name the role in the URL: postgresql://user@host/database"
    if "startup parameter" in said:
        hint = "connect to the server itself: a pooler does not pass the settings on that make the session read-only"
    return DatabaseError(f"cannot connect to {redacted}: {said}", hint)


class PgSession:
    """See `query.Session`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._psycopg = _driver()
        self._dict_row = self._psycopg.rows.dict_row

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows by the names of their columns."""
        try:
            with self._connection.cursor(row_factory=self._dict_row) as cursor:
                cursor.execute(sql.replace("select ", f"select {OURS} ", 1), parameters or None)
                found: list[Row] = cursor.fetchall()
                return found
        except UnicodeDecodeError as error:
            raise RefusedError(f"a text that is not UTF-8: {error.reason}", lasting=False) from None
        except self._psycopg.Error as error:
            said = str(error).strip().partition("\n")[0]
            if self._connection.broken or self._connection.closed:
                raise LostError(said) from None
            state = error.sqlstate or ""
            raise RefusedError(said, lasting=state.startswith(_LASTING)) from None

    def close(self) -> None:
        """Ends it."""
        self._connection.close()
