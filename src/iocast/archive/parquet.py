"""Parquet files, written and read by DuckDB."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from iocast.archive.json_files import unwritable
from iocast.errors import ArchiveError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""


class Column(NamedTuple):
    """A column of a table: its name, its SQL type (always signed), and what it says, with its unit."""

    name: str
    type: str
    says: str


# The columns that every table begins with, so that the tables of many runs are one data set.
KEYS = (
    Column("run_id", "VARCHAR", "the run, as in run.json"),
    Column("host", "VARCHAR", "host name of the load generator"),
    Column("target", "VARCHAR", "target path"),
    Column("job", "VARCHAR", "job name"),
    Column("phase", "VARCHAR", "phase name: the row of a report"),
)


class Identity(NamedTuple):
    """The values of `KEYS` that are the same for all of a run."""

    run_id: str
    host: str
    target: str
    job: str


@functools.cache
def database() -> DuckDBPyConnection:
    """The database of this process: to make one takes longer than to write or read a phase. It keeps no file's data."""
    import duckdb

    return duckdb.connect(config={"enable_external_file_cache": False})


def write(
    path: Path,
    columns: tuple[Column, ...],
    source: str,
    whose: Identity,
    phase: str,
    rows: ArrowStream | None = None,
    parameters: tuple[object, ...] = (),
) -> None:
    """Writes `columns` of `source`, after the `KEYS`, as one Parquet file. Raises ArchiveError.

    `source` is what SQL selects from; the name `rows` in it stands for that Arrow stream.
    """
    import duckdb

    keys = ", ".join(f"?::{key.type} AS {key.name}" for key in KEYS)
    values = ", ".join(f"{column.name}::{column.type} AS {column.name}" for column in columns)
    query = f"SELECT {keys}, {values} FROM {source}"
    fresh = path.with_suffix(".new")
    target = str(fresh).replace("'", "''")
    try:
        path.parent.mkdir(exist_ok=True)
        with database().cursor() as connection:
            # DuckDB finds the stream by its name in this function.
            copied = f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            connection.execute(copied, [*whose, phase, *parameters])
        os.replace(fresh, path)
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from error
    except duckdb.Error as error:
        raise unwritable(path, str(error)) from error


def rows_of_phases(folder: Path, query_of: Callable[[int], str], what: str) -> dict[int, list[tuple[Any, ...]]]:
    """What a query gives for the file of each phase, by the number of the phase; a phase whose query is "" has none.

    Raises ArchiveError.
    """
    files = sorted(file for file in folder.glob("[0-9]*.parquet") if file.stem.isdecimal())
    if not files:
        return {}
    import duckdb

    found: dict[int, list[tuple[Any, ...]]] = {}
    with database().cursor() as connection:
        for file in files:
            query = query_of(int(file.stem))
            if not query:
                continue
            try:
                rows = connection.execute(query, [str(file)]).fetchall()
            except duckdb.Error as error:
                said = str(error).partition("\n")[0]
                raise unreadable(file, said, what) from error
            if any(None in row for row in rows):
                raise unreadable(file, "a value is missing", what)
            found[int(file.stem)] = rows
    return found


def unreadable(file: Path, why: str, what: str) -> ArchiveError:
    """The refusal for a damaged table."""
    return ArchiveError(f"{file} cannot be read: {why}", f"remove the file to show the card without {what}")
