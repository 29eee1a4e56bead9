"""What a database asks of its storage: capacity, IOPS, throughput, response time; today and after years of growth."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from iocast import text
from iocast.errors import SpecError
from iocast.forecast.laws.disks import RaidLevel

ASK_FOR_IOPS = (
    "give --iops (peak reads and writes a second: iostat -x, AWR 'physical read/write total IO requests', pg_stat_io) "
    "or --mbps; `iocast size --interview` asks what it needs"
)


class LatencyLimit(Struct, frozen=True):
    """What a response time must not exceed: a percentile, or the mean."""

    limit_s: float
    quantile: float | None = 0.99  # None: the mean

    @property
    def name(self) -> str:
        """As people say it: "mean", "p99", "p99.9"."""
        return text.statistic(self.quantile)


class StorageNeed(Struct, frozen=True, kw_only=True):
    """The demand at its peak."""

    capacity_bytes: float
    iops: float = 0.0
    bytes_per_s: float = 0.0  # of scans, loads and backups, beside the IOPS
    read_fraction: float = 0.7
    size_bytes: int = 8192
    latency: LatencyLimit | None = None
    growth: float = 0.0  # a year: 0.2 is 20 %
    years: int = 0

    def after(self, years: int) -> StorageNeed:
        """The demand some years on: capacity, IOPS and throughput grow together."""
        times = (1 + self.growth) ** years
        return replace(
            self,
            capacity_bytes=self.capacity_bytes * times,
            iops=self.iops * times,
            bytes_per_s=self.bytes_per_s * times,
        )


class Layout(Struct, frozen=True, kw_only=True):
    """How devices are put together, and how far they may be loaded."""

    level: RaidLevel
    group: int = 0  # devices of one parity group; 0: all in one
    most_utilisation: float = 0.6
    spares: int = 0


def require_sizable(need: StorageNeed, layout: Layout) -> None:
    """Refuses what sizes nothing, capacity alone first of all. Raises SpecError."""
    if not need.iops and not need.bytes_per_s:
        raise SpecError("capacity alone does not size storage: the IOPS do", ASK_FOR_IOPS)
    if min(need.capacity_bytes, need.iops, need.bytes_per_s) < 0 or not need.capacity_bytes:
        raise SpecError("the capacity is missing", "give --capacity, e.g. --capacity 2TB")
    if need.latency and not need.iops:
        raise SpecError("a response time needs a load: the IOPS are missing", ASK_FOR_IOPS)
    if need.latency and not need.latency.limit_s > 0:
        raise SpecError("a response time of 0 cannot be met", "give for example --slo 5ms")
    if not 0 <= need.read_fraction <= 1:
        raise SpecError(f"a read share of {need.read_fraction:g} does not exist", "give 0% to 100%")
    if not 0 < layout.most_utilisation <= 0.95:
        raise SpecError(
            f"a utilisation of {layout.most_utilisation:.0%} is too high: it leaves nothing for bursts and failures",
            "give up to 95%; 60% is usual for disks, 70% for SSDs and volumes",
        )
    if need.growth < 0 or need.years < 0 or need.years > 30:
        raise SpecError("growth is 0% or more a year, for 0 to 30 years", "for example --growth 20%/year --years 3")
    if layout.group and layout.group < {"raid5": 3, "raid6": 4}.get(layout.level, layout.group + 1):
        raise SpecError(
            f"a group of {layout.group} devices does not go with {layout.level}",
            "--group is for RAID 5 (3 or more) and RAID 6 (4 or more)",
        )
