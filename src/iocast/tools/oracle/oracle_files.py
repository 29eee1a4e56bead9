"""The file I/O sections of AWR and Statspack: each data file with the mean of its reads, and its single-block reads."""

from __future__ import annotations

import re

from iocast.model.histogram import Histogram
from iocast.model.stated import Bucket, Coarse
from iocast.tools.foreign_numbers import number, whole
from iocast.tools.oracle.report_tables import Table
from iocast.tools.source_files import refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, stated

FILES = "File IO Stats"
SINGLE = "File Read Histogram Stats"
FILES_NOTE = "Rows of files count the I/Os of rows of waits once more, by file; the mean of the writes is not stated."
READ_MEAN = "Av Rd(ms)"
MS_NS = 1_000_000
COLUMNS = ("Filename", "Reads", "Writes", READ_MEAN)
_EDGES = re.compile(r"(\d{1,6}) - (\d{1,6}) ms$|(\d{1,6})\+ ms$")
_COUNT = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})$")


def file_rows(path: str, table: Table, minutes: float | None, warnings: list[str]) -> list[Row]:
    """The files that were read or written, a row each. Raises SourceError; also where a mean has no unit."""
    if missing := [each for each in COLUMNS if each not in table.head]:
        hint = "give the report exactly as Oracle wrote it; its section File IO Stats can be deleted"
        raise refuse(path, table.line, f'its section {FILES} has no column "{missing[0]}"', hint)
    name, reads, writes, mean = (table.head.index(each) for each in COLUMNS)
    rows: list[Row] = []
    for line, cells in table.rows:
        if len(cells) != len(table.head):
            raise refuse(path, line, f"a file has {len(cells)} cells, the table has {len(table.head)} columns")
        if any(each and not each.strip("#") for each in cells):
            warnings.append(f"{path}:{line}: {cells[name]} has a figure that is too wide for its column: left out")
            continue
        read = _count(path, line, cells[reads], cells[name])
        written = _count(path, line, cells[writes], cells[name])
        ops = [OpFigures(op="read", ios=read, bytes=0, times=_mean(path, line, cells[mean], read))] if read else []
        ops += [OpFigures(op="write", ios=written, bytes=0)] if written else []
        if ops:
            rows.append(
                Row(
                    name=cells[name],
                    test="+".join(each.op for each in ops),
                    ops=tuple(ops),
                    elapsed_ns=round((minutes or 0) * 60 * SECOND_NS) or SECOND_NS,
                    path=cells[name],
                    derived=("size", *(() if minutes else ("length",))),
                )
            )
    return rows


def _count(path: str, line: int, cell: str, file: str) -> int:
    if not _COUNT.match(cell):
        raise refuse(path, line, f'{file[:80]}: "{cell[:20]}" is not a count')
    return whole(path, line, cell.replace(",", ""), file[:80])


def _mean(path: str, line: int, cell: str, reads: int) -> Histogram:
    """The stated mean; 0.00 is less than its last digit shows, and so unknown."""
    if not cell:
        return Histogram()
    mean_ms = number(path, line, cell.replace(",", ""), READ_MEAN)
    return stated(Coarse(total=reads, mean_ns=mean_ms * 1e6)) if mean_ms else Histogram()


def single_read_rows(path: str, table: Table, minutes: float | None) -> list[Row]:
    """The single-block reads of each file in the report's own buckets, a row each. Raises SourceError."""
    edges = [_edges(path, table.line, head) for head in table.head[2:]]
    rows: list[Row] = []
    for line, (_, file, *cells) in table.rows:
        counts = [_count(path, line, cell or "0", file) for cell in cells]
        total = sum(counts)
        buckets = tuple(Bucket(low, high, count) for (low, high), count in zip(edges, counts, strict=True) if count)
        if total:
            times = Coarse(total=total, buckets=buckets, whole=total)
            rows.append(
                Row(
                    name=f"{file} single-block reads",
                    test="read",
                    ops=(OpFigures(op="read", ios=total, bytes=0, times=stated(times)),),
                    elapsed_ns=round((minutes or 0) * 60 * SECOND_NS) or SECOND_NS,
                    path=file,
                    derived=("size", *(() if minutes else ("length",))),
                )
            )
    return rows


def _edges(path: str, line: int, head: str) -> tuple[int, int | None]:
    match = _EDGES.match(head)
    if not match:
        raise refuse(path, line, f'"{head[:20]}" is not a range of milliseconds')
    low, high = (whole(path, line, each, head) * MS_NS if each else None for each in (match[1] or match[3], match[2]))
    return low or 0, high
