"""Parquet files, written and read by DuckDB."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from iocast.archive.guarded.reading_database import as_pattern, reading_database, tables_in
from iocast.archive.json_files import BROKEN, unwritable
from iocast.archive.writing.whole_files import NEW, growing
from iocast.errors import ArchiveError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")


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
    try:
        path.parent.mkdir(exist_ok=True)
        with growing(path.with_name(path.name + NEW)) as file, database().cursor() as connection:
            target = str(file.path).replace("'", "''")
            # DuckDB finds the stream by its name in this function. It writes into our locked file, not beside it.
            copied = f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
            connection.execute(copied, [*whose, phase, *parameters])
            os.replace(file.path, path)
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from error
    except duckdb.Error as error:
        raise unwritable(path, str(error)) from error


# What a query for `rows_of_phases` selects from: the tables of all phases as one, with the number of the phase.
PHASES = (
    "(SELECT regexp_extract(filename, '([0-9]+)[.]parquet$', 1)::INTEGER AS phase, * "
    "FROM read_parquet(?, filename = true))"
)


MOST_ROWS = 1_500_000  # of one query: more would take more than a gigabyte
_AT_A_TIME = 20_000


def rows_of_phases(
    folder: Path,
    query: str,
    what: str,
    made: Callable[[tuple[Any, ...]], T] = lambda row: row,  # type: ignore[assignment,return-value]
    most: int = MOST_ROWS,
) -> dict[int, list[T]]:
    """What a query from `PHASES` gives for each phase of a folder of tables, by its first column: the phase's number.

    One query for all tables: to plan one takes as long as to read a table. `made` turns each row into what is kept,
    and raises what BROKEN lists for a row that cannot be. Raises ArchiveError, also for more than `most` rows.
    """
    try:
        files = tables_in(folder)
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error.strerror or str(error), what) from error
    if not files:
        return {}
    import duckdb

    refused = (duckdb.Error, UnicodeDecodeError)  # its message may name a column of the file that is no text
    try:
        return _rows(folder, files, query, what, made, most)
    except refused:
        pass
    found: dict[int, list[T]] = {}
    for file in files:  # each alone, where all together could not be read: its error names it
        try:
            found |= _rows(folder, [file], query, what, made, most - sum(map(len, found.values())))
        except refused as error:
            raise unreadable(file, str(error).partition("\n")[0], what) from error
    return found


def _rows(
    folder: Path, files: list[Path], query: str, what: str, made: Callable[[tuple[Any, ...]], T], most: int
) -> dict[int, list[T]]:
    found: dict[int, list[T]] = {int(file.stem): [] for file in files}
    left = most
    with reading_database().cursor() as connection:
        result = connection.execute(query, [[as_pattern(file) for file in files]])
        while rows := result.fetchmany(_AT_A_TIME):
            left -= len(rows)
            if left < 0:
                raise unreadable(folder, f"it has more than {most:,} rows", what)
            for number, *row in rows:
                if None in row:
                    raise unreadable(folder / f"{number:03}.parquet", "a value is missing", what)
                try:
                    found[number].append(made(tuple(row)))
                except BROKEN as error:
                    raise unreadable(folder / f"{number:03}.parquet", str(error), what) from error
    return found


def unreadable(file: Path, why: str, what: str) -> ArchiveError:
    """The refusal for a damaged table."""
    return ArchiveError(f"{file} cannot be read: {why}", f"remove the file to show the card without {what}")
