"""Rows of a view become snapshots of its counters: one ends where its time changes, or a key comes again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from iocast.tools.clock_times import CLOCK, DAY_S, day_of, second_of_day, since_1970
from iocast.tools.oracle.view_rows import ViewRow

TIMES = (
    *("SNAP_TIME", "SNAPSHOT_TIME", "SAMPLE_TIME", "SYSDATE", "SYSTIMESTAMP", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP"),
    *("END_INTERVAL_TIME", "TIME", "SNAP_ID"),
)

Counters = Mapping[str, int]


class Snapshot(Struct):
    """The counters of one moment. `stamp` is its time as printed, "" where there is none."""

    stamp: str
    keys: dict[tuple[str, ...], Counters]


def snapshots(
    rows: tuple[ViewRow, ...], key: Callable[[ViewRow], tuple[str, ...]], counters: Callable[[ViewRow], Counters]
) -> list[Snapshot]:
    """The snapshots, in their order in the file."""
    found: list[Snapshot] = []
    for row in rows:
        stamp = next((row.cells[name] for name in _stamped(row) if row.cells[name]), "")
        own = key(row)
        if not found or found[-1].stamp != stamp or own in found[-1].keys:
            found.append(Snapshot(stamp, {}))
        found[-1].keys[own] = counters(row)
    return found


def _stamped(row: ViewRow) -> list[str]:
    """The columns with its time."""
    known = [name for name in TIMES if name in row.cells]
    return known + [name for name in row.cells if name.startswith(("TO_CHAR(SYS", "TO_CHAR(CURRENT_TIME"))]


def grown(before: Counters, now: Counters) -> dict[str, int] | None:
    """How far each counter went that both state; None where one fell: the instance was restarted in between."""
    went = {name: now[name] - before[name] for name in now if name in before}
    return None if any(value < 0 for value in went.values()) else went


def seconds_between(first: str, then: str) -> float | None:
    """The time between two stamps; None where they do not say: of two numeric dates the order of day and month."""
    epochs = since_1970(first), since_1970(then)
    if epochs[0] is not None and epochs[1] is not None:
        return epochs[1] - epochs[0]
    clocks = second_of_day(first), second_of_day(then)
    if clocks[0] is None or clocks[1] is None:
        return None
    days = day_of(first), day_of(then)
    if days[0] is not None and days[1] is not None:
        return round((days[1] - days[0]) * DAY_S + clocks[1] - clocks[0], 9)
    dates = {CLOCK.split(each, maxsplit=1)[0].strip() for each in (first, then)}
    return round(clocks[1] - clocks[0], 9) if len(dates) == 1 else None


def clock(stamp: str) -> str:
    """The time of day of a stamp with one, to the second; else the stamp."""
    found = CLOCK.search(stamp.upper())
    return ":".join(found.group(1, 2, 3)) + (f" {found[5]}" if found[5] else "") if found else stamp[:40]
