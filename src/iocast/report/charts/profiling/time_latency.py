"""Latencies over the course of a trace, as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.characteristics import Moment
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import LABEL_ROOM, Spec, needed, number, quantitative, time_axis, time_scale
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.drawing.time_grid import time_grid, together
from iocast.report.charts.place import Place

PLACE = Place("profile", wide=True)
A_DECADE = 16  # steps of latency, as the core counts them
MAX_COLUMNS = 240
MOMENTS = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("ios", "I/Os", "count"),
    Column("mean", "mean latency", "duration"),
)
SPAN = (Column("low", "from", "duration"), Column("high", "to", "duration"))


def tell(profile: Profile) -> Iterator[Chart]:
    """The chart of a trace with latencies and times."""
    moments, width = profile.order.moments, profile.order.moment_ns
    steps = [step for each in moments for step in each.latency_steps]
    if not steps or not profile.length_ns:
        return
    low, high = min(steps), max(max(steps) + 1, min(steps) + A_DECADE // 2)
    rows = tuple(
        _row([moments[at] for at in group], group.start * width, group.stop * width, low, high)
        for group in together(len(moments), MAX_COLUMNS)
    )
    slowest = max(cell.latency.max_ns for cell in profile.order.by_size)
    yield Chart(
        kind="time_latency",
        key="profile-time-latency",
        title="Latency over time",
        summary=f"Latencies over the trace; the slowest I/O took {text.brief_time(slowest)}.",
        x=Axis("time", "duration"),
        y=Axis("latency", "duration", log=True),
        tables=(
            Table("", MOMENTS, rows, key="moments"),
            Table("", SPAN, (Row({"low": _edge(low), "high": _edge(high)}),), key="span"),
        ),
    )


def _edge(step: int) -> float:
    return float(10 ** (step / A_DECADE))


def _row(moments: list[Moment], start: int, end: int, low: int, high: int) -> Row:
    counts = [0.0] * (high - low)
    for moment in moments:
        for step, count in zip(moment.latency_steps, moment.latency_counts, strict=True):
            counts[step - low] += count
    timed = sum(moment.timed for moment in moments)
    mean = sum(moment.latency_sum_ns for moment in moments) / timed if timed else None
    ios = sum(moment.events for moment in moments)
    return Row({"start": start, "end": end, "ios": ios, "mean": mean, "counts": tuple(counts)})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The cells, and a logarithmic axis of time."""
    (span,) = needed(about.table("span")).rows
    low, high = number(span.cells["low"]) or 1.0, number(span.cells["high"]) or 2.0
    scale, ticks = time_scale(low, high)
    y = quantitative("y", scale, time_axis(ticks, grid=False, minExtent=LABEL_ROOM))
    return time_grid(needed(about.table("moments")), "counts", y, low, high, theme, width)
