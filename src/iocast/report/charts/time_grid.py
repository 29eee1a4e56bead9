"""A heat map over time: cells as one picture, a clock below, and what each moment was like under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from iocast.model.results.shown import shown
from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.axis_labels import clock
from iocast.report.plot.cell_image import data_url, levels
from iocast.report.plot.marks import Box, Boxes, Picture, Plot
from iocast.report.result_tables import tip

HEIGHT = 230
MAX_COLUMNS = 240  # more moments than this are drawn together


class Moment(Struct, frozen=True):
    """A stretch of time."""

    start_ns: Annotated[int, shown("from", "duration")]
    end_ns: Annotated[int, shown("to", "duration")]


class LatencyMoment(Moment, frozen=True):
    """A stretch of time: its I/Os or waits, and how many are in each step of latency."""

    ios: Annotated[int, shown("I/Os", "count")]
    mean_ns: Annotated[float | None, shown("mean latency", "duration")]
    counts: tuple[float, ...]


class Ends(Struct, frozen=True):
    """Where the axis of a heat map begins and ends."""

    low_ns: float
    high_ns: float


def time_grid(moments: Sequence[Moment], counts: Sequence[Sequence[float]], y: Axis, width: int) -> Plot:
    """The plot of moments and the counts of their cells."""
    x = clock_axis(max(each.end_ns for each in moments) / 1e9)
    boxes = [Box(each.start_ns / 1e9, y.scale.low, each.end_ns / 1e9, y.scale.high) for each in moments]
    picture = Picture(data_url(levels(counts)), 0, 0, width, HEIGHT)
    tips = [tip(each, "start_ns") for each in moments]
    return Plot(width, HEIGHT, x, y, (picture, Boxes(boxes, tips=tips, opacity=0)))


def clock_axis(end_s: float) -> Axis:
    """An axis of seconds from the start."""
    return Axis(Scale(0, end_s), label=clock, count=8, grid=False)


def together(count: int, most: int = MAX_COLUMNS) -> Sequence[range]:
    """Neighbours in groups, at most `most` of them."""
    step = -(-count // most) if count else 1
    return [range(at, min(count, at + step)) for at in range(0, count, step)]
