"""Each statistic of each row: the other side of a comparison over the first, with its interval."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.model.results.comparison import Compared
from iocast.report.charts.drawing.parts import OWN_COLOUR, Spec, chart, layer, number, numbers, tip
from iocast.report.charts.drawing.ratio_axis import LINE_HEIGHT, ratio_axis, ratio_reach, same_band
from iocast.report.charts.drawing.rows import rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.compared_sides import ComparedSides, file_key

PLACE = Place("compared results", wide=True)
COLUMNS = (
    Column("row", "row"),
    Column("test", "row"),
    Column("what", "metric"),
    Column("ratio", "ratio", "text"),
    Column("verdict", "verdict"),
)


def tell(comparison: ComparedSides) -> Iterator[Chart]:
    """The chart of all ratios that are known."""
    known = [row for row in comparison.figures if row.ratio is not None]
    if not known:
        return
    first, other = comparison.labels
    beyond = [row for row in known if row.verdict == "different"]
    sure = sum(row.ratio_low is not None for row in known)
    words = (
        f"{len(beyond)} of {len(known)} figures differ by more than 10%."
        if sure
        else "Single runs: a dot without a line is a ratio with unknown error."
    )
    yield Chart(
        kind="ratios",
        key=f"ratios-{file_key(other)}",
        title=f"{other} over {first}",
        summary=words,
        x=Axis(f"{other} over {first}", "decimal", log=True),
        y=Axis("row", "text"),
        tables=(Table("", COLUMNS, tuple(map(_ratio, known)), key="ratios"),),
        notes=(
            "Line: 95% interval of the ratio. Band: equal within 10%. Blue is better, red is worse, grey is undecided"
            " or equal.",
        ),
    )


def _ratio(row: Compared) -> Row:
    assert row.ratio is not None, "others are left out"
    better = (row.ratio > 1) == (row.statistic == "throughput")
    told = row.verdict in ("different", "small_difference")
    return Row(
        {
            "row": f"{row.phase} · {row.statistic}",
            "test": row.phase,
            "what": row.statistic,
            "ratio": text.ratio(row.ratio, row.ratio_low, row.ratio_high),
            "verdict": row.verdict,
            "ratio_value": row.ratio,
            "ratio_low": row.ratio_low,
            "ratio_high": row.ratio_high,
            "side": ("better" if better else "worse") if told else "same",
        }
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A dot for each ratio, a line for its interval, the band of the same behind."""
    table = about.tables[0]
    reach = ratio_reach(numbers(table.rows, "ratio_value", "ratio_low", "ratio_high"))
    x, y = ratio_axis(reach), rows_axis([str(row.cells["row"]) for row in table.rows])
    to: Spec = {"x": x, "x2": {"field": "x2"}, "y": y}
    colours = {"better": theme.faster, "worse": theme.lost, "same": theme.muted}
    rows = [
        _interval(at, table, row, reach) | {"c": colours[str(row.cells["side"])]} for at, row in enumerate(table.rows)
    ]
    dots = [{**row, "x": row["at"]} for row in rows]
    hit = [{"x": 1 / reach, "x2": reach, "y": row["y"], "tip": row["tip"]} for row in rows]
    layers = [
        *same_band(len(rows), x, y, theme),
        layer("rule", rows, {**to, "color": OWN_COLOUR}, strokeWidth=2, opacity=0.75),
        layer("circle", dots, {"x": x, "y": y, "color": OWN_COLOUR}, size=52, opacity=1),
        layer({"type": "bar", "height": LINE_HEIGHT - 2}, hit, to, silent=False, opacity=0),
    ]
    return chart(width, LINE_HEIGHT * len(rows) + 12, layers)


def _interval(at: int, table: Table, row: Row, reach: float) -> Spec:
    value = number(row.cells["ratio_value"]) or 1.0
    low, high = (number(row.cells[key]) or value for key in ("ratio_low", "ratio_high"))
    says = tip(table, row, "row", leave=("test", "what"))
    return {"y": at, "at": value, "x": max(low, 1 / reach), "x2": min(high, reach), "tip": says}
