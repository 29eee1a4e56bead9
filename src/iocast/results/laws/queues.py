"""Laws of open queues: M/M/1 beside what Kolk prints, M/M/c, M/G/1, G/G/c, their percentiles, and knees of pools."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from iocast.errors import AnalysisError
from iocast.forecast.laws import open_queues
from iocast.forecast.laws.knees import (
    PLANNED,
    latency_multiple_utilisation,
    max_power_utilisation,
    tail_multiple_utilisation,
)
from iocast.forecast.laws.open_queues import OpenQueue, Overloaded
from iocast.forecast.laws.percentile_rules import least_total
from iocast.model.results.laws.queues import (
    GgcLaw,
    Knee,
    KneesLaw,
    Mg1Law,
    Mm1Law,
    MmcLaw,
    PercentileNeeds,
    PercentilesAtRate,
    PercentilesLaw,
    QueueAtRate,
    SamplesLaw,
    ServedQueue,
    StickMark,
)

NS = 1e9
SHARES = (0.5, 0.6, 0.8, 0.9)  # marks of the hockey stick
NOT_POSSIBLE = "not possible"
KOLK_PRINTED = {
    0.0072: {135.0: "240.0", 105.0: "29.5", 75.0: "15.7", 45.0: "10.6"},
    0.0086: {135.0: NOT_POSSIBLE, 105.0: "88.6", 75.0: "24.6", 45.0: "14.6"},
}

Rates = Sequence[float]
Queue = Callable[[float], OpenQueue]  # at a rate


def mm1(services_s: Sequence[float], rates_per_s: Rates, limit_s: float | None) -> Mm1Law:
    """One server, random arrivals. Raises AnalysisError."""
    queues = tuple(_served(service_s, rates_per_s, limit_s) for service_s in services_s)
    _require_stable([row for queue in queues for row in queue.rates], 1 / min(services_s), 1)
    return Mm1Law(queues=queues)


def _served(service_s: float, rates_per_s: Rates, limit_s: float | None) -> ServedQueue:
    if limit_s is not None and limit_s <= service_s:
        raise AnalysisError(
            f"a mean of {limit_s * 1e3:.4g} ms cannot be met: one I/O alone takes {service_s * 1e3:.4g} ms",
            "choose a faster device",
        )
    said = KOLK_PRINTED.get(service_s, {})
    rows = _rows(rates_per_s, service_s, 1, lambda rate: open_queues.mm1(rate, service_s), tails=True)
    return ServedQueue(
        service_ns=service_s * NS,
        capacity_per_s=1 / service_s,
        limit_ns=None if limit_s is None else limit_s * NS,
        limit_rate_per_s=None if limit_s is None else 1 / service_s - 1 / limit_s,
        rates=tuple(replace(row, printed=said.get(row.rate_per_s)) for row in rows),
    )


def mmc(service_s: float, servers: int, rates_per_s: Rates) -> MmcLaw:
    """Servers that share one queue. Raises AnalysisError."""

    def waits(row: QueueAtRate) -> QueueAtRate:
        return replace(row, waits_share=open_queues.erlang(servers, row.rate_per_s * service_s).waits)

    rows = _rows(rates_per_s, service_s, servers, lambda rate: open_queues.mmc(rate, service_s, servers), tails=True)
    return MmcLaw(**_queue(service_s, servers, [waits(row) if row.stable else row for row in rows]))


def mg1(service_s: float, cv2: float, rates_per_s: Rates) -> Mg1Law:
    """One server, random arrivals, service that varies more or less. Raises AnalysisError."""
    rows = _rows(rates_per_s, service_s, 1, lambda rate: open_queues.mg1(rate, service_s, cv2))
    return Mg1Law(service_cv2=cv2, **_queue(service_s, 1, rows))


def ggc(service_s: float, servers: int, arrival_cv2: float, service_cv2: float, rates_per_s: Rates) -> GgcLaw:
    """Several servers, bursty arrivals: two approximations, beside M/M/c. Raises AnalysisError."""
    varied = servers, arrival_cv2, service_cv2

    def others(row: QueueAtRate) -> QueueAtRate:
        rate = row.rate_per_s
        return replace(
            row,
            sakasegawa_ns=open_queues.sakasegawa(rate, service_s, *varied).response_s * NS,
            mmc_ns=open_queues.mmc(rate, service_s, servers).response_s * NS,
            kingman_ns=open_queues.kingman(rate, service_s, *varied[1:]).response_s * NS if servers == 1 else None,
        )

    rows = _rows(rates_per_s, service_s, servers, lambda rate: open_queues.allen_cunneen(rate, service_s, *varied))
    queue = _queue(service_s, servers, [others(row) if row.stable else row for row in rows])
    return GgcLaw(arrival_cv2=arrival_cv2, service_cv2=service_cv2, **queue)


def _queue(service_s: float, servers: int, rows: Sequence[QueueAtRate]) -> dict[str, Any]:
    """The fields that laws of one queue share."""
    _require_stable(rows, servers / service_s, servers)
    return {
        "servers": servers,
        "service_ns": service_s * NS,
        "capacity_per_s": servers / service_s,
        "rates": tuple(rows),
    }


def _rows(
    rates_per_s: Rates, service_s: float, servers: int, queue: Queue, *, tails: bool = False
) -> list[QueueAtRate]:
    """One row a rate; of a rate that saturates what the queue can stand."""
    return [_row(rate, service_s, servers, queue, tails=tails) for rate in rates_per_s]


def _row(rate: float, service_s: float, servers: int, queue: Queue, *, tails: bool) -> QueueAtRate:
    row = QueueAtRate(
        rate_per_s=rate, service_ns=service_s * NS, utilisation_share=rate * service_s / servers, stable=True
    )
    try:
        queue_figures = queue(rate)
    except Overloaded:
        return replace(row, stable=False, stable_below_per_s=servers / service_s)
    quantiles = {"p50_ns": 0.5, "p95_ns": 0.95, "p99_ns": 0.99} if tails else {}
    return replace(
        row,
        response_ns=queue_figures.response_s * NS,
        wait_ns=queue_figures.wait_s * NS,
        in_system=queue_figures.in_system,
        **{name: open_queues.mmc_quantile_s(rate, service_s, servers, share) * NS for name, share in quantiles.items()},
    )


def _require_stable(rows: Sequence[QueueAtRate | PercentilesAtRate], capacity_per_s: float, servers: int) -> None:
    """Refuses a table of nothing but overload. Raises AnalysisError."""
    if any(row.stable for row in rows):
        return
    rate = min(row.rate_per_s for row in rows)
    more = "more servers" if servers > 1 else "iocast model mmc --servers"
    raise AnalysisError(
        f"not possible: {rate:g} I/Os a second saturate what does {capacity_per_s:.4g} at most; the queue would grow "
        "without end",
        f"stay below {capacity_per_s:.4g}/s, better at 60%: {PLANNED * capacity_per_s:.4g}/s; or a shorter "
        f"--service, {more}",
    )


def percentiles(service_s: float, servers: int, rates_per_s: Rates, shares: Sequence[float]) -> PercentilesLaw:
    """Percentiles of M/M/c at several rates. Raises AnalysisError."""
    rows = [_percentiles(rate, service_s, servers, shares) for rate in rates_per_s]
    _require_stable(rows, servers / service_s, servers)
    return PercentilesLaw(
        servers=servers,
        service_ns=service_s * NS,
        capacity_per_s=servers / service_s,
        quantiles=tuple(shares),
        rates=tuple(rows),
    )


def _percentiles(rate: float, service_s: float, servers: int, shares: Sequence[float]) -> PercentilesAtRate:
    by_quantile, mean = dict[str, float](), None
    try:
        mean = open_queues.mmc(rate, service_s, servers).response_s * NS
        for share in shares:
            name = f"p{share * 100:g}".replace(".", "_")
            by_quantile[name] = open_queues.mmc_quantile_s(rate, service_s, servers, share) * NS
    except Overloaded:
        pass
    return PercentilesAtRate(
        rate_per_s=rate,
        utilisation_share=rate * service_s / servers,
        response_ns=mean,
        percentiles_ns=by_quantile,
        stable=mean is not None,
        stable_below_per_s=servers / service_s if mean is None else None,
    )


def samples(shares: Sequence[float], rate_per_s: float) -> SamplesLaw:
    """How many I/Os a percentile needs, and how long a row of a rate must be."""
    return SamplesLaw(rate_per_s=rate_per_s, percentiles=tuple(_needs(share, rate_per_s) for share in shares))


def _needs(share: float, rate_per_s: float) -> PercentileNeeds:
    bounded, published, trusted = (
        math.ceil(count - 1e-6) for count in (least_total(share), 10 / (1 - share), 100 / (1 - share))
    )
    return PercentileNeeds(
        quantile=share,
        bounded_ios=bounded,
        published_ios=published,
        trusted_ios=trusted,
        lasts_ns=trusted / rate_per_s * NS,
    )


def knees(service_s: float, pools: Sequence[int], multiple: float) -> KneesLaw:
    """How far pools may be loaded, by each rule; the hockey stick of one queue."""
    return KneesLaw(
        service_ns=service_s * NS,
        multiple=multiple,
        pools=tuple(_knee(servers, service_s, multiple) for servers in pools),
        hockey_stick=tuple(_mark(share, service_s) for share in SHARES),
    )


def _knee(servers: int, service_s: float, multiple: float) -> Knee:
    at_planned = open_queues.mmc(PLANNED * servers, 1.0, servers).response_s
    return Knee(
        servers=servers,
        multiple_share=latency_multiple_utilisation(servers, multiple),
        tail_share=tail_multiple_utilisation(servers, 1.5),
        power_share=max_power_utilisation(servers),
        response_ratio=at_planned,
        rate_per_s=PLANNED * servers / service_s,
        response_ns=at_planned * service_s * NS,
    )


def _mark(share: float, service_s: float) -> StickMark:
    return StickMark(
        utilisation_share=share,
        rate_per_s=share / service_s,
        response_ratio=1 / (1 - share),
        response_ns=service_s / (1 - share) * NS,
        p99_ns=open_queues.mm1_quantile_s(share / service_s, service_s, 0.99) * NS,
    )
