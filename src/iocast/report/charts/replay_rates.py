"""IOPS of a replay over time: what the trace issues, and what completed here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.model.run import PhaseRecord
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import Moment, clock_axis, together
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.marks import Box, Boxes, Lines, Plot, Point
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("replay", wide=True)
HEIGHT = 170
MOST = 400  # spans


class ReplayedSpan(Moment, frozen=True):
    """IOPS in a stretch of a replay; those here are unknown where it was not whole."""

    wanted_per_s: Annotated[float, shown("IOPS in the trace", "rate")]
    done_per_s: Annotated[float | None, shown("IOPS here", "rate")]


class ReplayRates(Chart, frozen=True, kw_only=True):
    """The course of a replay."""

    kind: str = "replay_rates"
    spans: tuple[ReplayedSpan, ...]


def tell(record: PhaseRecord) -> Iterator[ReplayRates]:
    """The chart of a replay that keeps to the times of its trace, of at least two intervals."""
    facts, replay, interval_ns = record.measurement.replay, record.phase.replay, record.series.interval_ns
    done = record.series.ios
    if facts is None or replay is None or replay.mode == "fast" or not interval_ns:
        return
    count = max(len(facts.due_ios), len(done))
    if count < 2:
        return
    spans = []
    for group in together(count, MOST):
        seconds = len(group) * interval_ns / 1e9
        here = done[group.start : group.stop]
        wanted = sum(facts.due_ios[group.start : group.stop]) / seconds
        known = sum(here) / seconds if len(here) == len(group) else None
        spans.append(ReplayedSpan(group.start * interval_ns, group.stop * interval_ns, wanted, known))
    yield ReplayRates(
        key=f"replay-{record.phase.name.replace(' ', '-')}-rates",
        title="IOPS of the trace and here",
        summary=_summary(spans),
        notes=("Grey: issued in the trace. Blue: completed here.",),
        spans=tuple(spans),
    )


def _summary(spans: list[ReplayedSpan]) -> str:
    """The busiest span, and what was completed in it."""
    busiest = max(spans, key=lambda span: span.wanted_per_s)
    here = "" if busiest.done_per_s is None else f", {text.rate(busiest.done_per_s)} completed here"
    at = text.brief_time(busiest.start_ns)
    return f"The trace issues most at {at}: {text.rate(busiest.wanted_per_s)} IOPS{here}."


def draw(chart: ReplayRates, theme: Theme, width: int) -> Plot:
    """The trace as a filled step, what completed as a line over it."""
    spans = chart.spans
    most = max(1.0, *(each for span in spans for each in (span.wanted_per_s, span.done_per_s or 0.0)))
    ends = [(span.start_ns / 1e9, span.end_ns / 1e9) for span in spans]
    marks = (
        Boxes(
            [Box(start, span.wanted_per_s, end, 0) for (start, end), span in zip(ends, spans, strict=True)],
            colour=theme.muted,
            opacity=0.35,
        ),
        Lines(_steps(spans), steps=True, colour=theme.accent),
        Boxes(
            [Box(start, 1.12 * most, end, 0) for start, end in ends],
            tips=[tip(span, "start_ns", ("end_ns",)) for span in spans],
            opacity=0,
        ),
    )
    y = Axis(Scale(0, 1.12 * most), "IOPS", prefixed, count=4, room=LABEL_ROOM - 14)
    return Plot(width, HEIGHT, clock_axis(max(end for _, end in ends)), y, marks)


def _steps(spans: tuple[ReplayedSpan, ...]) -> list[list[Point]]:
    """The completed rate as steps; where it is unknown the line is interrupted."""
    points = list[list[Point]]()
    for unknown, group in groupby(spans, key=lambda span: span.done_per_s is None):
        if not unknown:
            run = [*group]
            steps = [Point(span.start_ns / 1e9, span.done_per_s) for span in run]
            points.append([*steps, Point(run[-1].end_ns / 1e9, run[-1].done_per_s)])
    return points
