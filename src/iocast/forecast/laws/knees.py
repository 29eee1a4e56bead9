"""How far a pool of servers may be loaded: three knees of M/M/c, each by its own rule."""

from __future__ import annotations

import math

from iocast.forecast.laws.open_queues import bisected, mmc, mmc_quantile_s

PLANNED = 0.60  # of the capacity of one queue: R = 2.5 S (Kolk)
HIGHEST = 1 - 1e-12  # utilisation: beyond lies the wall
GOLDEN = (math.sqrt(5) - 1) / 2


def max_power_utilisation(servers: int) -> float:
    """Where throughput per response time is largest: 0.5 for one server, 0.745 for eight."""
    low, high = 0.0, HIGHEST

    def power(utilisation: float) -> float:
        return utilisation / mmc(utilisation * servers, 1.0, servers).response_s

    while high - low > 1e-9:
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if power(left) < power(right):
            low = left
        else:
            high = right
    return (low + high) / 2


def latency_multiple_utilisation(servers: int, multiple: float) -> float:
    """Where the mean response is a multiple of the service time. 2.5 of one server: the rule of 60 %."""
    return bisected(lambda utilisation: mmc(utilisation * servers, 1.0, servers).response_s >= multiple, 0.0, HIGHEST)


def tail_multiple_utilisation(servers: int, multiple: float, q: float = 0.99) -> float:
    """Where a percentile is a multiple of that of an idle pool."""
    idle = -math.log1p(-q)
    return bisected(
        lambda utilisation: mmc_quantile_s(utilisation * servers, 1.0, servers, q) >= multiple * idle, 0.0, HIGHEST
    )


def slo_rate_per_s(servers: int, service_s: float, limit_s: float, q: float = 0.99) -> float:
    """The largest arrival rate whose percentile stays within a limit; 0 when even an idle device breaks it."""
    capacity = servers / service_s
    if -service_s * math.log1p(-q) > limit_s:
        return 0.0
    return capacity * bisected(
        lambda utilisation: mmc_quantile_s(utilisation * capacity, service_s, servers, q) > limit_s, 0.0, HIGHEST
    )
