"""ehm.sql, ehm_local.sql, ehm_micro.sql: how long an Oracle wait event took between two snapshots of its histogram.

What it is: what the scripts print in SQL*Plus, of 2012 (counts by upper edge in ms) and from 2015 (ranges in ms or us,
waits a second), with the means of GV$SYSTEM_EVENT below.
What is read: each print is a row: the buckets as waits over DeltaT, the mean, the waits. Rates are rounded to 0.1/s,
so the counts are marked as worked out. An upper edge that the script cut ("16777216 -> 3355443") is known by the lower.
What it cannot see: sizes, users, depth. A wait may be for several I/Os: a note says so.
What is refused: waits that are not for I/O (log file sync); a bucket whose time is not 0.75 x its upper edge x its
rate, as the script has it; a print without buckets. One without its means was cut: it is read, and named.
"""

from __future__ import annotations

from fractions import Fraction

from iocast.model.run import Run, Source
from iocast.tools.oracle.ehm_prints import Print, is_ehm, prints
from iocast.tools.oracle.event_buckets import checked_edge, event_row
from iocast.tools.oracle.oracle_events import EVENTS, WAITS_NOTE
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import Row, run

UNITS_NS = {"milli": 1_000_000, "micro": 1_000}
APART = 0.01  # the two views are read one after the other


def sniff(head: Head) -> bool:
    """The heading of the buckets."""
    return is_ehm(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """Each print as a row. Raises SourceError."""
    warnings: list[str] = []
    rows = []
    for path in paths:
        found = prints(path, read_whole_lines(path, warnings))
        rows += [_row(path, each, warnings) for each in found]
    return run(Source(tool="ehm", files=paths, notes=(WAITS_NOTE,)), rows, warnings=warnings)


def _row(path: str, each: Print, warnings: list[str]) -> Row:
    if not each.rates and not each.counts:
        raise refuse(path, each.line, "a print without buckets: it was cut, or its event did not occur")
    if each.event not in EVENTS:
        raise refuse(path, each.line, f'"{each.event[:60]}" is not a wait for I/O', "give a print of such an event")
    if each.waits is None:
        warnings.append(f"{path}:{each.line}: a print without its means: it was cut, longer times may be missing")
    seconds = each.seconds or Fraction(1)
    counts = each.counts or {edge: round(rate * seconds) for edge, rate in each.rates.items()}
    for edge in counts:
        checked_edge(path, each.line, edge)
    waits, mean_ns = _totals(each, seconds)
    total = sum(counts.values())
    if waits and abs(waits - total) > max(APART * waits, len(counts)):
        warnings.append(f"{path}:{each.line}: its buckets hold {total} waits, its totals say {waits}")
    return event_row(
        each.event,
        counts,
        unit_ns=UNITS_NS[each.unit],
        waits=waits,
        mean_ns=mean_ns,
        seconds=seconds / 1.0 if each.seconds or each.rates else None,
        rounded=bool(each.rates),
    )


def _totals(each: Print, seconds: Fraction) -> tuple[int | None, float | None]:
    """The waits, and their mean: as printed, or the quotient, whichever its rounding to 0.1 says more of."""
    if not each.waits or not each.mean or not each.took:
        return None, None
    mean = each.mean if each.mean >= each.waits else each.took / each.waits
    waits = each.waits if each.counts else each.waits * seconds
    return round(waits), mean * UNITS_NS[each.unit] / 1.0
