"""How late the I/Os of a replay were issued over its course, as a heat map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.model.run import PhaseRecord
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import Ends, Moment, time_grid, together
from iocast.report.plot.axes import LABEL_ROOM, time_axis
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("replay", wide=True)
FIRST_NS = 1024  # the upper edge of the first octave (crates/iocast-core/src/record/lateness.rs)
LEAST_OCTAVES = 6
LATE_NS = 1_000_000


class LateMoment(Moment, frozen=True):
    """A stretch of a replay: its I/Os, and how many are in each octave of lateness."""

    ios: Annotated[int, shown("I/Os issued", "count")]
    most_ns: Annotated[int | None, shown("latest below", "duration")]
    counts: tuple[float, ...]


class ReplayLateness(Chart, frozen=True, kw_only=True):
    """The course of a replay."""

    kind: str = "replay_lateness"
    moments: tuple[LateMoment, ...]
    span: tuple[Ends]


def tell(record: PhaseRecord) -> Iterator[ReplayLateness]:
    """The chart of a replay that keeps to times, of at least two intervals."""
    late, interval_ns = record.measurement.lateness, record.series.interval_ns
    if len(late.rows) < 2 or not interval_ns:
        return
    octaves = max(max(map(len, late.rows)), LEAST_OCTAVES)
    width_ns = late.width * interval_ns
    yield ReplayLateness(
        key=f"replay-{record.phase.name.replace(' ', '-')}-lateness",
        title="How late I/Os were issued",
        summary=_summary(record),
        moments=tuple(
            _moment([late.rows[at] for at in group], group.start * width_ns, group.stop * width_ns, octaves)
            for group in together(len(late.rows))
        ),
        span=(Ends(float(FIRST_NS) / 2, float(FIRST_NS << (octaves - 1))),),
    )


def _summary(record: PhaseRecord) -> str:
    error = record.measurement.issue_error
    late = 1.0 - error.share_up_to(LATE_NS)
    return (
        f"{text.percent(late) if late else 'None'} of the I/Os {'were' if late else 'was'} issued more than 1 ms late; "
        f"the latest by {text.brief_time(error.max_ns)}."
    )


def _moment(parts: list[tuple[int, ...]], start: int, end: int, octaves: int) -> LateMoment:
    counts = [0.0] * octaves
    for part in parts:
        for at, count in enumerate(part):
            counts[at] += count
    most = max((at for at, count in enumerate(counts) if count), default=None)
    return LateMoment(start, end, int(sum(counts)), None if most is None else FIRST_NS << most, tuple(counts))


def draw(chart: ReplayLateness, _theme: Theme, width: int) -> Plot:
    """The cells, and a logarithmic axis of lateness whose first step is all below a microsecond."""
    (span,) = chart.span
    y = time_axis(span.low_ns, span.high_ns, "issued late by", grid=False, room=LABEL_ROOM)
    return time_grid(chart.moments, [each.counts for each in chart.moments], y, width)
