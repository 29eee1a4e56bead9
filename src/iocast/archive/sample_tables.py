"""samples/*.parquet: the raw counters that the observers read during a phase."""

from __future__ import annotations

from pathlib import Path

from iocast.archive.file_names import SAMPLES
from iocast.archive.parquet import PHASES, Column, Identity, rows_of_phases, write
from iocast.model.run import Sample

SAMPLE_COLUMNS = (
    Column("time_ns", "BIGINT", "time of the sample since 1970 (UTC), ns"),
    Column("observer", "VARCHAR", "observer: diskstats, cpu, …"),
    Column("subject", "VARCHAR", "subject: vda, cpu0, …; empty where there is only one"),
    Column("metric", "VARCHAR", "counter name"),
    Column("value", "DOUBLE", "raw value in the kernel's unit"),
)
# One list for each column, in their order.
_SOURCE = "(SELECT {})".format(", ".join(f"unnest(?::{column.type}[]) AS {column.name}" for column in SAMPLE_COLUMNS))


def save_samples(folder: Path, number: int, whose: Identity, phase: str, samples: tuple[Sample, ...]) -> None:
    """Writes the table of one phase. Raises ArchiveError."""
    lists = tuple([getattr(sample, column.name) for sample in samples] for column in SAMPLE_COLUMNS)
    write(folder / SAMPLES / f"{number:03}.parquet", SAMPLE_COLUMNS, _SOURCE, whose, phase, parameters=lists)


def load_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    """The samples of each phase, by its number, in the order in which they were read. Raises ArchiveError."""
    # In the order in which they were written, which is that of time.
    columns = ", ".join(f"{column.name}::{column.type}" for column in SAMPLE_COLUMNS)
    found = rows_of_phases(folder / SAMPLES, f"SELECT phase, {columns} FROM {PHASES}", "its samples")
    return {number: tuple(Sample(*row) for row in rows) for number, rows in found.items()}
