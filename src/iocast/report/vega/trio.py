"""Draws the classic three of one test, which one picture has under each other, 7 : 3 : 3 as fio.r."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.report import Chart
from iocast.report.vega.ladders import latency_by_load, scaling, throughput
from iocast.report.vega.parts import WIDTH, Spec
from iocast.report.vega.theme import Theme

PARTS = {"latency_by_load": latency_by_load, "scaling": scaling, "throughput": throughput}
ENDS = {"latency_by_load": "-latency", "scaling": "-scaling", "throughput": "-throughput"}  # of the charts' keys


def trio(charts: Sequence[Chart], theme: Theme, width: int = WIDTH) -> list[Spec]:
    """The latency, scaling and throughput charts of one family, in this order."""
    by_kind: dict[str, Chart] = {chart.kind: chart for chart in charts}
    return [draw(by_kind[kind], theme, width) for kind, draw in PARTS.items()]


def trios(charts: Sequence[Chart]) -> list[tuple[str, tuple[Chart, ...]]]:
    """The charts that belong into one picture, by the key of their family."""
    found: dict[str, list[Chart]] = {}
    for chart in charts:
        if chart.kind in PARTS:
            found.setdefault(chart.key.removesuffix(ENDS[chart.kind]), []).append(chart)
    return [(key, tuple(several)) for key, several in found.items() if len(several) == len(PARTS)]
