"""How many cloud volumes carry a need, and how large and how fast each must be provisioned."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import AnalysisError, SpecError
from iocast.forecast.laws.volumes import GIB, MIB, counted_ios, limits_of, provisioned
from iocast.forecast.storage.size_storage import Carried, Count, TooSlow, carried_by
from iocast.forecast.storage.storage_device import Prices, StorageDevice
from iocast.forecast.storage.storage_need import LatencyLimit, Layout, StorageNeed, require_sizable
from iocast.model.codes import NeedCode

MOST_VOLUMES = 10_000
STEPS = 50  # in which the utilisation is lowered until the response time is met


class VolumePlan(Struct, frozen=True, kw_only=True):
    """Volumes striped together (RAID 0: the provider keeps the copies), each of the same size and rates."""

    need: StorageNeed
    layout: Layout
    devices: int
    counts: tuple[Count, ...]
    binding: NeedCode
    size_gib: int  # of each
    iops: int
    mib_per_s: int
    normal: Carried
    throughput_utilisation: float | None
    cost: float | None  # a month, of all

    @property
    def usable_bytes(self) -> float:
        """What all hold."""
        return float(self.devices * self.size_gib * GIB)


def size_volumes(need: StorageNeed, device: StorageDevice, layout: Layout) -> VolumePlan:
    """The least number of volumes of a kind whose limits carry a need. Raises SpecError, AnalysisError."""
    require_sizable(need, layout)
    if layout.level != "raid0":
        raise SpecError(
            f"{layout.level} of cloud volumes is not sized: the provider keeps the copies",
            "leave --raid out, or give 0",
        )
    limit = need.latency
    if limit:
        _require_possible(device, limit)
    for step in range(STEPS):
        most = layout.most_utilisation * (1 - step / STEPS)
        plan = _fewest(need, device, replace(layout, most_utilisation=most))
        if limit is None or (plan.normal.limited_s is not None and plan.normal.limited_s <= limit.limit_s):
            return replace(plan, layout=layout, binding="latency" if step else plan.binding)
    raise AnalysisError(
        f"no number of {device.name} volumes meets {limit.name if limit else ''} with IOPS to spare",
        "choose a faster kind, or allow a longer response time",
    )


def _fewest(need: StorageNeed, device: StorageDevice, layout: Layout) -> VolumePlan:
    """The least number of volumes whose limits allow the rates at a utilisation. Raises SpecError."""
    limits = limits_of(device.volume)
    iops = need.iops * counted_ios(device.volume, need.size_bytes) / layout.most_utilisation
    moved = max(need.bytes_per_s, need.iops * need.size_bytes)  # small I/Os count against the throughput too
    counts = (
        Count("capacity", math.ceil(need.capacity_bytes / (limits.most_gib * GIB))),
        Count("iops", math.ceil(iops / limits.most_iops)),
        Count("throughput", math.ceil(moved / (limits.most_mib_per_s * MIB))),
    )
    largest = max(counts, key=lambda each: each.devices)
    for devices in range(max(largest.devices, 1), MOST_VOLUMES):
        binding = largest.code if devices > 1 else "layout"
        if plan := _plan(need, device, layout, devices, counts, binding):
            return plan
    raise SpecError(f"more than {MOST_VOLUMES:,} volumes would be needed", "choose a faster kind")


def _plan(
    need: StorageNeed, device: StorageDevice, layout: Layout, devices: int, counts: tuple[Count, ...], binding: NeedCode
) -> VolumePlan | None:
    """So many volumes, each as large and as fast as it must be; None where their limits do not allow that."""
    limits = limits_of(device.volume)
    counted = counted_ios(device.volume, need.size_bytes)
    iops = math.ceil(need.iops * counted / layout.most_utilisation / devices - 1e-9)
    moved = max(need.bytes_per_s, need.iops * need.size_bytes) / devices
    # Throughput is bought with IOPS where it comes with them.
    wanted = min(moved / layout.most_utilisation / MIB, limits.most_mib_per_s)
    for_bytes = math.ceil(wanted / limits.mib_per_s_per_iops - 1e-9) if limits.mib_per_s_per_iops else 0
    iops = max(iops, limits.base_iops, limits.least_iops, for_bytes if wanted > limits.base_mib_per_s else 0)
    size = max(need.capacity_bytes / devices / GIB, iops / limits.iops_per_gib if iops > limits.base_iops else 0.0)
    size_gib = max(limits.least_gib, math.ceil(size - 1e-9))
    if limits.bucket_ios:  # gp2: IOPS come with the size and are not bought
        iops = min(limits.most_iops, max(limits.least_iops, int(limits.iops_per_gib * size_gib)))
    needed_per_s = max(moved / layout.most_utilisation, limits.base_mib_per_s * MIB)
    given = provisioned(device.volume, size_gib * GIB, iops, needed_per_s)
    if size_gib > limits.most_gib or given.iops * layout.most_utilisation * devices + 1e-6 < need.iops * counted:
        return None
    if given.bytes_per_s + 1 < moved:
        return None
    rate = need.iops / devices
    pool = device.provisioned_pool(min(given.iops / counted, given.bytes_per_s / need.size_bytes))
    quantile = need.latency.quantile if need.latency else 0.99
    return VolumePlan(
        need=need,
        layout=layout,
        devices=devices,
        counts=counts,
        binding=binding,
        size_gib=size_gib,
        iops=given.iops,
        mib_per_s=math.ceil(given.bytes_per_s / MIB - 1e-9),
        normal=carried_by(pool, rate, quantile),
        throughput_utilisation=need.bytes_per_s / devices / given.bytes_per_s if need.bytes_per_s else None,
        cost=_cost(device.prices, devices, size_gib, given.iops, given.bytes_per_s / MIB),
    )


def _cost(prices: Prices, volumes: int, size_gib: int, iops: int, mib_per_s: float) -> float | None:
    """What all cost a month; None unless a price is given."""
    parts = ((prices.each, 1.0), (prices.per_gib, size_gib), (prices.per_iops, iops), (prices.per_mib_per_s, mib_per_s))
    known = [price * amount for price, amount in parts if price is not None]
    return volumes * sum(known) if known else None


def _require_possible(device: StorageDevice, limit: LatencyLimit) -> None:
    idle = carried_by(device.provisioned_pool(device.reads.iops), 1e-9, limit.quantile).limited_s
    if idle is not None and idle > limit.limit_s:
        raise TooSlow(device.name, limit, idle, "choose a faster kind, or allow a longer response time")
