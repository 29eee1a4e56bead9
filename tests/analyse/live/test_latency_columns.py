"""Latencies by interval: exact sums where they are known, the .75 rule where not, grids, shades."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.live_moments import SECOND_NS, histogram, moment

from iocast.analyse.live.latency_columns import (
    ENDLESS_NS,
    HeatMap,
    Latencies,
    latencies,
    on_grid,
    shade,
)
from iocast.metrics import NO_BOUND
from iocast.model.live.moment import Interval

EVENT = ("oracle", "db file sequential read")
US = 1_000


def _gained(before: dict[int, int], after: dict[int, int]) -> Latencies | None:
    interval = Interval(moment(0, {EVENT: histogram(before)}), moment(1, {EVENT: histogram(after)}))
    view = interval.views(EVENT[0]).get(EVENT[1])
    return None if view is None else latencies(view)


def test_counts_are_what_buckets_gained() -> None:
    found = _gained({512: 10, 1024: 5}, {512: 57, 1024: 5})
    assert found is not None
    assert found.counts == {512 * US: 47}


def test_a_bucket_that_appears_was_empty_before() -> None:
    """The reason for which ehm_micro aborts: Oracle shows only buckets that were ever used."""
    found = _gained({512: 10}, {512: 12, 4096: 3})
    assert found is not None
    assert found.counts == {512 * US: 2, 4096 * US: 3}


def test_an_event_that_is_new_is_unknown() -> None:
    interval = Interval(moment(0, {}), moment(1, {EVENT: histogram({512: 3})}))
    assert interval.views(EVENT[0]) == {}


def test_the_mean_is_exact_where_the_source_sums_its_times() -> None:
    counts = {512 * US: 2, 1024 * US: 2}
    assert Latencies(SECOND_NS, counts, 2_800 * US).mean_ns == 700 * US
    assert Latencies(SECOND_NS, counts).mean_ns == 0.75 * 768 * US
    assert Latencies(SECOND_NS, {}).mean_ns is None


def test_vector_of_ehm_micro() -> None:
    """47.8 waits a second below 512 us are 18,355.2 us a second (source-vectors V15)."""
    found = Latencies(10 * SECOND_NS, {512 * US: 478})
    heat = HeatMap([512 * US], 3)
    heat.add(found)
    assert heat.frequencies() == [[47.8, 0.0]]
    assert heat.intensities()[0] == [pytest.approx(18.3552), 0.0]


@given(
    st.dictionaries(st.integers(0, 40).map(lambda power: (1 << power) * US), st.integers(1, 10**9), min_size=1),
    st.integers(1, 10**15),
)
def test_intensities_add_up_to_the_sum(counts: dict[int, int], sum_ns: int) -> None:
    heat = HeatMap([(1 << power) * US for power in range(7, 18)], 1)
    heat.add(Latencies(SECOND_NS, counts, sum_ns))
    (column,) = heat.intensities()
    assert column is not None
    assert sum(column) == pytest.approx(sum_ns * 1000 / SECOND_NS)


def test_a_grid_keeps_every_count() -> None:
    found = Latencies(SECOND_NS, {64 * US: 1, 128 * US: 2, 200 * US: 4, 1 << 40: 8, ENDLESS_NS: 16})
    assert on_grid(found, [128 * US, 256 * US]) == [3, 4, 24]


def test_what_has_no_bound_is_counted() -> None:
    interval = Interval(moment(0, {EVENT: {NO_BOUND: 1.0}}), moment(1, {EVENT: {NO_BOUND: 4.0}}))
    found = latencies(interval.views(EVENT[0])[EVENT[1]])
    assert found is not None
    assert found.counts == {ENDLESS_NS: 3}


def test_a_subject_without_buckets_has_no_latencies() -> None:
    interval = Interval(moment(0, {EVENT: {"reads": 1.0}}), moment(1, {EVENT: {"reads": 2.0}}))
    assert latencies(interval.views(EVENT[0])[EVENT[1]]) is None


def test_unknown_intervals_stay_blank_and_old_ones_fall_out() -> None:
    heat = HeatMap([128 * US], 2)
    for found in (Latencies(SECOND_NS, {128 * US: 1}), None, Latencies(SECOND_NS, {128 * US: 2})):
        heat.add(found)
    assert heat.frequencies() == [None, [2.0, 0.0]]
    assert heat.taken == 3


@pytest.mark.parametrize(
    ("value", "index"), [(0, 0), (-1, 0), (0.001, 1), (1, 1), (1.01, 2), (5.99, 6), (6, 6), (9, 6)]
)
def test_shades(value: float, index: int) -> None:
    assert shade(value, 6) == index


def test_means_of_a_part_of_the_time_say_how_far_they_may_be_off() -> None:
    """Of 10,000 I/Os one in four was traced: half take 96 us, half 6 ms; 1.96 standard errors of 2,500 of them."""
    found = Latencies(10**9, {128_000: 5000, 8_192_000: 5000}, None)
    mean_ns = (96_000 + 6_144_000) / 2
    error = (6_144_000 - 96_000) / 2 / mean_ns * 1.96 * (0.75 / 2500) ** 0.5
    assert found.mean_within(0.25) == pytest.approx(error)
    assert found.mean_within(1.0) == 0
    assert found.mean_within(0.0001) is None
