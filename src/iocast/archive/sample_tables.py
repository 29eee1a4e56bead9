"""samples/*.parquet: the raw counters that the observers read during a phase."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import msgspec

from iocast.archive.file_names import SAMPLES
from iocast.archive.parquet import PHASES, Asked, Column, Identity, rows_of_phases, write
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
# One list for each column, in their order.
_SOURCE = "(SELECT {})".format(", ".join(f"unnest(?::{column.type}[]) AS {column.name}" for column in SAMPLE_COLUMNS))


def save_samples(folder: Path, number: int, whose: Identity, phase: str, samples: tuple[Sample, ...]) -> None:
    """Writes the table of one phase. Raises ArchiveError."""
    lists = tuple([getattr(sample, column.name) for sample in samples] for column in SAMPLE_COLUMNS)
    write(folder / SAMPLES / f"{number:03}.parquet", SAMPLE_COLUMNS, _SOURCE, whose, phase, parameters=lists)


def load_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    """The samples of each phase, by its number, in the order in which they were read. Raises ArchiveError."""
    # In the order in which they were written, which is that of time.
    query = f"SELECT phase, {SAMPLE_VALUES} FROM {PHASES}"
    asked = Asked(query, SAMPLE_NAMES, "its samples", MOST_SAMPLES, most_read=MOST_SAMPLES)
    found = rows_of_phases(folder / SAMPLES, asked, sample_of)
    return {number: tuple(samples) for number, samples in found.items()}


def sample_of(row: tuple[Any, ...]) -> Sample:
    """A row of a table; its names are kept once, not for each row. Raises ValidationError."""
    time_ns, observer, subject, metric, value = row
    if not math.isfinite(value):
        raise msgspec.ValidationError(f"a value is {value}")
    return Sample(time_ns, sys.intern(observer), sys.intern(subject), sys.intern(metric), value)
