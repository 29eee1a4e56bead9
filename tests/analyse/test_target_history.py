"""The history of a target: where a level changed for good, what is not compared, and when nothing is known."""

from __future__ import annotations

import math
import random

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.statistics import published
from iocast.analyse.target_history import (
    NEEDED,
    History,
    Level,
    RowPoint,
    RunPoint,
    Series,
    history,
    row_points,
)
from iocast.model.finding import Grade
from iocast.model.grading import LETTERS, Letter
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Workload

DAY_NS = 86_400 * 10**9
READ, WRITE = (Workload(mix=(MixItem(op=op, size_bytes=8192),)) for op in ("read", "write"))


def _run(day: int, rate: float, *, trust: str = "B", grade: Letter = "A", workload: Workload = READ) -> RunPoint:
    row = RowPoint(row="randread", workload=workload, rate_per_s=rate, p99_ns=1e9 / rate)
    return RunPoint(name=f"run {day}", started_unix_ns=day * DAY_NS, grade=grade, trust=trust, rows=(row,))  # type: ignore[arg-type]


def _history(*runs: RunPoint) -> History:
    return history("/dev/sdx", "db01", "card", runs)


def _noisy(days: range, rate: float, seed: int = 1, **about: object) -> list[RunPoint]:
    drawn = random.Random(seed)
    return [_run(day, rate * drawn.uniform(0.98, 1.02), **about) for day in days]  # type: ignore[arg-type]


def test_a_shift_is_put_where_it_came_and_one_bad_run_is_none() -> None:
    runs = [*_noisy(range(1, 13), 1000.0), *_noisy(range(13, 25), 700.0, 2, grade="C")]
    runs[5] = _run(6, 100.0, trust="F")
    random.Random(3).shuffle(runs)
    found = _history(*runs)
    ((rate, p99),) = found.rows
    assert [run.name for run in found.runs][:2] == ["run 1", "run 2"], "the oldest first"
    for series, share in ((rate, -0.3), (p99, 1 / 0.7 - 1)):
        ((start, shift),) = series.shifts
        assert found.runs[start].name == "run 13"
        assert abs(shift - share) < 0.03
    assert rate.values[5] == 100.0, "it is shown"
    assert abs(rate.levels[0].middle - 1000.0) < 20, "and not counted"
    assert [level.middle for level in found.grade.levels] == [8.0, 4.0]
    assert found.grade.shifts[0][0] == 12


def test_steady_figures_have_one_level_and_few_runs_none() -> None:
    ((rate, p99),) = _history(*_noisy(range(1, 25), 1000.0)).rows
    assert (len(rate.levels), rate.shifts, p99.shifts, rate.shift) == (1, (), (), 0.0)
    few = _history(*_noisy(range(1, 10), 1000.0), _run(10, 1000.0, trust="D"))
    assert all(series.levels == () for series in few.series), "nine that count are too few"
    assert _history().rows == ()


def test_another_workload_under_the_same_name_is_left_out() -> None:
    found = _history(_run(1, 5000.0, workload=WRITE), _run(2, 1000.0), _run(3, 1000.0))
    assert found.rows[0][0].values == (None, 1000.0, 1000.0)
    assert found.other_rows == 1


def test_a_fifth_is_found_and_noise_is_no_change() -> None:
    """28 runs that scatter by 6%: correlated noise, estimated from so few, hid a fifth of such shifts."""
    drawn, found, false = random.Random(7), 0, 0
    for _ in range(40):
        noise = [drawn.gauss(0, 0.06) for _ in range(28)]
        false += bool(_shifts([1000 * math.exp(each) for each in noise]))
        found += bool(_shifts([(1000 if at < 14 else 800) * math.exp(each) for at, each in enumerate(noise)]))
    assert found >= 38
    assert false <= 1


def _shifts(rates: list[float]) -> tuple[tuple[int, float], ...]:
    return _history(*(_run(day, rate) for day, rate in enumerate(rates))).rows[0][0].shifts


@pytest.mark.parametrize(
    ("trust", "counts"), [("A", True), ("B", True), ("C", True), (None, True), ("D", False), ("F", False)]
)
def test_only_runs_that_can_be_believed_are_compared(trust: Grade | None, counts: bool) -> None:
    run = RunPoint(name="run", started_unix_ns=1, grade=None, trust=trust)
    assert run.counts == counts
    assert run.rows == ()


@pytest.mark.parametrize(
    ("middles", "shifts", "largest"),
    [
        ((100.0,), (), 0.0),
        ((100.0, 50.0), ((10, -0.5),), -0.5),
        ((100.0, 50.0, 80.0), ((10, -0.5), (20, 0.6)), 0.6),
        ((100.0, 50.0, 65.0), ((10, -0.5), (20, 0.3)), -0.5),
    ],
)
def test_the_largest_shift_is_that_of_the_most_either_way(
    middles: tuple[float, ...], shifts: tuple[tuple[int, float], ...], largest: float
) -> None:
    levels = tuple(Level(10 * at, 10 * at + 10, middle) for at, middle in enumerate(middles))
    series = Series(row="", figure=None, values=(), levels=levels)
    assert [start for start, _ in series.shifts] == [start for start, _ in shifts]
    assert [share for _, share in series.shifts] == pytest.approx([share for _, share in shifts])
    assert series.shift == pytest.approx(largest)


def test_the_rows_of_a_run_are_its_measured_phases_with_what_may_be_published() -> None:
    few = card_runs.reads("few", times=card_runs.histogram((1e6, 999)))
    run = card_runs.run(card_runs.fill(), card_runs.reads("randread 8k"), few, card_runs.commits())
    points = row_points(run)
    assert [point.row for point in points] == ["randread 8k", "few", "commit 4k"]
    for point, record in zip(points, run.measured, strict=True):
        assert (point.workload, point.rate_per_s) == (record.phase.workload, record.ios_per_s)
        assert point.p99_ns == published(record.measurement.response(), 0.99)
    assert (points[0].p99_ns is None, points[1].p99_ns) == (False, None), "nine I/Os beyond it are too few"


def _unstated(record: PhaseRecord) -> PhaseRecord:
    return replace(record, unstated=("length",))


def test_a_row_without_a_rate_has_a_point_without_one() -> None:
    (point,) = row_points(card_runs.run(_unstated(card_runs.reads())))
    assert point.rate_per_s is None
    assert point.p99_ns is not None


def test_a_history_says_what_it_is_of_and_has_every_figure_once_the_grade_first() -> None:
    two = [
        replace(run, rows=(run.rows[0], replace(run.rows[0], row="commit", workload=WRITE, rate_per_s=50.0)))
        for run in _noisy(range(12), 1000.0)
    ]
    found = _history(*two)
    assert (found.target, found.host, found.job) == ("/dev/sdx", "db01", "card")
    assert [(each.row, each.figure) for each in found.series] == [
        ("", None),
        ("randread", "throughput"),
        ("randread", "p99"),
        ("commit", "throughput"),
        ("commit", "p99"),
    ]
    assert found.rows[1][0].levels == (Level(0, 12, 50.0),)
    assert found.other_rows == 0
    assert found.grade.values == (8.0,) * 12


def test_the_rank_of_a_grade_counts_from_the_worst() -> None:
    runs = [replace(_run(at, 1000.0), grade=letter) for at, letter in enumerate((*LETTERS, None))]
    assert _history(*runs).grade.values == (*(float(rank) for rank in range(len(LETTERS), 0, -1)), None)


def test_a_figure_that_is_missing_is_no_level_and_those_around_it_keep_their_places() -> None:
    """Twelve runs, of which the third has no rate and the fifth no such row; the seventh is not believed."""
    runs = _noisy(range(12), 1000.0)
    runs[2] = replace(runs[2], rows=(replace(runs[2].rows[0], rate_per_s=None, p99_ns=None),))
    runs[4] = replace(runs[4], rows=())
    runs[6] = replace(runs[6], trust="F")
    runs[0] = replace(runs[0], trust="D")
    found = _history(*runs)
    assert found.rows == ((found.series[1], found.series[2]),)
    for series in found.rows[0]:
        assert [at for at, value in enumerate(series.values) if value is None] == [2, 4]
        assert series.levels == (), "eight are too few"
    assert found.other_rows == 0, "a row that is missing was not measured otherwise"
    more = _history(*runs, *_noisy(range(12, 14), 1000.0, 2))
    for series in more.rows[0]:
        ((start, end, _),) = [(level.start, level.end, level.middle) for level in series.levels]
        assert (start, end) == (1, 14), "from the first run that counts to the last"


def test_rows_of_older_runs_under_the_same_name_are_counted_and_rows_that_are_gone_are_not() -> None:
    old = _run(1, 5000.0, workload=WRITE)
    gone = replace(old.rows[0], row="gone")
    newest = _run(3, 1000.0)
    found = _history(newest, replace(old, rows=(old.rows[0], gone)), _run(2, 4000.0, workload=WRITE))
    assert [[series.row for series in pair] for pair in found.rows] == [["randread", "randread"]]
    assert found.rows[0][0].values == (None, None, 1000.0)
    assert found.rows[0][1].values == (None, None, 1e9 / 1000.0)
    assert found.other_rows == 2


def test_ten_runs_that_count_are_enough() -> None:
    assert NEEDED == 10
    assert [len(each.levels) for each in _history(*_noisy(range(10), 1000.0)).series] == [1, 1, 1]
    few = _history(*_noisy(range(9), 1000.0)).series
    assert [(each.figure, each.levels) for each in few] == [(None, ()), ("throughput", ()), ("p99", ())]
