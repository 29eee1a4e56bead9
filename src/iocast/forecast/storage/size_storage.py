"""How many devices carry a need: for capacity, IOPS, throughput, response time and after a failure; the largest binds.

Source: models A2 and A9; Kolk, "Max(disks for storage, disks for IOPS)". Response times take random arrivals at each
device (M/M/c): bursts and stalls make them longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from msgspec import Struct

from iocast.errors import AnalysisError, SpecError
from iocast.forecast.laws.disks import PARITY_DISKS, WRITE_PENALTY
from iocast.forecast.laws.open_queues import Overloaded, erlang, mmc, tail_quantile_s, waiting_tail
from iocast.forecast.laws.sizing import Demand, Disk, size_disks
from iocast.forecast.storage.storage_device import Pool, Prices, StorageDevice, built_in_devices
from iocast.forecast.storage.storage_need import LatencyLimit, Layout, StorageNeed, require_sizable
from iocast.model.codes import NeedCode

MOST_DEVICES = 100_000
AFTER_FAILURE = (
    0.85  # [J] utilisation of the busiest device while one is missing; models A7 calls more than this at risk
)
LARGE_GROUP = 16  # [J] devices of one parity group from which a rebuild is a risk of its own
MIRRORED = ("raid1", "raid10")


class Rates(NamedTuple):
    """Back-end I/Os a second of one device."""

    reads_per_s: float
    writes_per_s: float

    @property
    def total(self) -> float:
        """Both."""
        return self.reads_per_s + self.writes_per_s

    @property
    def read_fraction(self) -> float:
        """The share of reads; 1 for none of either."""
        return self.reads_per_s / self.total if self.total else 1.0


class Carried(Struct, frozen=True):
    """How the busiest device stands a load. A time is None where nobody knows it, infinite where it is overloaded."""

    rate_per_s: float
    utilisation: float
    mean_s: float | None
    limited_s: float | None  # the percentile, or the mean, that the need limits; p99 where it limits none


class Carrier(Protocol):
    """A device that can be counted: by its data sheet, or as it was measured."""

    @property
    def name(self) -> str:
        """As it is called."""
        ...

    @property
    def capacity_bytes(self) -> float:
        """What one holds."""
        ...

    @property
    def prices(self) -> Prices:
        """What one costs."""
        ...

    def iops_of(self, rates: Rates, size_bytes: int) -> float:
        """The most back-end I/Os a second of a mix."""
        ...

    def bytes_per_s_of(self, read_fraction: float) -> float:
        """The most bytes a second of a mix of large I/Os."""
        ...

    def carried(self, rates: Rates, size_bytes: int, quantile: float | None) -> Carried:
        """How it stands a load."""
        ...


class RatedDevice(Struct, frozen=True):
    """A device by its data sheet."""

    device: StorageDevice

    @property
    def name(self) -> str:
        """As it is called."""
        return self.device.name

    @property
    def capacity_bytes(self) -> float:
        """What one holds."""
        return self.device.capacity_bytes

    @property
    def prices(self) -> Prices:
        """What one costs."""
        return self.device.prices

    def iops_of(self, rates: Rates, size_bytes: int) -> float:
        """The most back-end I/Os a second of a mix."""
        return self.device.pool(rates.read_fraction, size_bytes).iops

    def bytes_per_s_of(self, read_fraction: float) -> float:
        """The most bytes a second: each byte takes its share of the time."""
        return 1 / (
            read_fraction / self.device.reads.bytes_per_s + (1 - read_fraction) / self.device.writes.bytes_per_s
        )

    def carried(self, rates: Rates, size_bytes: int, quantile: float | None) -> Carried:
        """M/M/c with the pool's servers."""
        return carried_by(self.device.pool(rates.read_fraction, size_bytes), rates.total, quantile)


def carried_by(pool: Pool, rate_per_s: float, quantile: float | None) -> Carried:
    """How a pool of servers stands a rate: the wait of M/M/c, then the service of its slower side.

    Service that varies less than exponentially waits less than this.
    """
    utilisation = rate_per_s / pool.iops
    server_s = pool.servers / pool.iops
    try:
        mean_s = mmc(rate_per_s, server_s, pool.servers).wait_s + pool.slowest_s
    except Overloaded:
        return Carried(rate_per_s, utilisation, math.inf, math.inf)
    if quantile is None:
        return Carried(rate_per_s, utilisation, mean_s, mean_s)
    varies_s = pool.spread * pool.slowest_s
    waits = erlang(pool.servers, rate_per_s * server_s).waits
    tail = waiting_tail(waits, pool.iops - rate_per_s, 1 / varies_s)
    limited_s = pool.slowest_s - varies_s + tail_quantile_s(tail, quantile, mean_s)
    return Carried(rate_per_s, utilisation, mean_s, limited_s)


class Count(Struct, frozen=True):
    """The devices that one part of the need takes."""

    code: NeedCode
    devices: int


class Sized(Struct, frozen=True, kw_only=True):
    """How many devices, for what, and how they stand the load."""

    need: StorageNeed  # grown to the last year
    layout: Layout
    devices: int  # without spares
    counts: tuple[Count, ...]
    binding: NeedCode
    usable_bytes: float
    normal: Carried
    throughput_utilisation: float | None
    failed: Carried | None  # None: without redundancy a failure loses the data
    rebuild_s: float | None  # at least, with nothing else to do
    cost: float | None

    @property
    def bought(self) -> int:
        """Devices with spares."""
        return self.devices + self.layout.spares


class TooSlow(AnalysisError):
    """Even one idle device exceeds the response time; `idle_s` is what it takes."""

    def __init__(self, name: str, limit: LatencyLimit, idle_s: float, hint: str) -> None:
        super().__init__(
            f"no number of {name} meets {limit.name} {limit.limit_s * 1e3:g} ms: idle, one already has {limit.name} "
            f"{idle_s * 1e3:.3g} ms",
            hint,
        )
        self.limit = limit
        self.idle_s = idle_s


def size_storage(need: StorageNeed, carrier: Carrier, layout: Layout) -> Sized:
    """The least number of devices that carries a need today. Raises SpecError, AnalysisError."""
    require_sizable(need, layout)
    limit = need.latency
    counts = [*_by_law(need, carrier, layout)]
    if limit:
        _require_possible(need, carrier, limit)
        counts.append(Count("latency", _least(lambda n: _meets(need, carrier, layout, n, limit))))
    if need.iops and protected(layout):
        counts.append(Count("failure", _least(lambda n: _survives(need, carrier, layout, n))))
    largest = max(counts, key=lambda each: each.devices)  # of equal ones the first
    fewest = _fewest(layout)
    devices = whole_groups(max(largest.devices, fewest), layout)
    throughput = carrier.bytes_per_s_of(1.0)
    prices = carrier.prices
    return Sized(
        need=need,
        layout=layout,
        devices=devices,
        counts=tuple(counts),
        binding=largest.code if largest.devices > fewest else "layout",
        usable_bytes=data_devices(devices, layout) * carrier.capacity_bytes,
        normal=_carried(need, carrier, each_of(need, layout, devices)),
        throughput_utilisation=need.bytes_per_s / (devices * throughput) if need.bytes_per_s else None,
        failed=_carried(need, carrier, without_one(need, layout, devices)) if protected(layout) else None,
        rebuild_s=carrier.capacity_bytes / carrier.bytes_per_s_of(0.0) if protected(layout) else None,
        cost=None if prices.each is None else prices.each * (devices + layout.spares),
    )


def _by_law(need: StorageNeed, carrier: Carrier, layout: Layout) -> list[Count]:
    """Capacity, IOPS and throughput by the law of sizing; several parity groups take several devices for parity."""
    demand = Demand(
        capacity_bytes=need.capacity_bytes,
        iops=need.iops,
        write_fraction=1 - need.read_fraction,
        bytes_per_s=need.bytes_per_s,
    )
    one = Disk(
        capacity_bytes=carrier.capacity_bytes,
        iops=carrier.iops_of(backend(need, layout), need.size_bytes),
        bytes_per_s=carrier.bytes_per_s_of(1.0),
    )
    counts = size_disks(demand, one, layout.level, layout.most_utilisation)
    capacity = counts.for_capacity
    if layout.group and capacity > layout.group:
        data = layout.group - PARITY_DISKS[layout.level]
        capacity = layout.group * math.ceil((counts.for_capacity - PARITY_DISKS[layout.level]) / data)
    return [Count("capacity", capacity), Count("iops", counts.for_iops), Count("throughput", counts.for_throughput)]


def protected(layout: Layout) -> bool:
    """True where the data outlive the failure of a device."""
    return layout.level != "raid0"


def backend(need: StorageNeed, layout: Layout) -> Rates:
    """What all devices do together: each write costs its penalty. Of parity, half of that are reads."""
    reads, writes = need.iops * need.read_fraction, need.iops * (1 - need.read_fraction)
    penalty = WRITE_PENALTY[layout.level]
    if PARITY_DISKS[layout.level]:
        return Rates(reads + writes * penalty / 2, writes * penalty / 2)
    return Rates(reads, writes * penalty)


def each_of(need: StorageNeed, layout: Layout, devices: int) -> Rates:
    """What one of some devices does, evenly loaded."""
    both = backend(need, layout)
    return Rates(both.reads_per_s / devices, both.writes_per_s / devices)


def without_one(need: StorageNeed, layout: Layout, devices: int) -> Rates:
    """What the busiest device does while another is missing, without the load of the rebuild.

    Mirrored: the other half of the pair serves the reads of both. Parity: each read of the missing device reads all
    others of its group, and its writes go to those.
    """
    one, group = each_of(need, layout, devices), min(layout.group or devices, devices)
    if layout.level in MIRRORED:
        return Rates(2 * one.reads_per_s, one.writes_per_s)
    return Rates(2 * one.reads_per_s, one.writes_per_s * group / (group - 1))


def data_devices(devices: int, layout: Layout) -> int:
    """How many devices' worth of data some devices hold."""
    if layout.level in MIRRORED:
        return devices // 2
    groups = max(1, devices // layout.group) if layout.group else 1
    return devices - groups * PARITY_DISKS[layout.level]


def whole_groups(devices: int, layout: Layout) -> int:
    """Rounded up to pairs, or to whole parity groups; fewer devices than a group has are one group."""
    if layout.level not in MIRRORED and devices < layout.group:
        return devices
    whole = 2 if layout.level in MIRRORED else layout.group or 1
    return -(-devices // whole) * whole


def _fewest(layout: Layout) -> int:
    return 2 if layout.level in MIRRORED else PARITY_DISKS[layout.level] + (2 if PARITY_DISKS[layout.level] else 1)


def _carried(need: StorageNeed, carrier: Carrier, rates: Rates) -> Carried:
    return carrier.carried(rates, need.size_bytes, need.latency.quantile if need.latency else 0.99)


def _meets(need: StorageNeed, carrier: Carrier, layout: Layout, devices: int, limit: LatencyLimit) -> bool:
    limited = _carried(need, carrier, each_of(need, layout, devices)).limited_s
    return limited is not None and limited <= limit.limit_s


def _survives(need: StorageNeed, carrier: Carrier, layout: Layout, devices: int) -> bool:
    if devices < 2:
        return False
    return _carried(need, carrier, without_one(need, layout, devices)).utilisation <= AFTER_FAILURE


def _require_possible(need: StorageNeed, carrier: Carrier, limit: LatencyLimit) -> None:
    """Refuses a response time that even an idle device exceeds. Raises AnalysisError."""
    idle = _carried(need, carrier, Rates(1e-9 * need.read_fraction, 1e-9 * (1 - need.read_fraction)))
    if idle.limited_s is None:
        raise AnalysisError(
            f"{limit.name} of {carrier.name} is unknown", "give the limit as a mean: --slo mean=5ms, or leave it out"
        )
    if idle.limited_s <= limit.limit_s:
        return
    hints = [name for name, other in built_in_devices().items() if _fast_enough(need, RatedDevice(other), limit)]
    hint = f"choose a faster device: {', '.join(hints)}" if hints else "allow a longer response time"
    raise TooSlow(carrier.name, limit, idle.limited_s, hint)


def _fast_enough(need: StorageNeed, other: RatedDevice, limit: LatencyLimit) -> bool:
    idle = _carried(need, other, Rates(1e-9, 1e-9)).limited_s
    return idle is not None and idle <= limit.limit_s


def _least(enough: Callable[[int], bool]) -> int:
    """The least number of devices for which something holds, if it holds from there on. Raises SpecError."""
    high = 1
    while not enough(high):
        if high > MOST_DEVICES:
            raise SpecError(f"more than {MOST_DEVICES:,} devices would be needed", "choose a faster device")
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
