"""What the cells of a study come to: the figure of a run, the median of the repeats, and each against the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.analyse.comparison import median_of, relative, variation
from iocast.analyse.statistics import published
from iocast.model.run import PhaseRecord, Run
from iocast.model.study_plan import MORE_IS_BETTER, CellResult, MetricCode, Repeat, StudySide

_QUANTILES: dict[MetricCode, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def complete_row(run: Run) -> PhaseRecord | None:
    """The row of a run that went to its end with I/Os; None where it was cut short, or I/Os failed."""
    if run.status != "done" or len(run.measured) != 1:
        return None
    (row,) = run.measured
    whole = row.measurement.stopped == "finished" and row.measurement.ios > 0 and not row.measurement.error_count
    return row if whole else None


def repeat_of(run: Run, folder: str, metric: MetricCode, trust: str = "") -> Repeat | None:
    """What a complete run of a cell came to; None for any other."""
    row = complete_row(run)
    if row is None:
        return None
    return Repeat(
        folder=folder,
        started_unix_ns=run.started_unix_ns,
        value=figure(row, metric),
        p99_ns=published(row.measurement.response(), 0.99),
        trust=trust,
    )


def figure(row: PhaseRecord, metric: MetricCode) -> float | None:
    """ns of a response time, I/Os or bytes per second; None where too few I/Os lie beyond the percentile."""
    if metric == "throughput":
        return row.measurement.bytes_per_s or None
    if metric == "iops":
        return row.ios_per_s or None
    times = row.measurement.response()
    if metric == "mean":
        return times.mean_ns if times.mean_ns == times.mean_ns else None
    return published(times, _QUANTILES[metric])


class CellFigure(Struct, frozen=True, kw_only=True):
    """The median of a cell. `value` is None without a complete run; `whole` where all repeats are there."""

    value: float | None
    p99_ns: float | None
    repeats: int
    planned: int
    interrupted: int
    variation: float | None
    trust: str

    @property
    def whole(self) -> bool:
        """False for a cell that is marked as incomplete."""
        return self.repeats >= self.planned and self.value is not None


def cell_figure(result: CellResult, planned: int) -> CellFigure:
    """The medians of the complete runs."""
    values = [each.value for each in result.repeats]
    known = [value for value in values if value is not None]
    tails = [each.p99_ns for each in result.repeats if each.p99_ns is not None]
    all_known = bool(known) and len(known) == len(values)
    return CellFigure(
        value=median_of(known) if all_known else None,
        p99_ns=median_of(tails) if tails and len(tails) == len(values) else None,
        repeats=len(result.repeats),
        planned=planned,
        interrupted=result.interrupted,
        variation=variation(known) if all_known else None,
        trust=max((each.trust for each in result.repeats), default=""),
    )


class Against(Struct, frozen=True):
    """A cell of one configuration against the baseline, both ways.

    `kept` is the share of the baseline's performance that it keeps: 1 is equal, 0.712 is 71.2%. `worse` is how much
    more time it takes, or how much less it moves, as a share of the baseline's figure: 0.405 is 40.5% slower.
    """

    kept: float
    worse: float


def against(baseline: float, value: float, metric: MetricCode) -> Against:
    """Both from the two figures, which are above 0."""
    more = metric in MORE_IS_BETTER
    kept = relative(baseline, value, more_is_better=more)
    return Against(kept, 1 - value / baseline if more else value / baseline - 1)


def progress(side: StudySide, repeats: int) -> tuple[int, int]:
    """Cells with all repeats, and complete runs that count towards the plan."""
    whole = sum(len(result.repeats) >= repeats for result in side.results)
    return whole, sum(min(repeats, len(result.repeats)) for result in side.results)


def baseline_of(sides: Sequence[StudySide], labels: Sequence[str]) -> StudySide | None:
    """The configuration that the others are set beside: the first that the study file names and that was measured, or
    the first of all.
    """
    for label in labels:
        baseline = next((side for side in sides if side.label == label), None)
        if baseline is not None:
            return baseline
    return sides[0] if sides else None
