"""A connection to PostgreSQL that reads only, bounded in time, under the name of iocast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.databases.query import LostError, RefusedError, Session
from iocast.tools.database_address import AskPassword
from iocast.tools.database_rows import Row
from iocast.tools.pg_dialling import PgDialling, pg_driver

STATEMENT_TIMEOUT_MS = 5000
OURS = "/* iocast */"  # by which our own statements are known among all others; one in front of them would be dropped
_READ_ONLY = (
    f"-c default_transaction_read_only=on -c statement_timeout={STATEMENT_TIMEOUT_MS}"
    " -c idle_in_transaction_session_timeout=60000"
)
# Classes of SQLSTATE and single ones after which asking again is of no use: no right to it, not there, not preloaded.
_LASTING = ("42", "0A", "55000")


def dialler(url: str, ask: AskPassword | None) -> tuple[str, Callable[[], Session]]:
    """The URL without secrets, and what connects to it. Raises SpecError for a URL with a password in it."""
    dialling = PgDialling(url, ask)
    return dialling.redacted, lambda: PgSession(dialling.connect("iocast", _READ_ONLY))


class PgSession:
    """See `query.Session`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._psycopg = pg_driver()
        self._dict_row = self._psycopg.rows.dict_row

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows by the names of their columns."""
        try:
            with self._connection.cursor(row_factory=self._dict_row) as cursor:
                cursor.execute(sql.replace("select ", f"select {OURS} ", 1), parameters or None)
                records: list[Row] = cursor.fetchall()
                return records
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
