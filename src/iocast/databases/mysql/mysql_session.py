"""A connection to MySQL or MariaDB that reads only, bounded in time, under the name of iocast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.databases.query import LostError, RefusedError, Session
from iocast.tools.database_address import AskPassword
from iocast.tools.database_rows import Row
from iocast.tools.my_dialling import MyDialling, my_driver

STATEMENT_TIMEOUT_S = 5
OURS = "/* iocast */"  # by which our own statements are known among those that run
# Errors after which asking again is of no use: no right to it, not there.
_LASTING = {1044, 1045, 1049, 1054, 1064, 1109, 1142, 1143, 1146, 1193, 1227, 1370}


def dialler(url: str, ask: AskPassword | None) -> tuple[str, Callable[[], Session]]:
    """The URL without secrets, and what connects to it. Raises SpecError for a URL with a password in it."""
    dialling = MyDialling(url, ask)

    def dial() -> Session:
        rows_by_name = my_driver().cursors.DictCursor
        pymysql, session = dialling.connect("iocast", read_timeout_s=STATEMENT_TIMEOUT_S * 2, cursorclass=rows_by_name)
        return _prepared(MySession(session, pymysql))

    return dialling.redacted, dial


def _prepared(session: MySession) -> Session:
    """Read-only, and every statement bounded: each of both products has its own name for that."""
    session.run("set session transaction read only")
    for setting in (f"max_statement_time={STATEMENT_TIMEOUT_S}", f"max_execution_time={STATEMENT_TIMEOUT_S * 1000}"):
        try:
            session.run(f"set session {setting}")
        except RefusedError:
            continue  # the name of the other product
        return session
    return session


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


class MySession:
    """See `query.Session`."""

    def __init__(self, connection: Any, pymysql: Any) -> None:
        self._connection = connection
        self._pymysql = pymysql

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows by the names of their columns, in lower case: the two products differ in that."""
        records: list[dict[str, Any]] = self.run(sql, parameters)
        return [{name.lower(): value for name, value in row.items()} for row in records]

    def run(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        """One statement."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(f"{sql} {OURS}", parameters or None)
                return list(cursor.fetchall())
        except (self._pymysql.Error, OSError) as error:
            said = str(error.args[1] if len(error.args) > 1 else error)
            if not self._connection.open or _code(error) in (2006, 2013) or isinstance(error, OSError):
                raise LostError(said) from None
            raise RefusedError(said, lasting=_code(error) in _LASTING) from None

    def close(self) -> None:
        """Ends it."""
        if self._connection.open:
            try:
                self._connection.close()
            except (self._pymysql.Error, OSError):
                return  # it was gone
