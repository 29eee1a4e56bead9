"""Names of the buckets of a latency histogram: there and back."""

from __future__ import annotations

import pytest

from iocast.metrics import NO_BOUND, READ_NS, bucket, bucket_upper_ns


@pytest.mark.parametrize("upper_ns", [1, 8_000, 1_024_000_000])
def test_a_bound_comes_back(upper_ns: int) -> None:
    assert bucket_upper_ns(bucket(upper_ns)) == upper_ns


@pytest.mark.parametrize("metric", [NO_BOUND, READ_NS, "lt_ns", "lt_-5ns", "lt_1.5ns", "lt_8000", "8000ns", "lt_²ns"])
def test_other_counters_have_none(metric: str) -> None:
    assert bucket_upper_ns(metric) is None
