"""What the scripts ehm.sql, ehm_local.sql and ehm_micro.sql print: a wait event's buckets between two snapshots.

From 2015 a bucket is a range with rates ("256 -> 512", waits a second, 0.75 x the upper edge x that rate), before it
was an upper edge in ms with a count. Below stands what GV$SYSTEM_EVENT says: the mean, the waits, their time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from iocast.tools.foreign_numbers import whole
from iocast.tools.source_files import refuse

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
_MEAN = re.compile(rf"{_NUMBER} {{1,60}}{_NUMBER} {{1,60}}{_NUMBER} {{1,60}}([A-Za-z]\S.{{0,160}})$")
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
    found: list[Print] = []
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
            found.append(Print(at, title=title, seconds=seconds, rates={}, counts={}))
        elif line.startswith(("Mean Wait Time", "Avg wait(ms)")) and found:
            state = "means"
        elif (unit := _UNIT.match(line)) and found:
            found[-1].unit = "milli" if unit[1] == "milli" else "micro"
        elif line and state != "before" and not _RULE.fullmatch(line):
            _take(path, at, line, found[-1], state)
    return found


def _take(path: str, at: int, line: str, into: Print, state: str) -> None:
    """One row of buckets, or of means. Raises SourceError for what looks like a row and is none."""
    if state == "rates" and (found := _RANGE.match(line)):
        _rate(path, at, found, into)
    elif state == "counts" and (found := _OLD_ROW.match(line)):
        _named(path, at, found[3], into)
        edge, count = (whole(path, at, found[place], "a bucket") for place in (1, 2))
        into.counts[_new(path, at, edge, into.counts)] = count
    elif state == "means" and (found := _MEAN.match(line)):
        _named(path, at, found[4], into)
        into.mean, into.waits, into.took = (Fraction(found[each]) for each in (1, 2, 3))
    elif line[0].isdigit():
        raise refuse(path, at, "a bucket or a mean that cannot be read")


def _rate(path: str, at: int, found: re.Match[str], into: Print) -> None:
    """One bucket with its rate: what it says beside it must be 0.75 x upper edge x rate."""
    _named(path, at, found[5], into)
    low = whole(path, at, found[1], "an edge")
    high = 2 * low if low else 1  # the script cuts the upper edge at 19 characters: "16777216 -> 3355443"
    if not str(high).startswith(found[2]):
        raise refuse(path, at, f"a bucket from {low} to {found[2][:20]} that is not one of powers of two")
    rate, took = Fraction(found[3]), Fraction(found[4])
    if abs(Fraction(3, 4) * high * rate - took) > Fraction(1, 20) + took / 1000:
        raise refuse(path, at, f"{found[3]} waits/s below {high} do not make the {found[4]} beside them")
    into.rates[_new(path, at, high, into.rates)] = rate


def _new(path: str, at: int, edge: int, seen: dict[int, Fraction] | dict[int, int]) -> int:
    if edge in seen:
        raise refuse(path, at, f"the bucket below {edge} stands here twice")
    return edge


def _named(path: str, at: int, words: str, into: Print) -> None:
    """The event, without the time of its last change; one print has one event."""
    event = " ".join(_STAMP.sub("", words).split())
    event = into.title if into.title.startswith(event) else event
    if into.event and event != into.event:
        raise refuse(path, at, f"{event[:40]} among the buckets of {into.event[:40]}")
    into.event = event
