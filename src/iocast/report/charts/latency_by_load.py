"""The classic chart of Kyle Hailey's fio.r: response time against load, with a histogram at every load.

Mean, p95, p99 and maximum as lines, and at each load a histogram of sixteen buckets on its side. The shares that fio.r
draws behind them are a chart of their own: they have another axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from iocast import text
from iocast.analyse.statistics import bucket_shares, published
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.latency_buckets import BUCKETS, bucket_colour, bucket_rows
from iocast.report.charts.drawing.legends import bucket_legend
from iocast.report.charts.drawing.loads import load_labels, load_tips, loads_axis
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    Spec,
    apart,
    chart,
    layer,
    legible,
    named,
    needed,
    number,
    numbers,
    quantitative,
    time_axis,
    time_scale,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member

PLACE = Place("family", classic=True, legends=(bucket_legend,))
GOOD_NS = 10_000_000  # where fio.r draws its line
SHARE_EDGES_NS = (1_000_000, GOOD_NS)
HEIGHT = 308  # in fio.r's proportions, with those of its other two: 7 : 3 : 3
HISTOGRAM = 0.62  # how far a histogram reaches, in steps
LOWEST_NS, HIGHEST_NS = 1e5, 1e9  # fio.r's axis; it is widened where something lies outside
LABEL_GAP = 0.055  # of the height, between labels at the edge

COLUMNS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration"),
    Column("p95", "p95", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
    Column("fast", "up to 1 ms", "share"),
    Column("middling", "1 to 10 ms", "share"),
    Column("slow", "above 10 ms", "share"),
)


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least two loads."""
    ladder = family.ladder
    if len(ladder) < 2:
        return
    slices = tuple(row for member in ladder for row in bucket_rows(member.load, member.times))
    yield Chart(
        kind="latency_by_load",
        key=f"{family.key}-latency",
        family=family.key,
        title=f"{family.title}: response time by load",
        summary=_summary(ladder),
        x=Axis("load", "load"),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(member) for member in ladder), key="loads"),
            Table("", BUCKETS, slices, key="buckets"),
        ),
    )


def _row(member: Member) -> Row:
    times = member.times
    fast, middling, slow = bucket_shares(times, SHARE_EDGES_NS)
    return Row(
        {
            "load": member.load,
            "mean": times.mean_ns,
            "p50": times.quantile_ns(0.5),
            "p95": times.quantile_ns(0.95),
            "p99": times.quantile_ns(0.99),
            "max": times.max_ns,
            "fast": fast,
            "middling": middling,
            "slow": slow,
        },
        note="" if published(times, 0.99) is not None else "too few I/Os for p99",
    )


def _summary(ladder: tuple[Member, ...]) -> str:
    first, last = ladder[0], ladder[-1]
    said = []
    for member in (first, last):
        slow = 1 - member.times.count_up_to(GOOD_NS) / member.times.total
        half = text.brief_time(member.times.quantile_ns(0.5))
        known = published(member.times, 0.95)
        most = "" if known is None else f", p95 {text.brief_time(known)}"
        beyond = f", {text.percent(slow)} above 10 ms" if slow else ""
        said.append(f"{member.load_text}: p50 {half}{most}{beyond}")
    return ". ".join(said) + "."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Mean, p95, p99, maximum; a histogram on its side at each load."""
    loads, buckets = needed(about.table("loads")), needed(about.table("buckets"))
    labels = load_labels(loads)
    low = min(LOWEST_NS, 10 ** math.floor(math.log10(max(1.0, min(numbers(loads.rows, "p50", "mean"))))))
    high = max(HIGHEST_NS, *numbers(loads.rows, "max"))
    scale, ticks = time_scale(low, high)
    decades = [tick for tick in ticks if abs(math.log10(tick) % 1) < 1e-6 or math.log10(tick) % 1 > 1 - 1e-6]
    x = loads_axis(labels)
    y = quantitative("y", scale, time_axis(decades, minExtent=LABEL_ROOM))
    layers = [
        *_percentile_bands(loads, theme, x, y),
        *_histograms(labels, buckets, theme, x, y, low, high),
        layer("rule", [{"y": float(GOOD_NS)}], {"y": y}, color=theme.warn, strokeDash=[6, 4], strokeWidth=1.2),
        *_lines(loads, theme, x, y),
        *_line_names(loads, theme, x, y, low, high),
        load_tips(loads, x, y, "mean"),
    ]
    return chart(width, HEIGHT, layers)


def _histograms(
    labels: list[str], buckets: Table, theme: Theme, x: Spec, y: Spec, low: float, high: float
) -> list[Spec]:
    most = max(numbers(buckets.rows, "share"), default=1.0)
    bars = []
    for row in buckets.rows:
        name = cell_text("load", row.cells["load"])
        share, bottom, top = (number(row.cells[key]) or 0.0 for key in ("share", "low", "high"))
        if top <= low or bottom >= high:
            continue
        at = labels.index(name)
        says = f"{name}: {text.percent(share)} took {text.duration(bottom)} to {text.duration(top)}"
        bar = {"x": at, "x2": at + HISTOGRAM * share / most, "y": max(bottom, low), "y2": min(top, high)}
        bars.append({**bar, "c": bucket_colour(bottom, theme), "tip": says})
    encoding: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    return [layer("rect", bars, {**encoding, "fill": OWN_COLOUR}, silent=False)]


def _percentile_bands(loads: Table, theme: Theme, x: Spec, y: Spec) -> list[Spec]:
    bands = []
    for low, high, opacity in (("mean", "p95", 0.34), ("p95", "p99", 0.2)):
        rows = [
            {"x": at, "y": one, "y2": other}
            for at, row in enumerate(loads.rows)
            if (one := number(row.cells[low])) is not None and (other := number(row.cells[high])) is not None
        ]
        encoding: Spec = {"x": x, "y": y, "y2": {"field": "y2"}}
        bands.append(layer("area", rows, encoding, color=theme.shade, opacity=opacity, clip=True))
    return bands


def _lines(loads: Table, theme: Theme, x: Spec, y: Spec) -> list[Spec]:
    def line(key: str, **look: Any) -> Spec:
        rows = [{"x": at, "y": number(row.cells[key])} for at, row in enumerate(loads.rows)]
        return layer("line", rows, {"x": x, "y": y}, clip=True, **look)

    means = [
        {"x": at, "y": number(row.cells["mean"]), "t": text.duration(number(row.cells["mean"]))}
        for at, row in enumerate(loads.rows)
    ]
    return [
        line("max", color=theme.peak, strokeDash=[5, 4], strokeWidth=1.4),
        line("p50", color=theme.accent, strokeWidth=1.6, strokeDash=[2, 2]),
        line("mean", color=theme.ink, strokeWidth=2),
        layer("circle", means, {"x": x, "y": y}, color=theme.ink, size=34, opacity=1),
        *legible(
            {
                "type": "text",
                "align": "right",
                "baseline": "bottom",
                "dx": -5,
                "dy": -4,
                "fontSize": 11,
                "fontWeight": 600,
            },
            means,
            named(x, y),
            theme,
        ),
    ]


def _line_names(loads: Table, theme: Theme, x: Spec, y: Spec, low: float, high: float) -> list[Spec]:
    """The lines are named where they end, so that no legend is needed."""
    last, wide = loads.rows[-1], math.log10(high / low)
    found = [(key, value) for key in ("max", "p99", "p95", "mean", "p50") if (value := number(last.cells[key]))]
    places = apart([math.log10(max(low, value) / low) / wide for _, value in found], LABEL_GAP)
    # None is pushed out at the top: there they are put below each other, the slowest first.
    for rank, at in enumerate(sorted(range(len(places)), key=places.__getitem__, reverse=True)):
        places[at] = min(places[at], 0.98 - rank * LABEL_GAP)
    colours = {"max": theme.peak, "p50": theme.accent, "mean": theme.ink}
    rows = [
        {"x": len(loads.rows) - 1 + 1.08, "y": low * 10 ** (place * wide), "t": key, "c": colours.get(key, theme.muted)}
        for (key, _), place in zip(found, places, strict=True)
    ]
    mark = {"type": "text", "align": "right", "baseline": "middle", "fontSize": 11}
    return legible(mark, rows, {**named(x, y), "color": OWN_COLOUR}, theme)
