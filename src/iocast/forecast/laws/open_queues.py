"""Open queues: requests arrive at a rate of their own. M/M/1, M/M/c, M/G/1, G/G/1 and G/G/c.

All raise Overloaded where the load reaches the capacity: such a queue grows for ever, and no number is right.
Squared coefficients of variation: 0 constant, 1 exponential (random), above 1 bursty or with a long tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from iocast.errors import AnalysisError, SpecError

CLOSE = 1e-12  # of a bisection, relative


class Overloaded(AnalysisError):
    """The load reaches the capacity; `utilisation` is 1 or more."""

    def __init__(self, utilisation: float) -> None:
        super().__init__(
            f"overloaded: utilisation would be {utilisation:.1%}, and the queue would grow without end",
            "lower the load, shorten the service time or add servers",
        )
        self.utilisation = utilisation


class OpenQueue(Struct, frozen=True):
    """A queue in its steady state. Times in seconds."""

    utilisation: float  # of each server, 0 to 1
    wait_s: float  # mean, in the queue
    service_s: float
    rate_per_s: float

    @property
    def response_s(self) -> float:
        """Mean: waiting and service."""
        return self.wait_s + self.service_s

    @property
    def in_system(self) -> float:
        """Mean number that wait or are served (Little's law)."""
        return self.rate_per_s * self.response_s


def mm1(rate_per_s: float, service_s: float) -> OpenQueue:
    """One server, random arrivals, exponential service: R = S / (1 - rho). Raises Overloaded."""
    return mmc(rate_per_s, service_s, 1)


def mm1_quantile_s(rate_per_s: float, service_s: float, q: float) -> float:
    """A percentile of its response time: -R ln(1 - q). Raises Overloaded."""
    return -mm1(rate_per_s, service_s).response_s * math.log1p(-q)


class Erlang(NamedTuple):
    """Erlang's two: the chance that all servers are busy where none may wait (B), and that a request waits (C)."""

    lost: float
    waits: float


def erlang(servers: int, offered: float) -> Erlang:
    """B by its recursion, C from it. `offered` is arrival rate x service time. Raises Overloaded, SpecError."""
    utilisation = _utilisation(offered, servers)
    lost = 1.0
    for count in range(1, servers + 1):
        lost = offered * lost / (count + offered * lost)
    return Erlang(lost, lost / (1 - utilisation * (1 - lost)))


def mmc(rate_per_s: float, service_s: float, servers: int) -> OpenQueue:
    """Servers that share one queue: W = C S / (c (1 - rho)). Raises Overloaded, SpecError."""
    offered = rate_per_s * service_s
    utilisation = _utilisation(offered, servers)
    wait = erlang(servers, offered).waits * service_s / (servers * (1 - utilisation))
    return OpenQueue(utilisation, wait, service_s, rate_per_s)


def mmc_tail(rate_per_s: float, service_s: float, servers: int) -> Callable[[float], float]:
    """The share of requests whose response takes longer than a time in seconds, first come first served.

    A response is a service time, and for those who wait an exponential wait before it. Raises Overloaded, SpecError.
    """
    waits = erlang(servers, rate_per_s * service_s).waits
    mu = 1 / service_s
    return waiting_tail(waits, servers * mu - rate_per_s, mu)


def waiting_tail(waits: float, drain_per_s: float, served_per_s: float) -> Callable[[float], float]:
    """The share above a time of an exponential service, after an exponential wait for a share of the requests."""

    def tail(time_s: float) -> float:
        served = math.exp(-served_per_s * time_s)
        if math.isclose(drain_per_s, served_per_s, rel_tol=1e-9):
            both = (1 + served_per_s * time_s) * served
        else:
            both = (drain_per_s * served - served_per_s * math.exp(-drain_per_s * time_s)) / (
                drain_per_s - served_per_s
            )
        return (1 - waits) * served + waits * both

    return tail


def mmc_quantile_s(rate_per_s: float, service_s: float, servers: int, q: float) -> float:
    """A percentile of the response time of M/M/c. Raises Overloaded, SpecError."""
    return tail_quantile_s(mmc_tail(rate_per_s, service_s, servers), q, service_s)


def tail_quantile_s(tail: Callable[[float], float], q: float, scale_s: float) -> float:
    """The time above which a share 1 - q lies, of a tail that falls; `scale_s` is about where to look first."""
    high = scale_s
    while tail(high) > 1 - q:
        high *= 2
    return bisected(lambda time_s: tail(time_s) <= 1 - q, 0.0, high)


def bisected(reached: Callable[[float], bool], low: float, high: float) -> float:
    """The least value between two for which something holds, if it holds from there on."""
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high


def mg1(rate_per_s: float, service_s: float, service_cv2: float) -> OpenQueue:
    """One server, random arrivals, any service: W = rho S (1 + cs2) / (2 (1 - rho)), Pollaczek and Khinchine.

    Raises Overloaded.
    """
    return kingman(rate_per_s, service_s, 1.0, service_cv2)


def kingman(rate_per_s: float, service_s: float, arrival_cv2: float, service_cv2: float) -> OpenQueue:
    """One server, any arrivals and service: W = rho / (1 - rho) x (ca2 + cs2) / 2 x S. An approximation (Kingman
    1961), exact for M/G/1. Raises Overloaded."""
    utilisation = _utilisation(rate_per_s * service_s, 1)
    wait = utilisation / (1 - utilisation) * (arrival_cv2 + service_cv2) / 2 * service_s
    return OpenQueue(utilisation, wait, service_s, rate_per_s)


def allen_cunneen(
    rate_per_s: float, service_s: float, servers: int, arrival_cv2: float, service_cv2: float
) -> OpenQueue:
    """Several servers, any arrivals and service: the wait of M/M/c x (ca2 + cs2) / 2. An approximation: within 8 % for
    a two-peak service time on 8 servers. Raises Overloaded, SpecError."""
    queue = mmc(rate_per_s, service_s, servers)
    return OpenQueue(queue.utilisation, queue.wait_s * (arrival_cv2 + service_cv2) / 2, service_s, rate_per_s)


def sakasegawa(rate_per_s: float, service_s: float, servers: int, arrival_cv2: float, service_cv2: float) -> OpenQueue:
    """The same in closed form: W = (ca2 + cs2) / 2 x S rho^(sqrt(2 (c + 1)) - 1) / (c (1 - rho)), Sakasegawa 1977.

    Raises Overloaded, SpecError.
    """
    utilisation = _utilisation(rate_per_s * service_s, servers)
    crowd = utilisation ** (math.sqrt(2 * (servers + 1)) - 1) / (servers * (1 - utilisation))
    return OpenQueue(utilisation, (arrival_cv2 + service_cv2) / 2 * service_s * crowd, service_s, rate_per_s)


def _utilisation(offered: float, servers: int) -> float:
    if servers < 1:
        raise SpecError(f"{servers} servers serve nothing", "give 1 or more")
    if not (offered >= 0 and math.isfinite(offered)):
        raise SpecError(f"a load of {offered:g} busy servers does not exist", "give a rate and a time above 0")
    if offered >= servers:
        raise Overloaded(offered / servers)
    return offered / servers
