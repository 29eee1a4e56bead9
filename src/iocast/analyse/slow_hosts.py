"""Slow hosts of a class, after Perseus: hosts whose response time their load does not explain.

A class is one row on disks of one model. The logarithm of the mean response time is fitted as a polynomial of the load
on the storage, without outliers. Each host is compared with the upper prediction bound of all other hosts at its own
load: above it the host is slow; below it, but above what quiet hosts need, it is busy. Source: R. Lu and others,
Perseus: a fail-slow detection framework for cloud storage systems, FAST '23. Perseus drops outliers by PCA and DBSCAN;
here deleted residuals do it, which work with few hosts (generalised ESD: B. Rosner, Technometrics 25, 1983).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from heapq import nlargest
from statistics import median
from typing import Literal

from msgspec import Struct

from iocast._core import student_t_quantile
from iocast.analyse.fleet_table import HostMedians
from iocast.analyse.least_squares import inverse

LEAST_HOSTS = 5  # in a class: fewer do not show what is normal
LEVEL = 0.99  # probability that no host of a fleet of equals exceeds its bound in any row
SLOWER = 1.10  # times the expected value: smaller differences do not matter, however certain
LIGHT = 0.05  # of the row's own rate: other I/O below this is ignored
LEAST_ERROR = 0.001  # relative standard error: no two measurements agree better than this
SERVED = 0.90  # of the usual rate: a device with this total throughput is busy, not slow
MOST_DROPPED = 0.40  # of the hosts of a class
FULL_CLASS = 25  # hosts up to which outliers are dropped one at a time; larger classes drop several per step
_LARGEST = 700.0  # exponents of floating-point numbers end at 709
_DEGREES = ((12, 6, 2), (6, 4, 1))  # hosts, different loads among them: the degree of the polynomial

Standing = Literal["slow", "busy", "usual"]


class Judged(Struct, frozen=True):
    """A row of a host: expected mean response time at its load and the upper bound of it, in ns; may be infinite."""

    row: HostMedians
    standing: Standing
    expected_ns: float
    bound_ns: float


def judged_class(rows: Sequence[HostMedians], tests: int) -> list[Judged]:
    """The hosts of a class, in their order; none of a class of fewer than LEAST_HOSTS.

    `tests` is how many rows of hosts are judged in all: the level holds for all of them at once (Bonferroni).
    """
    if len(rows) < LEAST_HOSTS:
        return []
    loads = _loads(rows)
    centre = median(row.log_ns for row in rows)
    values = [row.log_ns - centre for row in rows]
    more = _noise(rows)
    kept = _without_outliers(loads, values, more, (1 - LEVEL) / max(1, tests))
    quiet = median(loads[at] for at in kept)
    line = _Line(loads, values, kept)
    return [_judged(at, row, line, centre, quiet, more, (1 - LEVEL) / max(1, tests)) for at, row in enumerate(rows)]


def _judged(
    at: int, row: HostMedians, line: _Line, centre: float, quiet: float, more: list[float], chance: float
) -> Judged:
    load, value = line.loads[at], line.values[at]
    low, high = line.span_without(at)
    expected, bound = line.prediction(at, min(max(load, low), high), more[at], chance)
    far = value > bound and value - expected > math.log(SLOWER)
    standing: Standing = "slow" if far else "usual"
    if far and load > high and (row.is_open or _served(row, line, at) >= SERVED):
        standing = "busy"  # its load was the highest of all, and it served it
    if not far and load > quiet:
        usual, most = line.prediction(at, min(max(quiet, low), high), more[at], chance)
        if value > most and value - usual > math.log(SLOWER):
            standing = "busy"
    return Judged(row, standing, math.exp(centre + expected), _power(centre + bound))


def _power(exponent: float) -> float:
    """As math.exp, and infinite where few hosts know so little that no number holds it."""
    return math.exp(exponent) if exponent < _LARGEST else math.inf


def _served(row: HostMedians, line: _Line, at: int) -> float:
    """What the device did for all together, over the usual rate of the row alone."""
    return line.loads[at] + math.exp(-line.values[at])


def _loads(rows: Sequence[HostMedians]) -> list[float]:
    """What each host was busy with, over the usual rate of the row; all alike where that tells nothing.

    A host whose load is unknown counts as one with the usual load.
    """
    known = [row.busy_per_s for row in rows if row.busy_per_s is not None]
    rates = [row.rate_per_s for row in rows if row.rate_per_s]
    if not known or not rates:
        return [0.0] * len(rows)
    usual, unit = median(known), median(rates)
    loads = [(usual if row.busy_per_s is None else row.busy_per_s) / unit for row in rows]
    if rows[0].is_open:
        return loads if max(loads) - min(loads) > LIGHT else [0.0] * len(rows)
    return [load if load > LIGHT else 0.0 for load in loads]


def _noise(rows: Sequence[HostMedians]) -> list[float]:
    """How much more the median of a host varies than that of a usual one, as it has fewer runs: a variance."""
    within = [(row.variance, row.runs - 1) for row in rows if row.variance is not None]
    degrees = sum(free for _, free in within)
    if not degrees:
        return [0.0] * len(rows)
    variance = sum(each * free for each, free in within) / degrees
    usual = median(row.runs for row in rows)
    return [max(0.0, variance * (1 / row.runs - 1 / usual)) for row in rows]


def _without_outliers(loads: list[float], values: list[float], more: list[float], chance: float) -> list[int]:
    """The hosts that a line is fitted to: all but the largest set whose last one is still beyond chance.

    One after the other is dropped, so that two slow hosts do not hide each other.
    """
    kept, result = list(range(len(values))), list(range(len(values)))
    at_once = max(1, len(values) // FULL_CLASS)
    most = int(MOST_DROPPED * len(values))
    while len(values) - len(kept) < most and len(kept) > LEAST_HOSTS - 1:
        line = _Line(loads, values, kept)
        deleted = ((abs(line.deleted_residual(at, more[at])), at) for at in kept)
        worst = nlargest(min(at_once, most - (len(values) - len(kept))), deleted)
        beyond = {at for far, at in worst if far > _t(1 - chance / 2, line.free - 1)}
        if beyond:
            result = [at for at in kept if at not in beyond]
        dropped = {at for _, at in worst}
        kept = [at for at in kept if at not in dropped]
    return result


class _Line:
    """A polynomial through the hosts that are kept, by least squares, of which each can be left out again."""

    def __init__(self, loads: list[float], values: list[float], kept: list[int]) -> None:
        self.loads, self.values, self._kept = loads, values, frozenset(kept)
        known = sorted(loads[at] for at in kept)
        different = len({round(load, 6) for load in known})
        self.degree = next((d for hosts, each, d in _DEGREES if len(kept) >= hosts and different >= each), 0)
        self._ends = (known[0], known[1]), (known[-1], known[-2])
        self._scale = max(abs(known[0]), abs(known[-1]), 1e-12)
        rows = [self._powers(loads[at]) for at in kept]
        self._inverse = inverse([[sum(row[i] * row[j] for row in rows) for j in self._range] for i in self._range])
        sides = [sum(row[i] * values[at] for row, at in zip(rows, kept, strict=True)) for i in self._range]
        self._weights = [sum(self._inverse[i][j] * sides[j] for j in self._range) for i in self._range]
        misses = (values[at] - self._at(row) for row, at in zip(rows, kept, strict=True))
        self._squares = sum(miss * miss for miss in misses)
        self.free = len(kept) - len(self._range)

    @property
    def _range(self) -> range:
        return range(self.degree + 1)

    def _powers(self, load: float) -> list[float]:
        share = load / self._scale
        return [1.0, share, share * share][: self.degree + 1]

    def _at(self, powers: list[float]) -> float:
        if not self.degree:
            return self._weights[0]
        return sum(weight * power for weight, power in zip(self._weights, powers, strict=True))

    def _product(self, one: list[float], other: list[float]) -> float:
        if not self.degree:
            return self._inverse[0][0]
        return sum(one[i] * self._inverse[i][j] * other[j] for i in self._range for j in self._range)

    def span_without(self, at: int) -> tuple[float, float]:
        """The least and the greatest load of the kept hosts but this one."""
        load, in_it = self.loads[at], at in self._kept
        (low, next_low), (high, next_high) = self._ends
        return (next_low if in_it and load == low else low), (next_high if in_it and load == high else high)

    def _without(self, at: int) -> tuple[float, float, float, int]:
        """Leverage and miss of a host as the line has it, and the squares and degrees of freedom that it leaves."""
        powers = self._powers(self.loads[at])
        leverage, miss = self._product(powers, powers), self.values[at] - self._at(powers)
        if at not in self._kept:
            return leverage, miss, self._squares, self.free
        left = max(1e-9, 1 - leverage)
        return leverage, miss, max(0.0, self._squares - miss * miss / left), self.free - 1

    def deleted_residual(self, at: int, more: float) -> float:
        """How far a kept host is from the line of the others, in standard errors; 0 where only it bends the line."""
        leverage, miss, squares, free = self._without(at)
        if leverage > 1 - 1e-6 or free < 1:
            return 0.0
        variance = max(squares / free, LEAST_ERROR**2)
        return miss / (1 - leverage) / math.sqrt(variance / (1 - leverage) + more)

    def prediction(self, at: int, load: float, more: float, chance: float) -> tuple[float, float]:
        """What a host is expected at, at some load, from all others, and the upper bound of that."""
        leverage, miss, squares, free = self._without(at)
        own, powers = self._powers(self.loads[at]), self._powers(load)
        expected, spread = self._at(powers), self._product(powers, powers)
        if at in self._kept and leverage < 1 - 1e-6:
            # The line without one of its points (Sherman and Morrison).
            pull = self._product(powers, own)
            expected -= pull * miss / (1 - leverage)
            spread += pull * pull / (1 - leverage)
        if free < 1:
            return expected, math.inf
        variance = max(squares / free, LEAST_ERROR**2)
        return expected, expected + _t(1 - chance, free) * math.sqrt(variance * (1 + spread) + more)


@cache
def _t(q: float, degrees: int) -> float:
    return student_t_quantile(q, float(max(1, degrees)))
