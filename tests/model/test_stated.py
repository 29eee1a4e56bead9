"""What another tool states of a distribution: nothing is read between its edges, nothing it omits becomes 0."""

from __future__ import annotations

import math

import msgspec
import pytest

from iocast.model.histogram import Histogram, merge
from iocast.model.stated import Bucket, Coarse, Quantile

MS = 1_000_000
BUCKETS = (Bucket(0, MS, 90.0), Bucket(MS, 4 * MS, 9.0), Bucket(4 * MS, None, 1.0))


def stated(**changes: object) -> Histogram:
    fields = {"total": 1000, "buckets": BUCKETS, "whole": 100.0, **changes}
    return Histogram.stated(msgspec.convert(fields, Coarse, from_attributes=True))


def test_a_stated_quantile_is_told_as_it_was_stated() -> None:
    times = stated(quantiles=(Quantile(0.99, 3_210_000),))
    assert times.quantile_ns(0.99) == 3_210_000
    assert times.quantile_bounds_ns(0.99) == (3_210_000, 3_210_000)


def test_between_edges_there_are_bounds_and_no_point() -> None:
    times = stated()
    assert math.isnan(times.quantile_ns(0.95))
    assert times.quantile_bounds_ns(0.95) == (MS, 4 * MS)
    assert times.quantile_bounds_ns(0.9) == (0, MS)
    assert times.quantile_bounds_ns(0.995) == (4 * MS, math.inf)
    assert stated(max_ns=7 * MS).quantile_bounds_ns(0.995) == (4 * MS, 7 * MS)


def test_what_is_not_stated_is_not_a_number() -> None:
    times = Histogram.stated(Coarse(total=10))
    for value in (times.mean_ns, times.stdev_ns, times.least_ns, times.most_ns, times.quantile_ns(0.5)):
        assert math.isnan(value)
    assert times.quantile_bounds_ns(0.5) is None
    assert not times.spread_known


def test_a_least_value_of_nought_is_stated() -> None:
    assert Histogram.stated(Coarse(total=10, min_ns=0)).least_ns == 0


def test_shares_count_whole_buckets_only() -> None:
    times = stated()
    assert times.share_up_to(MS) == pytest.approx(0.9)
    assert times.share_up_to(2 * MS) == pytest.approx(0.9)
    assert times.share_up_to(4 * MS) == pytest.approx(0.99)
    assert times.count_up_to(4 * MS) == 990


def test_a_mean_of_all_is_weighted() -> None:
    one = Histogram.stated(Coarse(total=100, mean_ns=1.0 * MS, stdev_ns=0.0, min_ns=MS, max_ns=MS))
    two = Histogram.stated(Coarse(total=300, mean_ns=3.0 * MS, stdev_ns=0.0, min_ns=3 * MS, max_ns=3 * MS))
    both = merge([one, two])
    assert (both.total, both.mean_ns, both.least_ns, both.most_ns) == (400, 2.5 * MS, MS, 3 * MS)
    values = [1.0 * MS] * 100 + [3.0 * MS] * 300
    assert both.stdev_ns == pytest.approx(math.sqrt(sum((v - 2.5 * MS) ** 2 for v in values) / 399))


def test_buckets_of_the_same_edges_add_up_and_others_are_dropped() -> None:
    both = merge([stated(), stated(total=3000)])
    assert both.share_up_to(MS) == pytest.approx(0.9)
    assert both.total == 4000
    other = stated(buckets=(Bucket(0, 2 * MS, 100.0),))
    assert not merge([stated(), other]).spread_known


def test_quantiles_do_not_survive_a_merge() -> None:
    times = stated(quantiles=(Quantile(0.5, MS),))
    assert math.isnan(merge([times, times]).quantile_ns(0.5))


def test_with_a_histogram_of_ours_only_what_both_say_remains() -> None:
    ours = Histogram((100, 200), (1, 1), 300, 50_000.0, 100, 200)
    both = merge([ours, Histogram.stated(Coarse(total=2, mean_ns=350.0))])
    assert (both.total, both.mean_ns) == (4, 250.0)
    assert math.isnan(both.most_ns)


def test_it_survives_a_run_folder() -> None:
    times = stated(quantiles=(Quantile(0.99, 5),), mean_ns=1.5)
    assert msgspec.json.decode(msgspec.json.encode(times), type=Histogram) == times
