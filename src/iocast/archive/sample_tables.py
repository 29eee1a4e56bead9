"""samples/*.parquet: the raw counters that the observers read during a phase."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from iocast.archive.file_names import SAMPLES, open_reel_name
from iocast.archive.json_files import not_understood
from iocast.archive.parquet import PHASES, Column, Identity, ParquetRequest, rows_of_phases, write
from iocast.archive.writing.held_folder import HeldFolder
from iocast.model.run import Sample

SAMPLE_COLUMNS = (
    Column("time_ns", "BIGINT", "time of the sample since 1970 (UTC), ns"),
    Column("observer", "VARCHAR", "observer: diskstats, cpu, …"),
    Column("subject", "VARCHAR", "subject: vda, cpu0, …; empty where there is only one"),
    Column("metric", "VARCHAR", "counter name"),
    Column("value", "DOUBLE", "raw value in the kernel's unit"),
)
SAMPLE_NAMES = tuple(column.name for column in SAMPLE_COLUMNS)
SAMPLE_VALUES = ", ".join(f"{column.name}::{column.type}" for column in SAMPLE_COLUMNS)
MOST_SAMPLES = 5_000_000  # of a run: 600 MB
_MOST_NAMES = 200_000
# One list for each column, in their order.
_SOURCE = "(SELECT {})".format(", ".join(f"unnest(?::{column.type}[]) AS {column.name}" for column in SAMPLE_COLUMNS))


def save_samples(folder: HeldFolder, number: int, whose: Identity, phase: str, samples: tuple[Sample, ...]) -> None:
    """Writes the table of one phase. Raises ArchiveError."""
    lists = tuple([getattr(sample, column.name) for sample in samples] for column in SAMPLE_COLUMNS)
    write(folder, _table(number), SAMPLE_COLUMNS, _SOURCE, whose, phase, parameters=lists)


def _table(number: int) -> str:
    return f"{SAMPLES}/{number:03}.parquet"


def save_reel(folder: HeldFolder, number: int, whose: Identity, phase: str) -> None:
    """Makes a table of a reel that was written moment by moment. Raises ArchiveError."""
    from iocast._core import CoreError, OpenReel

    file = f"{SAMPLES}/{open_reel_name(number)}"
    try:
        rows = OpenReel(str(folder.place / file))
    except CoreError as error:
        raise not_understood(folder.path / file, error.args[0]) from error
    write(folder, _table(number), SAMPLE_COLUMNS, "rows", whose, phase, rows)


def load_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    """The samples of each phase, by its number, in the order in which they were read. Raises ArchiveError."""
    # In the order in which they were written, which is that of time.
    query = f"SELECT phase, {SAMPLE_VALUES} FROM {PHASES}"
    request = ParquetRequest(query, SAMPLE_NAMES, "its samples", MOST_SAMPLES, most_read=MOST_SAMPLES)
    by_phase = rows_of_phases(folder / SAMPLES, request, Samples())
    return {number: tuple(samples) for number, samples in by_phase.items()}


class Samples:
    """Makes samples of the rows of tables. A name is kept once, not for each row, and forgotten after many others."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, row: tuple[Any, ...]) -> Sample:
        """A row as a sample. Raises ValidationError."""
        time_ns, observer, subject, metric, value = row
        if not math.isfinite(value):
            raise msgspec.ValidationError(f"a value is {value}")
        if len(self._names) > _MOST_NAMES:
            self._names.clear()
        once = self._names.setdefault
        return Sample(time_ns, once(observer, observer), once(subject, subject), once(metric, metric), value)
