"""Sizings become results: what each part of the need takes, how it stands the load, and the years to come."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from iocast.forecast.storage.size_storage import Carried, Count, Sized
from iocast.forecast.storage.size_volumes import VolumePlan
from iocast.model.codes import NeedCode
from iocast.model.results.size import Loaded, Needed, Provisioned, Size, SizedModel, Year

NS = 1e9
Plan = Sized | VolumePlan


def size_of(years: Sequence[Plan]) -> Size:
    """The result of one device: the last year in full, and every year where there are several, today first."""
    plan = years[-1]
    return Size(
        counts=tuple(_counts(plan)),
        states=tuple(_states(plan)) if plan.need.iops else (),
        provisioned=(_provisioned(plan),) if isinstance(plan, VolumePlan) else (),
        years=tuple(_year(number, each) for number, each in enumerate(years)) if len(years) > 1 else (),
    )


def asked_counts(plan: Plan) -> list[Count]:
    """The counts of what is asked for."""
    nothing = {code for code, most in (("iops", plan.need.iops), ("throughput", plan.need.bytes_per_s)) if not most}
    return [each for each in plan.counts if each.code not in nothing]


def _counts(plan: Plan) -> Iterator[Needed]:
    known = asked_counts(plan)
    for each in known:
        yield _needed(plan, each.code, each.devices)
    if plan.binding not in {each.code for each in known}:  # volumes that are given more than the rates alone need
        yield _needed(plan, plan.binding, plan.devices)


def _needed(plan: Plan, code: NeedCode, devices: int) -> Needed:
    need = plan.need
    return Needed(
        need=code,
        asked_bytes=need.capacity_bytes if code == "capacity" else None,
        asked_rate_per_s=need.iops if code == "iops" else None,
        asked_bytes_per_s=need.bytes_per_s if code == "throughput" else None,
        asked_ns=need.latency.limit_s * NS if code == "latency" and need.latency else None,
        devices=devices,
        binds=code == plan.binding,
    )


def _states(plan: Plan) -> Iterator[Loaded]:
    yield _loaded(plan, plan.normal, failed=False)
    if isinstance(plan, Sized) and plan.failed:
        yield _loaded(plan, plan.failed, failed=True)


def _loaded(plan: Plan, carried: Carried, *, failed: bool) -> Loaded:
    limit, limited = plan.need.latency, carried.limited_s
    return Loaded(
        failed=failed,
        rate_per_s=carried.rate_per_s,
        utilisation_share=carried.utilisation,
        mean_ns=_finite(carried.mean_s),
        limited_ns=_finite(limited) if limit is None or limit.quantile is not None else None,
        limit_ns=limit.limit_s * NS if limit else None,
        met=None if limit is None or limited is None else limited <= limit.limit_s,
    )


def _finite(time_s: float | None) -> float | None:
    return time_s * NS if time_s is not None and math.isfinite(time_s) else None


def _provisioned(plan: VolumePlan) -> Provisioned:
    return Provisioned(size_gib=plan.size_gib, iops=plan.iops, mib_per_s=plan.mib_per_s, cost=plan.cost)


def _year(number: int, plan: Plan) -> Year:
    return Year(
        year=number,
        capacity_bytes=plan.need.capacity_bytes,
        rate_per_s=plan.need.iops,
        throughput_bytes_per_s=plan.need.bytes_per_s or None,
        devices=plan.devices,
        binding=plan.binding,
        cost=plan.cost,
    )


def sized_model(name: str, plan: Plan) -> SizedModel:
    """One device of the library beside the others."""
    quantile = plan.need.latency is None or plan.need.latency.quantile is not None
    failed = plan.failed if isinstance(plan, Sized) else None
    return SizedModel(
        device=name,
        devices=plan.devices,
        layout="volumes" if isinstance(plan, VolumePlan) else plan.layout.level,
        binding=plan.binding,
        utilisation_share=plan.normal.utilisation if plan.need.iops else None,
        mean_ns=_finite(plan.normal.mean_s) if plan.need.iops else None,
        limited_ns=_finite(plan.normal.limited_s) if plan.need.iops and quantile else None,
        failed_share=failed.utilisation if failed and plan.need.iops else None,
        usable_bytes=plan.usable_bytes,
    )
