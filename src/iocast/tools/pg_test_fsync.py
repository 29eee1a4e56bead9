"""What the program pg_test_fsync prints: how long each method takes to make one 8 kB write durable.

What it is: its output, of PostgreSQL 9 to 18.
What is read: of the first block (one 8 kB write) and the last (writes that are not synced) each method as a row: its
rate, and the mean of one operation. With fsync and fdatasync one operation is a write and the sync after it, so that
their time is that of both.
What it cannot see: percentiles, and whether open_datasync and open_sync were direct.
What is refused: a file that is cut within the first block. Methods that a system does not have are left out, as are
the blocks of two writes, of other sizes and of other descriptors.
"""

from __future__ import annotations

import re

from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Closed, Sync
from iocast.tools.foreign_numbers import number_of, whole_of
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

BOTH = "The time of fsync and fdatasync is that of an 8 kB write and the sync after it."
_FIRST = "Compare file sync methods using one"
_LINE = re.compile(r"^\s+(\w+)\s+([\d.]+) ops/sec\s+([\d.]+) usecs/op")
_UNSYNCED = re.compile(r"^Non-sync'ed (\d{1,3})kB writes:")
_LENGTH = re.compile(r"^(\d{1,5}) seconds? per test")
_BLOCK_BYTES = 8192
_SYNCED: dict[str, Sync] = {"open_datasync": "dsync", "open_sync": "sync"}
_FLUSHED = ("fdatasync", "fsync", "fsync_writethrough")


def sniff(head: Head) -> bool:
    """The line above its first block."""
    return any(line.startswith(_FIRST) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The methods of these files, as the rows of one run. Raises SourceError."""
    rows = [row for path in paths for row in _rows(path, read_text(path))]
    return run(Source(tool="pg_test_fsync", files=paths, notes=(BOTH,)), rows)


def sync_times(text: str) -> dict[str, int]:
    """Method → ns an operation, of one write; methods that the program could not try are left out.

    The blocks after the first are of other sizes, two writes and descriptors.
    """
    times: dict[str, int] = {}
    begun = False
    for line in text.splitlines():
        if line.startswith(_FIRST):
            begun = True
        elif begun and line.startswith("Compare"):
            break
        elif begun and (match := _LINE.match(line)):
            # The rate has more digits than the time, which is in whole microseconds.
            rate, took_us = number_of(match[2]), number_of(match[3])
            if rate:
                times[match[1]] = round(1e9 / rate)
            elif took_us is not None:
                times[match[1]] = round(took_us * 1000)
    return times


def _rows(path: str, text: str) -> list[Row]:
    lines = text.splitlines()
    seconds = next((whole_of(match[1]) for line in lines if (match := _LENGTH.match(line))), None) or 1
    rows = [_row(method, took_ns, seconds) for method, took_ns in sync_times(text).items() if took_ns]
    if not rows:
        raise refuse(path, 0, "it has no rate of one write: pg_test_fsync was stopped, or the file is truncated")
    unsynced = next((at for at, line in enumerate(lines) if _UNSYNCED.match(line)), None)
    match = _LINE.match(lines[unsynced + 1]) if unsynced is not None and unsynced + 1 < len(lines) else None
    rate = number_of(match[2]) if match else None
    return [*rows, _row("write", round(1e9 / rate), seconds)] if rate and rate < 1e9 else rows


def _row(method: str, took_ns: int, seconds: int) -> Row:
    """One write after the other, with one outstanding. The number of operations is the rate times the length."""
    ios = max(1, round(seconds * SECOND_NS / took_ns))
    times = stated(Coarse(total=ios, mean_ns=took_ns))
    write = OpFigures(op="write", ios=ios, bytes=ios * _BLOCK_BYTES, size_bytes=_BLOCK_BYTES, times=times)
    return Row(
        name=method,
        test="commit" if method != "write" else "write",
        ops=(write,),
        elapsed_ns=seconds * SECOND_NS,
        users=1,
        depth=1,
        direct=None if method in _SYNCED else False,
        sync=_SYNCED.get(method, "none"),
        fsync_every=1 if method in _FLUSHED else 0,
        arrival=Closed(),
    )
