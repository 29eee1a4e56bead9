"""The distribution of response times over the course of the run, one row of the results after the other.

Marked: findings whose time is known, the slowest I/Os where they stand out, and level shifts of throughput that no
finding explains.
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
from iocast.model.measurement import Interval
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.cells import numbers as several
from iocast.report.charts.drawing.axis_labels import clock
from iocast.report.charts.drawing.cell_image import data_url, levels
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    Spec,
    chart,
    layer,
    needed,
    number,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member
from iocast.report.wording import words

PLACE = Place("family", wide=True)
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
    Column("start", "from", "duration", "since the first row, without the pauses between rows"),
    Column("end", "to", "duration"),
    Column("counts", "I/Os in each range of response time", "counts"),
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
    "finding": "Bars at the top: findings; a question mark means suspected.",
    "slow": "Rings: I/Os of ten times the p99 or more.",
    "change": "Dashed lines: throughput level shifts.",
}
HEIGHT = 230
ON_DARK = "#ffffff"
ALERT = "#7fe7ff"  # a colour that the picture has not
LEGEND, LEGEND_LEFT, LEGEND_BELOW = 160, 96, 34  # pixels: how wide, from the left, below the picture
LEGEND_STEPS = 32
LETTER = 5.5  # pixels
BAR, LEAST = 4, 3  # pixels: how high the bar of a finding is, and how wide at least
LINE, LINES = 14, 3  # of names below the bars
BEHIND: Spec = {"stroke": "#000000", "strokeWidth": 3, "strokeJoin": "round", "opacity": 0.7}


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


def tell(family: Family) -> Iterator[Chart]:
    """The chart of all rows of a family of which the course over time was kept."""
    stretches = tuple(_stretches(family))
    moments = tuple(_moments(stretches))
    if not moments:
        return
    low, high = _decades(moments)
    spans = tuple(
        Row({"low": 10 ** (at / CELLS_A_DECADE), "high": 10 ** ((at + 1) / CELLS_A_DECADE)}) for at in range(low, high)
    )
    rows = tuple(Row({"row": each.name, "start": each.start_ns, "end": each.end_ns}) for each in stretches)
    marks = tuple(mark for each in stretches for mark in (*_findings(each), *_slow(each), *_changes(each)))
    yield Chart(
        kind="heat",
        key=f"{family.key}-heat",
        title=f"{family.title}: response times over the run",
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
        says = f"{stretch.name}: {'suspected ' if perhaps else ''}{words(found.code)}. {found.says}"
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
            says = f"{stretch.name}: one {slow.op} took {text.brief_time(slow.response_ns)}"
            yield _mark("slow", "", at, at, slow.response_ns, says)


def _changes(stretch: _Stretch) -> Iterator[Row]:
    """Where the number of I/Os per interval shifted level, and no finding says why."""
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
        says = f"{stretch.name}: IOPS {text.rose_or_fell(change.shift)} from here on"
        at = stretch.start_ns + change.at * interval_ns
        yield _mark("change", "", at, at, None, says)


def _summary(moments: tuple[_Moment, ...], marks: tuple[Row, ...]) -> str:
    slowest = max(moments, key=lambda moment: moment.times.max_ns)
    said = (
        f"The slowest I/O took {text.brief_time(slowest.times.max_ns)} and completed in the interval from "
        f"{text.brief_time(slowest.start_ns) if slowest.start_ns else 'the start'} on"
    )
    changes = sum(row.cells["kind"] == "change" for row in marks)
    if changes:
        said += f"; throughput shifted level {changes} time{'s' if changes > 1 else ''}"
    found = dict.fromkeys((str(row.cells["code"]), row.cells["state"]) for row in marks if "code" in row.cells)
    names = [f"suspected {words(code)}" if state == "suggested" else words(code) for code, state in found]
    return f"{said}. Findings: {', '.join(names)}." if names else f"{said}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The chart; its wide form is `width` of a whole page."""
    moments, cells, spans, rows, marks = (
        needed(about.table(key)) for key in ("moments", "cells", "spans", "rows", "marks")
    )
    end = max(number(row.cells["end"]) or 0.0 for row in rows.rows) / 1e9
    low, high = number(spans.rows[0].cells["low"]) or 1.0, number(spans.rows[-1].cells["high"]) or 2.0
    scale, ticks = time_scale(low, high)
    x = quantitative("x", {"domain": [0, end]}, {"title": None, "grid": False, "values": _clock(end)})
    x["axis"] |= {"label": clock}
    y = quantitative("y", scale, time_axis(ticks, grid=False, minExtent=LABEL_ROOM))
    image = {"type": "image", "width": width, "height": HEIGHT, "align": "left", "baseline": "top"}
    place: Spec = {"x": {"value": 0}, "y": {"value": 0}, "url": {"field": "url"}}
    layers = [
        layer(image, [{"url": data_url(_grid(cells, end))}], place),
        *_row_starts(rows, x, end, theme, width),
        *_colour_legend(cells, theme),
        _tips(moments, cells, x, low, high, y),  # below the marks, which have more to say
        *_events(marks, x, y, low, high),
        *_finding_bars(marks, x, end, width),
    ]
    return chart(width, HEIGHT, layers)


def _clock(end_s: float) -> list[float]:
    """Whole steps of a clock, some ten of them."""
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)
    step = next((step for step in steps if end_s / step <= 11), 21_600)
    return [round(at * step, 3) for at in range(int(end_s / step) + 1)]


def _grid(cells: Table, end_s: float) -> list[list[float]]:
    """The cells on equal steps of time, so that a pause and a short interval are as wide as they were."""
    starts = [(number(row.cells["start"]) or 0.0, number(row.cells["end"]) or 0.0) for row in cells.rows]
    step = min(end - start for start, end in starts)
    coloured = levels([several(row.cells["counts"]) for row in cells.rows])
    empty = [0.0] * len(coloured[0])
    wide = max(1, min(2000, round(end_s * 1e9 / step)))
    grid = [empty] * wide
    for (start, end), column in zip(starts, coloured, strict=True):
        first = min(wide - 1, round(start / step))
        for at in range(first, max(first + 1, min(wide, round(end / step)))):
            grid[at] = column
    return grid


def _row_starts(rows: Table, x: Spec, end: float, theme: Theme, width: int) -> list[Spec]:
    """A line where a row begins, its name above the picture where there is room."""
    starts = [{"x": (number(row.cells["start"]) or 0.0) / 1e9} for row in rows.rows if row.cells["start"]]
    names, free = list[Spec](), 0.0
    for row in rows.rows:
        name, start = str(row.cells["row"]), (number(row.cells["start"]) or 0.0) / 1e9
        if start / end >= free:
            names.append({"x": start, "t": name})
            free = start / end + len(name) * LETTER / width + 0.02
    text = {"type": "text", "align": "left", "baseline": "bottom", "dx": 2, "dy": -4, "fontSize": 11}
    return [
        layer("rule", starts, {"x": x}, color=ON_DARK, opacity=0.55, strokeWidth=1),
        layer(text, names, {"x": x, "y": {"value": 0}, "text": {"field": "t"}}, color=theme.muted),
    ]


def _colour_legend(cells: Table, theme: Theme) -> list[Spec]:
    """What the colours mean, below the axis: from one I/O in a cell to the most."""
    most = max((count for row in cells.rows for count in several(row.cells["counts"])), default=1.0)
    counts = [(1 + most) ** (at / (LEGEND_STEPS - 1)) - 1 for at in range(LEGEND_STEPS)]
    scale = [[level] for (level,) in levels([[max(1.0, count)] for count in counts])]
    left, middle = LEGEND_LEFT, HEIGHT + LEGEND_BELOW  # at the left, where a phone shows it before it is moved
    image = {"type": "image", "width": LEGEND, "height": 9, "align": "left", "baseline": "middle"}
    at: Spec = {"x": {"value": left}, "y": {"value": middle}}
    words = {"type": "text", "baseline": "middle", "fontSize": 11}
    text_at: Spec = {"y": {"value": middle}, "text": {"field": "t"}}
    first, last = [{"t": "I/Os in a cell: 1"}], [{"t": text.whole(most)}]
    url = {"field": "url"}
    return [
        layer(image, [{"url": data_url(scale)}], {**at, "url": url}),
        layer({**words, "align": "right"}, first, {"x": {"value": left - 6}, **text_at}, color=theme.muted),
        layer({**words, "align": "left"}, last, {"x": {"value": left + LEGEND + 6}, **text_at}, color=theme.muted),
    ]


def _events(marks: Table, x: Spec, y: Spec, low: float, high: float) -> list[Spec]:
    slow = [
        _marked(row) | {"y": min(high, number(row.cells["time"]) or low)}
        for row in marks.rows
        if row.cells["kind"] == "slow"
    ]
    changes = [_marked(row) | {"y": low, "y2": high} for row in marks.rows if row.cells["kind"] == "change"]
    found = []
    if changes:
        ends: Spec = {"x": x, "y": y, "y2": {"field": "y2"}}
        found.append(layer("rule", changes, ends, color=ALERT, strokeDash=[5, 3], strokeWidth=1.6))
        found.append(layer("rule", changes, ends, silent=False, opacity=0, strokeWidth=12))
    if slow:
        found.append(layer("point", slow, {"x": x, "y": y}, silent=False, color=ALERT, size=80, strokeWidth=1.6))
    return found


def _finding_bars(marks: Table, x: Spec, end: float, width: int) -> list[Spec]:
    """Each finding as a bar at the top and a thin wash below it; the first of a name in a row is named."""
    found = [row for row in marks.rows if row.cells["kind"] == "finding"]
    found.sort(key=lambda row: number(row.cells["at"]) or 0.0)
    if not found:
        return []
    bars, names = [_bar(row, LEAST * end / width, end) for row in found], _names(found, end, width)
    across: Spec = {"x": x, "x2": {"field": "x2"}, "y": {"value": 0}}
    text: Spec = {"type": "text", "align": "left", "baseline": "top", "dx": 2}
    text |= {"fontSize": 11}
    at: Spec = {"x": x, "y": {"value": 0}, "text": {"field": "t"}}
    return [
        layer("rect", bars, {**across, "y2": {"value": HEIGHT}}, color=ALERT, opacity=0.1),
        layer("rect", bars, {**across, "y2": {"value": BAR}}, color=ALERT, opacity=1),
        layer("rect", bars, {**across, "y2": {"value": BAR + LINE}}, silent=False, opacity=0),
        layer(text, names, at, **BEHIND),
        layer(text, names, at, color=ALERT),
    ]


def _bar(row: Row, least: float, end: float) -> Spec:
    bar = _marked(row)
    start = min(bar["x"], end - least)
    return bar | {"x": start, "x2": max((number(row.cells["end"]) or 0.0) / 1e9, start + least)}


def _names(found: list[Row], end: float, width: int) -> list[Spec]:
    """Names below the bars, on the first line that has room; none where all lines are full: the bar still tells."""
    free, named = [0.0] * LINES, set[tuple[str, str]]()
    names = list[Spec]()
    for row in found:
        name, of = str(row.cells["name"]), str(row.cells["says"])
        wide = (len(name) + 1) * LETTER / width
        at = min((number(row.cells["at"]) or 0.0) / 1e9 / end, 1 - wide)
        line = next((line for line in range(LINES) if free[line] <= at), None)
        if line is not None and (name, of) not in named:
            named.add((name, of))
            free[line] = at + wide + 0.01
            names.append({"x": at * end, "dy": BAR + 2 + line * LINE, "t": name})
    return names


def _marked(row: Row) -> Spec:
    return {"x": (number(row.cells["at"]) or 0.0) / 1e9, "tip": str(row.cells["says"])}


def _tips(moments: Table, cells: Table, x: Spec, low: float, high: float, y: Spec) -> Spec:
    """Unseen columns that say what each moment was like."""
    rows = [
        {
            "x": (number(cell.cells["start"]) or 0.0) / 1e9,
            "x2": (number(cell.cells["end"]) or 0.0) / 1e9,
            "y": low,
            "y2": high,
            "tip": tip(moments, moment, "row"),
        }
        for moment, cell in zip(moments.rows, cells.rows, strict=True)
    ]
    band: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    return layer("rect", rows, band, silent=False, opacity=0)
