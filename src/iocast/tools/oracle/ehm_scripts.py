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

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from iocast.model.run import Run, Source
from iocast.tools.foreign_numbers import whole
from iocast.tools.oracle.oracle_events import EVENTS, WAITS_NOTE, checked_edge, event_row, family
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import Row, run

Unit = Literal["milli", "micro"]
_NUMBER = r"(\d{0,18}\.?\d{1,9})"
_HEAD = re.compile(r"Latency Bucket {2,60}Num Waits/DeltaT {2,60}Wait Time/DeltaT")
_OLD_HEAD = re.compile(r"Wait \(ms\) {1,60}N# {1,60}Event")
_TITLE = re.compile(r'Latency histogram for event "(.{1,80})" from')
_UNIT = re.compile(r"\((milli|micro)sec\) {2,60}\(Hz\)")
_SPAN = re.compile(r"(?:DeltaT = |delta measurement interval = )(\d{1,9}(?:\.\d{1,6})?) sec")
_RANGE = re.compile(
    rf"(\d{{1,15}}) -> (\d{{1,15}}) {{1,60}}{_NUMBER} {{1,60}}{_NUMBER} {{1,60}}([A-Za-z]\S.{{0,160}})$"
)
_OLD_ROW = re.compile(r"(\d{1,15}) {1,60}(\d{1,15}) {1,60}([A-Za-z]\S.{0,160})$")
_MEAN = re.compile(rf"^{_NUMBER} {{1,60}}{_NUMBER} {{1,60}}{_NUMBER} {{1,60}}([A-Za-z]\S.{{0,160}})$")
_STAMP = re.compile(r" {1,60}\d{1,2}-[A-Z]{3}-\d\d [\d.: APM+-]{8,50}$")
_RULE = re.compile(r"[- ]{10,}")


class Print(Struct):
    """One print of a script. Rates are waits a second as printed; counts are those of the old layout."""

    line: int
    title: str = ""  # the event in the line above: the rows have only 24 characters of it
    event: str = ""
    unit: Unit = "milli"
    seconds: Fraction | None = None
    rates: dict[int, Fraction] = {}  # by upper edge
    counts: dict[int, int] = {}
    mean: Fraction | None = None  # in `unit`
    waits: Fraction | None = None  # a second, or counted in the old layout
    took: Fraction | None = None  # in `unit`, a second, or in all in the old layout


def is_ehm(lines: Iterable[str]) -> bool:
    """Whether one of these lines heads the buckets of such a print."""
    return any(_HEAD.match(line.strip()) or _OLD_HEAD.match(line.strip()) for line in lines)


def prints(path: str, text: str) -> list[Print]:
    """All prints of a file. Raises SourceError with file and line."""
    print_list: list[Print] = []
    seconds: Fraction | None = None
    title = ""
    state: Literal["before", "rates", "counts", "means"] = "before"
    for at, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()[:400]
        if span := _SPAN.search(line):
            seconds, title = Fraction(span[1]), ""
        elif named := _TITLE.match(line):
            title = named[1]
        elif _HEAD.match(line) or _OLD_HEAD.match(line):
            state = "rates" if _HEAD.match(line) else "counts"
            print_list.append(Print(at, title=title, seconds=seconds, rates={}, counts={}))
        elif line.startswith(("Mean Wait Time", "Avg wait(ms)")) and print_list:
            state = "means"
        elif (unit := _UNIT.match(line)) and print_list:
            print_list[-1].unit = "milli" if unit[1] == "milli" else "micro"
        elif line and state != "before" and not _RULE.fullmatch(line):
            _take(path, at, line, print_list[-1], state)
    return print_list


def _take(path: str, at: int, line: str, into: Print, state: str) -> None:
    """One row of buckets, or of means. Raises SourceError for what looks like a row and is none."""
    if state == "rates" and (match := _RANGE.match(line)):
        _rate(path, at, match, into)
    elif state == "counts" and (match := _OLD_ROW.match(line)):
        _named(path, at, match[3], into)
        edge, count = (whole(path, at, match[place], "a bucket") for place in (1, 2))
        into.counts[_new(path, at, edge, into.counts)] = count
    elif state == "means" and (match := _MEAN.match(line)):
        _named(path, at, match[4], into)
        into.mean, into.waits, into.took = (Fraction(match[each]) for each in (1, 2, 3))
    elif line[0].isdigit():
        raise refuse(path, at, "a bucket or a mean that cannot be read")


def _rate(path: str, at: int, match: re.Match[str], into: Print) -> None:
    """One bucket with its rate: what it says beside it must be 0.75 x upper edge x rate."""
    _named(path, at, match[5], into)
    low = whole(path, at, match[1], "an edge")
    high = 2 * low if low else 1  # the script cuts the upper edge at 19 characters: "16777216 -> 3355443"
    if not str(high).startswith(match[2]):
        raise refuse(path, at, f"a bucket from {low} to {match[2][:20]} that is not one of powers of two")
    rate, took = Fraction(match[3]), Fraction(match[4])
    if abs(Fraction(3, 4) * high * rate - took) > Fraction(1, 20) + took / 1000:
        raise refuse(path, at, f"{match[3]} waits/s below {high} do not make the {match[4]} beside them")
    into.rates[_new(path, at, high, into.rates)] = rate


def _new(path: str, at: int, edge: int, counts: dict[int, Fraction] | dict[int, int]) -> int:
    if edge in counts:
        raise refuse(path, at, f"the bucket below {edge} stands here twice")
    return edge


def _named(path: str, at: int, words: str, into: Print) -> None:
    """The event, without the time of its last change; one print has one event."""
    event = " ".join(_STAMP.sub("", words).split())
    event = into.title if into.title.startswith(event) else event
    if into.event and event != into.event:
        raise refuse(path, at, f"{event[:40]} among the buckets of {into.event[:40]}")
    into.event = event


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
        print_list = prints(path, read_whole_lines(path, warnings))
        rows += [_row(path, each, warnings) for each in print_list]
    return run(Source(tool="ehm", files=paths, notes=(WAITS_NOTE,)), rows, warnings=warnings)


def _row(path: str, each: Print, warnings: list[str]) -> Row:
    if not each.rates and not each.counts:
        raise refuse(path, each.line, "a print without buckets: it was cut, or its event did not occur")
    if family(each.event) not in EVENTS:
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
