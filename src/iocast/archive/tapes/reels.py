"""The reels of a tape: its samples, phase by phase, so that a day of watching never is in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iocast.archive.file_names import SAMPLES
from iocast.archive.parquet import database, unreadable
from iocast.archive.sample_tables import SAMPLE_COLUMNS
from iocast.model.run import Sample

_AT_A_TIME = 50_000


def reel_samples(folder: Path) -> Iterator[Sample]:
    """All samples of a tape in the order in which they were read. Raises ArchiveError where a reel is damaged."""
    for file in sorted((folder / SAMPLES).glob("[0-9]*.parquet"), key=lambda each: int(each.stem)):
        yield from _samples(file)


def _samples(file: Path) -> Iterator[Sample]:
    import duckdb

    columns = ", ".join(f"{column.name}::{column.type}" for column in SAMPLE_COLUMNS)
    with database().cursor() as connection:
        try:
            connection.execute(f"SELECT {columns} FROM read_parquet(?)", [str(file)])
            while rows := connection.fetchmany(_AT_A_TIME):
                for row in rows:
                    if None in row:
                        raise unreadable(file, "a value is missing", "this part of the tape")
                    yield Sample(*row)
        except duckdb.Error as error:
            raise unreadable(file, str(error).partition("\n")[0], "this part of the tape") from error
