"""Parquet files, written by DuckDB, read by the core, and queried by DuckDB as what the core makes of them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from iocast.archive.json_files import BROKEN, unwritable
from iocast.archive.reading_database import reading_database, tables_in
from iocast.archive.writing.held_folder import HeldFolder
from iocast.archive.writing.private_rooms import unguessable
from iocast.errors import ArchiveError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

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


_SPILL = ".iocast-spill-"  # a database's own files for what does not fit into memory


class Identity(NamedTuple):
    """The values of `KEYS` that are the same for all of a run."""

    run_id: str
    host: str
    target: str
    job: str


@functools.cache
def database() -> DuckDBPyConnection:
    """The database of this process: to make one takes longer than to write or read a phase. It keeps no file's data."""
    return _opened()


@functools.cache
def _writing_database() -> DuckDBPyConnection:
    """With one thread: each would hold a row group, 60 MB, and take a processor from those who are watched."""
    return _opened(threads=1)


def _opened(**settings: int) -> DuckDBPyConnection:
    import duckdb

    own: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_file_cache": False,
        "temp_directory": unguessable(_SPILL),
    }
    return duckdb.connect(config=own | settings)


def write(
    folder: HeldFolder,
    table: str,
    columns: tuple[Column, ...],
    source: str,
    whose: Identity,
    phase: str,
    rows: ArrowStream | None = None,
    parameters: tuple[object, ...] = (),
) -> None:
    """Writes `columns` of `source`, after the `KEYS`, as the Parquet file ROOM/NAME of a folder. Raises ArchiveError.

    `source` is what SQL selects from; the name `rows` in it stands for that Arrow stream.
    """
    import duckdb

    room, _, name = table.partition("/")
    path = folder.path / table
    keys = ", ".join(f"?::{key.type} AS {key.name}" for key in KEYS)
    values = ", ".join(f"{column.name}::{column.type} AS {column.name}" for column in columns)
    query = f"SELECT {keys}, {values} FROM {source}"
    try:
        with folder.folder(room).growing(name) as file, _writing_database().cursor() as connection:
            # DuckDB finds the stream by its name in this function. It writes into our open file, not beside it.
            copied = f"COPY ({query}) TO '{file.place}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
            connection.execute(copied, [*whose, phase, *parameters])
    except OSError as error:
        raise unwritable(path, error) from error
    except duckdb.Error as error:
        raise unwritable(path, OSError(reason(error))) from error


# What a query for `rows_of_phases` selects from: the tables of all phases as one, with the number of the phase.
PHASES = "all_tables"
MOST_ROWS = 1_500_000  # of the answer to a query: more would take more than a gigabyte
_MOST_READ = 30_000_000  # of the tables that a query adds up
_AT_A_TIME = 20_000


class ParquetRequest(NamedTuple):
    """A query from `PHASES` whose first column is the number of a phase, and how much there may be."""

    query: str
    columns: Sequence[str]  # those that the query names
    what: str  # what a card lacks without these tables
    most: int = MOST_ROWS  # rows of the answer
    most_read: int = _MOST_READ  # rows of all tables


def rows_of_phases(
    folder: Path,
    request: ParquetRequest,
    build: Callable[[tuple[Any, ...]], T] = lambda row: row,  # type: ignore[assignment,return-value]
) -> dict[int, list[T]]:
    """The answer to a query for each phase of a folder of tables, by the number of the phase.

    One query for all tables: to plan one takes as long as to read a table. `build` turns each row into what is kept,
    and raises what BROKEN lists for a row that cannot be. Raises ArchiveError, also for more rows than there may be.
    """
    try:
        files = tables_in(folder)
    except OSError as error:
        raise unreadable(Path(error.filename or folder), error.strerror or str(error), request.what) from error
    if not files:
        return {}
    import duckdb

    from iocast._core import CoreError

    refused = (duckdb.Error, CoreError)
    try:
        return _rows(folder, files, request, build)
    except refused:
        pass
    by_phase: dict[int, list[T]] = {}
    for file in files:  # each alone, where all together could not be read: its error names it
        left = request._replace(most=request.most - sum(map(len, by_phase.values())))
        try:
            by_phase |= _rows(folder, [file], left, build)
        except refused as error:
            raise unreadable(file, reason(error), request.what) from error
    return by_phase


def _rows(
    folder: Path, files: list[Path], request: ParquetRequest, build: Callable[[tuple[Any, ...]], T]
) -> dict[int, list[T]]:
    by_phase: dict[int, list[T]] = {int(file.stem): [] for file in files}
    left = request.most
    with _answer(files, request) as result:
        while rows := result.fetchmany(_AT_A_TIME):
            left -= len(rows)
            if left < 0:
                raise unreadable(folder, f"it has more than {request.most:,} rows", request.what)
            for number, *row in rows:
                if None in row:
                    raise unreadable(folder / f"{number:03}.parquet", "a value is missing", request.what)
                try:
                    by_phase[number].append(build(tuple(row)))
                except BROKEN as error:
                    raise unreadable(folder / f"{number:03}.parquet", str(error), request.what) from error
    return by_phase


@contextlib.contextmanager
def _answer(files: list[Path], request: ParquetRequest) -> Iterator[DuckDBPyConnection]:
    from iocast._core import Tables

    tables = Tables([str(file) for file in files], request.columns, [int(file.stem) for file in files])
    if len(tables) > request.most_read:  # as the footers say: what is too much is not read first
        raise unreadable(files[0].parent, f"it has more than {request.most_read:,} rows", request.what)
    with reading_database().cursor() as connection:
        connection.register(PHASES, tables)
        try:
            yield connection.execute(request.query)
        finally:
            connection.unregister(PHASES)


def relation_of(file: str) -> DuckDBPyRelation:
    """A table as a relation, read when it is asked. Raises ArchiveError."""
    from iocast._core import CoreError, Tables

    try:
        return database().cursor().from_arrow(Tables([file]))
    except CoreError as error:
        raise unreadable(Path(file), reason(error), "it") from error


def columns_in(file: Path) -> set[str]:
    """The columns of a table; none where it cannot be read."""
    from iocast._core import CoreError, Tables

    try:
        return set(Tables([str(file)]).columns())
    except CoreError:
        return set()


def run_ids_in(file: Path) -> set[str]:
    """The runs that the rows of a table say they are of; none where it cannot be read."""
    import duckdb

    from iocast._core import CoreError, Tables

    try:
        run_ids = database().cursor().from_arrow(Tables([str(file)], ["run_id"])).distinct().fetchall()
    except (CoreError, duckdb.Error):
        return set()
    return {run_id for (run_id,) in run_ids}


# What Arrow puts before the core's words, and DuckDB before those of the system.
_KINDS = re.compile(r".*(Parquet argument error|Parquet error|External): |^[A-Z][A-Za-z ]* Error: ")
_NUMBER = re.compile(r'"errno":"(\d+)"')  # DuckDB packs an error of another thread into its own, as JSON
_MESSAGE = re.compile(r'"exception_message":"((?:[^"\\]|\\.)*)"')


def reason(error: Exception) -> str:
    """Why a table could not be read or written, in one line: the words of the core or of the system, where it was one
    of these that refused it."""
    text = str(error.args[0]) if error.args else type(error).__name__
    if number := _NUMBER.search(text):
        return os.strerror(int(number[1]))
    if message := _MESSAGE.search(text):
        text = message[1]
    return _KINDS.sub("", text.partition("\n")[0]).partition(" (os error ")[0]


def unreadable(file: Path, why: str, what: str) -> ArchiveError:
    """The refusal for a damaged table."""
    return ArchiveError(f"{file} cannot be read: {why}", f"remove the file to show the card without {what}")
