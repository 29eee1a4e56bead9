"""The laws as people ask for them: texts to numbers, numbers to the report of a law."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iocast.errors import SpecError
from iocast.sessions.forecasting import model_inputs as given

if TYPE_CHECKING:
    from iocast.model.report import Report

ROTATIONS, KOLK_RPM = "7200,10000,15000", 15000.0
KOLK_SERVICES = "7.2ms,8.6ms"


def disk(rpm: str | None, seek: str, seek_from: str, seek_to: str, transfer: str, size: str, controller: str) -> Report:
    """Rotation and service times of spinning disks. Raises SpecError."""
    from iocast.report.forecast import disk_tables

    rpms = given.several("--rpm", given.number, rpm or ROTATIONS)
    if min(rpms) <= 0:
        raise SpecError("--rpm: a disk that does not turn has no rotation", "give for example 15000")
    band = given.seconds("--seek-from", seek_from, zero=True), given.seconds("--seek-to", seek_to)
    if band[0] > band[1]:
        raise SpecError("--seek-from is above --seek-to", "for example --seek-from 2ms --seek-to 8ms")
    return disk_tables.disk(
        rpms,
        rpms if rpm else (KOLK_RPM,),
        given.seconds("--seek", seek, zero=True),
        band,
        given.bandwidth("--transfer", transfer),
        given.several("--size", given.size, size),
        given.seconds("--controller", controller, zero=True),
    )


def disks_together(disks: int | None, iops: str | None) -> Report:
    """IOPS of several disks. Raises SpecError."""
    from iocast.report.forecast import disk_tables

    if not disks or not iops:
        raise SpecError("--disks and --iops go together", "for example --disks 30 --iops 50")
    return disk_tables.disks_together(disks, _above_zero("--iops", given.rate("--iops", iops)))


def controller(overhead: str, bus: str, size: str) -> Report:
    """A controller. Raises SpecError."""
    from iocast.report.forecast import disk_tables

    sizes = given.several("--size", given.size, size)
    return disk_tables.controller(
        given.seconds("--overhead", overhead, zero=True), given.bandwidth("--bus", bus), sizes
    )


def raid(data_disks: int, iops: str, read: str, level: str) -> Report:
    """RAID sets. Raises SpecError."""
    from iocast.forecast.laws.disks import raid_level
    from iocast.report.forecast import disk_tables

    rate, reads = _above_zero("--iops", given.rate("--iops", iops)), given.percent("--read", read)
    levels = given.several("--level", lambda _, name: raid_level(name), level)
    return disk_tables.raid(rate * reads, rate * (1 - reads), data_disks, levels)


def stroke(
    disk: str, part: str, size: str, transfer: str | None, settle: str | None, full: str | None, rpm: str | None
) -> Report:
    """A part of a disk. Raises SpecError."""
    from iocast.report.forecast import disk_tables

    fitted = {"sata": disk_tables.LITTLE_SATA, "sas": disk_tables.LITTLE_SAS}
    if disk not in fitted:
        raise SpecError(f'--disk: "{disk}" is unknown', "known: sata, sas; or give --settle, --full and --rpm")
    usual = fitted[disk]
    return disk_tables.stroke(
        given.seconds("--settle", settle, zero=True) if settle else usual[0],
        given.seconds("--full", full) if full else usual[1],
        _above_zero("--rpm", given.number("--rpm", rpm)) if rpm else usual[2],
        given.bandwidth("--transfer", transfer) if transfer else disk_tables.LITTLE_RATES[usual],
        given.size("--size", size),
        given.several("--part", given.percent, part),
    )


def zone_times(reads: int, processes: int, elapsed: str, inner: str) -> Report:
    """Tests in zones. Raises SpecError."""
    from iocast.report.forecast import disk_tables

    times = given.several("--elapsed", given.seconds, elapsed)
    names = ("outside", "inside", "both at the same time") if len(times) == 3 else ()
    ratio = _above_zero("--inner", given.number("--inner", inner))
    return disk_tables.zone_times(
        reads, processes, times, names or [f"test {at}" for at in range(1, len(times) + 1)], ratio
    )


def mm1(service: str | None, rate: str, limit: str | None) -> Report:
    """One server. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import queue_tables

    services = given.several("--service", given.seconds, service or KOLK_SERVICES)
    return queue_tables.mm1(services, _rates(rate), given.seconds("--limit", limit) if limit else None)


def mmc(servers: int, service: str, rate: str) -> Report:
    """Servers of one queue. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import queue_tables

    return queue_tables.mmc(given.seconds("--service", service), servers, _rates(rate))


def mg1(service: str, rate: str, cv2: str) -> Report:
    """One server of any service. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import queue_tables

    return queue_tables.mg1(given.seconds("--service", service), given.number("--cv2", cv2), _rates(rate))


def ggc(servers: int, service: str, rate: str, arrival_cv2: str, service_cv2: str) -> Report:
    """Servers, bursts and a long tail. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import queue_tables

    varied = given.number("--arrival-cv2", arrival_cv2), given.number("--service-cv2", service_cv2)
    return queue_tables.ggc(given.seconds("--service", service), servers, *varied, _rates(rate))


def percentiles(servers: int, service: str, rate: str, percentile: str) -> Report:
    """Percentiles. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import queue_tables

    shares = given.shares("--percentile", percentile)
    return queue_tables.percentiles(given.seconds("--service", service), servers, _rates(rate), shares)


def samples(percentile: str, rate: str) -> Report:
    """I/Os that percentiles need. Raises SpecError."""
    from iocast.report.forecast import queue_tables

    shares = given.shares("--percentile", percentile)
    return queue_tables.samples(shares, _above_zero("--rate", given.rate("--rate", rate)))


def knees(service: str, servers: str, multiple: str) -> Report:
    """Knees of pools. Raises SpecError."""
    from iocast.report.forecast import queue_tables

    times = given.number("--multiple", multiple)
    if times <= 1:
        raise SpecError(f"--multiple: a response of {times:g} service times is none", "give more than 1, e.g. 2.5")
    pools = given.several("--servers", given.whole, servers)
    if max(pools) > 10_000:
        raise SpecError(f"--servers: {max(pools):,} are too many", "give 10000 or fewer")
    return queue_tables.knees(given.seconds("--service", service), pools, times)


def mva(demand: str, users: str, think: str, servers: str | None, *, approximate: bool) -> Report:
    """Closed queues. Raises SpecError."""
    from iocast.report.forecast import closed_tables

    if servers and approximate:
        raise SpecError("--approximate knows stations of one server only", "leave --servers or --approximate out")
    many = given.several("--servers", given.whole, servers) if servers else None
    counts, demands = _users(users, 2_000 if servers else 100_000), given.several("--demand", given.seconds, demand)
    return closed_tables.mva(demands, counts, given.seconds("--think", think, zero=True), many, approximate)


def bounds(demand: str, users: str, think: str) -> Report:
    """Bounds of closed queues. Raises SpecError."""
    from iocast.report.forecast import closed_tables

    demands = given.several("--demand", given.seconds, demand)
    return closed_tables.bounds(demands, _users(users, 10**9), given.seconds("--think", think, zero=True))


def usl(load: str, rate: str | None, gamma: str, alpha: str, beta: str) -> Report:
    """The universal scalability law. Raises SpecError, AnalysisError."""
    from iocast.analyse.scalability import Scalability
    from iocast.report.forecast import closed_tables

    loads = tuple(_above_zero("--load", each) for each in given.several("--load", given.number, load))
    if rate:
        return closed_tables.fitted_usl(loads, _rates(rate))
    single = _above_zero("--gamma", given.rate("--gamma", gamma))
    crosstalk = given.number("--beta", beta)
    law = Scalability(single, given.number("--alpha", alpha), crosstalk, crosstalk, crosstalk)
    return closed_tables.usl(law, loads, None)


def bucket(rate: str, bucket: str, demand: str) -> Report:
    """A token bucket. Raises SpecError."""
    from iocast.report.forecast import volume_tables

    refill = _above_zero("--rate", given.rate("--rate", rate))
    return volume_tables.bucket(refill, given.rate("--bucket", bucket), given.stretches("--demand", demand))


def burst(rate: str, after: str, capacity: str, time: str) -> Report:
    """A burst. Raises SpecError."""
    from iocast.report.forecast import volume_tables

    most = _above_zero("--capacity", given.rate("--capacity", capacity))
    rates = given.rate("--rate", rate), given.rate("--after", after)
    return volume_tables.burst(*rates, most, given.seconds("--time", time))


def levels(servers: int, service: str, level: str) -> Report:
    """Load that changes slowly. Raises SpecError, AnalysisError."""
    from iocast.report.forecast import volume_tables

    return volume_tables.slow_changes(given.levels("--level", level, servers, given.seconds("--service", service)))


def volume(kind: str, size: str, iops: str, throughput: str, io: str) -> Report:
    """One cloud volume. Raises SpecError."""
    from iocast.report.forecast import volume_tables

    rate = round(_above_zero("--iops", given.rate("--iops", iops)))
    moved = given.bandwidth("--throughput", throughput)
    return volume_tables.volume(kind, given.size("--size", size), rate, moved, given.size("--io", io))


def all_volumes() -> Report:
    """All kinds of cloud volumes."""
    from iocast.report.forecast import volume_tables

    return volume_tables.all_volumes()


def mix(rate: str, capacity: str) -> Report:
    """Several kinds of I/O. Raises SpecError."""
    from iocast.report.forecast import volume_tables

    rates = given.several("--rate", given.rate, rate)
    return volume_tables.mix(rates, _rates(capacity, "--capacity"))


def cache(data: str, cache: str, hit: str, miss: str) -> Report:
    """A cache. Raises SpecError."""
    from iocast.report.forecast import volume_tables

    sizes = given.size("--data", data), given.size("--cache", cache)
    return volume_tables.cache(*sizes, given.seconds("--hit", hit), given.seconds("--miss", miss))


def link(mbps: str | None, link: str | None, ports: int) -> Report:
    """MB/s beside a link; without any those of the documents. Raises SpecError."""
    from iocast.report.forecast import link_tables

    if mbps is None and link is None and ports == 1:
        return link_tables.documented()
    if mbps is None or link is None:
        raise SpecError("--mbps and --link go together", 'for example --mbps 1251 --link "FC 4G" --ports 4')
    moved = _above_zero("--mbps", given.number("--mbps", mbps)) * 1e6
    return link_tables.link(link_tables.Moved(moved, link_tables.rule_of(link).name, ports))


def rules() -> Report:
    """Rules of thumb."""
    from iocast.report.forecast import rules_table

    return rules_table.rules()


def _rates(text: str, option: str = "--rate") -> tuple[float, ...]:
    return tuple(_above_zero(option, each) for each in given.several(option, given.rate, text))


def _users(text: str, most: int) -> tuple[int, ...]:
    found = given.several("--users", given.whole, text)
    if max(found) > most:
        raise SpecError(f"--users: {max(found):,} take too long", "use --approximate, or fewer users")
    return found


def _above_zero(option: str, value: float) -> float:
    if not value > 0:
        raise SpecError(f"{option}: 0 is no load", "give a number above 0")
    return value
