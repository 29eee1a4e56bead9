"""How charts look: a chart becomes a Vega-Lite specification in a theme, vl-convert makes SVG or PNG of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from iocast.errors import DrawingError
from iocast.model.report import Chart, ChartKind
from iocast.report.vega import drawers
from iocast.report.vega.heat import heat
from iocast.report.vega.ladders import latency_by_load, load_curve, scaling, throughput
from iocast.report.vega.parts import Spec
from iocast.report.vega.sides import ratios, repeats, side_percentiles, sides
from iocast.report.vega.spreads import device, distribution, overview, percentiles
from iocast.report.vega.theme import Theme

VEGA_LITE = "6.4"  # the newest that vl-convert brings along
PNG_SCALE = 2.0  # for screens of today
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


def to_svg(chart: Chart, theme: Theme) -> str:
    """The chart as SVG, with names of its own for what it refers to inside. Raises DrawingError."""
    return _named(chart, spec_to_svg(specification(chart, theme)))


def begin(chart: Chart, theme: Theme) -> None:
    """Begins to draw a chart of which `to_svgs` will be asked, if drawers wait for that."""
    drawing = drawers.begin(specification(chart, theme))
    if drawing is not None:
        _begun[id(chart)] = (chart, theme, drawing)


def to_svgs(charts: Sequence[Chart], theme: Theme) -> list[str]:
    """The same of many charts at the same time, on all processors. Raises DrawingError."""
    svgs = drawers.finish([_drawing(chart, theme) for chart in charts])
    return [_named(chart, svg) for chart, svg in zip(charts, svgs, strict=True)]


# What was begun, by the identity of the chart, which is kept for as long; `to_svgs` takes it out.
_begun: dict[int, tuple[Chart, Theme, drawers.Drawing]] = {}


def _drawing(chart: Chart, theme: Theme) -> drawers.Drawing:
    begun = _begun.pop(id(chart), None)
    return begun[2] if begun is not None and begun[1] is theme else drawers.Drawing(specification(chart, theme))


def _named(chart: Chart, svg: str) -> str:
    return re.sub(r'(id="|url\(#|href="#)(?=(?:clip|gradient))', rf"\g<1>{chart.key}-", svg)


def to_png(chart: Chart, theme: Theme) -> bytes:
    """The chart as PNG on the ground of its theme. Raises DrawingError."""
    return spec_to_png(specification(chart, theme), theme)


def spec_to_svg(spec: Spec) -> str:
    """A whole specification as SVG. Raises DrawingError."""
    svg: str = _converter().vegalite_to_svg(spec, vl_version=VEGA_LITE)
    return svg


def spec_to_png(spec: Spec, theme: Theme) -> bytes:
    """A whole specification as PNG on the ground of its theme. Raises DrawingError."""
    found = {**spec, "background": theme.ground}
    png: bytes = _converter().vegalite_to_png(found, vl_version=VEGA_LITE, scale=PNG_SCALE)
    return png


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise DrawingError(f"the charts cannot be drawn: {error}", "install vl-convert-python") from error
    return vl_convert
