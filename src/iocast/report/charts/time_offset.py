"""Where reads and writes went over the course of a trace: all targets as one line, from the first byte to the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from iocast import text
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import Moment, time_grid, together
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale
from iocast.report.plot.axis_labels import percent
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("profile", wide=True)


class OffsetMoment(Moment, frozen=True):
    """A stretch of a trace: its I/Os, and how many went to each place."""

    reads: Annotated[int, shown("reads", "count")]
    writes: Annotated[int, shown("writes", "count")]
    places: tuple[float, ...]


class TimeOffset(Chart, frozen=True, kw_only=True):
    """The course of a trace."""

    kind: str = "time_offset"
    moments: tuple[OffsetMoment, ...]


def tell(profile: Profile) -> Iterator[TimeOffset]:
    """The chart of a trace with places and times."""
    moments, width = profile.order.moments, profile.order.moment_ns
    if not profile.length_ns or not any(sum(each.places) for each in moments):
        return
    points = []
    for group in together(len(moments)):
        part = [moments[at] for at in group]
        places = tuple(float(sum(counts)) for counts in zip(*(each.places for each in part), strict=True))
        reads, writes = sum(each.reads for each in part), sum(each.writes for each in part)
        points.append(OffsetMoment(group.start * width, group.stop * width, reads, writes, places))
    totals = [sum(counts) for counts in zip(*(each.places for each in moments), strict=True)]
    busiest = max(totals) / sum(totals)
    yield TimeOffset(
        key="profile-time-offset",
        title="Places over time",
        summary=f"The busiest of {len(totals)} equal stretches gets {text.brief_percent(busiest)} of the I/Os.",
        moments=tuple(points),
    )


def draw(chart: TimeOffset, _theme: Theme, width: int) -> Plot:
    """The cells, and the line of all targets from 0 to 100%."""
    y = Axis(Scale(0.0, 1.0), "place on all targets", percent, count=5, grid=False, room=LABEL_ROOM)
    return time_grid(chart.moments, [each.places for each in chart.moments], y, width)
