"""The reels of a tape: its samples, phase by phase, so that a day of watching never is in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import SAMPLES
from iocast.archive.guarded.reading_database import reading_database, tables_in
from iocast.archive.json_files import BROKEN
from iocast.archive.parquet import reason, unreadable
from iocast.archive.sample_tables import SAMPLE_NAMES, SAMPLE_VALUES, sample_of
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

    from iocast._core import CoreError, Tables

    with reading_database().cursor() as connection:
        try:
            connection.register("reel", Tables([str(file)], SAMPLE_NAMES))
            connection.execute(f"SELECT {SAMPLE_VALUES} FROM reel")
            while rows := connection.fetchmany(_AT_A_TIME):
                for row in rows:
                    if None in row:
                        raise unreadable(file, "a value is missing", _PART)
                    yield sample_of(row)
        except (duckdb.Error, CoreError, *BROKEN) as error:
            raise unreadable(file, reason(error), _PART) from error
