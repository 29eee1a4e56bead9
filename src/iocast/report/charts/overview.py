"""All rows side by side: p50 to p99, p99.9 and the slowest I/O."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import ExaminedRun
from iocast.report.plot.axes import ROW_HEIGHT, known, padded_times, rows_axis, time_axis
from iocast.report.plot.marks import Bars, Box, Dots, Plot, Point, Range, Rings, Rules, Ticks, unseen_rows
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip
from iocast.results.measured_rows import OPS, row_name, times_of

PLACE = Place("glance", wide=True)
KEY = "Disc: p50. Bar: to p99, or to p95 where p99 is unknown. Marks: p99.9 and the slowest I/O."
MEANS = "Ring: the mean, where p50 is unknown."


class RowTimes(Struct, frozen=True):
    """The response times of a row, or of one of its operations; the mean only where p50 is unknown."""

    row: Annotated[str, shown("row")]
    mean_ns: Annotated[float | None, shown("mean", "duration")]
    p50_ns: Annotated[float | None, shown("p50", "duration")]
    p95_ns: Annotated[float | None, shown("p95", "duration")]
    p99_ns: Annotated[float | None, shown("p99", "duration")]
    p99_9_ns: Annotated[float | None, shown("p99.9", "duration")]
    max_ns: Annotated[float | None, shown("max", "duration")]
    trust: Annotated[str, shown("trust", "grade")]

    @property
    def middle_ns(self) -> float | None:
        """p50, or the mean."""
        return self.mean_ns if self.p50_ns is None else self.p50_ns

    @property
    def most_known_ns(self) -> float | None:
        """The highest percentile up to p99 that is known."""
        return next((each for each in (self.p99_ns, self.p95_ns) if each is not None), self.middle_ns)


class Overview(Chart, frozen=True, kw_only=True):
    """All rows that are a measurement."""

    kind: str = "overview"
    rows: tuple[RowTimes, ...]


def tell(about: ExaminedRun) -> Iterator[Overview]:
    """The chart of all rows that are a measurement."""
    facts, examination = about.facts, about.examination
    rows = list[RowTimes]()
    void = 0
    for row in facts.rows:
        trust = examination.trust[row.name]
        void += bool(trust.void)
        ops = [op for op in OPS if times_of(row, op).total]
        for op in () if trust.void else ops:
            times = _times(row_name(row.record, op, several=len(ops) > 1), times_of(row, op), trust.grade)
            if times.middle_ns is not None:
                rows.append(times)
    if not rows:
        return
    means = any(row.p50_ns is None for row in rows)
    are = "are" if void > 1 else "is"
    yield Overview(
        key="overview",
        title="Response times at a glance",
        summary=_summary(rows),
        notes=(
            KEY,
            *((MEANS,) if means else ()),
            *([f"{void} of {len(facts.rows)} rows {are} void and not drawn."] if void else []),
        ),
        rows=tuple(rows),
        leave=() if means else ("mean_ns",),
    )


def _times(name: str, times: Histogram, trust: str) -> RowTimes:
    half = times.quantile_ns(0.5)
    return RowTimes(
        row=name,
        mean_ns=times.mean_ns if math.isnan(half) and not math.isnan(times.mean_ns) else None,
        p50_ns=None if math.isnan(half) else half,
        p95_ns=published(times, 0.95),
        p99_ns=published(times, 0.99),
        p99_9_ns=published(times, 0.999),
        max_ns=None if math.isnan(times.most_ns) else times.max_ns,
        trust=trust,
    )


def _summary(rows: list[RowTimes]) -> str:
    halves = [(row.p50_ns, row.row) for row in rows if row.p50_ns is not None]
    name, named_times = ("p50", halves) if halves else ("The mean", [(row.mean_ns or 0.0, row.row) for row in rows])
    (low, fast), (high, slow) = min(named_times), max(named_times)
    if fast == slow:
        return f"{name} is {text.brief_time(low)} ({fast})."
    return f"{name} ranges from {text.brief_time(low)} ({fast}) to {text.brief_time(high)} ({slow})."


def draw(chart: Overview, theme: Theme, width: int) -> Plot:
    """A bar from p50 (or the mean) to p99 for each row, a thin line on to the maximum."""
    rows = chart.rows
    low, high = padded_times(known(each for row in rows for each in (row.middle_ns, row.max_ns or row.most_known_ns)))
    discs = [Point(row.p50_ns, at) for at, row in enumerate(rows)]
    rings = [Point(row.mean_ns, at) for at, row in enumerate(rows) if row.p50_ns is None]
    marks = (
        Rules([Box(row.middle_ns, at, row.max_ns, at) for at, row in enumerate(rows)], colour=theme.shade),
        Bars(
            [Range(row.middle_ns, row.most_known_ns, at) for at, row in enumerate(rows)],
            height=9,
            radius=2,
            colour=theme.accent,
            opacity=0.4,
        ),
        Ticks([Point(row.p99_9_ns, at) for at, row in enumerate(rows)], 2, 9, colour=theme.tail),
        Ticks([Point(row.max_ns, at) for at, row in enumerate(rows)], 1.5, 9, colour=theme.peak),
        Dots(discs, 60, colour=theme.accent, opacity=1),
        Rings(rings, 50, colour=theme.accent, opacity=1),
        unseen_rows(low, high, ROW_HEIGHT - 2, [tip(row, "row") for row in rows]),
    )
    axis = rows_axis([row.row for row in rows])
    return Plot(width, ROW_HEIGHT * len(rows) + 12, time_axis(low, high, top=True), axis, marks)
