"""Large fio logs with a line for every I/O, counted by DuckDB as they are read: the same counts as line by line."""

from __future__ import annotations

import os
from collections import Counter

from iocast.model.histogram import SUB_BITS, SUB_BUCKETS
from iocast.tools.fio.log_files import BACK_MS, COLUMNS, NUMBERS, Ios, JobLog
from iocast.tools.source_files import is_gzip, opened

BULK_BYTES = 1 << 20  # below this the database takes longer to start than the lines to read
PART_BYTES = 1 << 20
SIMPLE = b"0123456789, x\n"  # what the lines of a whole log are made of
MEMORY = "128MB"
LINE_BYTES = 400  # the most that seven numbers take
MOST_ROWS = 1_000_000
NAMES = ("time", "value", "direction", "size")

# log2 of a large number may be rounded up; the bit above it is not set then.
_QUERY = f"""
WITH line AS (SELECT *, lag(time) OVER () AS before FROM read_csv(?, columns = {{columns}}, compression = ?,
    delim = ',', auto_detect = false, header = false, quote = '', escape = '')),
io AS (SELECT time, value, direction, size, greatest(value, 1) AS positive,
    sum(CASE WHEN time < before - {BACK_MS} THEN 1 ELSE 0 END) OVER (ROWS UNBOUNDED PRECEDING) AS job FROM line),
placed AS (SELECT *, floor(log2(positive))::INTEGER AS above,
    greatest(above - (CASE WHEN (1::BIGINT << above) > positive THEN 1 ELSE 0 END) - {SUB_BITS}, 0) AS exponent FROM io)
SELECT job, direction,
    CASE WHEN value < {SUB_BUCKETS} THEN value
         ELSE ((exponent + 1) << {SUB_BITS}) + ((value >> exponent) & {SUB_BUCKETS - 1}) END AS bucket,
    count(*), sum(value), sum(value::HUGEINT * value), min(value), max(value), sum(size), min(size), max(size),
    min(time), max(time), bool_or(value > (time + 1) * 1000)
FROM placed GROUP BY ALL ORDER BY ALL LIMIT ?
"""


def count_log(path: str, kind: str) -> list[JobLog] | None:
    """The jobs of a large log of single I/Os; None for every other file, and for a damaged one: read that by lines."""
    if kind == "clat_hist" or (os.path.getsize(path) < BULK_BYTES and not is_gzip(path)):
        return None
    columns = _columns(path)
    return _counted(path, kind, columns) if columns and _simple(path) else None


def _columns(path: str) -> int:
    """How many numbers a line has; 0 when the first one is not a single I/O."""
    with opened(path) as file:
        first = file.readline(LINE_BYTES).decode("ascii", "replace").strip()
    values = [part.strip() for part in first.split(",")]
    single = NUMBERS.fullmatch(first) and len(values) in COLUMNS and values[3] != "0" and values[2] in ("0", "1", "2")
    return len(values) if single else 0


def _simple(path: str) -> bool:
    """Whether every byte is one of a log's, and the last line has its end."""
    last = b""
    with opened(path) as file:
        while part := file.read(PART_BYTES):
            if part.translate(None, SIMPLE):
                return False
            last = part[-1:]
    return last == b"\n"


def _counted(path: str, kind: str, columns: int) -> list[JobLog] | None:
    import duckdb

    types = ["BIGINT", "BIGINT", "UTINYINT", "BIGINT", "VARCHAR", "VARCHAR", "VARCHAR"][:columns]
    names = [*NAMES, "offset_bytes", "priority", "issued"][:columns]
    told = ", ".join(f"'{name}': '{kept}'" for name, kept in zip(names, types, strict=True))
    with open(path, "rb") as file, duckdb.connect(config={"memory_limit": MEMORY, "threads": 2}) as base:
        # By its number the file is read whatever its name holds.
        place = [f"/proc/self/fd/{file.fileno()}", "gzip" if is_gzip(path) else "none", MOST_ROWS]
        try:
            base.execute("SET enable_progress_bar = false")  # it would be drawn over what is printed
            rows = base.execute(_QUERY.format(columns=f"{{{told}}}"), place).fetchall()
        except duckdb.Error:
            return None
    if len(rows) == MOST_ROWS:
        return None
    jobs: dict[int, JobLog] = {}
    for number, direction, bucket, *figures in rows:
        size_least, first_ms, last_ms, beyond = figures[6], *figures[8:]
        if size_least < 1 or direction > 2:
            return None
        job = jobs.setdefault(number, JobLog(path, kind, columns, False, first_ms, last_ms))
        job.first_ms, job.last_ms = min(job.first_ms, first_ms), max(job.last_ms, last_ms)
        job.beyond_start = job.beyond_start or beyond
        _add(job, direction, bucket, *figures[:8])
    return [jobs[number] for number in sorted(jobs)]


def _add(
    job: JobLog,
    direction: int,
    bucket: int,
    count: int,
    total: int,
    squares: int,
    least: int,
    most: int,
    moved: int,
    smallest: int,
    largest: int,
) -> None:
    ios = job.ios.get(direction)
    if ios is None:
        ios = job.ios[direction] = Ios(smallest=smallest, least=least, buckets=Counter())
    ios.count += count
    ios.bytes += moved
    ios.sum += total
    ios.squares += squares
    ios.least, ios.most = min(ios.least, least), max(ios.most, most)
    ios.smallest, ios.largest = min(ios.smallest, smallest), max(ios.largest, largest)
    ios.buckets[bucket] += count
