"""Each statistic of each row: the other side of a comparison over the first, with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.comparison import Compared
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.charts.ratio_axis import LINE_HEIGHT, ratio_axis, ratio_reach, same_band
from iocast.report.charts.subjects import ComparedSides, file_key
from iocast.report.plot.axes import known, rows_axis
from iocast.report.plot.marks import Box, Dots, Plot, Point, Rules, unseen_rows
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("compared results", wide=True)


class RowRatio(Struct, frozen=True):
    """How a figure of a row moved."""

    row: Annotated[str, shown("row")]
    test: Annotated[str, shown("row")]
    what: Annotated[str, shown("metric")]
    ratio: Annotated[str, shown("ratio")]
    verdict: Annotated[str, shown("verdict")]
    ratio_value: float
    ratio_low: float | None
    ratio_high: float | None
    side: Literal["better", "worse", "same"]


class Ratios(Chart, frozen=True, kw_only=True):
    """All ratios that are known."""

    kind: str = "ratios"
    ratios: tuple[RowRatio, ...]


def tell(comparison: ComparedSides) -> Iterator[Ratios]:
    """The chart of all ratios that are known."""
    ratios = tuple(filter(None, map(_ratio, comparison.figures)))
    if not ratios:
        return
    first, other = comparison.labels
    beyond = sum(each.verdict == "different" for each in ratios)
    sure = any(each.ratio_low is not None for each in ratios)
    yield Ratios(
        key=f"ratios-{file_key(other)}",
        title=f"{other} over {first}",
        summary=(
            f"{beyond} of {len(ratios)} figures differ by more than 10%."
            if sure
            else "Single runs: a dot without a line is a ratio with unknown error."
        ),
        notes=(
            "Line: 95% interval of the ratio. Band: equal within 10%. Blue is better, red is worse, grey is undecided"
            " or equal.",
        ),
        ratios=ratios,
    )


def _ratio(of: Compared) -> RowRatio | None:
    if of.ratio is None:
        return None
    better = (of.ratio > 1) == (of.statistic == "throughput")
    is_told = of.verdict in ("different", "small_difference")
    return RowRatio(
        row=f"{of.phase} · {of.statistic}",
        test=of.phase,
        what=str(of.statistic),
        ratio=text.ratio(of.ratio, of.ratio_low, of.ratio_high),
        verdict=of.verdict,
        ratio_value=of.ratio,
        ratio_low=of.ratio_low,
        ratio_high=of.ratio_high,
        side=("better" if better else "worse") if is_told else "same",
    )


def draw(chart: Ratios, theme: Theme, width: int) -> Plot:
    """A dot for each ratio, a line for its interval, the band of the same behind."""
    rows = chart.ratios
    reach = ratio_reach(known(each for row in rows for each in (row.ratio_value, row.ratio_low, row.ratio_high)))
    looks = {"better": theme.faster, "worse": theme.lost, "same": theme.muted}
    colours = [looks[row.side] for row in rows]
    middles = [row.ratio_value or 1.0 for row in rows]
    intervals = [
        Box(max(row.ratio_low or middle, 1 / reach), at, min(row.ratio_high or middle, reach), at)
        for at, (row, middle) in enumerate(zip(rows, middles, strict=True))
    ]
    marks = (
        *same_band(len(rows), theme),
        Rules(intervals, 2, colours=colours, opacity=0.75),
        Dots([Point(middle, at) for at, middle in enumerate(middles)], 52, colours=colours, opacity=1),
        unseen_rows(1 / reach, reach, LINE_HEIGHT - 2, [tip(row, "row", ("test", "what")) for row in rows]),
    )
    axis = rows_axis([row.row for row in rows])
    return Plot(width, LINE_HEIGHT * len(rows) + 12, ratio_axis(reach), axis, marks)
