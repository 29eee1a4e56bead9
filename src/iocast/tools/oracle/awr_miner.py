"""AWR-Miner: how long the waits for I/O of an Oracle database took, from its block IO-WAIT-HISTOGRAM.

What it is: the file that `awr_miner.sql` writes, blocks between ~~BEGIN-NAME~~ and ~~END-NAME~~.
What is read: each I/O event is a row of the waits of all snapshots, in milliseconds; WAIT_TIME_MILLI is the upper edge
of a bucket, the lower one half of it. The counts are those of each snapshot, so they are added up.
What it cannot see: for how long, sizes, users, depth, any mean. A wait may be for several I/Os: a note says so.
What is refused: a file without this block or without waits for I/O; edges that are not powers of two; counts that are
not numbers. A block that is cut is read as far as it goes, and named.
"""

from __future__ import annotations

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.tools.foreign_numbers import whole
from iocast.tools.oracle.oracle_events import EVENTS, WAITS_NOTE, family
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

BEGIN, END = "~~BEGIN-IO-WAIT-HISTOGRAM~~", "~~END-IO-WAIT-HISTOGRAM~~"
COLUMNS = ["SNAP_ID", "WAIT_CLASS", "EVENT_NAME", "WAIT_TIME_MILLI", "WAIT_COUNT"]
MS_NS = 1_000_000


def sniff(head: Head) -> bool:
    """The first block of AWR-Miner, or that of the waits."""
    return any(line.startswith(("~~BEGIN-OS-INFORMATION~~", BEGIN)) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The I/O events of these files, a row each. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _rows(path, read_text(path), warnings)]
    return run(Source(tool="AWR-Miner", files=paths, notes=(WAITS_NOTE,)), rows, warnings=warnings)


def _rows(path: str, text: str, warnings: list[str]) -> list[Row]:
    events: dict[str, dict[int, int]] = {}
    state = "before"
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")) and lines[-1] != END:
        lines.pop()  # it may have lost digits
    for at, line in enumerate(lines, 1):
        words = line.split()
        if line.strip() in (BEGIN, END):
            state = "head" if line.strip() == BEGIN else "after"
        elif state == "head" and words:
            if words != COLUMNS:
                raise refuse(path, at, f"a block of waits without the columns {', '.join(COLUMNS)}")
            state = "rows"
        elif state == "rows" and words and words[0].strip("-"):
            _take(path, at, line, events)
    if state in ("head", "rows"):
        warnings.append(f"{path}: the block of waits is cut: events, snapshots or longer times may be missing")
    if not events:
        hint = "give the file exactly as AWR-Miner wrote it, of an interval with I/O"
        raise refuse(path, 0, "it has no block IO-WAIT-HISTOGRAM with waits for I/O", hint)
    return [_row(name, counts) for name, counts in events.items()]


def _take(path: str, at: int, line: str, events: dict[str, dict[int, int]]) -> None:
    """One row: a snapshot, a class, an event, an upper edge and a count."""
    left, *numbers = line.rsplit(None, 2)
    name = left.rpartition("  ")[2].strip()
    if family(name) not in EVENTS:
        return
    if len(numbers) < 2:
        raise refuse(path, at, f"{name} without its edge and its count")
    edge, count = whole(path, at, numbers[0], f"{name}: its edge"), whole(path, at, numbers[1], f"{name}: its count")
    if not edge or edge & (edge - 1):
        raise refuse(path, at, f"{name}: the edge {edge} ms is not a power of two")
    counts = events.setdefault(name, {})
    counts[edge] = counts.get(edge, 0) + count


def _row(name: str, counts: dict[int, int]) -> Row:
    buckets = tuple(
        Bucket(edge * MS_NS // 2 if edge > 1 else 0, edge * MS_NS, count) for edge, count in sorted(counts.items())
    )
    total = sum(counts.values())
    times = Coarse(total=total, buckets=buckets, whole=total)
    return Row(
        name=name,
        test=EVENTS[family(name)],
        ops=(OpFigures(op=EVENTS[family(name)], ios=total, bytes=0, times=stated(times)),),
        elapsed_ns=SECOND_NS,
        derived=("size", "length"),
    )
