"""The report of a job on a target over time: what changed and when first, then the figures of each row."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.changepoint import MIN_LENGTH
from iocast.analyse.history.target_history import NEEDED, History, Series
from iocast.model.report import Cell, Chart, Column, Report, Row, Section, Table
from iocast.report.charts import charts_at
from iocast.report.charts.subjects.followed_figure import FollowedFigure
from iocast.report.charts.trend import shown_value, told_change, told_value
from iocast.report.wording import section

DRAWN = 8  # rows: those that changed most; more would take long to draw, and longer to look at [J]
CHANGES = (
    Column("row", "row"),
    Column("what", "metric", "code"),
    Column("since", "first run after"),
    Column("before", "before"),
    Column("after", "after"),
    Column("change", "change"),
    Column("run", "run", spare=1),
)
ROWS = (
    Column("row", "row"),
    Column("runs", "runs", "count"),
    Column("rate", "latest\nIOPS", "rate"),
    Column("median_rate", "median\nIOPS", "rate"),
    Column("p99", "latest\np99", "duration"),
    Column("median_p99", "median\np99", "duration"),
    Column("changes", "changes", "count"),
)


def trend_report(found: History, *, charts: bool = False) -> Report:
    """What is known of the runs of one job on one target."""
    order = sorted(found.rows, key=lambda pair: -max(abs(each.shift) for each in pair))
    drawn = order[:DRAWN] if charts else []
    changed = tuple(_changes(found))
    tables = [Table("What changed", CHANGES, changed, key="changes")] if changed else []
    tables.append(
        Table("Rows", ROWS, tuple(_row(pair) for pair in found.rows), key="rows", notes=tuple(_notes(found, drawn)))
    )
    overview = section(
        "trend", tables=tuple(tables), charts=_charts(found, found.grade, "trend-grade") if charts else ()
    )
    rows = [
        Section("trend_row", pair[0].row, charts=shown)
        for at, pair in enumerate(drawn, 1)
        if (shown := tuple(chart for each in pair for chart in _charts(found, each, f"trend-{at}-{each.figure}")))
    ]
    return Report(
        title=f"Trend · {found.job} on {found.target}",
        verdict=_verdict(found),
        sections=(overview, *rows),
        kind="trend",
    )


def _charts(found: History, series: Series, key: str) -> tuple[Chart, ...]:
    return charts_at("trend", FollowedFigure(found.runs, series, key))


def _verdict(found: History) -> str:
    """How many rows changed, and the largest change of all."""
    if not found.runs:
        return f"No finished run of {found.job} on {found.target}."
    first, last = (text.instant(found.runs[at].started_unix_ns) for at in (0, -1))
    count = len(found.runs)
    over = f"{text.counted(count, 'run')} on {found.host}, {first if count == 1 else f'{first} to {last}'}."
    if not any(each.levels for each in found.series):
        counted = sum(run.counts for run in found.runs)
        return f"Changes unknown: {text.counted(counted, 'run')} with trust C or better; {NEEDED} needed. {over}"
    moved = [pair for pair in found.rows if any(each.shifts for each in pair)]
    grade = _grade_words(found)
    if not moved:
        return f"IOPS and p99 did not change in any of {text.counted(len(found.rows), 'row')}.{grade} {over}"
    largest = max((each for pair in moved for each in pair), key=lambda each: abs(each.shift))
    start, share = max(largest.shifts, key=lambda shift: abs(shift[1]))
    name = "IOPS" if largest.figure == "throughput" else "p99"
    way = "rose" if share > 0 else "fell"
    when = text.instant(found.runs[start].started_unix_ns)
    rows = f"{len(moved)} of {text.counted(len(found.rows), 'row')} changed."
    return (
        f"{rows} Largest change: {name} of {largest.row} {way} by {text.percent(abs(share))} at {when}.{grade} {over}"
    )


def _grade_words(found: History) -> str:
    levels = found.grade.levels
    if len(levels) < 2:
        return ""
    letters = [str(shown_value(found.grade, level.middle)) for level in levels]
    return f" The grade went from {' to '.join(letters)}."


def _changes(found: History) -> Iterator[Row]:
    """Every change, the newest first."""
    rows = []
    for series in found.series:
        middles = {level.start: level.middle for level in series.levels}
        before = dict(
            zip([level.start for level in series.levels[1:]], [level.middle for level in series.levels], strict=False)
        )
        for start, share in series.shifts:
            run = found.runs[start]
            cells: dict[str, Cell] = {
                "row": series.row or "all rows",
                "what": series.figure or "grade",
                "since": text.instant(run.started_unix_ns),
                "since_unix_ns": run.started_unix_ns,
                "before": told_value(series, before[start]),
                "after": told_value(series, middles[start]),
                "change": told_change(series, share, middles[start]),
                "run": run.name,
                "phase": series.row or None,
                "statistic": series.figure,
                "before_value": before[start],
                "after_value": middles[start],
                "share": share,
            }
            rows.append((run.started_unix_ns, abs(share), Row(cells)))
    for _, _, row in sorted(rows, key=lambda each: each[:2], reverse=True):
        yield row


def _row(pair: tuple[Series, Series]) -> Row:
    from statistics import median

    rates, times = ([value for value in each.values if value is not None] for each in pair)
    return Row(
        {
            "row": pair[0].row,
            "runs": len(rates),
            "rate": pair[0].values[-1],
            "median_rate": median(rates) if rates else None,
            "p99": pair[1].values[-1],
            "median_p99": median(times) if times else None,
            "changes": sum(len(each.shifts) for each in pair) if any(each.levels for each in pair) else None,
        }
    )


def _notes(found: History, drawn: list[tuple[Series, Series]]) -> Iterator[str]:
    lasting = f"a shift of 10% or more that lasted at least {MIN_LENGTH} runs"
    yield f"A change: {lasting}. {NEEDED} runs with trust C or better are needed."
    yield "Runs are taken as independent of each other: a slow wave of that size counts as a change, too."
    weak = sum(not run.counts for run in found.runs)
    if weak:
        yield f"{text.counted(weak, 'run')} with trust D or F: hollow in the charts, not counted."
    if found.other_rows:
        others = text.counted(found.other_rows, "row")
        yield f"{others} of older runs had another workload under the same name and are left out."
    if drawn and len(drawn) < len(found.rows):
        yield f"Charts: the {len(drawn)} rows that changed most."
