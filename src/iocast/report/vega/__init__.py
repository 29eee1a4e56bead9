"""How charts look: a chart becomes a Vega-Lite specification in a theme, vl-convert makes SVG or PNG of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from iocast.model.report import Chart, ChartKind
from iocast.report.vega import engine
from iocast.report.vega.heat import heat
from iocast.report.vega.ladders import latency_by_load, load_curve, scaling, throughput
from iocast.report.vega.parts import Spec
from iocast.report.vega.sides import ratios, repeats, side_percentiles, sides
from iocast.report.vega.spreads import device, distribution, overview, percentiles
from iocast.report.vega.theme import Theme

WIDE = 1064  # the width of a chart that takes the whole page

DRAWINGS: dict[ChartKind, Callable[[Chart, Theme, int], Spec]] = {
    "overview": overview,
    "latency_by_load": latency_by_load,
    "scaling": scaling,
    "throughput": throughput,
    "load_curve": load_curve,
    "distribution": distribution,
    "percentiles": percentiles,
    "heat": heat,
    "device": device,
    "ratios": ratios,
    "sides": sides,
    "side_percentiles": side_percentiles,
    "repeats": repeats,
}
WIDE_KINDS: frozenset[ChartKind] = frozenset({"heat", "overview", "ratios", "sides", "repeats"})
NARROW = 500


def specification(chart: Chart, theme: Theme) -> Spec:
    """The chart as a Vega-Lite specification: plain dictionaries and lists."""
    return DRAWINGS[chart.kind](chart, theme, WIDE - 80 if chart.kind in WIDE_KINDS else NARROW)


def begin(chart: Chart, theme: Theme) -> None:
    """Begins to draw a chart of which `to_svgs` will be asked."""
    spec = engine.text(specification(chart, theme))
    _begun[spec] = engine.begin(spec)


def to_svgs(charts: Sequence[Chart], theme: Theme) -> list[str]:
    """The charts as SVG, drawn at the same time on all processors, each with names of its own for what it refers to
    inside. Raises DrawingError."""
    specs = [engine.text(specification(chart, theme)) for chart in charts]
    drawings = [_begun.get(spec) or engine.begin(spec) for spec in specs]
    _begun.clear()
    return [_named(chart, drawing.result()) for chart, drawing in zip(charts, drawings, strict=True)]


_begun: dict[str, Future[str]] = {}  # by what is to be drawn: a chart made again is the same drawing


def _named(chart: Chart, svg: str) -> str:
    return re.sub(r'(id="|url\(#|href="#)(?=(?:clip|gradient))', rf"\g<1>{chart.key}-", svg)
