"""Two profiles beside each other become a result, and so does the check of a made load against its original."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import convert

from iocast.analyse.profiling.concurrency import concurrency
from iocast.analyse.profiling.latency_difference import STRIP_NS, CellDifference, ProfileDifference, strip
from iocast.analyse.profiling.profile_distances import LikenessCheck
from iocast.model.profiling.characteristics import OPS
from iocast.model.profiling.profile import Profile
from iocast.model.results.profiles import (
    BandShare,
    ComparedOperation,
    ComparedWorkload,
    LatencyCounts,
    Likeness,
    LoadDistance,
    ProfileDifferences,
)

OPERATIONS_SHOWN = 12


def profile_differences(first: Profile, other: Profile, profile_difference: ProfileDifference) -> ProfileDifferences:
    """Workloads, and the latencies of what both have."""
    return ProfileDifferences(
        workloads=tuple(_workloads(first, other)),
        compared_operations=tuple(map(_operation, profile_difference.cells[:OPERATIONS_SHOWN])),
        reasons=tuple(_reasons(profile_difference.cells[0])) if profile_difference.cells else (),
        compared_latencies=tuple(_latencies(profile_difference.cells[0])) if profile_difference.cells else (),
    )


def _workloads(first: Profile, other: Profile) -> Iterator[ComparedWorkload]:
    """A figure that neither has is left out."""
    yield ComparedWorkload(code="events", first_count=first.events, other_count=other.events)
    for op in (0, 1):
        yield from _operation_of_both(first, other, op)
    rate, other_rate = (each.order.arrivals.rate_per_s if each.order.arrivals else None for each in (first, other))
    if rate is not None or other_rate is not None:
        yield ComparedWorkload(code="rate", first_per_s=rate, other_per_s=other_rate)
    mean, other_mean = (flight.mean if (flight := concurrency(each)) else None for each in (first, other))
    if mean is not None or other_mean is not None:
        yield ComparedWorkload(code="in_flight", first_mean=mean, other_mean=other_mean)
    if first.sessions or other.sessions:
        yield ComparedWorkload(code="sessions", first_count=first.sessions or None, other_count=other.sessions or None)


def _operation_of_both(first: Profile, other: Profile, op: int) -> Iterator[ComparedWorkload]:
    share, other_share = _share(first, op), _share(other, op)
    if not share and not other_share:
        return
    yield ComparedWorkload(code="share", op=OPS[op], first_share=share, other_share=other_share)
    size, other_size = _mean_bytes(first, op), _mean_bytes(other, op)
    if size is not None or other_size is not None:
        yield ComparedWorkload(code="size", op=OPS[op], first_bytes=size, other_bytes=other_size)
    runs, other_runs = _sequential(first, op), _sequential(other, op)
    if runs is not None or other_runs is not None:
        yield ComparedWorkload(code="pattern", op=OPS[op], first_share=runs, other_share=other_runs)


def _share(profile: Profile, op: int) -> float:
    return sum(each.events for each in profile.sizes if each.op == op) / profile.events


def _mean_bytes(profile: Profile, op: int) -> float | None:
    """Of the I/Os whose size is known."""
    known = [each for each in profile.sizes if each.op == op and each.size is not None]
    total = sum(each.events for each in known)
    return sum(each.bytes for each in known) / total if total else None


def _sequential(profile: Profile, op: int) -> float | None:
    stream = profile.order.streams.of(op)
    return stream.sequential_requests / stream.requests if stream is not None and stream.requests else None


def _operation(cell: CellDifference) -> ComparedOperation:
    one, two = cell.first.latency, cell.other.latency
    return ComparedOperation(
        op=OPS[cell.op],
        size_bytes=cell.size,
        first_events=cell.first.events,
        other_events=cell.other.events,
        first_mean_ns=one.mean_ns,
        other_mean_ns=two.mean_ns,
        ratio=cell.ratio,
        first_p50_ns=one.quantile_ns(0.5),
        other_p50_ns=two.quantile_ns(0.5),
        first_memory_share=cell.bands[0].first_share,
        other_memory_share=cell.bands[0].other_share,
    )


def _reasons(cell: CellDifference) -> Iterator[BandShare]:
    """A band without I/Os on both sides is left out."""
    for each in cell.bands:
        if each.first_share or each.other_share:
            yield convert(each, BandShare, from_attributes=True)


def _latencies(cell: CellDifference) -> Iterator[LatencyCounts]:
    edges: tuple[int | None, ...] = (*STRIP_NS, None)
    for edge, one, two in zip(edges, strip(cell.first.latency), strip(cell.other.latency), strict=True):
        if one or two:
            yield LatencyCounts(upto_ns=edge, first=one, other=two)


def likeness_of(check: LikenessCheck) -> Likeness:
    """All distances that both profiles know enough for."""
    return Likeness(distances=tuple(convert(each, LoadDistance, from_attributes=True) for each in check.distances))
