"""Laws of closed queues: mean value analysis, bounds, the universal scalability law."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iocast.analyse.scalability import LEAST_POINTS, Scalability, scalability
from iocast.errors import AnalysisError
from iocast.forecast.laws import closed_queues
from iocast.model.results.laws.closed import BoundsAt, BoundsLaw, MvaLaw, UsersServed, UslLaw, UslLoad, UslParameters

NS = 1e9


def mva(
    demands_s: Sequence[float], users: Sequence[int], think_s: float, servers: Sequence[int] | None, approximate: bool
) -> MvaLaw:
    """What numbers of users get of stations. Raises SpecError."""
    rows = []
    most = servers or [1] * len(demands_s)
    for count in users:
        if servers:
            did = closed_queues.mva_servers(demands_s, servers, count, think_s)
        elif approximate:
            did = closed_queues.schweitzer(demands_s, count, think_s)
        else:
            did = closed_queues.mva(demands_s, count, think_s)
        rows.append(
            UsersServed(
                users=count,
                rate_per_s=did.rate_per_s,
                response_ns=did.response_s * NS,
                busiest_share=max(did.rate_per_s * demand / many for demand, many in zip(demands_s, most, strict=True)),
                at_stations=did.at_station,
            )
        )
    return MvaLaw(
        demands_ns=tuple(each * NS for each in demands_s),
        servers=tuple(most),
        think_ns=think_s * NS,
        approximate=approximate and not servers,
        users=tuple(rows),
    )


def bounds(demands_s: Sequence[float], users: Sequence[int], think_s: float) -> BoundsLaw:
    """Between what the throughput lies, whatever else is true. Raises SpecError."""
    bounds_by_users = [closed_queues.bounds(demands_s, count, think_s) for count in users]
    return BoundsLaw(
        demands_ns=tuple(each * NS for each in demands_s),
        think_ns=think_s * NS,
        saturation_users=bounds_by_users[0].saturation_users,
        most_per_s=1 / max(demands_s),
        users=tuple(
            BoundsAt(
                users=count,
                low_per_s=did.rate_low_per_s,
                balanced_low_per_s=did.balanced_low_per_s,
                balanced_high_per_s=did.balanced_high_per_s,
                high_per_s=did.rate_high_per_s,
                response_low_ns=did.response_low_s * NS,
            )
            for count, did in zip(users, bounds_by_users, strict=True)
        ),
    )


def usl(law: Scalability, loads: Sequence[float], measured_per_s: Sequence[float] | None) -> UslLaw:
    """The universal scalability law, given or fitted."""
    peak = None if math.isinf(law.peak_load) else law.peak_load
    measured: Sequence[float | None] = measured_per_s or [None] * len(loads)
    return UslLaw(
        fitted=bool(measured_per_s),
        parameters=UslParameters(
            single_per_s=law.single_per_s,
            contention=law.contention,
            crosstalk=law.crosstalk,
            crosstalk_low=law.crosstalk_low if measured_per_s else None,
            crosstalk_high=law.crosstalk_high if measured_per_s else None,
            peak_load=peak,
            peak_per_s=None if peak is None else law.rate_per_s(peak),
        ),
        loads=tuple(_load(law, *each) for each in zip(loads, measured, strict=True)),
    )


def _load(law: Scalability, load: float, measured_per_s: float | None) -> UslLoad:
    load_per_s = law.rate_per_s(load)
    return UslLoad(
        load=load,
        rate_per_s=load_per_s,
        measured_per_s=measured_per_s,
        apart_share=None if measured_per_s is None else measured_per_s / load_per_s - 1,
        efficiency_share=load_per_s / load / law.single_per_s,
    )


def fitted_usl(loads: Sequence[float], rates_per_s: Sequence[float]) -> UslLaw:
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
