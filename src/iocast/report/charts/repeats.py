"""Each run of a row over the median of its repeats, so that an outlier stands out."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.comparison import median_of
from iocast.diagnose.comparable import Side
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import Spec, chart, layer, number, numbers
from iocast.report.charts.drawing.ratio_axis import LINE_HEIGHT, ratio_axis, ratio_reach, same_band
from iocast.report.charts.drawing.rows import rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.results.compared_values import JUDGED, THROUGHPUT, values

PLACE = Place("repeats", wide=True)
COLUMNS = (
    Column("row", "row"),
    Column("run", "run", "count"),
    Column("value", "value", "text"),
    Column("ratio", "relative to the median", "decimal"),
)


def tell(side: Side) -> Iterator[Chart]:
    """The chart of a group of at least two runs."""
    rows = tuple(_rows(side)) if len(side.runs) > 1 else ()
    if not rows:
        return
    yield Chart(
        kind="repeats",
        key="repeats",
        title="Runs relative to the median of their row",
        summary=_summary(rows),
        x=Axis("relative to the median", "decimal", log=True),
        y=Axis("row", "text"),
        tables=(Table("", COLUMNS, rows, key="repeats"),),
        notes=("One dot per run. Band: within 10% of the median.",),
    )


def _rows(side: Side) -> Iterator[Row]:
    for name in dict.fromkeys(record.phase.name for run in side.runs for record in run.measured):
        records = tuple(record for run in side.runs for record in run.measured if record.phase.name == name)
        for figure in JUDGED:
            found = values(records, figure)
            middle = median_of(found) if len(found) > 1 else 0.0
            for run, value in enumerate(found, 1) if middle else ():
                shown = f"{text.rate(value)} IOPS" if figure is THROUGHPUT else text.duration(value)
                yield Row({"row": f"{name} · {figure.code}", "run": run, "value": shown, "ratio": value / middle})


def _summary(rows: tuple[Row, ...]) -> str:
    def away(row: Row) -> float:
        ratio = row.cells["ratio"]
        assert isinstance(ratio, float), "a row of this chart has one"
        return max(ratio, 1 / ratio) if ratio > 0 else 0.0

    furthest = max(rows, key=away)
    if away(furthest) < 1.005:
        return "All runs agree within 0.5%."
    ratio = furthest.cells["ratio"]
    assert isinstance(ratio, float)
    way = "above" if ratio > 1 else "below"
    return (
        f"Largest deviation: run {furthest.cells['run']} of {furthest.cells['row']},"
        f" {text.percent(abs(ratio - 1))} {way} the median."
    )


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A dot for each run of a row, the band of the same behind."""
    table = about.tables[0]
    names = list(dict.fromkeys(str(row.cells["row"]) for row in table.rows))
    reach = ratio_reach(numbers(table.rows, "ratio"))
    x, y = ratio_axis(reach), rows_axis(names)
    dots = [
        {
            "x": max(number(row.cells["ratio"]) or 0.0, 1 / reach),
            "y": names.index(str(row.cells["row"])),
            "tip": f"{row.cells['row']}, run {row.cells['run']}: {row.cells['value']}",
        }
        for row in table.rows
    ]
    layers = [
        *same_band(len(names), x, y, theme),
        layer("circle", dots, {"x": x, "y": y}, color=theme.accent, size=46, opacity=0.75),
        layer("circle", dots, {"x": x, "y": y}, silent=False, size=260, opacity=0),
    ]
    return chart(width, LINE_HEIGHT * len(names) + 12, layers)
