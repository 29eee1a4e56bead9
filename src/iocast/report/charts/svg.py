"""Charts as SVG for a page: drawn at the same time on all processors, and begun before all are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import Future

from iocast.model.report import Chart
from iocast.report.charts import specification
from iocast.report.charts.drawing import engine
from iocast.report.charts.drawing.theme import Theme


def begin(chart: Chart, theme: Theme) -> None:
    """Begins to draw a chart of which `to_svgs` will be asked."""
    if engine.installed():
        spec = engine.text(specification(chart, theme))
        _begun[spec] = engine.begin(spec)


def to_svgs(charts: Sequence[Chart], theme: Theme) -> list[str]:
    """The charts as SVG, each with names of its own for what it refers to inside. Raises DrawingError."""
    specs = [engine.text(specification(chart, theme)) for chart in charts]
    drawings = [_begun.get(spec) or engine.begin(spec) for spec in specs]
    _begun.clear()
    return [_named(chart, drawing.result().decode()) for chart, drawing in zip(charts, drawings, strict=True)]


_begun: dict[str, Future[bytes]] = {}  # by what is to be drawn: a chart made again is the same drawing


def _named(chart: Chart, svg: str) -> str:
    return re.sub(r'(id="|url\(#|href="#)(?=(?:clip|gradient))', rf"\g<1>{chart.key}-", svg)
