"""A connection to Oracle in thin mode that reads only, bounded in time, under the name of iocast."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from iocast.databases.database import AskPassword
from iocast.databases.query import LostError, RefusedError, Session
from iocast.errors import DatabaseError, SpecError
from iocast.tools.database_address import Address, needed_for, parsed, password_of
from iocast.tools.database_rows import Row

STATEMENT_TIMEOUT_MS = 5000
CONNECT_TIMEOUT_S = 10
PORT = 1521
_WAY_OUT = "give the password in ORACLE_PASSWORD, or wait to be asked for it"
_OPTIONS = {"wallet_location", "config_dir", "protocol", "mode"}
# ORA codes after which asking again is of no use: no such view or column, no right to it.
_LASTING = {904, 942, 1031, 1039}
_LOST = {28, 1012, 1033, 1034, 1089, 1092, 2396, 3113, 3114, 12170, 12514, 12537, 12541}
_BAD_PASSWORD = {1005, 1017}


def dialler(url: str, ask: AskPassword | None) -> list[tuple[str, Callable[[], Session]]]:
    """For each host of the URL, that URL without secrets and what connects to it. Raises SpecError."""
    address = parsed(url, _WAY_OUT)
    if unknown := sorted(address.options.keys() - _OPTIONS):
        raise SpecError(f"the URL has an option that iocast does not know: {unknown[0]}", ", ".join(sorted(_OPTIONS)))
    if not address.hosts or not address.database:
        raise SpecError("the URL names no host or no service", "oracle://user@host:1521/service")
    failures: list[str] = []
    return [_of_host(address, at, ask, failures) for at in range(len(address.hosts))]


def _of_host(
    address: Address, at: int, ask: AskPassword | None, failures: list[str]
) -> tuple[str, Callable[[], Session]]:
    one = Address(
        scheme=address.scheme,
        user=address.user,
        hosts=(address.hosts[at],),
        database=address.database,
        options=address.options,
    )

    def dial() -> Session:
        return _dial(one, ask, failures)

    return one.redacted, dial


def _driver() -> Any:
    """oracledb, in thin mode as long as nobody asks for another."""
    with needed_for("Oracle"):
        import oracledb
    return oracledb


def _dial(address: Address, ask: AskPassword | None, failures: list[str]) -> Session:
    oracledb = _driver()
    host, port = address.hosts[0]
    settings: dict[str, Any] = {
        "user": address.user or None,
        "host": host,
        "port": port or PORT,
        "service_name": address.database,
        "tcp_connect_timeout": CONNECT_TIMEOUT_S,
        "program": "iocast",
        **{
            name: address.options[name]
            for name in ("wallet_location", "config_dir", "protocol")
            if name in address.options
        },
    }
    if address.options.get("mode") == "sysdba":
        settings["mode"] = oracledb.AUTH_MODE_SYSDBA
    given = password_of("ORACLE_PASSWORD")
    if given is None and not failures and ask is not None:
        failures.append(ask(f"password for {address.redacted}: "))
    try:
        connection = oracledb.connect(**settings, password=failures[0] if failures else given)
        connection.call_timeout = STATEMENT_TIMEOUT_MS
        connection.module = "iocast"
        session = OracleSession(connection, oracledb)
        session.begin_read_only()
    except oracledb.Error as error:
        raise _refused(address, error) from None
    return session


def _refused(address: Address, error: Exception) -> DatabaseError:
    said = str(error).partition("\n")[0]
    hint = "check host, port and service: sqlplus takes host:port/service"
    if _code(error) in _BAD_PASSWORD or "DPY-4001" in said:
        hint = _WAY_OUT
    elif "DPY-3010" in said:
        hint = "thin mode needs Oracle 12.1; of an older one take a tape with iocast_capture.sql"
    return DatabaseError(f"cannot connect to {address.redacted}: {said}", hint)


def _code(error: Exception) -> int:
    """The number behind ORA-; 0 for errors of the driver itself (DPY-)."""
    match = re.search(r"\bORA-(\d{5})", str(error))
    return int(match[1]) if match else 0


class OracleSession:
    """See `query.Session`."""

    def __init__(self, connection: Any, oracledb: Any) -> None:
        self._connection = connection
        self._oracledb = oracledb

    def begin_read_only(self) -> None:
        """A transaction that can write nothing. A commit begins a new one, so none is made."""
        with self._connection.cursor() as cursor:
            cursor.execute("set transaction read only")

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows by the names of their columns, in lower case."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, list(parameters))
                names = [column[0].lower() for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor]
        except self._oracledb.Error as error:
            said, code = str(error).partition("\n")[0], _code(error)
            if code in _LOST or "DPY-1001" in said or "DPY-4011" in said:
                raise LostError(said) from None
            raise RefusedError(said, lasting=code in _LASTING) from None

    def close(self) -> None:
        """Ends it."""
        try:
            self._connection.close()
        except self._oracledb.Error:
            return  # it was gone
