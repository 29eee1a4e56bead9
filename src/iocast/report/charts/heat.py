"""How the I/Os of each moment were spread over time taken, one row of the results after the other.

Marked in it: findings whose time is known, the slowest I/Os where they stand far out, and moments from which
throughput was another and no finding says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise

from msgspec import Struct

from iocast import text
from iocast.analyse.changepoint import change_points
from iocast.model.finding import Finding
from iocast.model.histogram import Histogram, bucket_bounds_ns, bucket_index, merge
from iocast.model.intervals import Interval
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.charts.families import Family, Member
from iocast.report.wording import words

CELLS_A_DECADE = 16
MAX_COLUMNS = 240  # more moments than this are drawn together
SLOW_FACTOR = 10.0  # as in the table of the slowest I/Os
SLOW_MARKED = 12

COLUMNS = (
    Column("row", "row"),
    Column("at", "at", "duration"),
    Column("ios", "I/Os", "count"),
    Column("p50", "p50", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
)
CELLS = (
    Column("start", "from", "duration", "since the first row, the pauses between rows left out"),
    Column("end", "to", "duration"),
    Column("counts", "I/Os in each span of time taken", "counts"),
)
SPANS = (Column("low", "from", "duration"), Column("high", "to", "duration"))
ROWS = (Column("row", "row"), Column("start", "from", "duration"), Column("end", "to", "duration"))
MARKS = (
    Column("kind", "kind"),
    Column("name", "name"),
    Column("at", "from", "duration"),
    Column("end", "to", "duration"),
    Column("time", "time", "duration"),
    Column("says", "what"),
)
KEYS = {
    "finding": "Bars at the top: findings, with a question mark those that no experiment has decided.",
    "slow": "Rings: I/Os that took ten times the p99 and more.",
    "change": "Broken lines: from there on throughput had another level.",
}


class _Moment(Struct, frozen=True):
    """What one row did in some intervals. Times count from the start of the chart."""

    row: str
    start_ns: int
    end_ns: int
    times: Histogram


class _Stretch(Struct, frozen=True):
    """A row's place in the chart."""

    name: str
    start_ns: int
    end_ns: int
    member: Member


def heat(family: Family) -> Chart | None:
    """The chart of all rows of a family of which the course over time was kept."""
    stretches = tuple(_stretches(family))
    moments = tuple(_moments(stretches))
    if not moments:
        return None
    low, high = _decades(moments)
    spans = tuple(
        Row({"low": 10 ** (at / CELLS_A_DECADE), "high": 10 ** ((at + 1) / CELLS_A_DECADE)}) for at in range(low, high)
    )
    rows = tuple(Row({"row": each.name, "start": each.start_ns, "end": each.end_ns}) for each in stretches)
    marks = tuple(mark for each in stretches for mark in (*_findings(each), *_slow(each), *_changes(each)))
    return Chart(
        kind="heat",
        key=f"{family.key}-heat",
        title=f"{family.title}: latency over time",
        summary=_summary(moments, marks),
        x=Axis("time", "duration"),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(moment) for moment in moments), key="moments"),
            Table("", CELLS, tuple(_cells(moment, low, high) for moment in moments), key="cells"),
            Table("", SPANS, spans, key="spans"),
            Table("", ROWS, rows, key="rows"),
            Table("", MARKS, marks, key="marks"),
        ),
        notes=tuple(words for kind, words in KEYS.items() if any(mark.cells["kind"] == kind for mark in marks)),
    )


def _stretches(family: Family) -> Iterator[_Stretch]:
    start = 0
    for member in family.members:
        if member.course:
            length = (_last(member) + 1) * member.record.plan.interval_ns
            yield _Stretch(family.name(member), start, start + length, member)
            start += length


def _last(member: Member) -> int:
    """The last interval; what was only waited for after the end is shown in the one before."""
    interval_ns = member.record.plan.interval_ns
    last = member.course[-1].start_ns // interval_ns
    whole = round(member.record.measurement.issuing_ns / interval_ns)
    return last - 1 if 0 < last == whole else last


def _moments(stretches: tuple[_Stretch, ...]) -> Iterator[_Moment]:
    intervals = sum((each.end_ns - each.start_ns) // each.member.record.plan.interval_ns for each in stretches)
    together = math.ceil(intervals / MAX_COLUMNS) if intervals else 1
    for each in stretches:
        width = each.member.record.plan.interval_ns * together
        last = _last(each.member)

        def column(interval: Interval, width: int = width, last_ns: int = last * width // together) -> int:
            return min(interval.start_ns, last_ns) // width

        for at, found in groupby(each.member.course, key=column):
            start = each.start_ns + at * width
            times = merge(interval.response for interval in found)
            if times.total:
                yield _Moment(each.name, start, min(start + width, each.end_ns), times)


def _row(moment: _Moment) -> Row:
    return Row(
        {
            "row": moment.row,
            "at": moment.start_ns,
            "ios": moment.times.total,
            "p50": moment.times.quantile_ns(0.5),
            "p99": moment.times.quantile_ns(0.99),
            "max": moment.times.max_ns,
        }
    )


def _cell(value_ns: float) -> int:
    return math.floor(math.log10(max(1.0, value_ns)) * CELLS_A_DECADE)


@cache
def _first_bucket(cell: int) -> int:
    """The first bucket whose middle is in a cell, or beyond it."""
    index = max(0, bucket_index(math.floor(10 ** (cell / CELLS_A_DECADE))) - 1)
    while _cell(sum(bucket_bounds_ns(index)) / 2) < cell:
        index += 1
    return index


def _decades(moments: tuple[_Moment, ...]) -> tuple[int, int]:
    """The cells from the fastest to the slowest I/O, and half a decade at least."""
    low = min(_cell(moment.times.min_ns) for moment in moments)
    high = max(_cell(moment.times.max_ns) for moment in moments) + 1
    return low, max(high, low + CELLS_A_DECADE // 2)


def _cells(moment: _Moment, low: int, high: int) -> Row:
    # What lies outside by rounding belongs to the first and the last cell.
    upto = [0, *(moment.times.count_below(_first_bucket(cell)) for cell in range(low + 1, high)), moment.times.total]
    counts = tuple(float(after - before) for before, after in pairwise(upto))
    return Row({"start": moment.start_ns, "end": moment.end_ns, "counts": counts})


def _findings(stretch: _Stretch) -> Iterator[Row]:
    """What diagnosis has found, where it was seen."""
    for found in stretch.member.findings:
        perhaps = found.state == "suggested"
        says = f"{stretch.name}: {'perhaps ' if perhaps else ''}{words(found.code)}. {found.says}"
        for span in found.spans:
            at, end = (min(stretch.start_ns + each, stretch.end_ns) for each in (span.start_ns, span.end_ns))
            yield _mark("finding", f"{words(found.code)}{'?' if perhaps else ''}", at, end, None, says, found)


def _mark(kind: str, name: str, at: int, end: int, time_ns: int | None, says: str, found: Finding | None = None) -> Row:
    about: dict[str, Cell] = {"code": found.code, "state": found.state} if found else {}
    return Row({**about, "kind": kind, "name": name, "at": at, "end": end, "time": time_ns, "says": says})


def _slow(stretch: _Stretch) -> Iterator[Row]:
    """The slowest I/Os where they took far longer than the p99."""
    p99_ns = stretch.member.times.quantile_ns(0.99)
    found = [slow for slow in stretch.member.record.measurement.slow if slow.op == stretch.member.op]
    for slow in found[:SLOW_MARKED]:
        if slow.response_ns > SLOW_FACTOR * p99_ns:
            at = min(stretch.start_ns + slow.time_ns + slow.response_ns, stretch.end_ns)
            says = f"{stretch.name}: one {slow.op} took {text.duration_in_words(slow.response_ns)}"
            yield _mark("slow", "", at, at, slow.response_ns, says)


def _changes(stretch: _Stretch) -> Iterator[Row]:
    """Where the number of I/Os in an interval took another level, and no finding says why."""
    interval_ns = stretch.member.record.plan.interval_ns
    counts: dict[int, int] = {}
    for interval in stretch.member.course:
        at = interval.start_ns // interval_ns
        counts[at] = counts.get(at, 0) + interval.response.total
    # The last interval is cut short by the end of the phase, so it is no level.
    levels = [float(counts.get(at, 0)) for at in range(max(counts, default=0))]
    found = change_points(levels)
    edges_ns = [
        edge for each in stretch.member.findings for span in each.spans for edge in (span.start_ns, span.end_ns)
    ]
    for change in found.reported if found else ():
        if any(abs(change.at * interval_ns - edge_ns) <= interval_ns for edge_ns in edges_ns):
            continue
        word = "more" if change.shift > 0 else "fewer"
        says = f"{stretch.name}: {text.percent(abs(change.shift))} {word} I/Os a second from here on"
        at = stretch.start_ns + change.at * interval_ns
        yield _mark("change", "", at, at, None, says)


def _summary(moments: tuple[_Moment, ...], marks: tuple[Row, ...]) -> str:
    slowest = max(moments, key=lambda moment: moment.times.max_ns)
    said = (
        f"The slowest I/O, of {text.duration_in_words(slowest.times.max_ns)}, ended in the interval from "
        f"{text.duration_in_words(slowest.start_ns) if slowest.start_ns else 'the start'} on"
    )
    changes = sum(row.cells["kind"] == "change" for row in marks)
    if changes:
        said += f"; throughput took another level {changes} time{'s' if changes > 1 else ''}"
    found = dict.fromkeys((str(row.cells["code"]), row.cells["state"]) for row in marks if "code" in row.cells)
    names = [f"perhaps {words(code)}" if state == "suggested" else words(code) for code, state in found]
    return f"{said}. Found and marked: {', '.join(names)}." if names else f"{said}."
