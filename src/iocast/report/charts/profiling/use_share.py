"""What share of all references the busiest blocks get."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.profiling.use_shares import share_curve, share_of_busiest, thinned
from iocast.model.profiling.profile import Profile
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.axis_labels import percent
from iocast.report.charts.drawing.parts import Spec, chart, layer, needed, number, quantitative, tip
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place

PLACE = Place("profile")
HEIGHT = 240
COLUMNS = (Column("blocks", "busiest", "share"), Column("references", "get", "share"))


def tell(profile: Profile) -> Iterator[Chart]:
    """The chart of a trace with places."""
    found = profile.footprint
    if found is None or found.blocks < 2:
        return
    curve = share_curve(found)
    rows = tuple(Row({"blocks": point.blocks_share, "references": point.references_share}) for point in thinned(curve))
    tenth = share_of_busiest(curve, 0.1)
    yield Chart(
        kind="use_share",
        key="profile-use-share",
        title="References by the busiest blocks",
        summary=f"The busiest tenth of the blocks gets {text.brief_percent(tenth)} of the references.",
        x=Axis("busiest blocks", "share"),
        y=Axis("of references", "share"),
        tables=(Table("", COLUMNS, rows, key="points"),),
        notes=("Grey: all blocks alike.",),
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The curve above the diagonal."""
    table = needed(about.table("points"))
    points = [
        {"x": number(row.cells["blocks"]), "y": number(row.cells["references"]), "tip": tip(table, row)}
        for row in table.rows
    ]
    share: Spec = {"domain": [0, 1]}
    x = quantitative("x", share, {"title": about.x.title, "label": percent, "grid": False, "tickCount": 5})
    y = quantitative("y", share, {"title": about.y.title, "label": percent, "grid": True})
    layers = [
        layer("line", [{"x": 0, "y": 0}, {"x": 1, "y": 1}], {"x": x, "y": y}, color=theme.muted, strokeDash=[4, 3]),
        layer("line", points, {"x": x, "y": y}, color=theme.accent, strokeWidth=2),
        layer("circle", points, {"x": x, "y": y}, silent=False, color=theme.accent, size=30, opacity=0),
    ]
    return chart(width, HEIGHT, layers)
