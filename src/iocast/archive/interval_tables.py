"""intervals/*.parquet: what each operation of each size did in each interval of a phase."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from iocast.archive.file_names import INTERVALS, folder_of
from iocast.archive.parquet import (
    MOST_ROWS,
    PHASES,
    ArrowStream,
    Column,
    Identity,
    ParquetRequest,
    database,
    reason,
    rows_of_phases,
    unreadable,
    write,
)
from iocast.archive.warm_up import warm_up_of
from iocast.archive.writing.held_folder import HeldFolder
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.measurement import Course, Interval, Measurement
from iocast.model.run import MARKS, OpSeries, PhaseRecord, Series
from iocast.model.soundness import fault_of_buckets
from iocast.model.workload import Op


def _histogram(name: str, says: str) -> tuple[Column, ...]:
    return (
        Column(f"{name}_index", "INTEGER[]", f"{says}: non-empty buckets, ascending"),
        Column(f"{name}_count", "BIGINT[]", "I/Os in each of these buckets"),
        Column(f"{name}_sum_ns", "BIGINT", "sum of times, ns"),
        Column(f"{name}_sum_squares", "DOUBLE", "sum of squared times, ns²"),
        Column(f"{name}_min_ns", "BIGINT", "minimum, ns"),
        Column(f"{name}_max_ns", "BIGINT", "maximum, ns"),
    )


INTERVAL_COLUMNS = (
    Column("interval", "INTEGER", "interval number, from 0"),
    Column("start_ns", "BIGINT", "start of the interval since the start of the phase, ns"),
    Column("op", "VARCHAR", "read, write, fsync, fdatasync or trim"),
    Column("size_bytes", "BIGINT", "I/O size, bytes"),
    Column("ios", "BIGINT", "I/Os completed in the interval"),
    Column("bytes", "BIGINT", "bytes transferred by these I/Os"),
    Column("errors", "BIGINT", "failed I/Os"),
    *_histogram("response", "histogram of response times (since the I/O was due)"),
    *_histogram("service", "histogram of service times (since submission)"),
)


def save_intervals(folder: HeldFolder, number: int, whose: Identity, phase: str, intervals: ArrowStream) -> None:
    """Writes the table of one phase. Raises ArchiveError."""
    write(folder, f"{INTERVALS}/{number:03}.parquet", INTERVAL_COLUMNS, "rows", whose, phase, intervals)


class Part(NamedTuple):
    """A table of one of several loads that ran at once, and what of it counts, on its own clock from its start."""

    file: Path
    from_ns: int = 0
    to_ns: int | None = None


# The intervals of several loads on the clock of the first that all share; buckets are added one by one.
_ADDED = """(
WITH own AS MATERIALIZED (
    SELECT r.* REPLACE (interval - w.from_ns // {interval_ns} AS interval, start_ns - w.from_ns AS start_ns)
    FROM rows r JOIN (VALUES {windows}) w(phase, from_ns, to_ns) USING (phase)
    WHERE start_ns >= w.from_ns AND start_ns < w.to_ns),
sums AS (SELECT interval, op, size_bytes, min(start_ns) AS start_ns, {sums} FROM own GROUP BY ALL),
{buckets}
SELECT * REPLACE ({filled}) FROM sums {joined})"""
_TIMES = ("response", "service")
_ADDED_UP = ("ios", "bytes", "errors", *(f"{each}_{total}" for each in _TIMES for total in ("sum_ns", "sum_squares")))
_BUCKETS_OF = """{0}s AS (
    SELECT interval, op, size_bytes, list(bucket ORDER BY bucket) AS {0}_index, list(held ORDER BY bucket) AS {0}_count
    FROM (SELECT interval, op, size_bytes, bucket, sum(held)::BIGINT AS held
          FROM (SELECT interval, op, size_bytes, unnest({0}_index) AS bucket, unnest({0}_count) AS held FROM own)
          GROUP BY ALL)
    GROUP BY ALL)"""


def save_added_intervals(
    folder: HeldFolder, number: int, whose: Identity, phase: str, interval_ns: int, parts: Sequence[Part]
) -> None:
    """Writes the table of one phase that several loads made at once: their intervals, added up. Raises ArchiveError."""
    from iocast._core import CoreError, Tables

    ends = [2**62 if part.to_ns is None else part.to_ns for part in parts]
    sums = [f"sum({name}) AS {name}" for name in _ADDED_UP]
    for each in _TIMES:  # an interval in which only failures ended has no times
        sums.append(f"coalesce(min({each}_min_ns) FILTER (ios > 0), 0) AS {each}_min_ns")
        sums.append(f"max({each}_max_ns) AS {each}_max_ns")
    lists = [f"{each}_{part}" for each in _TIMES for part in ("index", "count")]
    source = _ADDED.format(
        interval_ns=interval_ns,
        windows=", ".join(
            f"({at}, {part.from_ns}, {end})" for at, (part, end) in enumerate(zip(parts, ends, strict=True))
        ),
        sums=", ".join(sums),
        buckets=", ".join(_BUCKETS_OF.format(each) for each in _TIMES),
        filled=", ".join(f"coalesce({name}, []) AS {name}" for name in lists),
        joined=" ".join(f"LEFT JOIN {each}s USING (interval, op, size_bytes)" for each in _TIMES),
    )
    files, columns = [str(part.file) for part in parts], [column.name for column in INTERVAL_COLUMNS]
    try:
        tables = Tables(files, columns, list(range(len(parts))))
    except CoreError as error:
        raise unreadable(parts[0].file, reason(error), "its time series") from error
    write(folder, f"{INTERVALS}/{number:03}.parquet", INTERVAL_COLUMNS, source, whose, phase, tables)


# Each operation of each interval; and how many of its I/Os took at most as long as each quantile of the phase.
_SUMS = """
SELECT phase, interval::BIGINT, op, sum(ios::BIGINT), sum(bytes::BIGINT), sum(response_sum_ns::BIGINT),
    max(start_ns::BIGINT)
FROM {tables} GROUP BY ALL ORDER BY ALL
"""
_SUMMED = ("interval", "start_ns", "op", "ios", "bytes", "response_sum_ns")
_COUNTS = """
WITH marks(phase, op, bucket) AS (VALUES {marks}),
     held AS (SELECT phase, interval, op, bucket, unnest(response_index) AS place, unnest(response_count) AS n
              FROM {tables} JOIN marks USING (phase, op))
SELECT phase, interval::BIGINT, op, {columns} FROM held GROUP BY ALL
"""
_COUNTED = ("interval", "op", "response_index", "response_count")
_OWN = "(SELECT 0 AS phase, * FROM intervals)"
_MOST_CELLS = 60_000_000  # of the series of a run: most are 0, which takes 8 bytes
_MOST_SILENT = 20_000  # intervals without a completion at the end of a phase: hours of seconds


def series(intervals: ArrowStream, interval_ns: int, did: Measurement, warm_up_ns: int = 0) -> Series:
    """The whole intervals in which I/Os were issued, over all operations and sizes together, and of each operation.

    `did` is what the phase did without its first `warm_up_ns`, and so is the series.
    """
    with database().cursor() as connection:
        sums = [row[1:] for row in connection.execute(_SUMS.format(tables=_OWN)).fetchall()]
        query = _counting(_OWN, (did,))
        counts = [row[1:] for row in connection.execute(query).fetchall()] if query else []
    return _series(sums, counts, interval_ns, did, warm_up_ns)


def _counting(tables: str, phases: Iterable[Measurement]) -> str:
    """The query that counts I/Os up to the quantiles of each operation of each phase; "" where none was measured."""
    marks = [
        f"({number}, '{op}', [{', '.join(str(bucket_index(int(times.quantile_ns(q)))) for q in MARKS)}])"
        for number, did in enumerate(phases)
        for op in dict.fromkeys(part.op for part in did.classes)
        if (times := did.response(op)).total and times.coarse is None
    ]
    each = (f"coalesce(sum(n) FILTER (place <= bucket[{at}]), 0)::BIGINT" for at in range(1, len(MARKS) + 1))
    return _COUNTS.format(marks=", ".join(marks), tables=tables, columns=", ".join(each)) if marks else ""


def load_series(folder: Path, phases: tuple[PhaseRecord, ...]) -> dict[int, Series]:
    """The series of each phase that has a table, by the number of the phase. Raises ArchiveError."""
    what = "its time series"
    sums = rows_of_phases(folder / INTERVALS, ParquetRequest(_SUMS.format(tables=PHASES), _SUMMED, what), _of_op)
    counting = _counting(PHASES, [record.measurement for record in phases]) if sums else ""
    counts = rows_of_phases(folder / INTERVALS, ParquetRequest(counting, _COUNTED, what), _of_op) if counting else {}
    cells = 0
    loaded: dict[int, Series] = {}
    for number, record in enumerate(phases):
        if number in sums:
            rows, interval_ns = sums.pop(number), record.plan.interval_ns
            warm_up_ns = warm_up_of(record)
            issuing_ns = record.measurement.issuing_ns + warm_up_ns
            silent = issuing_ns // interval_ns - (rows[-1][0] if rows else 0)
            if silent > _MOST_SILENT or (rows and rows[-1][-1] != rows[-1][0] * interval_ns):
                file = folder / INTERVALS / f"{number:03}.parquet"
                raise unreadable(file, "its intervals do not match run.json", what)
            ops = len({part.op for part in record.measurement.classes})
            cells += issuing_ns // interval_ns * (3 + ops * (2 + len(MARKS)))
            if cells > _MOST_CELLS:
                raise unreadable(folder / INTERVALS, f"its series have more than {_MOST_CELLS:,} figures", what)
            loaded[number] = _series(rows, counts.pop(number, []), interval_ns, record.measurement, warm_up_ns)
    return loaded


def _of_op(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of a query: its operation is kept once, not for each row."""
    interval, op, *rest = row
    return (interval, sys.intern(op), *rest)


def _series(
    sums: list[tuple[Any, ...]],
    counts: list[tuple[Any, ...]],
    interval_ns: int,
    did: Measurement,
    warm_up_ns: int,
) -> Series:
    # An interval in which nothing was completed has no row.
    every = range(warm_up_ns // interval_ns, (warm_up_ns + did.issuing_ns) // interval_ns)
    counted: dict[int, tuple[int, ...]] = {}
    of_ops: dict[tuple[int, Op], tuple[int, ...]] = {}
    for interval, op, ios, moved, response_ns, _start_ns in sums:
        before = counted.get(interval, (0, 0, 0))
        counted[interval] = (before[0] + ios, before[1] + moved, before[2] + response_ns)
        of_ops[interval, op] = (ios, response_ns)
    by_op: dict[Op, dict[int, tuple[int, ...]]] = {}
    for interval, op, *up_to in counts:
        by_op.setdefault(op, {})[interval] = (*of_ops[interval, op], *up_to)
    nothing = (0,) * (2 + len(MARKS))
    ops: list[OpSeries] = []
    for op in dict.fromkeys(part.op for part in did.classes if part.op in by_op):
        columns = tuple(zip(*(by_op[op].get(number, nothing) for number in every), strict=True))
        if columns:
            ops.append(OpSeries(op=op, ios=columns[0], response_ns=columns[1], up_to=columns[2:]))
    whole = [counted.get(number, (0, 0, 0)) for number in every]
    all_ios, all_bytes, all_ns = (tuple(row[column] for row in whole) for column in range(3))
    return Series(interval_ns=interval_ns, ios=all_ios, bytes=all_bytes, response_ns=all_ns, ops=tuple(ops))


def load_courses(folder: str) -> dict[int, Course]:
    """The course of every phase of a run folder, by the number of the phase. Raises ArchiveError.

    A phase whose file is not there has none; so has a folder of a run that was imported.
    """
    path = folder_of(folder) / INTERVALS
    # Lists come as text: to make their values one by one, as the database does, takes twice as long.
    columns = ", ".join(f"{name}::{'VARCHAR' if name in _LISTS else _TYPES[name]}" for name in _READ)
    query, kept = f"SELECT phase, {columns} FROM {PHASES} ORDER BY phase, interval", _Kept()
    request = ParquetRequest(query, ("interval", *_READ), "its time series", most_read=MOST_ROWS)
    by_phase = rows_of_phases(path, request, kept.interval)
    return {number: tuple(rows) for number, rows in by_phase.items()}


_HISTOGRAM = tuple(f"response_{part}" for part in ("index", "count", "sum_ns", "sum_squares", "min_ns", "max_ns"))
_LISTS = _HISTOGRAM[:2]
_READ = ("start_ns", "op", "size_bytes", "bytes", "errors", *_HISTOGRAM)
_TYPES = {column.name: column.type for column in INTERVAL_COLUMNS}
_MOST_BUCKETS = 12_000_000  # of the courses of a run: 800 MB
_numbers = msgspec.json.Decoder(tuple[int, ...]).decode


class _Kept:
    """Makes intervals of rows, and counts what they hold: a table may have more buckets than memory."""

    def __init__(self) -> None:
        self._left = _MOST_BUCKETS

    def interval(self, row: tuple[Any, ...]) -> Interval:
        """The interval of a row. Raises ValidationError."""
        start_ns, op, size_bytes, moved, errors, index, count, *rest = row
        response = Histogram(_numbers(index), _numbers(count), *rest)
        self._left -= len(response.index)
        if self._left < 0:
            raise msgspec.ValidationError(f"it has more than {_MOST_BUCKETS:,} buckets")
        if fault := fault_of_buckets(response):
            raise msgspec.ValidationError(fault)
        if min(start_ns, size_bytes, moved, errors, response.sum_ns, response.min_ns, response.max_ns) < 0:
            raise msgspec.ValidationError("a number is negative")
        if not math.isfinite(response.sum_squares):
            raise msgspec.ValidationError(f"response_sum_squares is {response.sum_squares}")
        return Interval(start_ns, op, size_bytes, moved, errors, response)
