"""The report of a job on a target over time: what changed and when first, then the figures of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iocast import text
from iocast.analyse.changepoint import MIN_LENGTH
from iocast.analyse.target_history import NEEDED, History, Series
from iocast.model.report import Chart, Report, Section, Table
from iocast.model.results.trend import Trend, TrendChange, TrendRow
from iocast.report.charts import charts_at
from iocast.report.charts.subjects import FollowedFigure
from iocast.report.charts.trend import letter_of, told_change, told_value
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.results.trend import trend_of

DRAWN = 8  # rows: those that changed most; more would take long to draw, and longer to look at [J]


def trend_report(history: History, *, charts: bool = False) -> Report:
    """What is known of the runs of one job on one target."""
    order = sorted(history.rows, key=lambda pair: -max(abs(each.shift) for each in pair))
    drawn = order[:DRAWN] if charts else []
    result = trend_of(history)
    tables = [_changes(result)] if result.changes else []
    tables.append(result_table(TrendRow, result.rows, key="rows", title="Rows", notes=tuple(_notes(history, drawn))))
    overview = section(
        "trend", tables=tuple(tables), charts=_charts(history, history.grade, "trend-grade") if charts else ()
    )
    rows = [
        Section("trend_row", pair[0].row, charts=shown)
        for at, pair in enumerate(drawn, 1)
        if (shown := tuple(chart for each in pair for chart in _charts(history, each, f"trend-{at}-{each.figure}")))
    ]
    return Report(
        title=f"Trend · {history.job} on {history.target}",
        verdict=_verdict(history),
        sections=(overview, *rows),
        kind="trend",
        result=result,
    )


def _changes(result: Trend) -> Table:
    words: dict[str, Callable[[TrendChange], str]] = {
        "phase": lambda each: each.phase or "all rows",
        "statistic": lambda each: each.statistic or "grade",
        "before": lambda each: told_value(each.statistic, each.before),
        "after": lambda each: told_value(each.statistic, each.after),
        "change_share": lambda each: told_change(each.statistic, each.change_share, each.after),
    }
    return result_table(TrendChange, result.changes, key="changes", title="What changed", words=words)


def _charts(history: History, series: Series, key: str) -> tuple[Chart, ...]:
    return charts_at("trend", FollowedFigure(history.runs, series, key))


def _verdict(history: History) -> str:
    """How many rows changed, and the largest change of all."""
    if not history.runs:
        return f"No finished run of {history.job} on {history.target}."
    first, last = (text.instant(history.runs[at].started_unix_ns) for at in (0, -1))
    count = len(history.runs)
    over = f"{text.counted(count, 'run')} on {history.host}, {first if count == 1 else f'{first} to {last}'}."
    if not any(each.levels for each in history.series):
        counted = sum(run.counts for run in history.runs)
        return f"Changes unknown: {text.counted(counted, 'run')} with trust C or better; {NEEDED} needed. {over}"
    moved = [pair for pair in history.rows if any(each.shifts for each in pair)]
    grade = _grade_words(history)
    if not moved:
        return f"IOPS and p99 did not change in any of {text.counted(len(history.rows), 'row')}.{grade} {over}"
    largest = max((each for pair in moved for each in pair), key=lambda each: abs(each.shift))
    start, share = max(largest.shifts, key=lambda shift: abs(shift[1]))
    name = "IOPS" if largest.figure == "throughput" else "p99"
    way = "rose" if share > 0 else "fell"
    when = text.instant(history.runs[start].started_unix_ns)
    rows = f"{len(moved)} of {text.counted(len(history.rows), 'row')} changed."
    return (
        f"{rows} Largest change: {name} of {largest.row} {way} by {text.percent(abs(share))} at {when}.{grade} {over}"
    )


def _grade_words(history: History) -> str:
    levels = history.grade.levels
    if len(levels) < 2:
        return ""
    letters = [letter_of(level.middle) for level in levels]
    return f" The grade went from {' to '.join(letters)}."


def _notes(history: History, drawn: list[tuple[Series, Series]]) -> Iterator[str]:
    lasting = f"a shift of 10% or more that lasted at least {MIN_LENGTH} runs"
    yield f"A change: {lasting}. {NEEDED} runs with trust C or better are needed."
    yield "Runs are taken as independent of each other: a slow wave of that size counts as a change, too."
    weak = sum(not run.counts for run in history.runs)
    if weak:
        yield f"{text.counted(weak, 'run')} with trust D or F: hollow in the charts, not counted."
    if history.other_rows:
        others = text.counted(history.other_rows, "row")
        yield f"{others} of older runs had another workload under the same name and are left out."
    if drawn and len(drawn) < len(history.rows):
        yield f"Charts: the {len(drawn)} rows that changed most."
