"""All rows side by side: p50 to p99, p99.9 and the slowest I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.charts.drawing.parts import (
    Spec,
    chart,
    layer,
    number,
    padded_times,
    quantitative,
    time_axis,
    time_scale,
    tip,
)
from iocast.report.charts.drawing.rows import ROW_HEIGHT, rows_axis
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.examined_run import ExaminedRun
from iocast.results.measured_rows import OPS, row_name, times_of

PLACE = Place("glance", wide=True)
COLUMNS = (
    Column("row", "row"),
    Column("p50", "p50", "duration"),
    Column("p95", "p95", "duration"),
    Column("p99", "p99", "duration"),
    Column("p99_9", "p99.9", "duration"),
    Column("max", "max", "duration"),
    Column("trust", "trust", "grade"),
)

MEAN = Column("mean", "mean", "duration")
KEY = "Disc: p50. Bar: to p99, or to p95 where p99 is unknown. Marks: p99.9 and the slowest I/O."
MEANS = "Ring: the mean, where p50 is unknown."


def tell(about: ExaminedRun) -> Iterator[Chart]:
    """The chart of all rows that are a measurement."""
    facts, examination = about.facts, about.examination
    rows = []
    void = 0
    for row in facts.rows:
        trust = examination.trust[row.name]
        void += bool(trust.void)
        ops = [op for op in OPS if times_of(row, op).total]
        for op in () if trust.void else ops:
            name = row_name(row.record, op, several=len(ops) > 1)
            cells = _times(times_of(row, op))
            if cells["p50"] is not None or cells["mean"] is not None:
                rows.append(Row({"row": name, **cells, "trust": trust.grade}))
    if not rows:
        return
    means = any(row.cells["p50"] is None for row in rows)
    columns = (*COLUMNS[:1], MEAN, *COLUMNS[1:]) if means else COLUMNS
    are = "are" if void > 1 else "is"
    yield Chart(
        kind="overview",
        key="overview",
        title="Response times at a glance",
        summary=_summary(rows),
        x=Axis("response time", "duration", log=True),
        y=Axis("row", "text"),
        tables=(Table("", columns, tuple(rows), key="rows"),),
        notes=(
            KEY,
            *((MEANS,) if means else ()),
            *([f"{void} of {len(facts.rows)} rows {are} void and not drawn."] if void else []),
        ),
    )


def _times(times: Histogram) -> dict[str, Cell]:
    half = times.quantile_ns(0.5)
    return {
        "mean": times.mean_ns if math.isnan(half) and not math.isnan(times.mean_ns) else None,
        "p50": None if math.isnan(half) else half,
        "p95": published(times, 0.95),
        "p99": published(times, 0.99),
        "p99_9": published(times, 0.999),
        "max": None if math.isnan(times.most_ns) else times.max_ns,
    }


def _summary(rows: list[Row]) -> str:
    key, name = ("p50", "p50") if any(row.cells["p50"] is not None for row in rows) else ("mean", "The mean")
    known = [(value, str(row.cells["row"])) for row in rows if (value := number(row.cells[key])) is not None]
    (low, fast), (high, slow) = min(known), max(known)
    if fast == slow:
        return f"{name} is {text.brief_time(low)} ({fast})."
    return f"{name} ranges from {text.brief_time(low)} ({fast}) to {text.brief_time(high)} ({slow})."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A bar from p50 (or the mean) to p99 for each row, a thin line on to the maximum."""
    table = about.tables[0]
    names = [str(row.cells["row"]) for row in table.rows]
    rows = [_range(at, table, row) for at, row in enumerate(table.rows)]
    low, high = padded_times([value for row in rows for value in (row["x"], row["max"] or row["x2"])])
    scale, ticks = time_scale(low, high)
    y = rows_axis(names)
    x = quantitative("x", scale, time_axis(ticks, orient="top"))
    discs = [row for row in rows if row["p50"] is not None]
    rings = [row for row in rows if row["p50"] is None]
    tails = [{**row, "x": row["p99_9"]} for row in rows if row["p99_9"] is not None]
    to = {"field": "x2"}
    ends = [{**row, "x": row["max"]} for row in rows if row["max"] is not None]
    hit = [{"x": low, "x2": high, "y": row["y"], "tip": row["tip"]} for row in rows]
    layers = [
        layer(
            "rule",
            [{**row, "x2": row["max"]} for row in rows if row["max"] is not None],
            {"x": x, "x2": to, "y": y},
            color=theme.shade,
        ),
        layer(
            {"type": "bar", "height": 9, "cornerRadius": 2},
            rows,
            {"x": x, "x2": to, "y": y},
            color=theme.accent,
            opacity=0.4,
        ),
        layer({"type": "tick", "thickness": 2, "height": 9}, tails, {"x": x, "y": y}, color=theme.tail),
        layer({"type": "tick", "thickness": 1.5, "height": 9}, ends, {"x": x, "y": y}, color=theme.peak),
        layer("circle", discs, {"x": x, "y": y}, color=theme.accent, size=60, opacity=1),
        *([layer("point", rings, {"x": x, "y": y}, color=theme.accent, size=50, opacity=1)] if rings else []),
        layer({"type": "bar", "height": ROW_HEIGHT - 2}, hit, {"x": x, "x2": to, "y": y}, silent=False, opacity=0),
    ]
    return chart(width, ROW_HEIGHT * len(rows) + 12, layers)


def _range(at: int, table: Table, row: Row) -> Spec:
    cells = {key: number(row.cells[key]) for key in ("mean", "p50", "p95", "p99", "p99_9", "max")}
    start = cells["mean"] if cells["p50"] is None else cells["p50"]
    known = [*(cells[key] for key in ("p99", "p95") if cells[key] is not None), start]
    return {"y": at, "x": start, "x2": known[0], **cells, "tip": tip(table, row, "row")}
