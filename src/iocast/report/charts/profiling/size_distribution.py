"""How many reads and writes of each size a trace has."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.profiling.characteristics import READ, WRITE
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import prefixed
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
READS, WRITES = ("reads", -0.38, 0.36), ("writes", 0.02, 0.36)
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
    exact = not any(each.op in (READ, WRITE) and most // 2 < (each.size or 0) < most for each in profile.sizes)
    only = [name for name, at in (("reads", READ), ("writes", WRITE)) if any(both[at] for both in counts.values())]
    yield Chart(
        kind="size_distribution",
        key="profile-sizes",
        title="Sizes of reads and writes",
        summary=f"{text.brief_percent(share)} of the I/Os are {_class(most, exact=exact)}.",
        x=Axis("size", "bytes", log=True),
        y=Axis("I/Os", "count"),
        tables=(Table("", COLUMNS, rows[:MOST], key="sizes"),),
        notes=("Blue: reads. Orange: writes. Sizes by powers of two." if len(only) > 1 else f"All are {only[0]}.",),
    )


def _class(most: int, *, exact: bool) -> str:
    """The sizes of a class: one, or all above the half of it."""
    return text.size(most) if exact else f"above {text.size(most // 2)} and up to {text.size(most)}"


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Two bars for each class of sizes; one in the middle where all I/Os are reads, or writes."""
    table = needed(about.table("sizes"))
    labels = [text.size(number(row.cells["size"])) for row in table.rows]
    x = quantitative("x", {"domain": [-0.5, len(labels) - 0.5]}, {**positions_of(labels), "title": about.x.title})
    y = quantitative("y", None, {"title": about.y.title, "label": prefixed, "grid": True, "tickCount": 5})
    told = [bar for bar in (READS, WRITES) if any(number(row.cells[bar[0]]) for row in table.rows)]
    told = [(told[0][0], -0.3, 0.6)] if len(told) == 1 else told
    colours = {"reads": theme.faster, "writes": theme.tail}
    bars = [
        {
            "x": at + left,
            "x2": at + left + wide,
            "y": 0,
            "y2": number(row.cells[key]) or 0.0,
            "c": colours[key],
            "tip": tip(table, row, "size"),
        }
        for at, row in enumerate(table.rows)
        for key, left, wide in told
    ]
    place: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "color": OWN_COLOUR}
    return chart(width, HEIGHT, [layer("rect", bars, place, silent=False)])
