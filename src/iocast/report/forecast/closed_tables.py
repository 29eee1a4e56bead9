"""Tables of closed queues: mean value analysis, bounds, the universal scalability law."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iocast import text
from iocast.analyse.scalability import LEAST_POINTS, Scalability, scalability
from iocast.errors import AnalysisError
from iocast.forecast.laws import closed_queues
from iocast.model.report import Cell, Report
from iocast.report.forecast.model_tables import NS, col, law_report, ms, num, pct, table


def mva(
    demands_s: Sequence[float], users: Sequence[int], think_s: float, servers: Sequence[int] | None, approximate: bool
) -> Report:
    """What numbers of users get of stations."""
    rows: list[dict[str, Cell]] = []
    for count in users:
        if servers:
            did = closed_queues.mva_servers(demands_s, servers, count, think_s)
        elif approximate:
            did = closed_queues.schweitzer(demands_s, count, think_s)
        else:
            did = closed_queues.mva(demands_s, count, think_s)
        most = servers or [1] * len(demands_s)
        busiest = max(did.rate_per_s * demand / many for demand, many in zip(demands_s, most, strict=True))
        rows.append(
            {
                "users": count,
                "rate_per_s": did.rate_per_s,
                "response": did.response_s * NS,
                "busiest": busiest,
                "at_stations": tuple(f"{each:.4g}" for each in did.at_station),
            }
        )
    last = rows[-1]
    name = "exact" if servers or not approximate else "Bard and Schweitzer"
    return law_report(
        "MVA",
        f"{text.counted(users[-1], 'user')} get {text.five_figures(_number(last['rate_per_s']))} I/Os a second in "
        f"{text.milliseconds(_number(last['response']))} ms each; "
        f"the busiest station is at {_number(last['busiest']):.1%}.",
        (
            table(
                f"{text.counted(len(demands_s), 'station')}, think time {think_s * 1e3:g} ms ({name})",
                "mva",
                (
                    num("users", "users"),
                    num("rate_per_s", "I/Os\na second"),
                    ms("response", "response"),
                    pct("busiest", "busiest"),
                    col("at_stations", "at each\nstation", "names"),
                ),
                rows,
            ),
        ),
        "Reiser and Lavenberg 1980; Bard and Schweitzer; models A3.",
    )


def bounds(demands_s: Sequence[float], users: Sequence[int], think_s: float) -> Report:
    """Between what the throughput lies, whatever else is true."""
    rows: list[dict[str, Cell]] = []
    for count in users:
        did = closed_queues.bounds(demands_s, count, think_s)
        rows.append(
            {
                "users": count,
                "low": did.rate_low_per_s,
                "balanced_low": did.balanced_low_per_s,
                "balanced_high": did.balanced_high_per_s,
                "high": did.rate_high_per_s,
                "response_low": did.response_low_s * NS,
                "saturation_users": did.saturation_users,
            }
        )
    star = _number(rows[0]["saturation_users"])
    return law_report(
        "bounds",
        f"From {star:.4g} users on the slowest station limits: never more than {1 / max(demands_s):.4g} I/Os a second.",
        (
            table(
                f"I/Os a second of {text.counted(len(demands_s), 'station')}, think time {think_s * 1e3:g} ms",
                "bounds",
                (
                    num("users", "users"),
                    num("low", "least"),
                    num("balanced_low", "least,\nbalanced"),
                    num("balanced_high", "most,\nbalanced"),
                    num("high", "most"),
                    ms("response_low", "response\nat least"),
                ),
                rows,
            ),
        ),
        "Denning and Buzen 1978 (asymptotic); Zahorjan 1982 (balanced job).",
    )


def usl(law: Scalability, loads: Sequence[float], measured_per_s: Sequence[float] | None) -> Report:
    """The universal scalability law, given or fitted."""
    rows: list[dict[str, Cell]] = []
    for at, load in enumerate(loads):
        told = law.rate_per_s(load)
        rows.append(
            {
                "load": load,
                "rate_per_s": told,
                "measured_per_s": measured_per_s[at] if measured_per_s else None,
                "apart": measured_per_s[at] / told - 1 if measured_per_s else None,
                "efficiency": told / load / law.single_per_s,
            }
        )
    peak = law.peak_load
    where = (
        "throughput never falls"
        if math.isinf(peak)
        else f"throughput peaks at {peak:.4g} users: {law.rate_per_s(peak):.5g}/s"
    )
    parameters: dict[str, Cell] = {
        "single_per_s": law.single_per_s,
        "contention": law.contention,
        "crosstalk": law.crosstalk,
        "peak_load": None if math.isinf(peak) else peak,
        "peak_per_s": None if math.isinf(peak) else law.rate_per_s(peak),
    }
    note = (
        f"95% interval of the crosstalk: {law.crosstalk_low:.3g} to {law.crosstalk_high:.3g}. Above 0: throughput "
        "really falls. The law describes what was measured; beyond 1.15 times the largest load it tells nothing."
    )
    return law_report(
        "USL",
        f"One user alone: {law.single_per_s:.5g}/s; {where}.",
        (
            table(
                "The law",
                "usl",
                (
                    num("single_per_s", "one user\n(gamma)"),
                    num("contention", "contention\n(alpha)"),
                    num("crosstalk", "crosstalk\n(beta)"),
                    num("peak_load", "peak at"),
                    num("peak_per_s", "peak"),
                ),
                [parameters],
                (note,) if measured_per_s else (),
            ),
            table(
                "Loads",
                "loads",
                (
                    num("load", "load"),
                    num("rate_per_s", "I/Os\na second"),
                    num("measured_per_s", "measured"),
                    pct("apart", "apart"),
                    pct("efficiency", "of linear"),
                ),
                rows,
            ),
        ),
        "Gunther: X(n) = g n / (1 + a (n - 1) + b n (n - 1)).",
    )


def fitted_usl(loads: Sequence[float], rates_per_s: Sequence[float]) -> Report:
    """The law through measured loads. Raises AnalysisError."""
    if len(loads) != len(rates_per_s):
        raise AnalysisError(
            f"{len(loads)} loads and {len(rates_per_s)} rates do not go together", "give one rate for each load"
        )
    law = scalability(loads, rates_per_s)
    if law is None:
        raise AnalysisError(
            f"{len(loads)} loads are too few for the law, or one did nothing",
            f"give {LEAST_POINTS} or more, all above 0",
        )
    return usl(law, loads, rates_per_s)


def _number(cell: Cell) -> float:
    assert isinstance(cell, int | float)
    return float(cell)
