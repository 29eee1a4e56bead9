"""Limits of cloud volumes, as their makers state them: data with a date, and what follows from it.

Read from `volume_limits.toml` beside this file. A limit that changed is changed there.
"""

from __future__ import annotations

import datetime
import functools
import math
from pathlib import Path

import msgspec
from msgspec import Struct

from iocast.errors import SpecError

LIMITS = Path(__file__).with_name("volume_limits.toml")
MIB = 1 << 20
GIB = 1 << 30


class VolumeLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """What one volume of a kind can do at most. An I/O of more than `io_bytes` counts as several."""

    checked: datetime.date  # when the maker's page said so
    source: str
    base_iops: int = 0  # whatever its size
    iops_per_gib: float = 0.0
    least_iops: int = 0
    most_iops: int = 0
    base_mib_per_s: float = 0.0
    mib_per_s_per_iops: float = 0.0
    most_mib_per_s: float = 0.0
    io_bytes: int = 256 << 10
    least_gib: int = 1
    most_gib: int = 16384
    bucket_ios: int = 0  # burst credits when full; 0: it does not burst
    burst_iops: int = 0


@functools.cache
def volume_limits() -> dict[str, VolumeLimits]:
    """All kinds by name: gp2, gp3, io2 …"""
    return msgspec.toml.decode(LIMITS.read_bytes(), type=dict[str, VolumeLimits])


def limits_of(kind: str) -> VolumeLimits:
    """The limits of a kind. Raises SpecError."""
    known = volume_limits()
    if kind not in known:
        raise SpecError(f"volume type {kind!r} is unknown", f"known: {', '.join(known)}")
    return known[kind]


def counted_ios(kind: str, size_bytes: int) -> int:
    """As how many I/Os one of a size counts against the IOPS of a kind. Raises SpecError."""
    return max(1, -(-size_bytes // limits_of(kind).io_bytes))


class Provisioned(Struct, frozen=True):
    """What a volume delivers, and whether that is what was asked for."""

    iops: int
    bytes_per_s: float
    as_asked: bool

    @property
    def crossover_bytes(self) -> float:
        """The I/O size at which both limits bind: below IOPS, above throughput."""
        return self.bytes_per_s / self.iops


def provisioned(kind: str, size_bytes: int, iops: int, bytes_per_s: float) -> Provisioned:
    """The IOPS and the throughput that a volume of a size can be given, at most those asked for. Raises SpecError."""
    limits = limits_of(kind)
    most_iops = min(limits.most_iops, max(limits.base_iops, int(limits.iops_per_gib * size_bytes / GIB)))
    given = min(iops, most_iops)
    most_bytes = limits.most_mib_per_s
    if limits.mib_per_s_per_iops:
        most_bytes = min(most_bytes, max(limits.base_mib_per_s, given * limits.mib_per_s_per_iops))
    moved = min(bytes_per_s, most_bytes * MIB)
    return Provisioned(given, moved, given == iops and moved == bytes_per_s)


class Burst(Struct, frozen=True):
    """How long a volume with burst credits sustains a demand. Infinite: for ever."""

    baseline_iops: float
    burst_iops: float
    burst_s: float
    refill_s: float  # of an empty bucket, without load


def burst(kind: str, size_bytes: int, demand_iops: float) -> Burst:
    """What burst credits allow: bucket / (demand - baseline) seconds. Raises SpecError for a kind without a bucket."""
    limits = limits_of(kind)
    if not limits.bucket_ios:
        raise SpecError(f"volumes of type {kind} have no burst credits", "ask for their limits instead")
    baseline = min(limits.most_iops, max(limits.least_iops, limits.iops_per_gib * size_bytes / GIB))
    served = max(baseline, min(limits.burst_iops, demand_iops))
    over = min(demand_iops, served) - baseline
    return Burst(
        baseline_iops=baseline,
        burst_iops=max(baseline, float(limits.burst_iops)),
        burst_s=limits.bucket_ios / over if over > 0 else math.inf,
        refill_s=limits.bucket_ios / baseline,
    )
