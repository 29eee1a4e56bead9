"""Closed queues: mean value analysis, bounds, the universal scalability law."""

from __future__ import annotations

from iocast import text
from iocast.model.results.laws.closed import BoundsLaw, MvaLaw, UslLaw
from iocast.report.forecast.laws.law_text import LawText, law_table


def mva(law: MvaLaw) -> LawText:
    """What numbers of users get of stations."""
    last = law.users[-1]
    name = "Bard and Schweitzer" if law.approximate else "exact"
    return LawText(
        "MVA",
        f"{text.counted(last.users, 'user')} get {text.five_figures(last.rate_per_s)} I/Os a second in "
        f"{text.milliseconds(last.response_ns)} ms each; the busiest station is at {last.busiest_share:.1%}.",
        "Reiser and Lavenberg 1980; Bard and Schweitzer; models A3.",
        (
            law_table(
                "mva",
                f"{_stations(law)} ({name})",
                law.users,
                words={"at_stations": lambda row: tuple(f"{each:.4g}" for each in row.at_stations)},
            ),
        ),
    )


def bounds(law: BoundsLaw) -> LawText:
    """Between what the throughput lies, whatever else is true."""
    return LawText(
        "bounds",
        f"From {law.saturation_users:.4g} users on the slowest station limits: never more than {law.most_per_s:.4g} "
        "I/Os a second.",
        "Denning and Buzen 1978 (asymptotic); Zahorjan 1982 (balanced job).",
        (law_table("bounds", f"I/Os a second of {_stations(law)}", law.users),),
    )


def _stations(law: MvaLaw | BoundsLaw) -> str:
    return f"{text.counted(len(law.demands_ns), 'station')}, think time {law.think_ns / 1e6:g} ms"


def usl(law: UslLaw) -> LawText:
    """The universal scalability law, given or fitted."""
    known = law.parameters
    where = (
        "throughput never falls"
        if known.peak_load is None
        else f"throughput peaks at {known.peak_load:.4g} users: {known.peak_per_s:.5g}/s"
    )
    note = (
        f"95% interval of the crosstalk: {known.crosstalk_low:.3g} to {known.crosstalk_high:.3g}. Above 0: throughput "
        "really falls. The law describes what was measured; beyond 1.15 times the largest load it tells nothing."
        if law.fitted
        else ""
    )
    return LawText(
        "USL",
        f"One user alone: {known.single_per_s:.5g}/s; {where}.",
        "Gunther: X(n) = g n / (1 + a (n - 1) + b n (n - 1)).",
        (law_table("usl", "The law", (known,), filter(None, (note,))), law_table("loads", "Loads", law.loads)),
    )
