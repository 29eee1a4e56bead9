"""Latencies over the course of a trace, as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.characteristics import Moment
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import Ends, LatencyMoment, time_grid, together
from iocast.report.plot.axes import LABEL_ROOM, time_axis
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("profile", wide=True)
A_DECADE = 16  # steps of latency, as the core counts them


class TimeLatency(Chart, frozen=True, kw_only=True):
    """The course of a trace."""

    kind: str = "time_latency"
    moments: tuple[LatencyMoment, ...]
    span: tuple[Ends]


def tell(profile: Profile) -> Iterator[TimeLatency]:
    """The chart of a trace with latencies and times."""
    moments, width = profile.order.moments, profile.order.moment_ns
    steps = [step for each in moments for step in each.latency_steps]
    if not steps or not profile.length_ns:
        return
    low, high = min(steps), max(max(steps) + 1, min(steps) + A_DECADE // 2)
    slowest = max(cell.latency.max_ns for cell in profile.order.by_size)
    yield TimeLatency(
        key="profile-time-latency",
        title="Latency over time",
        summary=f"Latencies over the trace; the slowest I/O took {text.brief_time(slowest)}.",
        moments=tuple(
            _moment([moments[at] for at in group], group.start * width, group.stop * width, low, high)
            for group in together(len(moments))
        ),
        span=(Ends(_edge(low), _edge(high)),),
    )


def _edge(step: int) -> float:
    return float(10 ** (step / A_DECADE))


def _moment(several: list[Moment], start: int, end: int, low: int, high: int) -> LatencyMoment:
    counts = [0.0] * (high - low)
    for each in several:
        for step, count in zip(each.latency_steps, each.latency_counts, strict=True):
            counts[step - low] += count
    timed = sum(each.timed for each in several)
    mean = sum(each.latency_sum_ns for each in several) / timed if timed else None
    return LatencyMoment(start, end, sum(each.events for each in several), mean, tuple(counts))


def draw(chart: TimeLatency, _theme: Theme, width: int) -> Plot:
    """The cells, and a logarithmic axis of time."""
    (span,) = chart.span
    y = time_axis(span.low_ns, span.high_ns, grid=False, room=LABEL_ROOM)
    return time_grid(chart.moments, [each.counts for each in chart.moments], y, width)
