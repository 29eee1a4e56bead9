"""Counts of a server by microseconds become histograms: sums exact, quantiles as near as the clock is fine."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from iocast.load.database.tallies import SERVER_BUCKETS, SERVER_EXACT_US, Tally, server_bounds_us


def server_bucket(us: int) -> int:
    """As the loop on the server counts."""
    if us < SERVER_EXACT_US:
        return us
    exponent = 0
    while us >= SERVER_EXACT_US:
        us, exponent = us >> 1, exponent + 1
    return min(exponent * 512 + us, SERVER_BUCKETS - 1)


def test_every_bucket_of_a_server_holds_what_it_says() -> None:
    last = -1
    for bucket in range(SERVER_BUCKETS):
        low, high = server_bounds_us(bucket)
        assert (low, server_bucket(low), server_bucket(high)) == (last + 1, bucket, bucket)
        last = high
    assert last + 1 == 2**26


def test_a_servers_counts_keep_sums_and_quantiles() -> None:
    draw = random.Random(7)
    times = [round(draw.lognormvariate(5, 2)) for _ in range(5000)]
    slow = [us for us in times if us >= SERVER_EXACT_US]
    tally = Tally()
    tally.add_server(Counter(map(server_bucket, times)), sum(slow), float(sum(us * us for us in slow)), max(slow))
    found = tally.histogram()
    assert (found.total, found.sum_ns, found.max_ns) == (5000, sum(times) * 1000, max(times) * 1000)
    assert found.sum_squares == pytest.approx(sum(us * us for us in times) * 1e6)
    ordered = sorted(times)
    for q in (0.1, 0.5, 0.9, 0.99, 0.999):
        assert found.quantile_ns(q) == pytest.approx(ordered[int(q * 5000 + 0.5) - 1] * 1000, rel=0.004, abs=3)


def test_what_a_client_measured_is_exact() -> None:
    tally, other = Tally(), Tally()
    for time_ns in (1500, 900, 2_000_000):
        tally.add(time_ns)
    other.add(5)
    tally.merge(other)
    tally.merge(Tally())
    found = tally.histogram()
    assert (found.total, found.sum_ns, found.min_ns, found.max_ns) == (4, 2_002_405, 5, 2_000_000)


def test_nothing_is_an_empty_histogram() -> None:
    assert Tally().histogram().total == 0
