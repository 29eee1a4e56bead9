"""Each run of a row over the median of its repeats, so that an outlier stands out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.comparison import median_of
from iocast.diagnose.comparable import Side
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.charts.ratio_axis import LINE_HEIGHT, ratio_axis, ratio_reach, same_band
from iocast.report.plot.axes import rows_axis
from iocast.report.plot.marks import Dots, Plot, Point
from iocast.report.plot.theme import Theme
from iocast.results.compared_values import JUDGED, THROUGHPUT, values

PLACE = Place("repeats", wide=True)


class Repeat(Struct, frozen=True):
    """A figure of a row in one run."""

    row: Annotated[str, shown("row")]
    run: Annotated[int, shown("run", "count")]
    value: Annotated[str, shown("value")]
    ratio: Annotated[float, shown("relative to the median", "decimal")]

    @property
    def away(self) -> float:
        """How far it is from the median, as a factor."""
        return max(self.ratio, 1 / self.ratio) if self.ratio > 0 else 0.0


class RepeatedRows(Chart, frozen=True, kw_only=True):
    """All figures of all runs."""

    kind: str = "repeats"
    repeats: tuple[Repeat, ...]


def tell(side: Side) -> Iterator[RepeatedRows]:
    """The chart of a group of at least two runs."""
    repeats = tuple(_repeats(side)) if len(side.runs) > 1 else ()
    if repeats:
        yield RepeatedRows(
            key="repeats",
            title="Runs relative to the median of their row",
            summary=_summary(repeats),
            notes=("One dot per run. Band: within 10% of the median.",),
            repeats=repeats,
        )


def _repeats(side: Side) -> Iterator[Repeat]:
    for name in dict.fromkeys(record.phase.name for run in side.runs for record in run.measured):
        records = tuple(record for run in side.runs for record in run.measured if record.phase.name == name)
        for figure in JUDGED:
            row_values = values(records, figure)
            middle = median_of(row_values) if len(row_values) > 1 else 0.0
            for run, value in enumerate(row_values, 1) if middle else ():
                value_text = f"{text.rate(value)} IOPS" if figure is THROUGHPUT else text.duration(value)
                yield Repeat(f"{name} · {figure.code}", run, value_text, value / middle)


def _summary(repeats: tuple[Repeat, ...]) -> str:
    furthest = max(repeats, key=lambda each: each.away)
    if furthest.away < 1.005:
        return "All runs agree within 0.5%."
    far = f"{text.percent(abs(furthest.ratio - 1))} {'above' if furthest.ratio > 1 else 'below'} the median"
    return f"Largest deviation: run {furthest.run} of {furthest.row}, {far}."


def draw(chart: RepeatedRows, theme: Theme, width: int) -> Plot:
    """A dot for each run of a row, the band of the same behind."""
    names = list(dict.fromkeys(each.row for each in chart.repeats))
    reach = ratio_reach(each.ratio for each in chart.repeats)
    dots = [Point(max(each.ratio, 1 / reach), names.index(each.row)) for each in chart.repeats]
    tips = [f"{each.row}, run {each.run}: {each.value}" for each in chart.repeats]
    marks = (
        *same_band(len(names), theme),
        Dots(dots, 46, colour=theme.accent, opacity=0.75),
        Dots(dots, 260, tips=tips, opacity=0),
    )
    return Plot(width, LINE_HEIGHT * len(names) + 12, ratio_axis(reach), rows_axis(names), marks)
