"""How the I/Os of each load share out over bands of response time: up to 1 ms, up to 10 ms, longer."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import bucket_shares
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import percent
from iocast.report.charts.drawing.legends import share_legend
from iocast.report.charts.drawing.loads import load_labels, loads_axis
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    OWN_COLOUR,
    Spec,
    chart,
    layer,
    legible,
    named,
    needed,
    number,
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.families import Family, Member

PLACE = Place("family", classic=True, legends=(share_legend,))
HEIGHT = 88
EDGES_NS = (1_000_000, 10_000_000)  # where fio.r draws its lines
COLUMNS = (
    Column("load", "load", "load", "users x queue depth"),
    Column("fast", "up to 1 ms", "share"),
    Column("middling", "1 to 10 ms", "share"),
    Column("slow", "above 10 ms", "share"),
)
BANDS = ("fast", "middling", "slow")
NAMED = 0.12  # a share from which it is written into its bar


def tell(family: Family) -> Iterator[Chart]:
    """The chart of a ladder of at least two loads."""
    if len(family.ladder) < 2:
        return
    rows = tuple(map(_row, family.ladder))
    yield Chart(
        kind="latency_bands",
        key=f"{family.key}-bands",
        family=family.key,
        title=f"{family.title}: share of I/Os by response time",
        summary=f"Above 10 ms: {_slow(family.ladder[0], rows[0])}, {_slow(family.ladder[-1], rows[-1])}.",
        x=Axis("load", "load"),
        y=Axis("share of I/Os", "share"),
        tables=(Table("", COLUMNS, rows, key="loads"),),
    )


def _row(member: Member) -> Row:
    return Row({"load": member.load, **dict(zip(BANDS, bucket_shares(member.times, EDGES_NS), strict=True))})


def _slow(member: Member, row: Row) -> str:
    return f"{text.percent(number(row.cells['slow']))} at {member.load_text}"


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A bar of all I/Os for each load, cut into its bands, on an axis from 0 to 100%."""
    loads = needed(about.table("loads"))
    colours = {"fast": theme.fast, "middling": theme.middling, "slow": theme.slow}
    bars = []
    for at, row in enumerate(loads.rows):
        below = 0.0
        for band in BANDS:
            share = number(row.cells[band]) or 0.0
            if share:
                bar = {"x": at - 0.3, "x2": at + 0.3, "y": below, "y2": below + share, "c": colours[band]}
                words = text.percent(share) if share >= NAMED else ""
                bars.append({**bar, "tip": tip(loads, row, "load"), "at": at, "middle": below + share / 2, "t": words})
            below += share
    x = loads_axis(load_labels(loads))
    axis = {"values": [0, 0.5, 1], "label": percent, "title": None, "minExtent": LABEL_ROOM, "grid": True}
    y = quantitative("y", {"domain": [0, 1]}, axis)
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    names = named({**x, "field": "at"}, {**y, "field": "middle"})
    mark = {"type": "text", "baseline": "middle", "fontSize": 10}
    written = [bar for bar in bars if bar["t"]]
    return chart(width, HEIGHT, [layer("rect", bars, rect, silent=False), *legible(mark, written, names, theme)])
