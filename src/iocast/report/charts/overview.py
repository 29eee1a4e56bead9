"""All rows side by side: from p50 to p99, on to p99.9, and the slowest I/O."""

from __future__ import annotations

import math

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.statistics import published
from iocast.model.finding import Examination
from iocast.model.histogram import Histogram
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.card.results_table import OPS, row_name, times_of

COLUMNS = (
    Column("row", "row"),
    Column("p50", "p50", "duration"),
    Column("p95", "p95", "duration"),
    Column("p99", "p99", "duration"),
    Column("p99_9", "p99.9", "duration"),
    Column("max", "max", "duration"),
    Column("trust", "trust", "grade"),
)

KEY = "Disc: p50. Bar: on to p99, or to p95 where that is all that is known. Marks: p99.9 and the slowest I/O."


def overview(facts: Facts, examination: Examination) -> Chart | None:
    """The chart of all rows that are a measurement."""
    rows = []
    void = 0
    for row in facts.rows:
        trust = examination.trust[row.name]
        void += bool(trust.void)
        ops = [op for op in OPS if times_of(row, op).total]
        for op in () if trust.void else ops:
            name = row_name(row.record, op, several=len(ops) > 1)
            cells = _times(times_of(row, op))
            if cells["p50"] is not None and cells["max"] is not None:
                rows.append(Row({"row": name, **cells, "trust": trust.grade}))
    if not rows:
        return None
    are = "are" if void > 1 else "is"
    return Chart(
        kind="overview",
        key="overview",
        title="Latency at a glance",
        summary=_summary(rows),
        x=Axis("response time", "duration", log=True),
        y=Axis("row", "text"),
        tables=(Table("", COLUMNS, tuple(rows), key="rows"),),
        notes=(KEY, *([f"{void} of {len(facts.rows)} rows {are} void and not drawn."] if void else [])),
    )


def _times(times: Histogram) -> dict[str, Cell]:
    half = times.quantile_ns(0.5)
    return {
        "p50": None if math.isnan(half) else half,
        "p95": published(times, 0.95),
        "p99": published(times, 0.99),
        "p99_9": published(times, 0.999),
        "max": None if math.isnan(times.most_ns) else times.max_ns,
    }


def _summary(rows: list[Row]) -> str:
    def half(row: Row) -> float:
        value = row.cells["p50"]
        return float(value) if isinstance(value, int | float) else 0.0

    fast, slow = min(rows, key=half), max(rows, key=half)
    if fast is slow:
        return f"Half of the I/Os of {fast.cells['row']} take {text.duration_in_words(half(fast))}."
    return (
        f"Half of the I/Os take from {text.duration_in_words(half(fast))} ({fast.cells['row']}) "
        f"to {text.duration_in_words(half(slow))} ({slow.cells['row']})."
    )
