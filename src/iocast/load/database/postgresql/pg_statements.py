"""The statements of a client session on PostgreSQL: prepared, by psycopg."""

from __future__ import annotations

import contextlib
from typing import Any

from iocast.errors import LoadError
from iocast.load.database.key_stream import Kind
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.load.database.postgresql.pg_procedures import SCHEMA
from iocast.model.database.database_load import DatabaseLoad
from iocast.tools.pg_dialling import pg_driver


class PgStatements:
    """See `client_session.Statements`."""

    def __init__(self, connection: PgConnection, table: int, load: DatabaseLoad) -> None:
        self._on, self._single = connection, load.work_unit == 1
        connection.tried("set track_io_timing = on")
        self._psycopg = pg_driver()
        self._cursor = connection.raw.cursor(binary=True)
        self._sql = _texts(table, load)
        for kind in ("read", "scan"):  # the server has its plans before the first statement that counts
            self.execute(kind, 1, 1)

    def execute(self, kind: Kind, place: int, blocks: int) -> None:
        """One statement, and its result."""
        try:
            self._cursor.execute(self._sql[kind], self._parameters(kind, place, blocks), prepare=True)
            if kind != "update":
                self._cursor.fetchone()
        except self._psycopg.Error as error:
            raise self._on.refusal(error) from None

    def _parameters(self, kind: Kind, place: int, blocks: int) -> tuple[Any, ...]:
        if kind == "scan":
            return f"({place - 1},0)", f"({place - 1 + blocks},0)"
        return (place,) if self._single else (place, place + blocks - 1)

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()


def _texts(table: int, load: DatabaseLoad) -> dict[Kind, str]:
    name = f"{SCHEMA}.t{table}"
    single = load.work_unit == 1
    where = "k = %s" if single else "k between %s and %s"
    changed = "c1 = c1 + 1"
    if load.redo == "heavy":
        changed += ", filler = substring(filler from 65) || sha512(filler)"
    return {
        "read": f"select {'c1' if single else 'sum(c1)'} from {name} where {where}",
        "update": f"update only {name} set {changed} where {where}",
        "scan": f"select sum(c1) from {name} where ctid >= %s::tid and ctid < %s::tid",
    }
