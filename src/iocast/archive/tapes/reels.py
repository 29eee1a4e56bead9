"""The reels of a tape: its samples, reel by reel, so that a day of watching never is in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import SAMPLES
from iocast.archive.json_files import BROKEN
from iocast.archive.parquet import ArrowStream, reason, unreadable
from iocast.archive.reading_database import reading_database, tables_in
from iocast.archive.sample_tables import SAMPLE_NAMES, SAMPLE_VALUES, Samples
from iocast.archive.tapes.unfinished_reels import unfinished_reels
from iocast.model.run import Sample

_AT_A_TIME = 50_000
_PART = "this part of the tape"


def reel_samples(folder: Path) -> Iterator[Sample]:
    """All samples of a tape in the order in which they were read, up to the last whole line of one that is not closed.

    Raises ArchiveError where a reel is damaged.
    """
    try:
        tables = {int(file.stem): file for file in tables_in(folder / SAMPLES)}
    except OSError as error:
        file, why = Path(error.filename or folder), error.strerror or str(error)
        raise unreadable(file, why, _PART) from error
    for _, file in sorted((unfinished_reels(folder) | tables).items()):
        yield from _samples(file)


def _samples(file: Path) -> Iterator[Sample]:
    import duckdb

    from iocast._core import CoreError

    sample_of = Samples()
    try:
        with reading_database().cursor() as connection:
            connection.register("reel", _rows(file))
            connection.execute(f"SELECT {SAMPLE_VALUES} FROM reel")
            while rows := connection.fetchmany(_AT_A_TIME):
                for row in rows:
                    if None in row:
                        raise unreadable(file, "a value is missing", _PART)
                    yield sample_of(row)
    except (duckdb.Error, CoreError, *BROKEN) as error:
        raise unreadable(file, reason(error), _PART) from error


def _rows(file: Path) -> ArrowStream:
    """A table, or a reel that is none yet; one that became a table meanwhile is read as that. Raises CoreError."""
    from iocast._core import CoreError, OpenReel, Tables

    table = file.with_suffix(".parquet")
    if file != table:
        try:
            return OpenReel(str(file))
        except CoreError:
            if file.exists():
                raise
    return Tables([str(table)], SAMPLE_NAMES)
