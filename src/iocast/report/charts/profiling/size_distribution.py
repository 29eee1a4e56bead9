"""How many reads and writes of each size a trace has."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.characteristics import READ, WRITE
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import (
    OWN_COLOUR,
    Spec,
    chart,
    layer,
    needed,
    number,
    positions_of,
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place

PLACE = Place("profile")
HEIGHT = 240
MOST = 14
COLUMNS = (Column("size", "up to", "bytes"), Column("reads", "reads", "count"), Column("writes", "writes", "count"))


def tell(profile: Profile) -> Iterator[Chart]:
    """The chart of a trace with sizes: by powers of two, each the upper end of its class."""
    counts: dict[int, list[int]] = {}
    for each in profile.sizes:
        if each.op in (READ, WRITE) and each.size:
            counts.setdefault(1 << (each.size - 1).bit_length(), [0, 0])[each.op] += each.events
    if not counts:
        return
    rows = tuple(Row({"size": size, "reads": both[0], "writes": both[1]}) for size, both in sorted(counts.items()))
    most = max(counts, key=lambda size: sum(counts[size]))
    share = sum(counts[most]) / sum(map(sum, counts.values()))
    yield Chart(
        kind="size_distribution",
        key="profile-sizes",
        title="Sizes of reads and writes",
        summary=f"{text.brief_percent(share)} of the I/Os are of up to {text.size(most)} and above half of that.",
        x=Axis("size", "bytes", log=True),
        y=Axis("I/Os", "count"),
        tables=(Table("", COLUMNS, rows[:MOST], key="sizes"),),
        notes=("Blue: reads. Orange: writes. Sizes by powers of two.",),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Two bars for each class of sizes."""
    table = needed(about.table("sizes"))
    labels = [text.size(number(row.cells["size"])) for row in table.rows]
    x = quantitative(
        "x", {"domain": [-0.5, len(labels) - 0.5], "nice": False}, {**positions_of(labels), "title": about.x.title}
    )
    y = quantitative("y", {"nice": True}, {"title": about.y.title, "format": "~s", "grid": True, "tickCount": 5})
    bars = [
        {
            "x": at + left,
            "x2": at + left + 0.36,
            "y": 0,
            "y2": number(row.cells[key]) or 0.0,
            "c": colour,
            "tip": tip(table, row, "size"),
        }
        for at, row in enumerate(table.rows)
        for key, left, colour in (("reads", -0.38, theme.faster), ("writes", 0.02, theme.tail))
    ]
    place: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "color": OWN_COLOUR}
    return chart(width, HEIGHT, [layer("rect", bars, place, silent=False)], theme)
