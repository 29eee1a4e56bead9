"""A connection to MySQL or MariaDB that reads only, bounded in time, under the name of iocast."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from iocast.databases.database import AskPassword
from iocast.databases.query import LostError, RefusedError, Session
from iocast.errors import DatabaseError, SpecError
from iocast.formats.database_access.address import Address, parsed, password_of
from iocast.formats.database_access.driver import needed_for
from iocast.formats.database_rows.row_shapes import Row

STATEMENT_TIMEOUT_S = 5
CONNECT_TIMEOUT_S = 10
PORT = 3306
OURS = "/* iocast */"  # by which our own statements are known among those that run
_WAY_OUT = "give the password in MYSQL_PWD, in ~/.my.cnf under [client], or wait to be asked for it"
_OPTIONS = {"socket", "ssl_ca", "ssl_cert", "ssl_key", "option_file"}
# Errors after which asking again is of no use: no right to it, not there.
_LASTING = {1044, 1045, 1049, 1054, 1064, 1109, 1142, 1143, 1146, 1193, 1227, 1370}
_NEEDS_PASSWORD = {1045, 1698}


def dialler(url: str, ask: AskPassword | None) -> tuple[str, Callable[[], Session]]:
    """The URL without secrets, and what connects to it. Raises SpecError for a URL with a password in it."""
    address = parsed(url, _WAY_OUT)
    if unknown := sorted(address.options.keys() - _OPTIONS):
        raise SpecError(f"the URL has an option that iocast does not know: {unknown[0]}", ", ".join(sorted(_OPTIONS)))
    if len(address.hosts) > 1:
        raise SpecError("the URL names more than one host", "watch each server with a URL of its own")
    asked: list[str] = []

    def dial() -> Session:
        return _dial(address, ask, asked)

    return address.redacted, dial


def _driver() -> Any:
    """PyMySQL, with the parts that are used."""
    with needed_for("MySQL or MariaDB"):
        import pymysql
        import pymysql.cursors
    return pymysql


def _dial(address: Address, ask: AskPassword | None, asked: list[str]) -> Session:
    pymysql = _driver()
    host, port = address.hosts[0] if address.hosts else ("localhost", 0)
    settings: dict[str, Any] = {
        "host": host or "localhost",
        "port": port or PORT,
        "database": address.database or None,
        "autocommit": True,
        "charset": "utf8mb4",
        "connect_timeout": CONNECT_TIMEOUT_S,
        "read_timeout": STATEMENT_TIMEOUT_S * 2,
        "program_name": "iocast",
        "cursorclass": pymysql.cursors.DictCursor,
        **_from_options(address),
    }
    if address.user:
        settings["user"] = address.user
    given = password_of("MYSQL_PWD")
    for attempt in range(2):
        secret = asked[0] if asked else given
        try:
            connection = pymysql.connect(**settings, **({} if secret is None else {"password": secret}))
        except (pymysql.Error, OSError, RuntimeError) as error:
            if attempt or asked or ask is None or _code(error) not in _NEEDS_PASSWORD:
                raise _refused(address, error) from None
            asked.append(ask(f"password for {address.redacted}: "))
        else:
            return _prepared(MySession(connection, pymysql))
    raise AssertionError("unreachable")


def _from_options(address: Address) -> dict[str, Any]:
    """What the options of the URL, and the user's own option file, say."""
    found: dict[str, Any] = {name: address.options[name] for name in _OPTIONS & address.options.keys()}
    if "socket" in found:
        found["unix_socket"] = found.pop("socket")
    file = found.pop("option_file", os.path.expanduser("~/.my.cnf"))
    if os.path.exists(file):
        found |= {"read_default_file": file, "read_default_group": "client"}
    return found


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


def _refused(address: Address, error: Exception) -> DatabaseError:
    said = str(error.args[1] if len(error.args) > 1 else error)
    hint = _WAY_OUT if _code(error) in _NEEDS_PASSWORD else "check host, port and user: mysql takes the same ones"
    return DatabaseError(f"cannot connect to {address.redacted}: {said}", hint)


class MySession:
    """See `query.Session`."""

    def __init__(self, connection: Any, pymysql: Any) -> None:
        self._connection = connection
        self._pymysql = pymysql

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows by the names of their columns, in lower case: the two products differ in that."""
        found: list[dict[str, Any]] = self.run(sql, parameters)
        return [{name.lower(): value for name, value in row.items()} for row in found]

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
