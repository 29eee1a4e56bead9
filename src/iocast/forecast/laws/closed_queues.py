"""Closed queues: a fixed number of users, each with one request under way, who may think between two.

A station's demand is the time in seconds that a request spends in service there, all visits together.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.errors import SpecError

SETTLED = 1e-12  # of a fixed point, relative


class ClosedQueue(Struct, frozen=True):
    """What a number of users gets."""

    rate_per_s: float
    response_s: float
    at_station: tuple[float, ...]  # mean number that wait or are served at each


def mva(demands_s: Sequence[float], users: int, think_s: float = 0.0) -> ClosedQueue:
    """Exact mean value analysis of stations with one server each (Reiser and Lavenberg 1980). Raises SpecError."""
    _require(demands_s, users)
    at = [0.0] * len(demands_s)
    rate = response = 0.0
    for count in range(1, users + 1):
        stays = [demand * (1 + queue) for demand, queue in zip(demands_s, at, strict=True)]
        response = sum(stays)
        rate = count / (think_s + response)
        at = [rate * stay for stay in stays]
    return ClosedQueue(rate, response, tuple(at))


def schweitzer(demands_s: Sequence[float], users: int, think_s: float = 0.0) -> ClosedQueue:
    """The approximation of Bard and Schweitzer: an arriving request sees (N - 1) / N of the mean queue.

    For many users, where exact analysis takes long. Raises SpecError.
    """
    _require(demands_s, users)
    at = [users / len(demands_s)] * len(demands_s)
    while True:
        stays = [demand * (1 + (users - 1) / users * queue) for demand, queue in zip(demands_s, at, strict=True)]
        rate = users / (think_s + sum(stays))
        new = [rate * stay for stay in stays]
        if max(abs(one - other) for one, other in zip(at, new, strict=True)) <= SETTLED * users:
            return ClosedQueue(rate, sum(stays), tuple(new))
        at = new


def mva_servers(demands_s: Sequence[float], servers: Sequence[int], users: int, think_s: float = 0.0) -> ClosedQueue:
    """Exact mean value analysis of stations with several servers each, by the chances of each queue length.

    Raises SpecError.
    """
    _require(demands_s, users)
    if len(servers) != len(demands_s) or min(servers) < 1:
        raise SpecError("each station needs its number of servers", "give one number of 1 or more for each demand")
    # chance[k][j]: j requests at station k, with one user fewer.
    chance = [[1.0] for _ in demands_s]
    rate = response = 0.0
    stays: list[float] = []
    for count in range(1, users + 1):
        stays = [
            demand * sum(j / min(j, many) * before[j - 1] for j in range(1, count + 1))
            for demand, many, before in zip(demands_s, servers, chance, strict=True)
        ]
        response = sum(stays)
        rate = count / (think_s + response)
        for k, (demand, many) in enumerate(zip(demands_s, servers, strict=True)):
            beyond = [rate * demand / min(j, many) * chance[k][j - 1] for j in range(1, count + 1)]
            chance[k] = [max(0.0, 1 - sum(beyond)), *beyond]
    return ClosedQueue(rate, response, tuple(rate * stay for stay in stays))


class Bounds(Struct, frozen=True):
    """Between what the throughput of a closed queue must lie, whatever else is true of it."""

    rate_high_per_s: float  # asymptotic
    rate_low_per_s: float
    balanced_high_per_s: float  # balanced job bounds, tighter
    balanced_low_per_s: float
    saturation_users: float  # N*: from here on the slowest station limits
    response_low_s: float


def bounds(demands_s: Sequence[float], users: int, think_s: float = 0.0) -> Bounds:
    """Asymptotic and balanced job bounds (Denning and Buzen 1978; Zahorjan 1982). Raises SpecError."""
    _require(demands_s, users)
    total, most = sum(demands_s), max(demands_s)
    mean = total / len(demands_s)
    high = min(1 / most, users / (total + think_s))
    thinking = think_s / total
    return Bounds(
        rate_high_per_s=high,
        rate_low_per_s=users / (users * total + think_s),
        balanced_high_per_s=min(1 / most, users / (think_s + total + (users - 1) * mean / (1 + thinking))),
        balanced_low_per_s=users / (think_s + total + (users - 1) * most / (1 + thinking / users)),
        saturation_users=(total + think_s) / most,
        response_low_s=max(total, users * most - think_s),
    )


def _require(demands_s: Sequence[float], users: int) -> None:
    if not demands_s or min(demands_s) < 0 or not sum(demands_s) > 0:
        raise SpecError("no station has work to do", "give the demand of each station in seconds, one above 0")
    if users < 1:
        raise SpecError(f"{users} users ask for nothing", "give 1 or more")
