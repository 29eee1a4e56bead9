"""Measurements of loads that ran at the same time, added up: counts exactly, histograms bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from iocast.model.histogram import merge
from iocast.model.measurement import ClassResult, Measurement


def added(parts: Sequence[Measurement]) -> Measurement:
    """Bytes, I/Os, depth, errors and operations are those of all; the time is that of the longest; what is of the
    process or of the generator is that of the first."""
    classes: dict[tuple[str, int], list[ClassResult]] = {}
    for each in (each for part in parts for each in part.classes):
        classes.setdefault((each.op, each.size_bytes), []).append(each)
    return replace(
        parts[0],
        elapsed_ns=max(part.elapsed_ns for part in parts),
        asked_depth=sum(part.asked_depth for part in parts),
        depth_mean=sum(part.depth_mean for part in parts),
        in_flight_ns=sum(part.in_flight_ns for part in parts),
        ios=sum(part.ios for part in parts),
        bytes=sum(part.bytes for part in parts),
        classes=tuple(_all_of_class(each) for each in classes.values()),
        errors=tuple(error for part in parts for error in part.errors),
        users=tuple(user for part in parts for user in part.users),
    )


def _all_of_class(parts: Sequence[ClassResult]) -> ClassResult:
    return replace(
        parts[0],
        ios=sum(part.ios for part in parts),
        bytes=sum(part.bytes for part in parts),
        short_ios=sum(part.short_ios for part in parts),
        response=merge(part.response for part in parts),
        service=merge(part.service for part in parts),
    )
