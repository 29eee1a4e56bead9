"""The intervals of a row that Python counted, as the Arrow stream that the core gives of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from iocast.archive.interval_tables import INTERVAL_COLUMNS
from iocast.archive.parquet import database
from iocast.load.database.tallies import Tally
from iocast.model.histogram import Histogram
from iocast.model.workload import Op


class IntervalRow:
    """One operation of one size in one interval, as it grows."""

    def __init__(self, interval: int, op: Op, size_bytes: int) -> None:
        self.key = (interval, op, size_bytes)
        self.response, self.service = Tally(), Tally()

    def values(self, interval_ns: int) -> tuple[Any, ...]:
        """The values of INTERVAL_COLUMNS."""
        interval, op, size = self.key
        ios = self.response.total
        times = (*_values(self.response.histogram()), *_values(self.service.histogram()))
        return (interval, interval * interval_ns, op, size, ios, ios * size, 0, *times)


def _values(times: Histogram) -> tuple[Any, ...]:
    return (list(times.index), list(times.count), times.sum_ns, times.sum_squares, times.min_ns, times.max_ns)


class IntervalStream:
    """See `core_phases.Intervals`: it can be read again and again."""

    def __init__(self, rows: Iterable[IntervalRow], interval_ns: int) -> None:
        values = [row.values(interval_ns) for row in sorted(rows, key=lambda row: row.key)]
        self._rows = len(values)
        self._cursor = database().cursor()
        columns = ", ".join(f"{column.name} {column.type}" for column in INTERVAL_COLUMNS)
        self._cursor.execute(f"CREATE TEMP TABLE counted ({columns})")
        if values:
            places = ", ".join("?" for _ in INTERVAL_COLUMNS)
            self._cursor.executemany(f"INSERT INTO counted VALUES ({places})", values)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""
        return self._cursor.sql("SELECT * FROM counted").__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self._rows
