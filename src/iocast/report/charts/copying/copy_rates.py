"""How fast each way of copying was: a bar until the last byte was handed over, a mark where the copy was durable."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.copying.copy_figures import CellFigures, cells, spent, trials_of
from iocast.model.copying.copy_trials import CACHES, CopyRun
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import figures
from iocast.report.charts.drawing.parts import OWN_COLOUR, Spec, chart, layer, number, quantitative, tip
from iocast.report.charts.drawing.rows import ROW_HEIGHT, rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.wording import words

PLACE = Place("copy", wide=True)
BAR = 12  # pixels
COLUMNS = (
    Column("method", "way", "code"),
    Column("rate", "MB/s", "bytes_per_s"),
    Column("rate_synced", "MB/s with fsync", "bytes_per_s"),
    Column("shared", "shared", "share"),
)
ROUND = (Column("method", "way", "code"), Column("rate_synced", "MB/s with fsync", "bytes_per_s"))


def tell(run: CopyRun) -> Iterator[Chart]:
    """One for a cold source, one for a warm one. Ways that share blocks are left out: they would set the scale."""
    found = cells(run)
    for cache in CACHES:
        shown = [each for each in found if each.cache == cache and each.rate_per_s]
        if len(shown) < 2:
            continue
        best = max(shown, key=lambda each: each.rate_per_s or 0.0)
        rate = text.brief_throughput(best.rate_per_s or 0.0)
        left = [words(each.method) for each in found if each.cache == cache and each.shared]
        yield Chart(
            kind="copy_rates",
            key=f"copy-rates-{cache}",
            title=f"Rate of each way, {cache} source",
            summary=f"Fastest until durable: {words(best.method)}, {rate}.",
            x=Axis("MB/s", "bytes_per_s"),
            y=Axis("way", "text"),
            tables=(
                Table("", COLUMNS, tuple(map(_row, shown)), key="rates"),
                Table("", ROUND, tuple(_rounds(run, shown)), key="rounds"),
            ),
            notes=(
                "Bar: until the last byte was handed over. Dots: each round with fsync; line: their median.",
                *((f"Left out, because it copies no data: {', '.join(left)}.",) if left else ()),
            ),
        )


def _row(each: CellFigures) -> Row:
    return Row(
        {
            "method": each.method,
            "rate": ((each.copied.mb_per_s if each.copied else None) or 0.0) * 1e6,
            "rate_synced": each.rate_per_s,
            "shared": each.shared,
        }
    )


def _rounds(run: CopyRun, shown: list[CellFigures]) -> Iterator[Row]:
    for each in shown:
        for trial in trials_of(run, each.method, each.cache):
            rate = spent(trial, synced=True).mb_per_s
            if rate is not None:
                yield Row({"method": each.method, "rate_synced": rate * 1e6})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Bars from 0, dots of the rounds, a line at the median."""
    rates, rounds = about.tables
    names = [words(str(row.cells["method"])) for row in rates.rows]
    places = {str(row.cells["method"]): at for at, row in enumerate(rates.rows)}
    values = [number(row.cells[key]) or 0.0 for row in rates.rows for key in ("rate", "rate_synced")]
    dots = [
        {"x": (number(row.cells["rate_synced"]) or 0.0) / 1e6, "y": places[str(row.cells["method"])]}
        for row in rounds.rows
    ]
    most = max([value / 1e6 for value in values] + [dot["x"] for dot in dots] + [1e-9])
    x = quantitative("x", {"domain": [0, 1.05 * most]})
    x["axis"] = {"title": about.x.title, "grid": True, "tickCount": 6, "label": figures}
    y = rows_axis(names)
    bars = [
        {
            "x": 0,
            "x2": (number(row.cells["rate"]) or 0.0) / 1e6,
            "at": (number(row.cells["rate_synced"]) or 0.0) / 1e6,
            "y": at,
            "y1": at - 0.34,
            "y2": at + 0.34,
            "c": theme.middling,
            "tip": tip(rates, row, "method"),
        }
        for at, row in enumerate(rates.rows)
    ]
    ranged: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "color": OWN_COLOUR}
    lines = [{"x": bar["at"], "y": bar["y1"], "y2": bar["y2"]} for bar in bars]
    layers = [
        layer({"type": "bar", "height": BAR}, bars, ranged, silent=False),
        layer("rule", lines, {"x": x, "y": y, "y2": {"field": "y2"}}, color=theme.ink, strokeWidth=2),
        layer("circle", dots, {"x": x, "y": y}, color=theme.accent, size=28, opacity=0.8),
    ]
    return chart(width, ROW_HEIGHT * len(bars) + 12, layers)
