"""The laws as people ask for them: texts to numbers, numbers to the figures of a law, and these told.

The functions have the names of the laws, and their parameters those of the options of `iocast model`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.analyse.scalability import Scalability
from iocast.errors import SpecError
from iocast.forecast.laws.disks import raid_level
from iocast.forecast.laws.link_payload import LEAST_MTU, USUAL_MTU
from iocast.model.report import Report
from iocast.model.results.laws.closed import BoundsLaw, MvaLaw, UslLaw
from iocast.model.results.laws.disks import ControllerLaw, DiskLaw, DisksLaw, RaidLaw, StrokeLaw, ZonesLaw
from iocast.model.results.laws.links import LinkLaw
from iocast.model.results.laws.model import AnyLaw
from iocast.model.results.laws.queues import GgcLaw, KneesLaw, Mg1Law, Mm1Law, MmcLaw, PercentilesLaw, SamplesLaw
from iocast.model.results.laws.volumes import (
    BucketLaw,
    BurstCreditsLaw,
    BurstLaw,
    CacheLaw,
    LevelsLaw,
    MixLaw,
    VolumeLaw,
    VolumesLaw,
)
from iocast.report.forecast.laws.law_report import law_report
from iocast.results.laws import closed as closed_laws
from iocast.results.laws import disks as disk_laws
from iocast.results.laws import links as link_laws
from iocast.results.laws import queues as queue_laws
from iocast.results.laws import volumes as volume_laws
from iocast.sessions.forecasting import model_inputs as given

ROTATIONS, KOLK_RPM = "7200,10000,15000", 15000.0
KOLK_SERVICES = "7.2ms,8.6ms"


def report_of(law: str, **inputs: Any) -> Report:
    """The report of a law by its name. Raises SpecError, AnalysisError."""
    return law_report(LAWS[law](**inputs))


def disk(disks: int | None = None, iops: str | None = None, **inputs: Any) -> DiskLaw | DisksLaw:
    """One spinning disk, or what several do together. Raises SpecError."""
    return disks_together(disks, iops) if disks or iops else spinning(**inputs)


def spinning(
    rpm: str | None, seek: str, seek_from: str, seek_to: str, transfer: str, size: str, controller: str
) -> DiskLaw:
    """Rotation and service times of spinning disks. Raises SpecError."""
    rpms = given.several("--rpm", given.number, rpm or ROTATIONS)
    if min(rpms) <= 0:
        raise SpecError("--rpm: a disk that does not turn has no rotation", "give for example 15000")
    band = given.seconds("--seek-from", seek_from, zero=True), given.seconds("--seek-to", seek_to)
    if band[0] > band[1]:
        raise SpecError("--seek-from is above --seek-to", "for example --seek-from 2ms --seek-to 8ms")
    return disk_laws.disk(
        rpms,
        rpms if rpm else (KOLK_RPM,),
        given.seconds("--seek", seek, zero=True),
        band,
        given.bandwidth("--transfer", transfer),
        given.several("--size", given.size, size),
        given.seconds("--controller", controller, zero=True),
    )


def disks_together(disks: int | None, iops: str | None) -> DisksLaw:
    """IOPS of several disks. Raises SpecError."""
    if not disks or not iops:
        raise SpecError("--disks and --iops go together", "for example --disks 30 --iops 50")
    return disk_laws.disks_together(disks, _above_zero("--iops", given.rate("--iops", iops)))


def controller(overhead: str, bus: str, size: str) -> ControllerLaw:
    """A controller. Raises SpecError."""
    sizes = given.several("--size", given.size, size)
    return disk_laws.controller(given.seconds("--overhead", overhead, zero=True), given.bandwidth("--bus", bus), sizes)


def raid(data_disks: int, iops: str, read: str, level: str) -> RaidLaw:
    """RAID sets. Raises SpecError."""
    rate, reads = _above_zero("--iops", given.rate("--iops", iops)), given.percent("--read", read)
    levels = given.several("--level", lambda _, name: raid_level(name), level)
    return disk_laws.raid(rate * reads, rate * (1 - reads), data_disks, levels)


def stroke(
    disk: str, part: str, size: str, transfer: str | None, settle: str | None, full: str | None, rpm: str | None
) -> StrokeLaw:
    """A part of a disk. Raises SpecError."""
    fitted = {"sata": disk_laws.LITTLE_SATA, "sas": disk_laws.LITTLE_SAS}
    if disk not in fitted:
        raise SpecError(f'--disk: "{disk}" is unknown', "known: sata, sas; or give --settle, --full and --rpm")
    usual = fitted[disk]
    return disk_laws.stroke(
        given.seconds("--settle", settle, zero=True) if settle else usual[0],
        given.seconds("--full", full) if full else usual[1],
        _above_zero("--rpm", given.number("--rpm", rpm)) if rpm else usual[2],
        given.bandwidth("--transfer", transfer) if transfer else disk_laws.LITTLE_RATES[usual],
        given.size("--size", size),
        given.several("--part", given.percent, part),
    )


def zones(reads: int, processes: int, elapsed: str, inner: str) -> ZonesLaw:
    """Tests in zones. Raises SpecError."""
    times = given.several("--elapsed", given.seconds, elapsed)
    names = ("outside", "inside", "both at the same time") if len(times) == 3 else ()
    ratio = _above_zero("--inner", given.number("--inner", inner))
    return disk_laws.zone_times(
        reads, processes, times, names or [f"test {at}" for at in range(1, len(times) + 1)], ratio
    )


def mm1(service: str | None, rate: str, limit: str | None) -> Mm1Law:
    """One server. Raises SpecError, AnalysisError."""
    services = given.several("--service", given.seconds, service or KOLK_SERVICES)
    return queue_laws.mm1(services, _rates(rate), given.seconds("--limit", limit) if limit else None)


def mmc(servers: int, service: str, rate: str) -> MmcLaw:
    """Servers of one queue. Raises SpecError, AnalysisError."""
    return queue_laws.mmc(given.seconds("--service", service), servers, _rates(rate))


def mg1(service: str, rate: str, cv2: str) -> Mg1Law:
    """One server of any service. Raises SpecError, AnalysisError."""
    return queue_laws.mg1(given.seconds("--service", service), given.number("--cv2", cv2), _rates(rate))


def ggc(servers: int, service: str, rate: str, arrival_cv2: str, service_cv2: str) -> GgcLaw:
    """Servers, bursts and a long tail. Raises SpecError, AnalysisError."""
    varied = given.number("--arrival-cv2", arrival_cv2), given.number("--service-cv2", service_cv2)
    return queue_laws.ggc(given.seconds("--service", service), servers, *varied, _rates(rate))


def percentiles(servers: int, service: str, rate: str, percentile: str) -> PercentilesLaw:
    """Percentiles. Raises SpecError, AnalysisError."""
    shares = given.shares("--percentile", percentile)
    return queue_laws.percentiles(given.seconds("--service", service), servers, _rates(rate), shares)


def samples(percentile: str, rate: str) -> SamplesLaw:
    """I/Os that percentiles need. Raises SpecError."""
    shares = given.shares("--percentile", percentile)
    return queue_laws.samples(shares, _above_zero("--rate", given.rate("--rate", rate)))


def knees(service: str, servers: str, multiple: str) -> KneesLaw:
    """Knees of pools. Raises SpecError."""
    times = given.number("--multiple", multiple)
    if times <= 1:
        raise SpecError(f"--multiple: a response of {times:g} service times is none", "give more than 1, e.g. 2.5")
    pools = given.several("--servers", given.whole, servers)
    if max(pools) > 10_000:
        raise SpecError(f"--servers: {max(pools):,} are too many", "give 10000 or fewer")
    return queue_laws.knees(given.seconds("--service", service), pools, times)


def mva(demand: str, users: str, think: str, servers: str | None, *, approximate: bool) -> MvaLaw:
    """Closed queues. Raises SpecError."""
    if servers and approximate:
        raise SpecError("--approximate knows stations of one server only", "leave --servers or --approximate out")
    many = given.several("--servers", given.whole, servers) if servers else None
    counts, demands = _users(users, 2_000 if servers else 100_000), given.several("--demand", given.seconds, demand)
    return closed_laws.mva(demands, counts, given.seconds("--think", think, zero=True), many, approximate)


def bounds(demand: str, users: str, think: str) -> BoundsLaw:
    """Bounds of closed queues. Raises SpecError."""
    demands = given.several("--demand", given.seconds, demand)
    return closed_laws.bounds(demands, _users(users, 10**9), given.seconds("--think", think, zero=True))


def usl(load: str, rate: str | None, gamma: str, alpha: str, beta: str) -> UslLaw:
    """The universal scalability law. Raises SpecError, AnalysisError."""
    loads = tuple(_above_zero("--load", each) for each in given.several("--load", given.number, load))
    if rate:
        return closed_laws.fitted_usl(loads, _rates(rate))
    single = _above_zero("--gamma", given.rate("--gamma", gamma))
    crosstalk = given.number("--beta", beta)
    law = Scalability(single, given.number("--alpha", alpha), crosstalk, crosstalk, crosstalk)
    return closed_laws.usl(law, loads, None)


def bucket(rate: str, bucket: str, demand: str) -> BucketLaw:
    """A token bucket. Raises SpecError."""
    refill = _above_zero("--rate", given.rate("--rate", rate))
    return volume_laws.bucket(refill, given.rate("--bucket", bucket), given.stretches("--demand", demand))


def burst(rate: str, after: str, capacity: str, time: str) -> BurstLaw:
    """A burst. Raises SpecError."""
    most = _above_zero("--capacity", given.rate("--capacity", capacity))
    rates = given.rate("--rate", rate), given.rate("--after", after)
    return volume_laws.burst(*rates, most, given.seconds("--time", time))


def levels(servers: int, service: str, level: str) -> LevelsLaw:
    """Load that changes slowly. Raises SpecError, AnalysisError."""
    return volume_laws.slow_changes(given.levels("--level", level, servers, given.seconds("--service", service)))


def volume(kind: str | None, **inputs: str) -> VolumesLaw | VolumeLaw | BurstCreditsLaw:
    """One cloud volume, or the limits of all kinds. Raises SpecError."""
    return one_volume(kind, **inputs) if kind else volume_laws.all_volumes()


def one_volume(kind: str, size: str, iops: str, throughput: str, io: str) -> VolumeLaw | BurstCreditsLaw:
    """What one volume delivers. Raises SpecError."""
    rate = round(_above_zero("--iops", given.rate("--iops", iops)))
    moved = given.bandwidth("--throughput", throughput)
    return volume_laws.volume(kind, given.size("--size", size), rate, moved, given.size("--io", io))


def mix(rate: str, capacity: str) -> MixLaw:
    """Several kinds of I/O. Raises SpecError."""
    rates = given.several("--rate", given.rate, rate)
    return volume_laws.mix(rates, _rates(capacity, "--capacity"))


def cache(data: str, cache: str, hit: str, miss: str) -> CacheLaw:
    """A cache. Raises SpecError."""
    sizes = given.size("--data", data), given.size("--cache", cache)
    return volume_laws.cache(*sizes, given.seconds("--hit", hit), given.seconds("--miss", miss))


def link(mbps: str | None, link: str | None, ports: int, mtu: int = USUAL_MTU, resent: str = "0%") -> LinkLaw:
    """MB/s beside a link; without any those of the documents. Raises SpecError."""
    if mbps is None and link is None and (ports, mtu, resent) == (1, USUAL_MTU, "0%"):
        return link_laws.documented()
    if mbps is None or link is None:
        raise SpecError("--mbps and --link go together", 'for example --mbps 1251 --link "FC 4G" --ports 4')
    moved = _above_zero("--mbps", given.number("--mbps", mbps)) * 1e6
    if mtu < LEAST_MTU:
        raise SpecError(f"--mtu {mtu} is too small for TCP", f"{LEAST_MTU} or more; jumbo frames have 9000")
    resent_share = given.percent("--resent", resent)
    if not 0 <= resent_share < 1:
        raise SpecError(f"--resent {resent} leaves nothing", "the share of segments sent again, for example 0.5%")
    return link_laws.link(moved, link, ports, mtu, resent_share)


def _rates(text: str, option: str = "--rate") -> tuple[float, ...]:
    return tuple(_above_zero(option, each) for each in given.several(option, given.rate, text))


def _users(text: str, most: int) -> tuple[int, ...]:
    users = given.several("--users", given.whole, text)
    if max(users) > most:
        raise SpecError(f"--users: {max(users):,} take too long", "use --approximate, or fewer users")
    return users


def _above_zero(option: str, value: float) -> float:
    if not value > 0:
        raise SpecError(f"{option}: 0 is not a load", "give a number above 0")
    return value


LAWS: dict[str, Callable[..., AnyLaw]] = {
    each.__name__: each
    for each in (
        *(disk, controller, raid, stroke, zones, mm1, mmc, mg1, ggc, percentiles, samples, knees, mva, bounds, usl),
        *(bucket, burst, levels, volume, mix, cache, link, link_laws.rules),
    )
}
