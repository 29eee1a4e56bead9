"""Intervals and verdicts hold where I/Os queue: M/M/1, whose mean and percentiles are known by formula."""

from __future__ import annotations

import math

import pytest
from interval_coverage import SYSTEMS, measured, told_apart

from iocast.analyse.facts import RowFacts

RUNS, SECONDS = 40, 60
MEAN_NS = 1e6 / (1 - 0.8)


@pytest.fixture(scope="module")
def rows() -> list[RowFacts]:
    """The same runs for every statistic."""
    (system,) = (each for each in SYSTEMS if each.name == "M/M/1, 80% load")
    return [measured(system, seed + 1, SECONDS) for seed in range(RUNS)]


@pytest.mark.parametrize("q", [None, 0.5, 0.95, 0.99])
def test_the_truth_lies_in_the_interval(rows: list[RowFacts], q: float | None) -> None:
    """Counted as independent I/Os, a p99 at this load was covered in 18% of the runs."""
    truth = MEAN_NS if q is None else -MEAN_NS * math.log(1 - q)
    found = [row.mean("read") if q is None else row.quantile("read", q) for row in rows]
    covered = sum((each.low_ns or 0) <= truth <= (each.high_ns or math.inf) for each in found)
    assert covered >= 0.9 * RUNS
    assert all(each.low_ns is not None for each in found)


def test_equal_queues_are_not_told_apart_by_two_runs(rows: list[RowFacts]) -> None:
    """Counted as independent I/Os, percentiles of most of these pairs would differ."""
    records = [row.record for row in rows]
    assert not any(told_apart(*pair) for pair in zip(records[::2], records[1::2], strict=True))


def test_short_queues_are_not_told_apart_by_two_runs() -> None:
    """Three or four intervals know little of their own scatter, which Student's t allows for."""
    (system,) = (each for each in SYSTEMS if each.name == "M/M/1, 90% load")
    records = [measured(system, seed, 4).record for seed in range(1, 21)]
    assert {len(record.series.ios) for record in records} <= {3, 4}
    assert not any(told_apart(*pair) for pair in zip(records[::2], records[1::2], strict=True))
