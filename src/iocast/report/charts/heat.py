"""The distribution of response times over the course of the run, one row of the results after the other.

Marked: findings whose time is known, the slowest I/Os where they stand out, and level shifts of throughput that no
finding explains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.analyse.changepoint import change_points
from iocast.model.codes import FindingCode, StateCode
from iocast.model.histogram import Histogram, bucket_bounds_ns, bucket_index, merge
from iocast.model.measurement import Interval
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.families import Family, Member
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import HEIGHT, MAX_COLUMNS, Ends
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, time_axis
from iocast.report.plot.axis_labels import clock
from iocast.report.plot.cell_image import data_url, levels
from iocast.report.plot.marks import Box, Boxes, Mark, Picture, Plot, Point, Rings, Rules, Uprights, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip
from iocast.report.wording import words

PLACE = Place("family", wide=True)
CELLS_A_DECADE = 16
SLOW_FACTOR = 10.0  # as in the table of the slowest I/Os
SLOW_MARKED = 12
NS = 1e9  # a second
KEYS = {
    "finding": "Bars at the top: findings; a question mark means suspected.",
    "slow": "Rings: I/Os of ten times the p99 or more.",
    "change": "Dashed lines: throughput level shifts.",
}
ON_DARK, BEHIND = "#ffffff", "#000000"
ALERT = "#7fe7ff"  # a colour that the picture has not
LEGEND, LEGEND_LEFT, LEGEND_BELOW = 160, 96, 34  # pixels: how wide, from the left, below the picture
LEGEND_STEPS = 32
LETTER = 5.5  # pixels
BAR, LEAST = 4, 3  # pixels: how high the bar of a finding is, and how wide at least
LINE, LINES = 14, 3  # of names below the bars


class HeatMoment(Struct, frozen=True):
    """What a row did in some intervals. Times count from the start of the chart, without the pauses between rows."""

    row: Annotated[str, shown("row")]
    at_ns: Annotated[int, shown("at", "duration")]
    ios: Annotated[int, shown("I/Os", "count")]
    p50_ns: Annotated[float, shown("p50", "duration")]
    p99_ns: Annotated[float, shown("p99", "duration")]
    max_ns: Annotated[float, shown("max", "duration")]


class HeatCells(Struct, frozen=True):
    """The same moment: I/Os in each span of response time."""

    start_ns: int
    end_ns: int
    counts: tuple[float, ...]


class HeatRow(Struct, frozen=True):
    """A row's place in the chart."""

    row: str
    start_ns: int
    end_ns: int


class HeatMark(Struct, frozen=True):
    """What happened: a finding, a slow I/O, or a shift of throughput."""

    kind: Literal["finding", "slow", "change"]
    name: str
    at_ns: int
    end_ns: int
    time_ns: int | None  # of a slow I/O
    says: str
    code: FindingCode | None = None
    state: StateCode | None = None


class Heat(Chart, frozen=True, kw_only=True):
    """All rows of a family, one after the other."""

    kind: str = "heat"
    moments: tuple[HeatMoment, ...]
    cells: tuple[HeatCells, ...]
    spans: tuple[Ends, ...]
    rows: tuple[HeatRow, ...]
    marks: tuple[HeatMark, ...]


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


def tell(family: Family) -> Iterator[Heat]:
    """The chart of all rows of a family of which the course over time was kept."""
    stretches = tuple(_stretches(family))
    moments = tuple(_moments(stretches))
    if not moments:
        return
    low, high = _decades(moments)
    marks = tuple(mark for each in stretches for mark in (*_findings(each), *_slow(each), *_changes(each)))
    yield Heat(
        key=f"{family.key}-heat",
        title=f"{family.title}: response times over the run",
        summary=_summary(moments, marks),
        notes=tuple(words for kind, words in KEYS.items() if any(mark.kind == kind for mark in marks)),
        moments=tuple(map(_moment, moments)),
        cells=tuple(_cells(moment, low, high) for moment in moments),
        spans=tuple(Ends(10 ** (at / CELLS_A_DECADE), 10 ** ((at + 1) / CELLS_A_DECADE)) for at in range(low, high)),
        rows=tuple(HeatRow(each.name, each.start_ns, each.end_ns) for each in stretches),
        marks=marks,
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

        for at, moments in groupby(each.member.course, key=column):
            start = each.start_ns + at * width
            times = merge(interval.response for interval in moments)
            if times.total:
                yield _Moment(each.name, start, min(start + width, each.end_ns), times)


def _moment(of: _Moment) -> HeatMoment:
    times = of.times
    return HeatMoment(of.row, of.start_ns, times.total, times.quantile_ns(0.5), times.quantile_ns(0.99), times.max_ns)


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


def _cells(moment: _Moment, low: int, high: int) -> HeatCells:
    # What lies outside by rounding belongs to the first and the last cell.
    upto = [0, *(moment.times.count_below(_first_bucket(cell)) for cell in range(low + 1, high)), moment.times.total]
    counts = tuple(float(after - before) for before, after in pairwise(upto))
    return HeatCells(moment.start_ns, moment.end_ns, counts)


def _findings(stretch: _Stretch) -> Iterator[HeatMark]:
    """What diagnosis has found, where it was seen."""
    for finding in stretch.member.findings:
        perhaps = finding.state == "suggested"
        says = f"{stretch.name}: {'suspected ' if perhaps else ''}{words(finding.code)}. {finding.says}"
        name = f"{words(finding.code)}{'?' if perhaps else ''}"
        for span in finding.spans:
            at, end = (min(stretch.start_ns + each, stretch.end_ns) for each in (span.start_ns, span.end_ns))
            yield HeatMark("finding", name, at, end, None, says, finding.code, finding.state)


def _slow(stretch: _Stretch) -> Iterator[HeatMark]:
    """The slowest I/Os where they took far longer than the p99."""
    p99_ns = stretch.member.times.quantile_ns(0.99)
    slow_ios = [slow for slow in stretch.member.record.measurement.slow if slow.op == stretch.member.op]
    for slow in slow_ios[:SLOW_MARKED]:
        if slow.response_ns > SLOW_FACTOR * p99_ns:
            at = min(stretch.start_ns + slow.time_ns + slow.response_ns, stretch.end_ns)
            says = f"{stretch.name}: one {slow.op} took {text.brief_time(slow.response_ns)}"
            yield HeatMark("slow", "", at, at, slow.response_ns, says)


def _changes(stretch: _Stretch) -> Iterator[HeatMark]:
    """Where the number of I/Os per interval shifted level, and no finding says why."""
    interval_ns = stretch.member.record.plan.interval_ns
    counts: dict[int, int] = {}
    for interval in stretch.member.course:
        at = interval.start_ns // interval_ns
        counts[at] = counts.get(at, 0) + interval.response.total
    # The last interval is cut short by the end of the phase, so it is no level.
    levels = [float(counts.get(at, 0)) for at in range(max(counts, default=0))]
    changes = change_points(levels)
    edges_ns = [
        edge for each in stretch.member.findings for span in each.spans for edge in (span.start_ns, span.end_ns)
    ]
    for change in changes.reported if changes else ():
        if any(abs(change.at * interval_ns - edge_ns) <= interval_ns for edge_ns in edges_ns):
            continue
        says = f"{stretch.name}: IOPS {text.rose_or_fell(change.shift)} from here on"
        at = stretch.start_ns + change.at * interval_ns
        yield HeatMark("change", "", at, at, None, says)


def _summary(moments: tuple[_Moment, ...], marks: tuple[HeatMark, ...]) -> str:
    slowest = max(moments, key=lambda moment: moment.times.max_ns)
    said = (
        f"The slowest I/O took {text.brief_time(slowest.times.max_ns)} and completed in the interval from "
        f"{text.brief_time(slowest.start_ns) if slowest.start_ns else 'the start'} on"
    )
    changes = sum(mark.kind == "change" for mark in marks)
    if changes:
        said += f"; throughput shifted level {changes} time{'s' if changes > 1 else ''}"
    kinds = dict.fromkeys((mark.code, mark.state) for mark in marks if mark.code is not None)
    names = [f"suspected {words(code)}" if state == "suggested" else words(code) for code, state in kinds]
    return f"{said}. Findings: {', '.join(names)}." if names else f"{said}."


def draw(chart: Heat, theme: Theme, width: int) -> Plot:
    """The chart; its wide form is `width` of a whole page."""
    end_s = max(row.end_ns for row in chart.rows) / NS
    low, high = chart.spans[0].low_ns, chart.spans[-1].high_ns
    tips = [tip(moment, "row") for moment in chart.moments]
    boxes = [Box(cell.start_ns / NS, low, cell.end_ns / NS, high) for cell in chart.cells]
    marks = (
        Picture(data_url(_grid(chart.cells, end_s)), 0, 0, width, HEIGHT),
        *_row_starts(chart.rows, end_s, theme, width),
        *_colour_legend(chart.cells, theme),
        Boxes(boxes, tips=tips, opacity=0),  # unseen, below the marks, which have more to say
        *_events(chart.marks, low, high),
        *_finding_bars(chart.marks, end_s, width),
    )
    x = Axis(Scale(0, end_s), label=clock, ticks=_clock(end_s), grid=False)
    return Plot(width, HEIGHT, x, time_axis(low, high, grid=False, room=LABEL_ROOM), marks)


def _clock(end_s: float) -> list[float]:
    """Whole steps of a clock, some ten of them."""
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)
    step = next((step for step in steps if end_s / step <= 11), 21_600)
    return [round(at * step, 3) for at in range(int(end_s / step) + 1)]


def _grid(cells: tuple[HeatCells, ...], end_s: float) -> list[list[float]]:
    """The cells on equal steps of time, so that a pause and a short interval are as wide as they were."""
    step = min(each.end_ns - each.start_ns for each in cells)
    coloured = levels([each.counts for each in cells])
    empty = [0.0] * len(coloured[0])
    wide = max(1, min(2000, round(end_s * NS / step)))
    grid = [empty] * wide
    for each, column in zip(cells, coloured, strict=True):
        first = min(wide - 1, round(each.start_ns / step))
        for at in range(first, max(first + 1, min(wide, round(each.end_ns / step)))):
            grid[at] = column
    return grid


def _row_starts(rows: tuple[HeatRow, ...], end_s: float, theme: Theme, width: int) -> Iterator[Mark]:
    """A line where a row begins, its name above the picture where there is room."""
    names, free = list[Word](), 0.0
    for row in rows:
        start = row.start_ns / NS
        if start / end_s >= free:
            names.append(Word(start, 0, row.row))
            free = start / end_s + len(row.row) * LETTER / width + 0.02
    yield Uprights([row.start_ns / NS for row in rows if row.start_ns], 1, colour=ON_DARK, opacity=0.55)
    yield Words(names, "left", "bottom", dx=2, dy=-4, size=11, colour=theme.muted, y_in_px=True)


def _colour_legend(cells: tuple[HeatCells, ...], theme: Theme) -> Iterator[Mark]:
    """What the colours mean, below the axis: from one I/O in a cell to the most."""
    most = max((count for each in cells for count in each.counts), default=1.0)
    counts = [(1 + most) ** (at / (LEGEND_STEPS - 1)) - 1 for at in range(LEGEND_STEPS)]
    scale = [[level] for (level,) in levels([[max(1.0, count)] for count in counts])]
    left, middle = LEGEND_LEFT, HEIGHT + LEGEND_BELOW  # at the left, where a phone shows it before it is moved
    yield Picture(data_url(scale), left, middle, LEGEND, 9, middle=True)
    first, last = Word(left - 6, middle, "I/Os in a cell: 1"), Word(left + LEGEND + 6, middle, text.whole(most))
    yield Words([first], "right", "middle", size=11, colour=theme.muted, x_in_px=True, y_in_px=True)
    yield Words([last], "left", "middle", size=11, colour=theme.muted, x_in_px=True, y_in_px=True)


def _events(marks: tuple[HeatMark, ...], low: float, high: float) -> Iterator[Mark]:
    changes = [mark for mark in marks if mark.kind == "change"]
    slow = [mark for mark in marks if mark.kind == "slow"]
    if changes:
        lines = [Box(mark.at_ns / NS, low, mark.at_ns / NS, high) for mark in changes]
        yield Rules(lines, 1.6, (5, 3), colour=ALERT)
        yield Rules(lines, 12, tips=[mark.says for mark in changes], opacity=0)
    if slow:
        rings = [Point(mark.at_ns / NS, min(high, mark.time_ns or low)) for mark in slow]
        yield Rings(rings, 80, 1.6, colour=ALERT, tips=[mark.says for mark in slow])


def _finding_bars(marks: tuple[HeatMark, ...], end_s: float, width: int) -> Iterator[Mark]:
    """Each finding as a bar at the top and a thin wash below it; the first of a name in a row is named."""
    marks_in_order = sorted((mark for mark in marks if mark.kind == "finding"), key=lambda mark: mark.at_ns)
    if not marks_in_order:
        return
    ends, least = list[tuple[float, float]](), LEAST * end_s / width
    for mark in marks_in_order:
        start = min(mark.at_ns / NS, end_s - least)
        ends.append((start, max(mark.end_ns / NS, start + least)))
    wash, bars, hit = ([Box(start, 0, end, low) for start, end in ends] for low in (HEIGHT, BAR, BAR + LINE))
    yield Boxes(wash, y_in_px=True, colour=ALERT, opacity=0.1)
    yield Boxes(bars, y_in_px=True, colour=ALERT, opacity=1)
    yield Boxes(hit, y_in_px=True, tips=[mark.says for mark in marks_in_order], opacity=0)
    names = _names(marks_in_order, end_s, width)
    yield Words(names, "left", "top", dx=2, size=11, colour=ALERT, rim=BEHIND, rim_opacity=0.7, y_in_px=True)


def _names(marks: list[HeatMark], end_s: float, width: int) -> list[Word]:
    """Names below the bars, on the first line that has room; none where all lines are full: the bar still tells."""
    free, named = [0.0] * LINES, set[tuple[str, str]]()
    names = list[Word]()
    for mark in marks:
        wide = (len(mark.name) + 1) * LETTER / width
        at = min(mark.at_ns / NS / end_s, 1 - wide)
        line = next((line for line in range(LINES) if free[line] <= at), None)
        if line is not None and (mark.name, mark.says) not in named:
            named.add((mark.name, mark.says))
            free[line] = at + wide + 0.01
            names.append(Word(at * end_s, 0, mark.name, dy=BAR + 2 + line * LINE))
    return names
