"""The history of a target: where a level changed for good, what is not compared, and when nothing is known."""

from __future__ import annotations

import math
import random

from iocast.analyse.history.target_history import History, RowPoint, RunPoint, history
from iocast.model.grading import Letter
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
