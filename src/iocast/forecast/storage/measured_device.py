"""A storage device as a run measured it: its ladders of random I/O become what one device carries.

Response times are those of the flow-equivalent server (models A4), at the upper end of their interval. Reads and
writes that were measured apart are put together by models A7: capacity / 1.3, response x 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from iocast.analyse.ladder import Curve, of_random
from iocast.errors import AnalysisError
from iocast.forecast.flow_equivalent import (
    UPPER,
    Ladder,
    TooClose,
    Variability,
    bracket,
    chances,
    expected,
    ladder,
)
from iocast.forecast.storage.size_storage import Carried, Rates
from iocast.forecast.storage.storage_device import Prices
from iocast.model.histogram import Histogram

LEAST_LEVELS = 3
APART = 1.3  # capacity of reads and writes that were not measured together (models A7)
LONGER = 2.0  # their response


class MeasuredSide(Struct, frozen=True):
    """A ladder of reads, or of writes, with the response times of each of its loads."""

    levels: Ladder
    times: tuple[Histogram, ...]
    saturated: bool

    def mean_s(self, rate_per_s: float) -> float:
        """The upper end of the mean response to random arrivals; infinite where the ladder tells nothing."""
        try:
            expected_s = expected(self.levels, rate_per_s, self._varies)
        except TooClose:
            return math.inf
        return expected_s.interval_s(0.0, bracket(self.levels, self._varies).bursty)[1]

    def quantile_s(self, rate_per_s: float, q: float) -> float:
        """A percentile: an arrival that finds n gets the times of the next measured load of more than n."""
        try:
            expected(self.levels, rate_per_s, self._varies)
        except TooClose:
            return math.inf
        shares = self._shares(rate_per_s)
        if sum(shares) < q:
            return math.inf  # too many find more outstanding than was ever measured
        low, high = 0, max(round(times.most_ns) for times in self.times)
        while high - low > max(1, high // 1000):
            middle = (low + high) // 2
            within = sum(share * times.share_up_to(middle) for share, times in zip(shares, self.times, strict=True))
            low, high = (low, middle) if within >= q else (middle, high)
        return UPPER * high / 1e9

    def _shares(self, rate_per_s: float) -> list[float]:
        """How much of the arrivals meets each load of the ladder; what is missing of 1 meets more."""
        within = bracket(self.levels, self._varies)
        state_chances = chances(self.levels, rate_per_s, max(within.base, within.high), within.from_users)
        shares, start = [], 0
        for users in self.levels.users:
            shares.append(sum(state_chances[start : int(users)]))
            start = int(users)
        return shares

    @property
    def _varies(self) -> Variability:
        first = self.times[0]
        mean_ns = first.mean_ns
        fastest_s = first.quantile_ns(0.005) / 1e9
        return Variability(service_cv2=(first.stdev_ns / mean_ns) ** 2 if mean_ns else 1.0, fastest_s=fastest_s)


class MeasuredDevice(Struct, frozen=True, kw_only=True):
    """What one run says of the device that it measured."""

    name: str
    capacity_bytes: float
    size_bytes: int
    reads: MeasuredSide | None
    writes: MeasuredSide | None
    read_bytes_per_s: float
    write_bytes_per_s: float
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # on which reads, and writes, stand
    prices: Prices = Prices()
    caution: str = ""  # of a run that the figures do not show whole

    def used(self, read_fraction: float) -> tuple[MeasuredSide, ...]:
        """The ladders that a mix of the database stands on. Mirrors and parity write what is written."""
        return tuple(side for _, side in self._sides(Rates(read_fraction, 1 - read_fraction)))

    def iops_of(self, rates: Rates, size_bytes: int) -> float:
        """The most I/Os a second of a mix: harmonic of the last loads of both ladders."""
        shares = self._sides(rates)
        most = 1 / sum(share / side.levels.last_per_s for share, side in shares)
        return most / APART if len(shares) > 1 else most

    def bytes_per_s_of(self, read_fraction: float) -> float:
        """The fastest row that was measured of each."""
        return 1 / (read_fraction / self.read_bytes_per_s + (1 - read_fraction) / (self.write_bytes_per_s or math.inf))

    def carried(self, rates: Rates, size_bytes: int, quantile: float | None) -> Carried:
        """The upper end of what is expected of each side at the mix's utilisation."""
        shares = self._sides(rates)
        utilisation = rates.total / self.iops_of(rates, size_bytes)
        times = [(side, utilisation * side.levels.last_per_s) for _, side in shares]
        longer = LONGER if len(shares) > 1 else 1.0
        mean_s = longer * max(side.mean_s(rate) for side, rate in times)
        if quantile is None:
            return Carried(rates.total, utilisation, mean_s, mean_s)
        return Carried(
            rates.total, utilisation, mean_s, longer * max(s.quantile_s(rate, quantile) for s, rate in times)
        )

    def _sides(self, rates: Rates) -> list[tuple[float, MeasuredSide]]:
        """The ladders that a mix needs, with their shares. Raises AnalysisError where one is missing."""
        wanted = (("reads", rates.read_fraction, self.reads), ("writes", 1 - rates.read_fraction, self.writes))
        sides = []
        for op, share, side in wanted:
            if share <= 1e-9:
                continue
            if side is None:
                raise AnalysisError(
                    f"{self.name} has no ladder of random {op} with trust C or better: {LEAST_LEVELS} loads are needed",
                    f"measure random {op} at several loads, or size with a share of {op} of 0%",
                )
            sides.append((share, side))
        return sides


def measured_device(
    name: str, curves: Sequence[Curve], size_bytes: int, capacity_bytes: float | None
) -> MeasuredDevice:
    """The device of a run, from those of its curves that can be believed. Raises AnalysisError."""
    sides = {op: _ladder_of(curves, op, size_bytes) for op in ("read", "write")}
    if not any(sides.values()):
        known = sorted({size for curve in curves if _is_ladder(curve) for size in _sizes(curve)})
        words = f"; measured: {', '.join(str(each) for each in known)} bytes" if known else ""
        raise AnalysisError(
            f"{name} has no ladder of random I/O of {size_bytes} bytes with trust C or better"
            f" ({LEAST_LEVELS} loads are needed){words}",
            "measure one, e.g. iocast card PATH --preset standard, or size with --size of a measured one",
        )
    if not capacity_bytes:
        raise AnalysisError(f"{name} does not say how large its device is", "give --device-capacity, e.g. 960GB")
    fastest = {op: max((_bytes_of(curve, op) for curve in curves), default=0.0) for op in ("read", "write")}
    return MeasuredDevice(
        name=name,
        capacity_bytes=capacity_bytes,
        size_bytes=size_bytes,
        reads=_side(sides["read"]),
        writes=_side(sides["write"]),
        read_bytes_per_s=fastest["read"] or fastest["write"],
        write_bytes_per_s=fastest["write"] or fastest["read"],
        rows=tuple((op, tuple(each.phase.name for each in curve.rows)) for op, curve in sides.items() if curve),
    )


def _is_ladder(curve: Curve) -> bool:
    return len(curve.points) >= LEAST_LEVELS and (of_random(curve, "read") or of_random(curve, "write"))


def _ladder_of(curves: Sequence[Curve], op: str, size_bytes: int) -> Curve | None:
    """The curve of random I/O of one operation and size with the most loads."""
    fit = [
        curve
        for curve in curves
        if len(curve.points) >= LEAST_LEVELS
        and of_random(curve, "read" if op == "read" else "write")
        and _sizes(curve) == {size_bytes}
        and min(curve.rates_per_s) > 0
    ]
    return max(fit, key=lambda curve: len(curve.points), default=None)


def _sizes(curve: Curve) -> set[int]:
    return {item.size_bytes for item in curve.rows[0].phase.workload.mix}


def _bytes_of(curve: Curve, op: str) -> float:
    mix = curve.rows[0].phase.workload.mix
    return max(point.bytes_per_s for point in curve.points) if {item.op for item in mix} == {op} else 0.0


def _side(curve: Curve | None) -> MeasuredSide | None:
    if curve is None:
        return None
    knee = curve.knee
    levels = ladder([float(load) for load in curve.loads], curve.rates_per_s)
    times = tuple(point.response for point in curve.points)
    return MeasuredSide(levels, times, knee is not None and knee.saturated)
