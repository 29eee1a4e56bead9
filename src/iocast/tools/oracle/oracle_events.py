"""Oracle's wait events for I/O: which operation each waits for, and whether one wait is one I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Op
from iocast.tools.source_files import refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, stated

EVENTS: Final[dict[str, Op]] = {
    "db file sequential read": "read",
    "db file scattered read": "read",
    "db file parallel read": "read",
    "direct path read": "read",
    "direct path read temp": "read",
    "control file sequential read": "read",
    "log file sequential read": "read",
    "cell single block physical read": "read",
    "cell multiblock physical read": "read",
    "Disk file I/O Calibration": "read",
    "db file parallel write": "write",
    "db file single write": "write",
    "direct path write": "write",
    "direct path write temp": "write",
    "control file parallel write": "write",
    "control file single write": "write",
    "log file parallel write": "write",
    "log file single write": "write",
}
WAITS_NOTE = (
    "Rows count waits, as Oracle does: a parallel or direct path wait may be for several I/Os, or for less than one,"
    " so its time is not that of an I/O, and its row has no IOPS."
)


def family(event: str) -> str:
    """The name of an event by which it is known: since 19c the cache that answered stands behind it, as in "cell single
    block physical read: flash cache"."""
    return event.partition(": ")[0]


def waits_are_ios(event: str) -> bool:
    """False where one wait is for several I/Os, or for less than one."""
    return not event.startswith(("direct path", "Disk file I/O Calibration")) and " parallel " not in event


OVERFLOW = 4_294_967_295  # the edge that the views give their last bucket: it has none
LARGEST_EDGE = 1 << 40


def checked_edge(path: str, line: int, edge: int) -> int:
    """The same upper edge. Raises SourceError for one that no view of Oracle has."""
    if edge != OVERFLOW and (not 0 < edge <= LARGEST_EDGE or edge & (edge - 1)):
        raise refuse(path, line, f"the upper edge {edge} of a bucket is not a power of two")
    return edge


def event_row(
    event: str,
    counts: Mapping[int, int],
    *,
    unit_ns: int,
    waits: int | None = None,
    mean_ns: float | None = None,
    seconds: float | None = None,
    span: str = "",
    rounded: bool = False,
) -> Row:
    """One event in one interval. `waits`: as stated beside the buckets; `rounded`: counts from rounded rates."""
    edges = sorted(edge for edge in counts if edge != OVERFLOW)
    buckets = [Bucket(_low(edge) * unit_ns, edge * unit_ns, counts[edge]) for edge in edges if counts[edge]]
    if counts.get(OVERFLOW):
        # What is above the last edge: the largest one that the view names.
        above = (edges[-1] if edges else 0) * unit_ns
        buckets.append(Bucket(above, None, counts[OVERFLOW]))
    total = sum(counts.values()) if waits is None else waits
    whole = sum(counts.values())
    timed = seconds is not None and waits_are_ios(event)
    return Row(
        name=f"{event} {span}".strip(),
        test=EVENTS[family(event)],
        ops=(
            OpFigures(
                op=EVENTS[family(event)],
                ios=total,
                bytes=0,
                times=stated(Coarse(total=total, mean_ns=mean_ns, buckets=tuple(buckets), whole=whole)),
            ),
        ),
        elapsed_ns=round((seconds or 1) * SECOND_NS),
        derived=("size", *(("ios",) if rounded and timed else ()), *(() if timed else ("length",))),
    )


def _low(edge: int) -> int:
    """The first bucket begins at 0."""
    return edge // 2 if edge > 1 else 0
