"""Latencies of one histogram over the time of a tape, as a heat map: a row for each bucket of its source."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies, on_grid
from iocast.analyse.live.tape_summary import Stretch, TapeSummary
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import LABEL_ROOM, Spec, needed, number, quantitative, time_axis, time_scale
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.drawing.time_grid import time_grid
from iocast.report.charts.place import Place
from iocast.report.live.latency.histogram_choice import Choice, label

PLACE = Place("tape", wide=True)
MOST = 4  # charts of one tape: the busiest histograms
COURSE = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("ios", "I/Os", "count"),
    Column("mean", "mean latency", "duration"),
)
SPAN = (Column("low", "from", "duration"), Column("high", "to", "duration"))


def tell(tape: TapeSummary) -> Iterator[Chart]:
    """The charts of the histograms that have most, and took some time."""
    totals: dict[Choice, int] = {}
    for stretch in tape.course:
        for choice, found in stretch.histograms.items():
            totals[choice] = totals.get(choice, 0) + found.total
    for choice in sorted(totals, key=lambda each: (-totals[each], each))[:MOST]:
        yield _of(tape, choice, totals[choice])


def _of(tape: TapeSummary, choice: Choice, total: int) -> Chart:
    columns = [stretch.histograms.get(choice) for stretch in tape.course]
    known = {upper for found in columns if found for upper in found.counts if upper != ENDLESS_NS}
    bounds = _doubling(min(known), max(known)) if known else [1_000]
    if any(found.counts.get(ENDLESS_NS) for found in columns if found):
        bounds.append(2 * bounds[-1])  # drawn as one more bucket
    rows = tuple(_row(stretch, found, bounds) for stretch, found in zip(tape.course, columns, strict=True))
    span = Row({"low": bounds[0] / 2, "high": float(bounds[-1])})
    return Chart(
        kind="live_latency",
        key=f"tape-latency-{'-'.join(choice)}".replace("|", "-").replace(" ", "-").replace("/", "-"),
        title=label(choice),
        summary=f"{text.counted(total, 'I/O')} or waits, the slowest below {text.duration(bounds[-1])}.",
        x=Axis("time", "duration"),
        y=Axis("latency", "duration", log=True),
        tables=(
            Table("", COURSE, rows, key="course"),
            Table("", SPAN, (span,), key="span"),
        ),
    )


def _doubling(low: int, high: int) -> list[int]:
    bounds = [low]
    while bounds[-1] < high:
        bounds.append(bounds[-1] * 2)
    return bounds


def _row(stretch: Stretch, found: Latencies | None, bounds: list[int]) -> Row:
    *counts, above = on_grid(found, bounds) if found else [0] * (len(bounds) + 1)
    counts[-1] += above
    shown = tuple(map(float, counts))
    ios, mean = (found.total, found.mean_ns) if found else (0, None)
    return Row({"start": stretch.start_ns, "end": stretch.end_ns, "ios": ios, "mean": mean, "counts": shown})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The cells, and a logarithmic axis of time."""
    (span,) = needed(about.table("span")).rows
    low, high = number(span.cells["low"]) or 1.0, number(span.cells["high"]) or 2.0
    scale, ticks = time_scale(low, high)
    y = quantitative("y", scale, time_axis(ticks, grid=False, minExtent=LABEL_ROOM))
    return time_grid(needed(about.table("course")), "counts", y, low, high, theme, width)
