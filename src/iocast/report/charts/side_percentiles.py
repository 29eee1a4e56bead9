"""The percentile curves of one row on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Chart
from iocast.report.charts.curves import Percentile, SideShape, percentile_curve, percentile_lines, side_shape
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import ComparedSides, file_key
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme

PLACE = Place("compared percentiles")


class SidePercentiles(Chart, frozen=True, kw_only=True):
    """A row on both sides."""

    kind: str = "side_percentiles"
    shapes: tuple[SideShape, ...]
    curves: tuple[Percentile, ...]


def tell(comparison: ComparedSides) -> Iterator[SidePercentiles]:
    """A chart of each row; none where another tool's buckets are too coarse."""
    for name, *both in comparison.rows:
        if all(times.coarse is None and times.total > 1 for times in both):
            yield _chart(name, list(zip(comparison.labels, both, strict=True)))


def _chart(name: str, both: list[tuple[str, Histogram]]) -> SidePercentiles:
    said = [f"{label} p50 {text.brief_time(times.quantile_ns(0.5))}{_tail(times)}" for label, times in both]
    return SidePercentiles(
        key=f"percentiles-{file_key(both[1][0])}-{file_key(name)}",
        title=f"{name}: percentiles",
        summary="; ".join(said) + ".",
        shapes=tuple(side_shape(name, *side) for side in both),
        curves=tuple(point for side in both for point in percentile_curve(*side)),
    )


def _tail(times: Histogram) -> str:
    tail = published(times, 0.99)
    return f", p99 {text.brief_time(tail)}" if tail else ""


def draw(chart: SidePercentiles, theme: Theme, width: int) -> Plot:
    """Both curves, in the colours that the sides have in all charts."""
    return percentile_lines(chart.curves, (theme.accent, theme.tail), width)
