"""Latencies of one histogram over the time of a tape, as a heat map: a row for each bucket of its source."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies, on_grid
from iocast.analyse.live.tape_summary import Stretch, TapeSummary
from iocast.model.report import Chart
from iocast.report.charts.place import Place
from iocast.report.charts.time_grid import Ends, LatencyMoment, time_grid
from iocast.report.live.latency.histogram_choice import Choice, label
from iocast.report.plot.axes import LABEL_ROOM, time_axis
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("tape", wide=True)
MOST = 4  # charts of one tape: the busiest histograms


class LiveLatency(Chart, frozen=True, kw_only=True):
    """The course of a tape."""

    kind: str = "live_latency"
    course: tuple[LatencyMoment, ...]
    span: tuple[Ends]


def tell(tape: TapeSummary) -> Iterator[LiveLatency]:
    """The charts of the histograms that have most, and took some time."""
    totals: dict[Choice, int] = {}
    for stretch in tape.course:
        for choice, histogram in stretch.histograms.items():
            totals[choice] = totals.get(choice, 0) + histogram.total
    for choice in sorted(totals, key=lambda each: (-totals[each], each))[:MOST]:
        yield _of(tape, choice, totals[choice])


def _of(tape: TapeSummary, choice: Choice, total: int) -> LiveLatency:
    columns = [stretch.histograms.get(choice) for stretch in tape.course]
    known = {upper for column in columns if column for upper in column.counts if upper != ENDLESS_NS}
    bounds = _doubling(min(known), max(known)) if known else [1_000]
    if any(column.counts.get(ENDLESS_NS) for column in columns if column):
        bounds.append(2 * bounds[-1])  # drawn as one more bucket
    return LiveLatency(
        key=f"tape-latency-{'-'.join(choice)}".replace("|", "-").replace(" ", "-").replace("/", "-"),
        title=label(choice),
        summary=f"{text.counted(total, 'I/O')} or waits, the slowest below {text.duration(bounds[-1])}.",
        course=tuple(_moment(stretch, column, bounds) for stretch, column in zip(tape.course, columns, strict=True)),
        span=(Ends(bounds[0] / 2, float(bounds[-1])),),
    )


def _doubling(low: int, high: int) -> list[int]:
    bounds = [low]
    while bounds[-1] < high:
        bounds.append(bounds[-1] * 2)
    return bounds


def _moment(stretch: Stretch, times: Latencies | None, bounds: list[int]) -> LatencyMoment:
    *counts, above = on_grid(times, bounds) if times else [0] * (len(bounds) + 1)
    counts[-1] += above
    ios, mean = (times.total, times.mean_ns) if times else (0, None)
    return LatencyMoment(stretch.start_ns, stretch.end_ns, ios, mean, tuple(map(float, counts)))


def draw(chart: LiveLatency, _theme: Theme, width: int) -> Plot:
    """The cells, and a logarithmic axis of time."""
    (span,) = chart.span
    y = time_axis(span.low_ns, span.high_ns, grid=False, room=LABEL_ROOM)
    return time_grid(chart.course, [each.counts for each in chart.course], y, width)
