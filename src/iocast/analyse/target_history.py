"""The runs of one job on one target over time: IOPS and p99 of each row, the grade, and where they changed for good."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from msgspec import Struct

from iocast.analyse.changepoint import MIN_LENGTH, change_points
from iocast.analyse.statistics import published
from iocast.model.codes import StatisticCode
from iocast.model.finding import Grade
from iocast.model.grading import LETTERS, Letter
from iocast.model.run import Run
from iocast.model.workload import Workload

NEEDED = 2 * MIN_LENGTH  # runs, before a change can be told from noise
NOT_COUNTED: tuple[Grade, ...] = ("D", "F")  # trust: such a run is shown, and judged by nobody


class RowPoint(Struct, frozen=True, kw_only=True):
    """What one row of a run reached."""

    row: str
    workload: Workload
    rate_per_s: float | None
    p99_ns: float | None


class RunPoint(Struct, frozen=True, kw_only=True):
    """A run: when, how good, how far it can be believed, and its rows."""

    name: str
    started_unix_ns: int
    grade: Letter | None
    trust: Grade | None
    rows: tuple[RowPoint, ...] = ()

    @property
    def counts(self) -> bool:
        """True when its figures are good enough to be compared."""
        return self.trust not in NOT_COUNTED


class Level(Struct, frozen=True):
    """A stretch of runs between two changes: the first, the one after the last, the median."""

    start: int
    end: int
    middle: float


class Series(Struct, frozen=True, kw_only=True):
    """One figure of all runs, None where a run has none, and its levels: one where it did not change."""

    row: str  # "" of the grade
    figure: StatisticCode | None  # None: the grade, as its rank from the worst, 1
    values: tuple[float | None, ...]
    levels: tuple[Level, ...]  # none where there are too few runs to say

    @property
    def shift(self) -> float:
        """The largest change of level, as a share of the one before; 0 where nothing changed."""
        return max((each for _, each in self.shifts), key=abs, default=0.0)

    @property
    def shifts(self) -> tuple[tuple[int, float], ...]:
        """The first run of each new level, and how far it is from the level before."""
        pairs = pairwise(self.levels)
        return tuple((after.start, after.middle / before.middle - 1) for before, after in pairs)


class History(Struct, frozen=True, kw_only=True):
    """Runs of one job on one target, the oldest first. `excluded` runs had other workloads in all of their rows."""

    target: str
    host: str
    job: str
    runs: tuple[RunPoint, ...]
    grade: Series
    rows: tuple[tuple[Series, Series], ...]  # IOPS and p99 of each row of the newest run
    other_rows: int = 0  # rows of older runs that were measured with another workload under the same name

    @property
    def series(self) -> tuple[Series, ...]:
        """All figures, the grade first."""
        return (self.grade, *(each for pair in self.rows for each in pair))


def row_points(run: Run) -> tuple[RowPoint, ...]:
    """The rows of a run as points of a history."""
    return tuple(
        RowPoint(
            row=record.phase.name,
            workload=record.phase.workload,
            rate_per_s=record.ios_per_s,
            p99_ns=published(record.measurement.response(), 0.99),
        )
        for record in run.measured
    )


def history(target: str, host: str, job: str, runs: Sequence[RunPoint]) -> History:
    """The history of some runs. A row is followed as far as it had the workload that it has in the newest run."""
    ordered = tuple(sorted(runs, key=lambda run: run.started_unix_ns))
    counted = tuple(run.counts for run in ordered)
    newest = ordered[-1].rows if ordered else ()
    by_row = [{point.row: point for point in run.rows} for run in ordered]
    same = [[points.get(row.row) if _alike(points.get(row.row), row) else None for points in by_row] for row in newest]
    others = sum(
        row.row in points and kept is None
        for row, line in zip(newest, same, strict=True)
        for points, kept in zip(by_row, line, strict=True)
    )
    ranks = tuple(None if run.grade is None else float(len(LETTERS) - LETTERS.index(run.grade)) for run in ordered)
    return History(
        target=target,
        host=host,
        job=job,
        runs=ordered,
        grade=_series("", None, ranks, counted),
        rows=tuple(
            (
                _series(row.row, "throughput", tuple(each.rate_per_s if each else None for each in line), counted),
                _series(row.row, "p99", tuple(each.p99_ns if each else None for each in line), counted),
            )
            for row, line in zip(newest, same, strict=True)
        ),
        other_rows=others,
    )


def _alike(point: RowPoint | None, newest: RowPoint) -> bool:
    return point is not None and point.workload == newest.workload


def _series(
    row: str, figure: StatisticCode | None, values: tuple[float | None, ...], counted: tuple[bool, ...]
) -> Series:
    used = [at for at, value in enumerate(values) if value and counted[at]]
    known = [value for at in used if (value := values[at])]
    changes = change_points(known, independent=True)
    if changes is None:
        return Series(row=row, figure=figure, values=values, levels=())
    edges = [0, *(change.at for change in changes.reported), len(known)]
    levels = tuple(Level(used[start], used[end - 1] + 1, median(known[start:end])) for start, end in pairwise(edges))
    return Series(row=row, figure=figure, values=values, levels=levels)
