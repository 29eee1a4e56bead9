"""Snapshots of GV$EVENT_HISTOGRAM or GV$EVENT_HISTOGRAM_MICRO: what the waits for I/O between two of them took.

What it is: two or more queries of the view in one spool, or in several files in their order, with names above the
columns (SQL*Plus, `set colsep '|'`, CSV), each row under its time; beside them GV$SYSTEM_EVENT for the means.
What is read: by name, EVENT, WAIT_TIME_MILLI or WAIT_TIME_MICRO (the upper edge of a bucket, the lower one half of it;
the first of WAIT_TIME_MILLI is all below 1 ms), WAIT_COUNT, INST_ID: each I/O event of an interval is a row, its
instances added up. A bucket that the first snapshot does not have was empty. The last one (4294967295) is open.
What it cannot see: sizes, users, depth; without GV$SYSTEM_EVENT the mean. A wait may be for several I/Os: see the note.
What is refused: a single snapshot; edges that are not powers of two; numbers that are not whole (`set numwidth 20`).
Counts that fell (a restart) and snapshots out of order leave out their interval, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from iocast.model.run import Run, Source
from iocast.tools.foreign_numbers import whole_of
from iocast.tools.oracle.oracle_events import EVENTS, WAITS_NOTE, checked_edge, event_row, family
from iocast.tools.oracle.view_snapshots import (
    Counters,
    Snapshot,
    ViewRow,
    clock,
    grown,
    has_columns,
    seconds_between,
    snapshots,
    view_rows,
    whole_number,
)
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import Row, run

UNITS_NS = {"WAIT_TIME_MICRO": 1_000, "WAIT_TIME_MILLI": 1_000_000}
COUNT = "WAIT_COUNT"
TOTALS = ("TOTAL_WAITS", "TIME_WAITED_MICRO")
TWO = "query the view twice into one spool, some seconds apart, each row with SYSTIMESTAMP"
CUT = "the file ends within its last table: if it was cut there, events, longer times or the last snapshot are missing"


def sniff(head: Head) -> bool:
    """The columns of either view above its rows."""
    return any(has_columns(head.lines(), ("EVENT", COUNT, edge)) for edge in UNITS_NS)


def read(paths: tuple[str, ...]) -> Run:
    """The I/O events of all intervals, a row each. Raises SourceError."""
    warnings: list[str] = []
    counted: dict[str, list[Snapshot]] = {edge: [] for edge in UNITS_NS}
    totals: list[Snapshot] = []
    for path in paths:
        text = read_whole_lines(path, warnings)
        for edge, histogram_counts in counted.items():
            histogram_counts += _histograms(path, text, edge, warnings)
        totals += _totals(path, text)
    finer = [edge for edge in UNITS_NS if len(counted[edge]) > 1]
    if not finer:
        raise refuse(paths[0], 0, "it has one snapshot; what happened is the difference of two", TWO)
    taken = counted[finer[0]]
    if totals and len(totals) != len(taken):
        warnings.append(f"{paths[0]}: {len(totals)} snapshots of totals beside {len(taken)} of buckets: no means")
        totals = []
    beside = list(pairwise(totals)) or [(Snapshot("", {}), Snapshot("", {}))] * (len(taken) - 1)
    intervals = zip(pairwise(taken), beside, strict=True)
    rows = [row for pair, sums in intervals for row in _interval(paths[0], pair, sums, UNITS_NS[finer[0]], warnings)]
    if not rows:
        raise refuse(paths[0], 0, "no waits for I/O are known between its snapshots", TWO)
    source = Source(tool="GV$EVENT_HISTOGRAM", files=paths, notes=(WAITS_NOTE,))
    return run(source, rows, warnings=warnings)


def _histograms(path: str, text: str, edge: str, warnings: list[str]) -> list[Snapshot]:
    table = view_rows(path, text, ("EVENT", COUNT, edge))
    if table.rows and not table.ended:
        warnings.append(f"{path}: {CUT}")

    def key(row: ViewRow) -> tuple[str, ...]:
        upper = whole_number(path, row, edge)
        if upper is None:
            raise refuse(path, row.line, f"a bucket without {edge}")
        return row.cells.get("INST_ID", ""), row.cells["EVENT"], str(checked_edge(path, row.line, upper))

    return snapshots(table.rows, key, lambda row: _numbers(path, row, (COUNT,)))


def _totals(path: str, text: str) -> list[Snapshot]:
    table = view_rows(path, text, ("EVENT", *TOTALS))
    return snapshots(
        table.rows,
        lambda row: (row.cells.get("INST_ID", ""), row.cells["EVENT"]),
        lambda row: _numbers(path, row, TOTALS),
    )


def _numbers(path: str, row: ViewRow, names: Iterable[str]) -> Counters:
    numbers = ((name, whole_number(path, row, name)) for name in names)
    return {name: value for name, value in numbers if value is not None}


def _interval(
    path: str, pair: tuple[Snapshot, Snapshot], sums: tuple[Snapshot, Snapshot], unit_ns: int, warnings: list[str]
) -> Iterator[Row]:
    """The I/O events between two snapshots, all instances together."""
    first, then = pair
    seconds = seconds_between(first.stamp, then.stamp)
    span = f"{clock(first.stamp)} to {clock(then.stamp)}" if then.stamp else ""
    if seconds is not None and seconds <= 0:
        warnings.append(f"{path}: the snapshot of {then.stamp[:40]} is not later than the one before: left out")
        return
    for event in dict.fromkeys(key[1] for key in then.keys if family(key[1]) in EVENTS):
        counts = _counts(event, first, then)
        if counts is None:
            warnings.append(f"{path}: {event}, {span or 'one interval'}: a count fell or is missing: left out")
        elif any(counts.values()):
            waits, mean_ns = _mean(event, *sums)
            yield event_row(event, counts, unit_ns=unit_ns, waits=waits, mean_ns=mean_ns, seconds=seconds, span=span)


def _counts(event: str, first: Snapshot, then: Snapshot) -> dict[int, int] | None:
    """How far each bucket of an event went; None where one fell, or where an instance was in one snapshot only."""
    if {key[0] for key in first.keys} != {key[0] for key in then.keys}:
        return None
    if any(key[1] == event and key not in then.keys for key in first.keys):
        return None
    counts: dict[int, int] = {}
    for key in [key for key in then.keys if key[1] == event]:
        went = grown(first.keys.get(key, {COUNT: 0}), then.keys[key])
        if not went:
            return None
        edge = whole_of(key[2]) or 0
        counts[edge] = counts.get(edge, 0) + went[COUNT]
    return counts


def _mean(event: str, first: Snapshot, then: Snapshot) -> tuple[int | None, float | None]:
    """The waits of all instances and their mean, as the totals state them; None where they do not."""
    went = [grown(first.keys.get(key, {}), now) for key, now in then.keys.items() if key[1] == event]
    known = [each for each in went if each and {*TOTALS} <= {*each}]
    waits = sum(each[TOTALS[0]] for each in known)
    if len(known) != len(went) or not waits:
        return None, None
    took_us = sum(each[TOTALS[1]] for each in known)
    return waits, took_us * 1_000 / waits if took_us else None
