"""The runs of a job on a target over time: what changed and when first, then the figures of each row."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.target_history import History, Series
from iocast.model.results.trend import Trend, TrendChange, TrendRow


def trend_of(history: History) -> Trend:
    """Changes, the newest first and of one run the largest first; rows in the order of the newest run."""
    changes = sorted(_changes(history), key=lambda each: (each.since_unix_ns, abs(each.change_share)), reverse=True)
    return Trend(rows=tuple(map(_row, history.rows)), changes=tuple(changes))


def _changes(history: History) -> Iterator[TrendChange]:
    for series in history.series:
        levels = {level.start: at for at, level in enumerate(series.levels)}
        for start, share in series.shifts:
            at, run = levels[start], history.runs[start]
            yield TrendChange(
                phase=series.row or None,
                statistic=series.figure,
                since_unix_ns=run.started_unix_ns,
                before=series.levels[at - 1].middle,
                after=series.levels[at].middle,
                change_share=share,
                run=run.name,
            )


def _row(pair: tuple[Series, Series]) -> TrendRow:
    from statistics import median

    rates, times = ([value for value in each.values if value is not None] for each in pair)
    return TrendRow(
        phase=pair[0].row,
        runs=len(rates),
        latest_rate_per_s=pair[0].values[-1],
        median_rate_per_s=median(rates) if rates else None,
        latest_p99_ns=pair[1].values[-1],
        median_p99_ns=median(times) if times else None,
        changes=sum(len(each.shifts) for each in pair) if any(each.levels for each in pair) else None,
    )
