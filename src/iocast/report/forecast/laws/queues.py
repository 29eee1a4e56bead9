"""Open queues, their percentiles and the knees of a pool, and where Kolk is wrong about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast import text
from iocast.forecast.laws.knees import PLANNED
from iocast.model.report import Table
from iocast.model.results.laws.queues import (
    GgcLaw,
    KneesLaw,
    Mg1Law,
    Mm1Law,
    MmcLaw,
    PercentilesAtRate,
    PercentilesLaw,
    QueueAtRate,
    SamplesLaw,
    ServedQueue,
)
from iocast.report.forecast.laws.law_text import NS, LawText, law_table

NOT_POSSIBLE = "not possible"
KOLK_NOTES = {  # by ns of service
    7_200_000: (
        "Kolk prints 240.0 ms at 135/s: that takes a utilisation of 0.97 for the 0.972 it is; near the wall two"
        " thousandths are 17 ms. He cuts 10.65 to 10.6, and heads this table with 135 IOPS, which is the"
        " 16K figure: 7.2 ms is 138.9."
    ),
    8_600_000: (
        "Kolk prints 24.6 ms at 75/s, from a utilisation rounded to 0.65, and 14.6 at 45/s, which no rounding gives; he"
        " cuts 88.66 to 88.6."
    ),
}
STATE = {"stable": lambda row: "" if row.stable else NOT_POSSIBLE}


def mm1(law: Mm1Law) -> LawText:
    """One server, random arrivals: a table for each service time."""
    return LawText(
        "M/M/1",
        _verdict([row for queue in law.queues for row in queue.rates], law.queues[0].capacity_per_s),
        "Anjo Kolk, SAN Stories: R = S / (1 - rho), rho = rate x S.",
        tuple(
            _queue_table(
                f"Service time {_ms(queue.service_ns)}: {queue.capacity_per_s:.4g} IOPS at most",
                queue.rates,
                _served_notes(queue),
            )
            for queue in law.queues
        ),
    )


def _served_notes(queue: ServedQueue) -> Iterator[str]:
    if any(row.printed for row in queue.rates):
        yield KOLK_NOTES[round(queue.service_ns)]
    if queue.limit_ns is not None:
        yield f"Mean of {_ms(queue.limit_ns)}: up to {queue.limit_rate_per_s:.4g} IOPS."


def mmc(law: MmcLaw) -> LawText:
    """Servers that share one queue."""
    notes = (
        "For a pool that serves any I/O with any server (an SSD, a mirror's reads). Striped disks are single queues"
        " each: model mm1 with the rate of one disk.",
    )
    title = f"{_servers(law)}: {law.capacity_per_s:.4g} IOPS at most"
    return LawText(
        "M/M/c",
        _verdict(law.rates, law.capacity_per_s),
        "models A2; Erlang C.",
        (_queue_table(title, law.rates, notes),),
    )


def mg1(law: Mg1Law) -> LawText:
    """One server, random arrivals, service that varies more or less."""
    notes = (
        f"cs2 {law.service_cv2:g} of the service time: 0 constant (M/D/1), 1 exponential (M/M/1), above 1 a long tail.",
    )
    return LawText(
        "M/G/1",
        _verdict(law.rates, law.capacity_per_s),
        "Pollaczek and Khinchine: W = rho S (1 + cs2) / (2 (1 - rho)).",
        (_queue_table(f"Service time {_ms(law.service_ns)}", law.rates, notes),),
    )


def ggc(law: GgcLaw) -> LawText:
    """Several servers, bursty arrivals: two approximations, beside M/M/c."""
    notes = (
        f"ca2 {law.arrival_cv2:g} of the times between arrivals, cs2 {law.service_cv2:g} of the service times: 1 is"
        " random. The response is that of Allen and Cunneen, within 8% of a simulated two-peak device of 8 servers.",
    )
    return LawText(
        "G/G/c",
        _verdict(law.rates, law.capacity_per_s),
        "models A2; Allen and Cunneen; Sakasegawa.",
        (_queue_table(_servers(law), law.rates, notes),),
    )


def percentiles(law: PercentilesLaw) -> LawText:
    """Percentiles of M/M/c at several rates."""
    return LawText(
        "percentiles",
        _verdict(law.rates, law.capacity_per_s),
        "models A2: the tail of M/M/c.",
        (
            law_table(
                "percentiles",
                _servers(law),
                law.rates,
                ("The mean hides the tail: at 60% of one queue p99 is 11.5 S.",),
                headings={"percentiles_ns": [f"p{share * 100:g}\nms" for share in law.quantiles]},
                words=STATE,
            ),
        ),
    )


def samples(law: SamplesLaw) -> LawText:
    """How many I/Os a percentile needs, and how long a row of a rate must be."""
    last = law.percentiles[-1]
    return LawText(
        "samples",
        f"p{last.quantile * 100:g} needs {last.bounded_ios:,.0f} I/Os for an upper limit, {last.published_ios:,.0f} to "
        f"be shown, {last.trusted_ios:,.0f} for the best trust.",
        "models B1.",
        (
            law_table(
                "samples",
                f"I/Os of a row; its time at {law.rate_per_s:g} IOPS",
                law.percentiles,
                (
                    "Independent I/Os: where they queue, neighbours depend on each other and count for fewer.",
                    "Upper limit: 95%, free of any law. Shown: 10 I/Os beyond it; trust A: 100.",
                ),
            ),
        ),
    )


def knees(law: KneesLaw) -> LawText:
    """How far pools may be loaded, by each rule; the hockey stick of one queue."""
    service_s = law.service_ns / NS
    return LawText(
        "knees",
        f"60% of one queue, {PLANNED / service_s:.4g} of {1 / service_s:.4g} IOPS, is a mean response of "
        f"{_ms(law.service_ns / (1 - PLANNED))}: 2.5 service times. A pool stands more, but its tail does not.",
        "Anjo Kolk (60%: the application decides); models A2.",
        (
            law_table(
                "knees",
                "Knees of a pool",
                law.pools,
                (
                    "Striped disks are one server each, whatever their number. Plan at 60% of striped disks, 70% of a"
                    " pool: the rest is for bursts, growth and failures.",
                ),
                headings={"multiple_share": f"mean is\n{law.multiple:g} S"},
            ),
            law_table(
                "hockey_stick", f"The hockey stick of one queue, service time {_ms(law.service_ns)}", law.hockey_stick
            ),
        ),
    )


def _servers(law: MmcLaw | GgcLaw | PercentilesLaw) -> str:
    return f"{text.counted(law.servers, 'server')}, service time {_ms(law.service_ns)}"


def _queue_table(title: str, rows: Sequence[QueueAtRate], notes: Iterator[str] | Sequence[str]) -> Table:
    return law_table("queue", title, rows, (*notes, *_stable_note(rows)), words=STATE)


def _stable_note(rows: Sequence[QueueAtRate]) -> Iterator[str]:
    for limit in {row.stable_below_per_s for row in rows} - {None}:
        yield f"Not possible: the queue would grow without end. Stable below {limit:.4g} I/Os a second."


def _verdict(rows: Sequence[QueueAtRate | PercentilesAtRate], capacity_per_s: float) -> str:
    worst = max((row for row in rows if row.stable), key=lambda row: row.utilisation_share)
    assert worst.response_ns is not None
    return (
        f"{worst.rate_per_s:g} of {capacity_per_s:.4g} IOPS ({worst.utilisation_share:.1%}): mean response "
        f"{text.milliseconds(worst.response_ns)} ms. 60% is {PLANNED * capacity_per_s:.4g} IOPS."
    )


def _ms(time_ns: float) -> str:
    return f"{time_ns / 1e6:.4g} ms"
