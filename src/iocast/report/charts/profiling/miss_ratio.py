"""The share of references that miss in a cache, by its size: all, reads, and writes that reach the storage."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.characteristics import MissCurve
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import binary_size, percent
from iocast.report.charts.drawing.parts import Spec, chart, layer, legible, named, needed, number, quantitative, tip
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place

PLACE = Place("profile", wide=True)
HEIGHT = 260
COLUMNS = (
    Column("cache", "cache of", "bytes"),
    Column("curve", "of", "text"),
    Column("ratio", "misses", "share"),
    Column("low", "from", "share"),
    Column("high", "to", "share"),
)
CURVES = ("all", "reads", "write_back")
WORDS = {"all": "all misses", "reads": "read misses", "write_back": "writes that reach storage"}


def tell(profile: Profile) -> Iterator[Chart]:
    """The chart of a trace in which blocks come again."""
    found, block = profile.order.references, profile.reference_bytes
    if found.all is None or block is None or found.all.ratios[0] == found.all.ratios[-1]:
        return
    curves = {"all": found.all, "reads": found.reads, "write_back": found.write_back}
    rows = [row for name, curve in curves.items() if curve is not None for row in _rows(name, curve, block)]
    least = found.all.first_share
    how = "exact" if found.exact else "sampled; band: 95% interval"
    yield Chart(
        kind="miss_ratio",
        key="profile-miss-ratio",
        title="Misses by size of a cache",
        summary=f"A cache that drops the least recently used block misses {text.brief_percent(least)} at least.",
        x=Axis("cache", "bytes", log=True),
        y=Axis("misses", "share"),
        tables=(Table("", COLUMNS, tuple(rows), key="points"),),
        notes=(f"LRU over {text.size(block)} blocks, {how}.",),
    )


def _rows(name: str, curve: MissCurve, block: int) -> Iterator[Row]:
    points = zip(curve.cache_blocks, curve.ratios, curve.low, curve.high, strict=True)
    for blocks, ratio, low, high in points:
        yield Row({"cache": blocks * block, "curve": name, "ratio": ratio, "low": low, "high": high})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A line for each curve over a logarithmic size, with its band."""
    table = needed(about.table("points"))
    sizes = [number(row.cells["cache"]) or 1.0 for row in table.rows]
    ticks = [float(1 << power) for power in range(70) if min(sizes) <= 1 << power <= max(sizes)]
    step = -(-len(ticks) // 9) or 1
    x = quantitative(
        "x",
        {"type": "log", "domain": [min(sizes), max(max(sizes), 2 * min(sizes))]},
        {"title": about.x.title, "values": ticks[::step], "label": binary_size, "grid": False},
    )
    y = quantitative("y", {"domain": [0, 1]}, {"title": about.y.title, "label": percent, "grid": True})
    colours = dict(zip(CURVES, (theme.ink, theme.faster, theme.tail), strict=True))
    layers: list[Spec] = []
    ends: list[Spec] = []
    for number_of, name in enumerate(CURVES):
        rows = [row for row in table.rows if row.cells["curve"] == name]
        if not rows:
            continue
        points = [
            {
                "x": number(row.cells["cache"]),
                "y": number(row.cells["ratio"]),
                "low": number(row.cells["low"]),
                "high": number(row.cells["high"]),
                "tip": tip(table, row, "cache", ("curve",)),
            }
            for row in rows
        ]
        band: Spec = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
        layers.append(layer("area", points, band, color=colours[name], opacity=0.2))
        line: Spec = {"type": "line", **({} if name == "all" else {"strokeDash": [5, 3]})}
        layers.append(layer(line, points, {"x": x, "y": y}, color=colours[name], strokeWidth=2))
        layers.append(layer("circle", points, {"x": x, "y": y}, silent=False, color=colours[name], size=30, opacity=0))
        at = points[len(points) * (1 + 2 * number_of) // 6]  # names stand apart, each at its line
        ends.append({"x": at["x"], "y": at["y"], "t": WORDS[name]})
    words = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "fontSize": 11}
    layers += legible(words, ends, named(x, y), theme, color=theme.ink)
    return chart(width, HEIGHT, layers)
