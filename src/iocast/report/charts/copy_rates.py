"""How fast each way of copying was: a bar until the last byte was handed over, a mark where the copy was durable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.copy_figures import CellFigures, cells, spent, trials_of
from iocast.model.copy_trials import CACHES, CopyRun, MethodCode
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import ROW_HEIGHT, Axis, Scale, rows_axis
from iocast.report.plot.axis_labels import figures
from iocast.report.plot.marks import Bars, Box, Dots, Plot, Point, Range, Rules
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip
from iocast.report.wording import words

PLACE = Place("copy", wide=True)
BAR = 12  # pixels


class WayRate(Struct, frozen=True):
    """The median rates of a way of copying."""

    method: Annotated[MethodCode, shown("way", "code")]
    rate_bytes_per_s: Annotated[float, shown("MB/s", "bytes_per_s")]
    rate_synced_bytes_per_s: Annotated[float, shown("MB/s with fsync", "bytes_per_s")]
    shared_share: Annotated[float | None, shown("shared", "share")]


class RoundRate(Struct, frozen=True):
    """The rate of one copy until it was durable."""

    method: MethodCode
    rate_synced_bytes_per_s: float


class CopyRates(Chart, frozen=True, kw_only=True):
    """The ways that copied data, and each of their rounds."""

    kind: str = "copy_rates"
    rates: tuple[WayRate, ...]
    rounds: tuple[RoundRate, ...]


def tell(run: CopyRun) -> Iterator[CopyRates]:
    """One for a cold source, one for a warm one. Ways that share blocks are left out: they would set the scale."""
    by_cell = cells(run)
    for cache in CACHES:
        ways = [each for each in by_cell if each.cache == cache and each.rate_per_s]
        if len(ways) < 2:
            continue
        best = max(ways, key=lambda each: each.rate_per_s or 0.0)
        rate = text.brief_throughput(best.rate_per_s or 0.0)
        left = [words(each.method) for each in by_cell if each.cache == cache and each.shared]
        yield CopyRates(
            key=f"copy-rates-{cache}",
            title=f"Rate of each way, {cache} source",
            summary=f"Fastest until durable: {words(best.method)}, {rate}.",
            notes=(
                "Bar: until the last byte was handed over. Dots: each round with fsync; line: their median.",
                *((f"Left out, because it copies no data: {', '.join(left)}.",) if left else ()),
            ),
            rates=tuple(map(_rate, ways)),
            rounds=tuple(_rounds(run, ways)),
        )


def _rate(way: CellFigures) -> WayRate:
    copied = ((way.copied.mb_per_s if way.copied else None) or 0.0) * 1e6
    return WayRate(way.method, copied, way.rate_per_s or 0.0, way.shared)


def _rounds(run: CopyRun, ways: list[CellFigures]) -> Iterator[RoundRate]:
    for each in ways:
        for trial in trials_of(run, each.method, each.cache):
            rate = spent(trial, synced=True).mb_per_s
            if rate is not None:
                yield RoundRate(each.method, rate * 1e6)


def draw(chart: CopyRates, theme: Theme, width: int) -> Plot:
    """Bars from 0, dots of the rounds, a line at the median."""
    rates = chart.rates
    places = {rate.method: at for at, rate in enumerate(rates)}
    copied = [rate.rate_bytes_per_s / 1e6 for rate in rates]
    synced = [rate.rate_synced_bytes_per_s / 1e6 for rate in rates]
    dots = [(each.rate_synced_bytes_per_s / 1e6, places[each.method]) for each in chart.rounds]
    most = max(*copied, *synced, *(rate for rate, _ in dots), 1e-9)
    marks = (
        Bars(
            [Range(0, rate, at) for at, rate in enumerate(copied)],
            BAR,
            colours=[theme.middling] * len(rates),
            tips=[tip(rate, "method") for rate in rates],
        ),
        Rules([Box(rate, at - 0.34, rate, at + 0.34) for at, rate in enumerate(synced)], 2, colour=theme.ink),
        Dots([Point(rate, at) for rate, at in dots], 28, colour=theme.accent, opacity=0.8),
    )
    x = Axis(Scale(0, 1.05 * most), "MB/s", figures, count=6)
    return Plot(width, ROW_HEIGHT * len(rates) + 12, x, rows_axis([words(rate.method) for rate in rates]), marks)
