"""How many devices each part of a need takes: a bar for each, the binding one marked, a line at the end."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import whole
from iocast.report.charts.drawing.parts import OWN_COLOUR, Spec, chart, layer, legible, named, number, quantitative, tip
from iocast.report.charts.drawing.rows import rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.sized_need import SizedNeed

PLACE = Place("sizing")
BAR, STEP = 16, 30  # pixels
COLUMNS = (Column("need", "for"), Column("devices", "devices", "count"), Column("binds", "binds"))


def tell(subject: SizedNeed) -> Iterator[Chart]:
    """The chart of a sizing that has more than one part."""
    if len(subject.counts) < 2:
        return
    rows = tuple(
        Row({"need": words, "devices": count, "binds": "binds" if words == subject.binding else ""})
        for words, count in subject.counts
    )
    total = Row({"need": "in the end", "devices": subject.devices})
    yield Chart(
        kind="sizing_bars",
        key="sizing",
        title=f"{subject.device}: {subject.noun}s for each need",
        summary=text.sentence(f"{subject.why}: {text.counted(subject.devices, subject.noun)}"),
        x=Axis(f"{subject.noun}s", "count"),
        y=Axis("need", "text"),
        tables=(Table("", COLUMNS, rows, key="needs"), Table("", COLUMNS[:2], (total,), key="total")),
        notes=("Line: the count in the end, whole pairs or groups.",),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Bars from 0, their counts beside them."""
    table, total = about.tables[0], number(about.tables[1].rows[0].cells["devices"]) or 0.0
    counts = [number(row.cells["devices"]) or 0.0 for row in table.rows]
    x = quantitative("x", {"domain": [0, 1.12 * max(1.0, total, *counts)]})
    x["axis"] = {"title": about.x.title, "grid": True, "tickCount": 6, "tickMinStep": 1, "label": whole}
    y = rows_axis([str(row.cells["need"]) for row in table.rows])
    bars: list[Spec] = []
    for at, (row, count) in enumerate(zip(table.rows, counts, strict=True)):
        colour = theme.lost if row.cells["binds"] else theme.faster
        bars.append({"x": 0, "x2": count, "y": at, "c": colour, "t": f"{count:,.0f}", "tip": tip(table, row, "need")})
    ends = [{"x": bar["x2"], "y": bar["y"], "t": bar["t"]} for bar in bars]
    line = [{"x": total, "x2": total}]
    layers = [
        layer(
            {"type": "bar", "height": BAR},
            bars,
            {"x": x, "x2": {"field": "x2"}, "y": y, "color": OWN_COLOUR},
            silent=False,
        ),
        layer("rule", line, {"x": x}, color=theme.ink, strokeWidth=1.5, strokeDash=[4, 3]),
        *legible({"type": "text", "align": "left", "dx": 5, "baseline": "middle"}, ends, named(x, y), theme),
    ]
    return chart(width, STEP * len(bars) + 8, layers)
