"""Laws of open queues, their percentiles and knees."""

from __future__ import annotations

from typing import Annotated

from iocast.model.results.laws.law import Iops, Law, LawRow, Printed, ms, num, pct
from iocast.model.results.shown import Number, shown


class QueueAtRate(LawRow, frozen=True, kw_only=True):
    """A queue at a rate. Not `stable`: it would grow without end, and has no times."""

    rate_per_s: Iops
    service_ns: Number
    utilisation_share: Annotated[Number, pct("utilisation")]
    response_ns: Annotated[Number | None, ms("response")] = None
    wait_ns: Annotated[Number | None, ms("waiting", 2)] = None
    in_system: Annotated[Number | None, num("outstanding", 3)] = None
    waits_share: Annotated[Number | None, pct("have to\nwait", 3)] = None
    p50_ns: Annotated[Number | None, ms("p50", 5)] = None
    p95_ns: Annotated[Number | None, ms("p95", 4)] = None
    p99_ns: Annotated[Number | None, ms("p99")] = None
    sakasegawa_ns: Annotated[Number | None, ms("Sakasegawa", 1)] = None
    mmc_ns: Annotated[Number | None, ms("M/M/c")] = None
    kingman_ns: Annotated[Number | None, ms("Kingman", 1)] = None
    stable: Annotated[bool, shown("state")]
    stable_below_per_s: Number | None = None  # of one that is not
    printed: Printed = None


class ServedQueue(LawRow, frozen=True, kw_only=True):
    """A queue of a service time at several rates. `limit_rate_per_s`: up to where the mean holds that was asked for."""

    service_ns: Number
    capacity_per_s: Number
    limit_ns: Number | None = None
    limit_rate_per_s: Number | None = None
    rates: tuple[QueueAtRate, ...]


class Mm1Law(Law, frozen=True, kw_only=True, tag="mm1"):
    """One server, random arrivals: a queue for each service time."""

    queues: tuple[ServedQueue, ...]


class OneQueue(Law, frozen=True, kw_only=True):
    """Servers that share one queue."""

    servers: int
    service_ns: Number
    capacity_per_s: Number
    rates: tuple[QueueAtRate, ...]


class MmcLaw(OneQueue, frozen=True, kw_only=True, tag="mmc"):
    """Random arrivals and service."""


class Mg1Law(OneQueue, frozen=True, kw_only=True, tag="mg1"):
    """One server, random arrivals, service that varies more or less."""

    service_cv2: Number


class GgcLaw(OneQueue, frozen=True, kw_only=True, tag="ggc"):
    """Bursty arrivals, service that varies. The response is that of Allen and Cunneen."""

    arrival_cv2: Number
    service_cv2: Number


class PercentilesAtRate(LawRow, frozen=True, kw_only=True):
    """Response times at a rate. `percentiles_ns`: by p50, p99_9 and so on; none where the queue is not `stable`."""

    rate_per_s: Iops
    utilisation_share: Annotated[Number, pct("utilisation")]
    response_ns: Annotated[Number | None, ms("mean")] = None
    percentiles_ns: Annotated[dict[str, Number], ms("percentiles")]
    stable: Annotated[bool, shown("state")]
    stable_below_per_s: Number | None = None  # of one that is not


class PercentilesLaw(Law, frozen=True, kw_only=True, tag="percentiles"):
    """Percentiles of servers that share one queue."""

    servers: int
    service_ns: Number
    capacity_per_s: Number
    quantiles: tuple[Number, ...]
    rates: tuple[PercentilesAtRate, ...]


class PercentileNeeds(LawRow, frozen=True, kw_only=True):
    """How many I/Os a percentile needs."""

    quantile: Annotated[Number, shown("percentile", "percentile")]
    bounded_ios: Annotated[int, shown("for an upper\nlimit", "count")]
    published_ios: Annotated[int, shown("to be\nshown", "count")]
    trusted_ios: Annotated[int, shown("for trust A", "count")]
    lasts_ns: Annotated[Number, shown("time", "duration")]


class SamplesLaw(Law, frozen=True, kw_only=True, tag="samples"):
    """How many I/Os percentiles need, and how long a row of a rate must be."""

    rate_per_s: Number
    percentiles: tuple[PercentileNeeds, ...]


class Knee(LawRow, frozen=True, kw_only=True):
    """How far a pool may be loaded, by each rule, and what becomes of it at 60%."""

    servers: Annotated[int, num("servers")]
    multiple_share: Annotated[Number, pct("mean")]
    tail_share: Annotated[Number, pct("p99 is 1.5 x\nidle")]
    power_share: Annotated[Number, pct("max\npower")]
    response_ratio: Annotated[Number, num("R / S\nat 60%")]
    rate_per_s: Annotated[Number, num("IOPS\nat 60%")]
    response_ns: Annotated[Number, ms("response\nat 60%")]


class StickMark(LawRow, frozen=True, kw_only=True):
    """A mark of the hockey stick of one queue."""

    utilisation_share: Annotated[Number, pct("utilisation")]
    rate_per_s: Iops
    response_ratio: Annotated[Number, num("R / S")]
    response_ns: Annotated[Number, ms("response")]
    p99_ns: Annotated[Number, ms("p99")]


class KneesLaw(Law, frozen=True, kw_only=True, tag="knees"):
    """Knees of pools. `multiple`: of the service time, that the mean response may be."""

    service_ns: Number
    multiple: Number
    pools: tuple[Knee, ...]
    hockey_stick: tuple[StickMark, ...]
