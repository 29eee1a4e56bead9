"""What is printed of a rated device against a simulation of what it is taken to be: never optimistic, never twice."""

from __future__ import annotations

import heapq
import random

import pytest

from iocast.forecast.storage.size_storage import carried_by
from iocast.forecast.storage.storage_device import Pool, built_in


def simulated(pool: Pool, rate_per_s: float, ios: int = 80_000) -> list[float]:
    """Response times of random arrivals at servers that share a queue; service is constant and exponential parts."""
    draw, clock = random.Random(1), 0.0
    server_s = pool.servers / pool.iops
    free, times = [0.0] * pool.servers, []
    for _ in range(ios):
        clock += draw.expovariate(rate_per_s)
        start = max(clock, heapq.heappop(free))
        ends = start + server_s * (1 - pool.spread + pool.spread * draw.expovariate(1))
        heapq.heappush(free, ends)
        times.append(ends - clock + pool.slowest_s - server_s)
    return sorted(times)


@pytest.mark.parametrize("name", ["hdd-15k", "sata-ssd"])
@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_the_printed_times_are_on_the_safe_side(name: str, load: float) -> None:
    pool = built_in(name).pool(1.0, 8192)
    times = simulated(pool, load * pool.iops)
    printed = carried_by(pool, load * pool.iops, 0.99)
    assert printed.mean_s is not None
    assert printed.limited_s is not None
    assert 0.98 <= printed.mean_s / (sum(times) / len(times)) <= 1.7
    assert 0.98 <= printed.limited_s / times[round(0.99 * len(times))] <= 2.0
