"""The reels of a tape: its samples, phase by phase, so that a day of watching never is in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import SAMPLES
from iocast.archive.guarded.reading_database import as_pattern, reading_database, tables_in
from iocast.archive.json_files import BROKEN
from iocast.archive.parquet import unreadable
from iocast.archive.sample_tables import SAMPLE_COLUMNS, sample_of
from iocast.model.run import Sample

_AT_A_TIME = 50_000
_PART = "this part of the tape"


def reel_samples(folder: Path) -> Iterator[Sample]:
    """All samples of a tape in the order in which they were read. Raises ArchiveError where a reel is damaged."""
    try:
        files = tables_in(folder / SAMPLES)
    except OSError as error:
        file, why = Path(error.filename or folder), error.strerror or str(error)
        raise unreadable(file, why, _PART) from error
    for file in files:
        yield from _samples(file)


def _samples(file: Path) -> Iterator[Sample]:
    import duckdb

    columns = ", ".join(f"{column.name}::{column.type}" for column in SAMPLE_COLUMNS)
    with reading_database().cursor() as connection:
        try:
            connection.execute(f"SELECT {columns} FROM read_parquet(?)", [as_pattern(file)])
            while rows := connection.fetchmany(_AT_A_TIME):
                for row in rows:
                    if None in row:
                        raise unreadable(file, "a value is missing", _PART)
                    yield sample_of(row)
        except (duckdb.Error, *BROKEN) as error:
            raise unreadable(file, str(error).partition("\n")[0], _PART) from error
