"""intervals/*.parquet: what each operation of each size did in each interval of a phase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from iocast.archive.file_names import INTERVALS, folder_of
from iocast.archive.json_files import BROKEN
from iocast.archive.parquet import ArrowStream, Column, Identity, database, rows_of_phases, unreadable, write
from iocast.archive.soundness import fault_of_buckets
from iocast.archive.warm_up import warm_up_of
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.measurement import Course, Interval, Measurement
from iocast.model.run import MARKS, OpSeries, PhaseRecord, Series
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


def save_intervals(folder: Path, number: int, whose: Identity, phase: str, intervals: ArrowStream) -> None:
    """Writes the table of one phase. Raises ArchiveError."""
    write(folder / INTERVALS / f"{number:03}.parquet", INTERVAL_COLUMNS, "rows", whose, phase, intervals)


_SERIES = (
    "SELECT interval::BIGINT, sum(ios::BIGINT), sum(bytes::BIGINT), sum(response_sum_ns::BIGINT), "
    "max(start_ns::BIGINT) FROM {} GROUP BY ALL ORDER BY ALL"
)
# For each operation: its I/Os, the sum of their times, and how many took at most as long as each quantile of the phase.
_OPS = """
WITH part AS MATERIALIZED (SELECT interval, op, ios, response_sum_ns, response_index, response_count FROM {table}),
     marks(op, bucket) AS (SELECT * FROM (VALUES {marks})),
     buckets AS (SELECT interval, op, unnest(response_index) AS place, unnest(response_count) AS n FROM part),
     counted AS (SELECT interval, op, {counts} FROM buckets JOIN marks USING (op) GROUP BY ALL)
SELECT interval::BIGINT, op, sum(ios::BIGINT), sum(response_sum_ns::BIGINT), {columns}
FROM part JOIN counted USING (interval, op) GROUP BY ALL ORDER BY ALL
"""
_MOST_SILENT = 20_000  # intervals without a completion at the end of a phase: hours of seconds


def series(intervals: ArrowStream, interval_ns: int, did: Measurement, warm_up_ns: int = 0) -> Series:
    """The whole intervals in which I/Os were issued, over all operations and sizes together, and of each operation.

    `did` is what the phase did without its first `warm_up_ns`, and so is the series.
    """
    with database().cursor() as connection:
        whole = _whole(connection.execute(_SERIES.format("intervals")).fetchall(), interval_ns, did, warm_up_ns)
        by_op = _by_op("intervals", did)
        return _with_ops(whole, connection.execute(by_op).fetchall() if by_op else [], did, warm_up_ns)


def _by_op(table: str, did: Measurement) -> str:
    """The query for the series of each operation; "" where nothing was measured."""
    marks = [
        f"('{op}', [{', '.join(str(bucket_index(int(times.quantile_ns(q)))) for q in MARKS)}])"
        for op in dict.fromkeys(part.op for part in did.classes)
        if (times := did.response(op)).total and times.coarse is None
    ]
    counts = (f"sum(n) FILTER (place <= bucket[{at}]) AS upto{at}" for at in range(1, len(MARKS) + 1))
    columns = (f"max(coalesce(upto{at}, 0)::BIGINT)" for at in range(1, len(MARKS) + 1))
    query = _OPS.format(marks=", ".join(marks), table=table, counts=", ".join(counts), columns=", ".join(columns))
    return query if marks else ""


def _with_ops(whole: Series, rows: list[tuple[Any, ...]], did: Measurement, warm_up_ns: int) -> Series:
    first = warm_up_ns // whole.interval_ns
    seen: dict[Op, dict[int, tuple[int, ...]]] = {}
    for interval, op, *figures in rows:
        seen.setdefault(op, {})[interval] = tuple(figures)
    nothing = (0,) * (2 + len(MARKS))
    ops: list[OpSeries] = []
    for op in dict.fromkeys(part.op for part in did.classes if part.op in seen):
        columns = tuple(zip(*(seen[op].get(first + at, nothing) for at in range(len(whole.ios))), strict=True))
        if columns:
            ops.append(OpSeries(op=op, ios=columns[0], response_ns=columns[1], up_to=columns[2:]))
    return replace(whole, ops=tuple(ops))


def load_series(folder: Path, phases: tuple[PhaseRecord, ...]) -> dict[int, Series]:
    """The series of each phase that has a table, by the number of the phase. Raises ArchiveError."""
    table, what = "read_parquet(?)", "its time series"
    found = rows_of_phases(folder / INTERVALS, lambda _: _SERIES.format(table), what)
    by_op = rows_of_phases(
        folder / INTERVALS,
        lambda number: _by_op(table, phases[number].measurement) if number < len(phases) else "",
        what,
    )
    loaded: dict[int, Series] = {}
    for number, record in enumerate(phases):
        if number in found:
            rows, interval_ns = found[number], record.plan.interval_ns
            warm_up_ns = warm_up_of(record)
            issuing_ns = record.measurement.issuing_ns + warm_up_ns
            silent = issuing_ns // interval_ns - (rows[-1][0] if rows else 0)
            if silent > _MOST_SILENT or (rows and rows[-1][-1] != rows[-1][0] * interval_ns):
                file = folder / INTERVALS / f"{number:03}.parquet"
                raise unreadable(file, "its intervals do not match run.json", "its time series")
            whole = _whole(rows, interval_ns, record.measurement, warm_up_ns)
            loaded[number] = _with_ops(whole, by_op.get(number, []), record.measurement, warm_up_ns)
    return loaded


def _whole(rows: list[tuple[Any, ...]], interval_ns: int, did: Measurement, warm_up_ns: int) -> Series:
    # An interval in which nothing was completed has no row.
    seen = {row[0]: row[1:] for row in rows}
    first, last = warm_up_ns // interval_ns, (warm_up_ns + did.issuing_ns) // interval_ns
    all_of_them = [seen.get(number, (0, 0, 0)) for number in range(first, last)]
    ios, moved, response_ns = (tuple(int(row[column]) for row in all_of_them) for column in range(3))
    return Series(interval_ns=interval_ns, ios=ios, bytes=moved, response_ns=response_ns)


def load_courses(folder: str) -> dict[int, Course]:
    """The course of every phase of a run folder, by the number of the phase. Raises ArchiveError.

    A phase whose file is not there has none; so has a folder of a run that was imported.
    """
    path = folder_of(folder) / INTERVALS
    # Lists come as text: to make their values one by one, as the database does, takes twice as long.
    columns = ", ".join(f"{name}::{'VARCHAR' if name in _LISTS else _TYPES[name]}" for name in _READ)
    query = f"SELECT {columns} FROM read_parquet(?) ORDER BY interval"
    found = rows_of_phases(path, lambda _: query, "its time series")
    courses: dict[int, Course] = {}
    for number, rows in found.items():
        try:
            courses[number] = tuple(_interval(row) for row in rows)
        except BROKEN as error:
            raise unreadable(path / f"{number:03}.parquet", str(error), "its time series") from error
    return courses


_HISTOGRAM = tuple(f"response_{part}" for part in ("index", "count", "sum_ns", "sum_squares", "min_ns", "max_ns"))
_LISTS = _HISTOGRAM[:2]
_READ = ("start_ns", "op", "size_bytes", "bytes", "errors", *_HISTOGRAM)
_TYPES = {column.name: column.type for column in INTERVAL_COLUMNS}
_numbers = msgspec.json.Decoder(tuple[int, ...]).decode


def _interval(row: tuple[Any, ...]) -> Interval:
    start_ns, op, size_bytes, moved, errors, index, count, *rest = row
    response = Histogram(_numbers(index), _numbers(count), *rest)
    if fault := fault_of_buckets(response):
        raise msgspec.ValidationError(fault)
    return Interval(start_ns, op, size_bytes, moved, errors, response)
