"""Where reads and writes went over the course of a trace: all targets as one line, from the first byte to the last."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import percent
from iocast.report.charts.drawing.parts import LABEL_ROOM, Spec, needed, quantitative
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.drawing.time_grid import time_grid, together
from iocast.report.charts.place import Place

PLACE = Place("profile", wide=True)
MAX_COLUMNS = 240
MOMENTS = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("reads", "reads", "count"),
    Column("writes", "writes", "count"),
)


def tell(profile: Profile) -> Iterator[Chart]:
    """The chart of a trace with places and times."""
    moments, width = profile.order.moments, profile.order.moment_ns
    if not profile.length_ns or not any(sum(each.places) for each in moments):
        return
    rows = []
    for group in together(len(moments), MAX_COLUMNS):
        part = [moments[at] for at in group]
        places = tuple(float(sum(counts)) for counts in zip(*(each.places for each in part), strict=True))
        reads, writes = sum(each.reads for each in part), sum(each.writes for each in part)
        cells = {"start": group.start * width, "end": group.stop * width, "reads": reads, "writes": writes}
        rows.append(Row({**cells, "places": places}))
    totals = [sum(counts) for counts in zip(*(each.places for each in moments), strict=True)]
    busiest = max(totals) / sum(totals)
    yield Chart(
        kind="time_offset",
        key="profile-time-offset",
        title="Places over time",
        summary=f"The busiest of {len(totals)} equal stretches gets {text.brief_percent(busiest)} of the I/Os.",
        x=Axis("time", "duration"),
        y=Axis("place on all targets", "share"),
        tables=(Table("", MOMENTS, tuple(rows), key="moments"),),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The cells, and the line of all targets from 0 to 100%."""
    axis = {"title": about.y.title, "grid": False, "label": percent, "tickCount": 5, "minExtent": LABEL_ROOM}
    y = quantitative("y", {"domain": [0, 1]}, axis)
    return time_grid(needed(about.table("moments")), "places", y, 0.0, 1.0, theme, width)
