"""Draws the classic three of one test as one picture, stacked 7 : 3 : 3 as fio.r has them."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.report import Chart
from iocast.report.vega.ladders import latency_by_load, scaling, throughput
from iocast.report.vega.parts import WIDTH, Spec
from iocast.report.vega.sheet import SPACING
from iocast.report.vega.theme import Theme

PARTS = {"latency_by_load": latency_by_load, "scaling": scaling, "throughput": throughput}
ENDS = {"latency_by_load": "-latency", "scaling": "-scaling", "throughput": "-throughput"}  # of the charts' keys


def trio(charts: Sequence[Chart], theme: Theme, width: int = WIDTH) -> Spec:
    """The latency, scaling and throughput charts of one family, in this order, on one ground."""
    by_kind: dict[str, Chart] = {chart.kind: chart for chart in charts}
    specs = [draw(by_kind[kind], theme, width) for kind, draw in PARTS.items()]
    whole = {key: value for key, value in specs[0].items() if key not in ("width", "height", "layer")}
    parts = [{key: spec[key] for key in ("width", "height", "layer")} for spec in specs]
    return {**whole, "spacing": SPACING, "vconcat": parts}


def trios(charts: Sequence[Chart]) -> list[tuple[str, tuple[Chart, ...]]]:
    """The charts that belong into one picture, by the key of their family."""
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        if chart.kind in PARTS:
            found.setdefault(chart.key.removesuffix(ENDS[chart.kind]), []).append(chart)
    return [(key, tuple(several)) for key, several in found.items() if len(several) == len(PARTS)]
