"""The percentile curves of one row on both sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Axis, Chart, Table
from iocast.report.charts.drawing.parts import Spec
from iocast.report.charts.drawing.percentile_curves import CURVE, curve, percentile_lines
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.compared_sides import SHAPES, ComparedSides, file_key, shape_row

PLACE = Place("compared percentiles")


def tell(comparison: ComparedSides) -> Iterator[Chart]:
    """A chart of each row; none where another tool's buckets are too coarse."""
    labels = comparison.labels
    for name, *both in comparison.rows:
        if any(times.coarse is not None or times.total < 2 for times in both):
            continue
        yield _chart(name, list(zip(labels, both, strict=True)))


def _chart(name: str, both: list[tuple[str, Histogram]]) -> Chart:
    said = [f"{label} p50 {text.brief_time(times.quantile_ns(0.5))}{_tail(times)}" for label, times in both]
    return Chart(
        kind="side_percentiles",
        key=f"percentiles-{file_key(both[1][0])}-{file_key(name)}",
        title=f"{name}: percentiles",
        summary="; ".join(said) + ".",
        x=Axis("percentile", "share", log=True),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", SHAPES, tuple(shape_row(name, *side) for side in both), key="shapes"),
            Table("", CURVE, tuple(point for side in both for point in curve(*side)), key="curves"),
        ),
    )


def _tail(times: Histogram) -> str:
    tail = published(times, 0.99)
    return f", p99 {text.brief_time(tail)}" if tail else ""


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Both curves, in the colours that the sides have in all charts."""
    return percentile_lines(about, theme, (theme.accent, theme.tail), width)
