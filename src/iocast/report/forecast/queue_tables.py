"""Tables of open queues: M/M/1 as Kolk prints it, M/M/c, M/G/1, G/G/c, their percentiles, and the knees of a pool."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from iocast import text
from iocast.errors import AnalysisError
from iocast.forecast.laws import open_queues
from iocast.forecast.laws.knees import latency_multiple_utilisation, max_power_utilisation, tail_multiple_utilisation
from iocast.forecast.laws.open_queues import OpenQueue, Overloaded
from iocast.forecast.laws.percentile_rules import least_total
from iocast.model.report import Cell, Column, Report, Row, Table
from iocast.report.forecast.model_tables import NS, PRINTED, col, law_report, ms, num, pct, printed, table

PLANNED = 0.60  # of the capacity of one queue: R = 2.5 S (Kolk)
SHARES = (0.5, 0.6, 0.8, 0.9)
POOLS = (1, 2, 4, 8, 16, 32, 64)
NOT_POSSIBLE = "not possible"

KOLK_PRINTED = {
    0.0072: {135.0: "240.0", 105.0: "29.5", 75.0: "15.7", 45.0: "10.6"},
    0.0086: {135.0: NOT_POSSIBLE, 105.0: "88.6", 75.0: "24.6", 45.0: "14.6"},
}
KOLK_NOTES = {
    0.0072: (
        "Kolk prints 240.0 ms at 135/s: that takes a utilisation of 0.97 for the 0.972 it is; near the wall two"
        " thousandths are 17 ms. He cuts 10.65 to 10.6, and heads this table with 135 IOPS, which is the"
        " 16K figure: 7.2 ms is 138.9."
    ),
    0.0086: (
        "Kolk prints 24.6 ms at 75/s, from a utilisation rounded to 0.65, and 14.6 at 45/s, which no rounding gives; he"
        " cuts 88.66 to 88.6."
    ),
}
KOLK = "Anjo Kolk, SAN Stories: R = S / (1 - rho), rho = rate x S."

Law = Callable[[float, float], OpenQueue]


def mm1(services_s: Sequence[float], rates_per_s: Sequence[float], limit_s: float | None) -> Report:
    """One server, random arrivals: a table for each service time."""
    tables, rows = [], []
    for service_s in services_s:
        made = _rows(rates_per_s, service_s, 1, open_queues.mm1, KOLK_PRINTED.get(service_s, {}))
        rows += made
        notes = [KOLK_NOTES[service_s]] if service_s in KOLK_NOTES and any(r.cells[PRINTED] for r in made) else []
        if limit_s is not None:
            notes.append(_inverse(service_s, limit_s))
        tables.append(_queue_table(f"Service time {_ms(service_s)}: {1 / service_s:.4g} IOPS at most", made, notes))
    _require_stable(rows, 1 / min(services_s), 1)
    return law_report("M/M/1", _verdict(rows, 1 / services_s[0]), tables, KOLK)


def _inverse(service_s: float, limit_s: float) -> str:
    if limit_s <= service_s:
        raise AnalysisError(
            f"a mean of {_ms(limit_s)} cannot be met: one I/O alone takes {_ms(service_s)}", "choose a faster device"
        )
    return f"Mean of {_ms(limit_s)}: up to {1 / service_s - 1 / limit_s:.4g} IOPS."


def mmc(service_s: float, servers: int, rates_per_s: Sequence[float]) -> Report:
    """Servers that share one queue."""
    rows = _rows(rates_per_s, service_s, servers, lambda rate, time_s: open_queues.mmc(rate, time_s, servers), {})
    _require_stable(rows, servers / service_s, servers)
    for row in rows:
        if row.cells["stable"]:
            rate = row.cells["rate_per_s"]
            assert isinstance(rate, int | float)
            row.cells["waits"] = open_queues.erlang(servers, rate * service_s).waits
    title = f"{text.counted(servers, 'server')}, service time {_ms(service_s)}: {servers / service_s:.4g} IOPS at most"
    notes = (
        "For a pool that serves any I/O with any server (an SSD, a mirror's reads). Striped disks are single queues"
        " each: model mm1 with the rate of one disk.",
    )
    return law_report(
        "M/M/c", _verdict(rows, servers / service_s), (_queue_table(title, rows, notes),), "models A2; Erlang C."
    )


def mg1(service_s: float, cv2: float, rates_per_s: Sequence[float]) -> Report:
    """One server, random arrivals, service that varies more or less."""
    rows = _rows(rates_per_s, service_s, 1, lambda rate, time_s: open_queues.mg1(rate, time_s, cv2), {}, tails=False)
    _require_stable(rows, 1 / service_s, 1)
    notes = (f"cs2 {cv2:g} of the service time: 0 constant (M/D/1), 1 exponential (M/M/1), above 1 a long tail.",)
    return law_report(
        "M/G/1",
        _verdict(rows, 1 / service_s),
        (_queue_table(f"Service time {_ms(service_s)}", rows, notes),),
        "Pollaczek and Khinchine: W = rho S (1 + cs2) / (2 (1 - rho)).",
    )


def ggc(service_s: float, servers: int, arrival_cv2: float, service_cv2: float, rates_per_s: Sequence[float]) -> Report:
    """Several servers, bursty arrivals: two approximations, beside M/M/c."""
    varied = servers, arrival_cv2, service_cv2
    rows = _rows(
        rates_per_s,
        service_s,
        servers,
        lambda rate, time_s: open_queues.allen_cunneen(rate, time_s, *varied),
        {},
        tails=False,
    )
    _require_stable(rows, servers / service_s, servers)
    for row in rows:
        if row.cells["stable"]:
            rate = row.cells["rate_per_s"]
            assert isinstance(rate, int | float)
            row.cells["sakasegawa"] = open_queues.sakasegawa(rate, service_s, *varied).response_s * NS
            row.cells["mmc"] = open_queues.mmc(rate, service_s, servers).response_s * NS
            if servers == 1:
                row.cells["kingman"] = open_queues.kingman(rate, service_s, *varied[1:]).response_s * NS
    notes = (
        f"ca2 {arrival_cv2:g} of the times between arrivals, cs2 {service_cv2:g} of the service times: 1 is random. The"
        " response is that of Allen and Cunneen, within 8% of a simulated two-peak device of 8 servers.",
    )
    shown = (ms("sakasegawa", "Sakasegawa", 1), ms("mmc", "M/M/c"), ms("kingman", "Kingman", 1))
    made = _queue_table(f"{text.counted(servers, 'server')}, service time {_ms(service_s)}", rows, notes, shown)
    return law_report(
        "G/G/c", _verdict(rows, servers / service_s), (made,), "models A2; Allen and Cunneen; Sakasegawa."
    )


def percentiles(service_s: float, servers: int, rates_per_s: Sequence[float], shares: Sequence[float]) -> Report:
    """Percentiles of M/M/c at several rates."""
    rows = []
    for rate in rates_per_s:
        cells: dict[str, Cell] = {"rate_per_s": rate, "utilisation": rate * service_s / servers, "stable": True}
        try:
            cells["response"] = open_queues.mmc(rate, service_s, servers).response_s * NS
            for share in shares:
                cells[_p(share)] = open_queues.mmc_quantile_s(rate, service_s, servers, share) * NS
            rows.append(Row(cells))
        except Overloaded:
            rows.append(_saturated(cells, servers / service_s))
    _require_stable(rows, servers / service_s, servers)
    columns = (
        num("rate_per_s", "IOPS"),
        pct("utilisation", "utilisation"),
        ms("response", "mean"),
        *(ms(_p(share), f"p{share * 100:g}") for share in shares),
        col("state", "state"),
    )
    title = f"{text.counted(servers, 'server')}, service time {_ms(service_s)}"
    made = table(title, "percentiles", columns, rows, ("The mean hides the tail: at 60% of one queue p99 is 11.5 S.",))
    return law_report("percentiles", _verdict(rows, servers / service_s), (made,), "models A2: the tail of M/M/c.")


def _p(share: float) -> str:
    return f"p{share * 100:g}".replace(".", "_")


def samples(shares: Sequence[float], rate_per_s: float) -> Report:
    """How many I/Os a percentile needs, and how long a row of a rate must be."""
    rows: list[dict[str, Cell]] = []
    for share in shares:
        needed = {"bounded": least_total(share), "published": 10 / (1 - share), "trusted": 100 / (1 - share)}
        whole = {name: math.ceil(count - 1e-6) for name, count in needed.items()}
        rows.append({"percentile": f"p{share * 100:g}", **whole, "lasts": whole["trusted"] / rate_per_s * NS})
    last = rows[-1]
    return law_report(
        "samples",
        f"{last['percentile']} needs {_number(last['bounded']):,.0f} I/Os for an upper limit, "
        f"{_number(last['published']):,.0f} to be shown, {_number(last['trusted']):,.0f} for the best trust.",
        (
            table(
                f"I/Os of a row; its time at {rate_per_s:g} IOPS",
                "samples",
                (
                    col("percentile", "percentile"),
                    col("bounded", "for an upper\nlimit", "count"),
                    col("published", "to be\nshown", "count"),
                    col("trusted", "for trust A", "count"),
                    col("lasts", "time", "duration"),
                ),
                rows,
                (
                    "Independent I/Os: where they queue, neighbours depend on each other and count for fewer.",
                    "Upper limit: 95%, free of any law. Shown: 10 I/Os beyond it; trust A: 100.",
                ),
            ),
        ),
        "models B1.",
    )


def knees(service_s: float, pools: Sequence[int], multiple: float) -> Report:
    """How far pools may be loaded, by each rule; the hockey stick of one queue."""
    rows: list[dict[str, Cell]] = []
    for servers in pools:
        best, twice = max_power_utilisation(servers), latency_multiple_utilisation(servers, multiple)
        at_planned = open_queues.mmc(PLANNED * servers, 1.0, servers).response_s
        rows.append(
            {
                "servers": servers,
                "multiple": twice,
                "tail": tail_multiple_utilisation(servers, 1.5),
                "power": best,
                "planned": at_planned,
                "rate_per_s": PLANNED * servers / service_s,
                "response": at_planned * service_s * NS,
            }
        )
    stick = [
        {
            "utilisation": share,
            "rate_per_s": share / service_s,
            "times": 1 / (1 - share),
            "response": service_s / (1 - share) * NS,
            "p99": open_queues.mm1_quantile_s(share / service_s, service_s, 0.99) * NS,
        }
        for share in SHARES
    ]
    first = f"{PLANNED / service_s:.4g} of {1 / service_s:.4g} IOPS"
    return law_report(
        "knees",
        f"60% of one queue, {first}, is a mean response of {_ms(service_s / (1 - PLANNED))}: 2.5 service times. A pool "
        "stands more, but its tail does not.",
        (
            table(
                "Knees of a pool",
                "knees",
                (
                    num("servers", "servers"),
                    pct("multiple", f"mean is\n{multiple:g} S"),
                    pct("tail", "p99 is 1.5 x\nidle"),
                    pct("power", "max\npower"),
                    num("planned", "R / S\nat 60%"),
                    num("rate_per_s", "IOPS\nat 60%"),
                    ms("response", "response\nat 60%"),
                ),
                rows,
                (
                    "Striped disks are one server each, whatever their number. Plan at 60% of striped disks, 70% of a"
                    " pool: the rest is for bursts, growth and failures.",
                ),
            ),
            table(
                f"The hockey stick of one queue, service time {_ms(service_s)}",
                "hockey_stick",
                (
                    pct("utilisation", "utilisation"),
                    num("rate_per_s", "IOPS"),
                    num("times", "R / S"),
                    ms("response", "response"),
                    ms("p99", "p99"),
                ),
                stick,
            ),
        ),
        "Anjo Kolk (60%: the application decides); models A2.",
    )


def _rows(
    rates_per_s: Sequence[float],
    service_s: float,
    servers: int,
    law: Law,
    said: dict[float, str],
    *,
    tails: bool = True,
) -> list[Row]:
    """One row a rate; a rate that saturates is not possible, and says what is."""
    rows = []
    for rate in rates_per_s:
        cells: dict[str, Cell] = {
            "rate_per_s": rate,
            "service": service_s * NS,
            "utilisation": rate * service_s / servers,
            "stable": True,
            PRINTED: said.get(rate, ""),
        }
        try:
            queue = law(rate, service_s)
        except Overloaded:
            rows.append(_saturated(cells, servers / service_s))
            continue
        cells |= {"response": queue.response_s * NS, "wait": queue.wait_s * NS, "in_system": queue.in_system}
        if tails:
            for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
                cells[name] = open_queues.mmc_quantile_s(rate, service_s, servers, share) * NS
        rows.append(Row(cells))
    return rows


def _saturated(cells: dict[str, Cell], capacity_per_s: float) -> Row:
    return Row(cells | {"stable": False, "state": NOT_POSSIBLE, "stable_below_per_s": capacity_per_s})


def _require_stable(rows: Sequence[Row], capacity_per_s: float, servers: int) -> None:
    """Refuses a table of nothing but overload. Raises AnalysisError."""
    if any(row.cells["stable"] for row in rows):
        return
    rate = min(float(each) for row in rows if isinstance(each := row.cells["rate_per_s"], int | float))
    more = "more servers" if servers > 1 else "iocast model mmc --servers"
    raise AnalysisError(
        f"not possible: {rate:g} I/Os a second saturate what does {capacity_per_s:.4g} at most; the queue would grow "
        "without end",
        f"stay below {capacity_per_s:.4g}/s, better at 60%: {PLANNED * capacity_per_s:.4g}/s; or a shorter "
        f"--service, {more}",
    )


def _queue_table(title: str, rows: list[Row], notes: Sequence[str], more: Sequence[Column] = ()) -> Table:
    columns = (
        num("rate_per_s", "IOPS"),
        pct("utilisation", "utilisation"),
        ms("response", "response"),
        ms("wait", "waiting", 2),
        num("in_system", "outstanding", 3),
        pct("waits", "have to\nwait", 3),
        ms("p50", "p50", 5),
        ms("p95", "p95", 4),
        ms("p99", "p99"),
        *more,
        col("state", "state"),
        printed(),
    )
    return table(title, "queue", columns, rows, (*notes, *_stable_note(rows)))


def _stable_note(rows: Sequence[Row]) -> Iterator[str]:
    limits = {row.cells.get("stable_below_per_s") for row in rows} - {None}
    for limit in limits:
        assert isinstance(limit, float)
        yield f"Not possible: the queue would grow without end. Stable below {limit:.4g} I/Os a second."


def _verdict(rows: Sequence[Row], capacity_per_s: float) -> str:
    stable = [row for row in rows if row.cells["stable"]]
    worst = max(stable, key=lambda row: _number(row.cells["utilisation"]))
    rate, used, time_ns = (_number(worst.cells[key]) for key in ("rate_per_s", "utilisation", "response"))
    knee = PLANNED * capacity_per_s
    return (
        f"{rate:g} of {capacity_per_s:.4g} IOPS ({used:.1%}): mean response {text.milliseconds(time_ns)} ms. "
        f"60% is {knee:.4g} IOPS."
    )


def _number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)


def _ms(time_s: float) -> str:
    return f"{time_s * 1e3:.4g} ms"
