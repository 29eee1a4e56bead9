"""A query: one view of a database, the statement that reads it, and how its rows become samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from iocast.errors import IocastError
from iocast.tools.database_rows import Row, Shape


class Query(Struct, frozen=True, kw_only=True):
    """Reads one view. Its samples bear the name of the database and its own: `postgresql.pg_stat_io`."""

    name: str
    sql: str
    shape: Shape
    reset: str = ""  # the column that says when it began to count, the same in all rows or in each its own
    resets: Literal["view", "row"] = "view"
    timing: Mapping[str, str] = {}  # column of a time → the setting that takes it
    timing_where: tuple[str, str, str] | None = None  # column, value: rows in which another setting takes all times
    since_entered: bool = (
        False  # rows by the thousand: counted from the first look, those that never moved are left out
    )
    optional: bool = False  # may be absent without a word
    parameters: tuple[object, ...] = ()

    def untimed(self, row: Row, timing: Mapping[str, bool]) -> dict[str, str]:
        """The columns of a row whose times are not taken, each with its setting."""
        settings = dict(self.timing)
        if self.timing_where is not None and row.get(self.timing_where[0]) == self.timing_where[1]:
            settings = dict.fromkeys(settings, self.timing_where[2])
        return {column: setting for column, setting in settings.items() if not timing.get(setting, True)}


class RefusedError(IocastError):
    """The server did not answer a query: no right to it, not there, took too long."""

    def __init__(self, message: str, *, lasting: bool) -> None:
        super().__init__(message)
        self.lasting = lasting  # asking again is of no use


class LostError(IocastError):
    """The connection is gone."""


class Session(Protocol):
    """A connection that reads only. Raises RefusedError and LostError."""

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows, by the names of their columns in lower case."""
        ...

    def close(self) -> None:
        """Ends it; harmless when it is gone, or called twice."""
        ...
