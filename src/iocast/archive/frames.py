"""Tables that other programs take as they are: columns by the Arrow C stream interface, without a copy.

`polars.DataFrame(frame)`, `pyarrow.table(frame)`, `pandas.DataFrame.from_arrow(frame)`, DuckDB's `FROM frame`.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from iocast.archive.file_names import INTERVALS, SAMPLES, folder_of
from iocast.archive.interval_tables import INTERVAL_COLUMNS
from iocast.archive.parquet import KEYS, ArrowStream, Column, database, reason, unreadable
from iocast.archive.reading_database import tables_in
from iocast.archive.sample_tables import SAMPLE_COLUMNS
from iocast.errors import ArchiveError

_TYPES: dict[object, str] = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}


class Frame:
    """A table: hands its columns over as an Arrow C stream, as often as it is asked."""

    def __init__(self, columns: Sequence[str], stream: Callable[[], ArrowStream]) -> None:
        self.columns = tuple(columns)
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream. Raises ArchiveError for a damaged table."""
        return self._stream().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Its columns, and how it is read."""
        return f"<iocast table of {', '.join(self.columns)}; for example polars.DataFrame(table)>"


def frame_of(rows: Sequence[Struct], kind: type[Struct]) -> Frame:
    """Rows of one kind, with a column for each field: names carry the units. An unknown value is null, and so is a
    percentile of which an imported row knows only two edges."""
    columns = {name: _sql_type(of) for name, of in get_type_hints(kind, include_extras=True).items()}
    values = [{name: _plain(getattr(row, name), sql) for name, sql in columns.items()} for row in rows]

    def stream() -> ArrowStream:
        fields = ", ".join(f'"{name}" {sql}' for name, sql in columns.items())
        query = f"SELECT unnest(rows) FROM (SELECT unnest(CAST($rows AS STRUCT({fields})[])) AS rows)"
        return database().cursor().sql(query, params={"rows": values})

    return Frame(tuple(columns), stream)


def interval_frame(folder: str) -> Frame:
    """What each operation of each size did in each interval of all phases of a run folder."""
    return _stored(folder, INTERVALS, INTERVAL_COLUMNS)


def sample_frame(folder: str) -> Frame:
    """What was observed during the phases of a run folder: raw counters, one a row."""
    return _stored(folder, SAMPLES, SAMPLE_COLUMNS)


def _stored(folder: str, room: str, columns: tuple[Column, ...]) -> Frame:
    """The tables of a room as one."""
    if not folder:
        raise ArchiveError("this run was not saved: its tables are not kept", "open it from its run folder")
    where = folder_of(os.path.abspath(folder)) / room
    every = (*KEYS, *columns)

    def stream() -> ArrowStream:
        from iocast._core import CoreError, Tables

        try:
            files = tables_in(where)
            if files:
                return Tables([str(file) for file in files], [column.name for column in every])
        except CoreError as error:
            raise unreadable(where, reason(error), f"its {room}") from error
        except OSError as error:
            raise unreadable(Path(error.filename or where), error.strerror or str(error), f"its {room}") from error
        names = ", ".join(f"NULL::{column.type} AS {column.name}" for column in every)
        return database().cursor().sql(f"SELECT {names} WHERE false")

    return Frame(tuple(column.name for column in every), stream)


def _sql_type(of: Any) -> str:
    """The type of the column of a field."""
    if get_origin(of) is Annotated:
        return _sql_type(get_args(of)[0])
    kinds = [each for each in get_args(of) if each is not type(None)] if _is_union(of) else [of]
    if float in kinds:  # whole numbers, too; the two edges of a percentile become null
        return "DOUBLE"
    (kind,) = kinds if len(kinds) == 1 else (str,)
    if get_origin(kind) is Annotated or _is_union(kind):
        return _sql_type(kind)
    if get_origin(kind) is tuple:
        return f"{_sql_type(get_args(kind)[0])}[]"
    return "VARCHAR" if get_origin(kind) is Literal else _TYPES.get(kind, "VARCHAR")


def _is_union(of: Any) -> bool:
    return get_origin(of) in (Union, types.UnionType)


def _plain(value: Any, sql: str) -> Any:
    """The value in its column; None for one that the column cannot have."""
    if isinstance(value, tuple):
        return list(value) if sql.endswith("[]") else None
    return value
