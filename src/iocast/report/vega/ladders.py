"""Draws what depends on the load: the three classic charts and the load curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from iocast import text
from iocast.model.report import Chart, Table
from iocast.report.cells import cell_text
from iocast.report.vega.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    WIDTH,
    Spec,
    apart,
    chart,
    layer,
    legible,
    needed,
    number,
    numbers,
    padded_times,
    positions_of,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.vega.theme import Theme

# Heights in fio.r's proportions of 7 : 3 : 3.
LATENCY_HEIGHT, SCALING_HEIGHT, THROUGHPUT_HEIGHT = 308, 132, 132
EDGE = 0.4  # before the first load, in steps; behind the last one there is room for its histogram
HISTOGRAM = 0.62  # how far a histogram reaches, in steps
LOWEST_NS, HIGHEST_NS = 1e5, 1e9  # fio.r's axis; it is widened where something lies outside
GOOD_NS = 1e7
LABEL_GAP = 0.055  # of the height, between labels at the edge
NEAR = 0.06  # of the width and the height: names of points this near would lie on each other


def _labels(table: Table, key: str = "load") -> list[str]:
    return [cell_text("load", row.cells[key]) for row in table.rows]


def _x(labels: Sequence[str], *, axis: bool, title: str | None = None) -> Spec:
    scale = {"domain": [-EDGE, len(labels) - 1 + 1.1], "nice": False}
    shown = {**positions_of(labels), "title": title} if axis else None
    return quantitative("x", scale, shown)


def latency_by_load(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """Mean, p95, p99, maximum; the shares behind them; a histogram on its side at each load."""
    loads, buckets = needed(about.table("loads")), needed(about.table("buckets"))
    labels = _labels(loads)
    low = min(LOWEST_NS, 10 ** math.floor(math.log10(max(1.0, min(numbers(loads.rows, "p50", "mean"))))))
    high = max(HIGHEST_NS, *numbers(loads.rows, "max"))
    scale, ticks = time_scale(low, high)
    decades = [tick for tick in ticks if abs(math.log10(tick) % 1) < 1e-6 or math.log10(tick) % 1 > 1 - 1e-6]
    x = _x(labels, axis=True, title="users")
    y = quantitative("y", scale, time_axis(decades, minExtent=LABEL_ROOM))
    layers = [
        *_shares(loads, theme, x, y, low, high),
        *_percentile_bands(loads, theme, x, y),
        *_histograms(labels, buckets, theme, x, y, low, high),
        layer("rule", [{"y": GOOD_NS}], {"y": y}, color=theme.warn, strokeDash=[6, 4], strokeWidth=1.2),
        *_lines(loads, theme, x, y),
        *_line_names(loads, theme, x, y, low, high),
        _points(loads, x, y, "mean"),
    ]
    return chart(width, LATENCY_HEIGHT, layers, theme)


def _shares(loads: Table, theme: Theme, x: Spec, y: Spec, low: float, high: float) -> list[Spec]:
    """The background: how much took up to 1 ms, up to 10 ms, longer; the whole height is all I/Os."""
    wide = math.log10(high / low)
    rows: dict[str, list[Spec]] = {"fast": [], "middling": [], "slow": []}
    last = len(loads.rows) - 1
    for at, row in enumerate(loads.rows):
        below = 0.0
        for name, found in rows.items():
            share = number(row.cells[name]) or 0.0
            bounds = (low * 10 ** (below * wide), low * 10 ** (min(1.0, below + share) * wide))
            places = [at] + ([-EDGE] if at == 0 else []) + ([last + 1.1] if at == last else [])
            found += [{"x": place, "y": bounds[0], "y2": bounds[1]} for place in places]
            below += share
    colours = {"fast": theme.fast, "middling": theme.middling, "slow": theme.slow}
    return [
        layer("area", found, {"x": x, "y": y, "y2": {"field": "y2"}}, color=colours[name], clip=True)
        for name, found in rows.items()
    ]


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
        says = f"{name} users: {text.percent(share)} took {text.duration(bottom)} to {text.duration(top)}"
        bar = {"x": at, "x2": at + HISTOGRAM * share / most, "y": max(bottom, low), "y2": min(top, high)}
        bars.append({**bar, "c": _bucket_colour(bottom, theme), "tip": says})
    encoding: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}}
    return [layer("rect", bars, {**encoding, "fill": OWN_COLOUR}, silent=False)]


# Where the sixteen buckets begin, so that a bucket is known by its lower edge.
_STARTS_NS = (
    2e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2e6, 4e6, 1e7, 2e7, 5e7, 1e8, 2.5e8, 5e8, 1e9, 2e9,
)  # fmt: skip


def _bucket_colour(low_ns: float, theme: Theme) -> str:
    at = min(range(len(_STARTS_NS)), key=lambda each: abs(_STARTS_NS[each] - low_ns))
    return theme.buckets[at]


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
            {"type": "text", "align": "right", "baseline": "bottom", "dx": -5, "dy": -4, "fontSize": 11},
            means,
            _named(x, y),
            theme,
            fontWeight=600,
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
    return legible(mark, rows, {**_named(x, y), "color": OWN_COLOUR}, theme)


def _points(loads: Table, x: Spec, y: Spec, key: str) -> Spec:
    """Unseen, and large enough to be met by a finger: what says the figures."""
    rows = [{"x": at, "y": number(row.cells[key]), "tip": tip(loads, row, "load")} for at, row in enumerate(loads.rows)]
    return layer("circle", rows, {"x": x, "y": y}, silent=False, size=500, opacity=0)


def scaling(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """Mean and median on a linear axis; between the loads a bar of what the step cost."""
    steps, loads = needed(about.table("steps")), needed(about.table("loads"))
    labels = _labels(loads)
    high = 1.12 * max(numbers(loads.rows, "mean", "p50"))
    x, scale = _x(labels, axis=True, title="users"), {"domain": [0, high], "nice": False}
    y = quantitative("y", scale, time_axis([high / 1.12 * part for part in (0, 0.5, 1)], minExtent=LABEL_ROOM))
    y["axis"] |= {"labelExpr": _linear_time(high)}
    colours = {"faster": theme.faster, "slower": theme.slower, "lost": theme.lost}
    bars = [
        {
            "x": at + 0.3,
            "x2": at + 0.7,
            "y": 0,
            "y2": high * min(1.0, number(row.cells["bar"]) or 0.0),
            "c": colours[str(row.cells["colour"])],
            "t": text.three_figures(number(row.cells["ratio"]) or 0.0),
            "tip": tip(steps, row, leave=("bar",)),
            "at": at + 0.5,
        }
        for at, row in enumerate(steps.rows)
    ]
    lines = [
        layer(
            {"type": "line", "point": {"aria": False, "filled": True, "size": 26, "color": tone}},
            [{"x": at, "y": number(row.cells[key])} for at, row in enumerate(loads.rows)],
            {"x": x, "y": y},
            color=tone,
            **look,
        )
        for key, tone, look in (
            ("p50", theme.accent, {"strokeDash": [2, 2], "strokeWidth": 1.6}),
            ("mean", theme.ink, {"strokeWidth": 1.6}),
        )
    ]
    above = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 10}
    ratio: Spec = {"x": {**x, "field": "at"}, "y": quantitative("y2", scale, y["axis"]), "text": {"field": "t"}}
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    layers = [
        layer("rect", bars, rect, silent=False),
        *lines,
        *legible(above, bars, ratio, theme, color=theme.muted),
        _points(loads, x, y, "mean"),
    ]
    return chart(width, SCALING_HEIGHT, layers, theme)


def _linear_time(high: float) -> str:
    """All ticks of a linear axis in the unit of the highest."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")):
        if high >= factor:
            return f"format(datum.value / {factor:.0f}, '.3~r') + ' {unit}'"
    return "format(datum.value, '.3~r')"


def throughput(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """Bars on log10(MB/s + 1), each sliced in proportion to what its I/Os took."""
    loads, buckets = needed(about.table("loads")), needed(about.table("buckets"))
    labels = _labels(loads)
    heights = [math.log10(1 + (number(row.cells["throughput"]) or 0.0) / 1e6) for row in loads.rows]
    x = _x(labels, axis=True, title="users")
    most = max(heights)
    ticks = [at for value in (1, 10, 100, 1000, 10_000, 100_000) if (at := math.log10(1 + value)) <= 1.02 * most]
    axis = {
        "values": ticks or [most],
        "labelExpr": "format(pow(10, datum.value) - 1, ',.3~r')",
        "title": "MB/s",
        "minExtent": LABEL_ROOM - 14,
        "grid": True,
    }
    y = quantitative("y", {"domain": [0, 1.2 * most], "nice": False}, axis)
    slices, below = [], dict.fromkeys(labels, 0.0)
    for row in buckets.rows:
        name = cell_text("load", row.cells["load"])
        share = number(row.cells["share"]) or 0.0
        at, start = labels.index(name), below[name]
        below[name] = start + share
        bottom, top = number(row.cells["low"]) or 0.0, number(row.cells["high"])
        slices.append(
            {
                "x": at - 0.3,
                "x2": at + 0.3,
                "y": heights[at] * start,
                "y2": heights[at] * (start + share),
                "c": _bucket_colour(bottom, theme),
                "tip": f"{tip(loads, loads.rows[at], 'load')}; {text.percent(share)} took "
                f"{text.duration(bottom)} to {text.duration(top)}",
            }
        )
    tops = [
        {"x": at, "y": heights[at], "t": text.megabytes_per_s(number(row.cells["throughput"]))}
        for at, row in enumerate(loads.rows)
    ]
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    label = {"type": "text", "baseline": "bottom", "dy": -3, "fontSize": 11}
    layers = [
        layer("rect", slices, rect, silent=False),
        layer(label, tops, {"x": x, "y": y, "text": {"field": "t"}}, color=theme.ink),
    ]
    return chart(width, THROUGHPUT_HEIGHT, layers, theme)


def load_curve(about: Chart, theme: Theme, width: int = WIDTH) -> Spec:
    """p50 and p99 against the rate, joined in the order of the loads: past saturation the curve folds back."""
    loads, knees = needed(about.table("loads")), needed(about.table("knees"))
    rates = numbers(loads.rows, "rate")
    found = numbers(loads.rows, "p50", "p99")
    low, high = padded_times(found, 0.12)
    scale, ticks = time_scale(low, high)
    x = quantitative("x", {"domain": [0, 1.1 * max(rates)], "nice": False}, {"title": about.x.title, "format": "~s"})
    x["axis"] |= {"grid": False, "tickCount": 5}
    y = quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM))
    layers: list[Spec] = []
    for row in knees.rows:
        at = number(row.cells["rate"])
        layers.append(layer("rule", [{"x": at}], {"x": x}, color=theme.warn, strokeDash=[4, 3]))
        mark = {"type": "text", "align": "right", "baseline": "top", "dx": -5, "fontSize": 11}
        layers.append(layer(mark, [{"x": at, "y": high, "t": "knee"}], _named(x, y), color=theme.warn))
    ends = []
    for key, tone in (("p99", theme.tail), ("p50", theme.accent)):
        rows = [
            {"x": number(row.cells["rate"]), "y": number(row.cells[key]), "o": at, "tip": tip(loads, row, "load")}
            for at, row in enumerate(loads.rows)
            if row.cells[key] is not None
        ]
        if not rows:
            continue
        layers.append(layer("line", rows, {"x": x, "y": y, "order": {"field": "o"}}, color=tone, strokeWidth=2))
        layers.append(layer("circle", rows, {"x": x, "y": y}, color=tone, size=40, opacity=1))
        layers.append(layer("circle", rows, {"x": x, "y": y}, silent=False, size=500, opacity=0))
        ends.append({**rows[-1], "x": max(rates), "t": key, "c": tone})  # to the right of where it folds back
    names = _load_names(loads, max(rates), math.log10(high / low))
    below = {"type": "text", "align": "center", "baseline": "top", "dy": 7, "fontSize": 11}
    layers += legible(below, names, _named(x, y), theme, color=theme.muted)
    beside = {"type": "text", "align": "left", "baseline": "middle", "dx": 8, "fontSize": 11, "fontWeight": 600}
    layers += legible(beside, ends, {**_named(x, y), "color": OWN_COLOUR}, theme)
    return chart(width, 240, layers, theme)


def _load_names(loads: Table, most: float, decades: float) -> list[Spec]:
    """The load below each point; points that lie on each other share a name."""
    names = list[Spec]()
    for row, label in zip(loads.rows, _labels(loads), strict=True):
        x, y = number(row.cells["rate"]) or 0.0, number(row.cells["p50"]) or 1.0
        on = [each for each in names if abs(each["x"] - x) < NEAR * most]
        same = next((each for each in on if abs(math.log10(each["y"] / y)) < NEAR * decades), None)
        if same is not None:
            same["t"] += f", {label}"
        else:
            names.append({"x": x, "y": y, "t": label})
    return names


def _named(x: Spec, y: Spec) -> Spec:
    return {"x": x, "y": y, "text": {"field": "t"}}
