"""Rows of a view become snapshots of its counters: one ends where its time changes, or a key comes again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date

from msgspec import Struct

from iocast.formats.oracle_views.view_rows import ViewRow

TIMES = (
    *("SNAP_TIME", "SNAPSHOT_TIME", "SAMPLE_TIME", "SYSDATE", "SYSTIMESTAMP", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP"),
    *("END_INTERVAL_TIME", "TIME", "SNAP_ID"),
)
DAY_S = 86_400
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_EPOCH = re.compile(r"\d{9,11}(?:\.\d{1,9})?$")
_CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)[:.](\d\d)([.,]\d{1,9})?(?: ?([AP]M))?")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T]")
_NAMED = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4}|\d\d) ")

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
    if _EPOCH.match(first) and _EPOCH.match(then):
        return float(then) - float(first)
    clocks = [_of_day(each) for each in (first, then)]
    if clocks[0] is None or clocks[1] is None:
        return None
    days = [_day(each) for each in (first, then)]
    if days[0] is not None and days[1] is not None:
        return round((days[1] - days[0]) * DAY_S + clocks[1] - clocks[0], 9)
    dates = {_CLOCK.split(each, maxsplit=1)[0].strip() for each in (first, then)}
    return round(clocks[1] - clocks[0], 9) if len(dates) == 1 else None


def _of_day(stamp: str) -> float | None:
    found = _CLOCK.search(stamp.upper())
    if not found:
        return None
    hour = int(found[1]) % 12 + (12 if found[5] == "PM" else 0) if found[5] else int(found[1])
    part = float(f"0{found[4].replace(',', '.')}") if found[4] else 0.0
    return hour * 3600 + int(found[2]) * 60 + int(found[3]) + part


def _day(stamp: str) -> int | None:
    """The number of a day whose date is one of ISO, or names its month."""
    upper = stamp.upper()
    try:
        if found := _ISO.search(upper):
            return date(int(found[1]), int(found[2]), int(found[3])).toordinal()
        if (found := _NAMED.search(upper)) and found[2] in _MONTHS:
            year = int(found[3]) + (2000 if len(found[3]) == 2 else 0)
            return date(year, _MONTHS.index(found[2]) + 1, int(found[1])).toordinal()
    except ValueError:
        return None
    return None


def clock(stamp: str) -> str:
    """The time of day of a stamp with one, to the second; else the stamp."""
    found = _CLOCK.search(stamp.upper())
    return ":".join(found.group(1, 2, 3)) + (f" {found[5]}" if found[5] else "") if found else stamp[:40]
