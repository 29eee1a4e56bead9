"""Where the time of a row went: before it was sent, in the system, in the kernel's queue, in the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from iocast.model.block_times import BlockDevice, BlockTimes
from iocast.model.histogram import merge
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target

SAME_SIZE = 0.02  # mean sizes of I/Os and requests that differ by more: the kernel merged or split them [J]
OTHERS = 0.10  # bytes that the devices moved beyond those of the row, as a share: others' I/O is in the figures [J]
FEWEST = 30  # requests below which means say nothing [J]

DataOp = Literal["read", "write"]
Inexact = Literal["merged", "cached", "synced", "others", "shared"]


class Whereabouts(Struct, frozen=True, kw_only=True):
    """Mean times of one operation of a row; they add up to the response where `inexact` is empty."""

    phase: str
    op: DataOp
    response_ns: float
    unsent_ns: float  # from when it was due until it was sent: only an open loop has any
    system_ns: float | None  # sent, and neither in the queue nor in the device; None where `inexact` forbids it
    queue_ns: float
    device_ns: float
    queue_p99_ns: float  # nan where no request was in a queue
    device_p99_ns: float
    requests: int  # seen
    size_ratio: float  # mean size of a request over that of an I/O
    watched_share: float
    lost_events: int
    devices: tuple[str, ...]
    inexact: tuple[Inexact, ...] = ()


def whereabouts(run: Run, record: PhaseRecord) -> Iterator[Whereabouts]:
    """One for each of read and write of a row, where enough requests were seen."""
    beside = run.beside(record)
    times = next((each.block for each in beside if each.block is not None), None)
    if times is None:
        return
    devices = lowest(times, run.plan.target)
    for op in ("read", "write"):
        if record.measurement.service(op).total and sum(each.ios(op) for each in devices) >= FEWEST:
            yield _of(record, op, times, devices, shared=len(beside) > 1)


def lowest(times: BlockTimes, target: Target) -> tuple[BlockDevice, ...]:
    """The devices that stand on no other one that was seen: adding up others would count requests twice."""
    lower = {layer.name: layer.lower for layer in target.layers}
    names = {each.name for each in times.devices}

    def below(name: str) -> set[str]:
        return {each for direct in lower.get(name, ()) for each in (direct, *below(direct))}

    return tuple(each for each in times.devices if not below(each.name) & names)


def _of(
    record: PhaseRecord, op: DataOp, times: BlockTimes, devices: tuple[BlockDevice, ...], *, shared: bool
) -> Whereabouts:
    did = record.measurement
    requests = sum(each.ios(op) for each in devices)
    moved = sum(part.bytes for each in devices for part in each.classes if part.op == op)
    asked_bytes = sum(part.bytes for part in did.classes if part.op == op)
    size_ratio = (moved / requests) / (asked_bytes / did.service(op).total)
    queue = [each.times("queue", op) for each in devices]
    device = [each.times("device", op) for each in devices]
    queue_ns, device_ns = (sum(each.sum_ns for each in part) / requests for part in (queue, device))
    response_ns, service_ns = did.response(op).mean_ns, did.service(op).mean_ns
    inexact = tuple(_inexact(record, op, size_ratio, shared, _excess(moved, asked_bytes, times, did)))
    return Whereabouts(
        phase=record.phase.name,
        op=op,
        response_ns=response_ns,
        unsent_ns=max(0.0, response_ns - service_ns),
        system_ns=None if inexact else max(0.0, service_ns - queue_ns - device_ns),
        queue_ns=queue_ns,
        device_ns=device_ns,
        queue_p99_ns=_merged(devices, "queue", op),
        device_p99_ns=_merged(devices, "device", op),
        requests=requests,
        size_ratio=size_ratio,
        watched_share=times.watched_share,
        lost_events=times.lost_events,
        devices=tuple(each.name for each in devices if each.ios(op)),
        inexact=inexact,
    )


def _merged(devices: tuple[BlockDevice, ...], part: Literal["queue", "device"], op: DataOp) -> float:
    return merge(each.times(part, op) for each in devices).quantile_ns(0.99)


def _excess(moved: int, asked_bytes: int, times: BlockTimes, did: Measurement) -> float | None:
    """By which share the devices moved more than the row; None where too little was watched to know."""
    if times.watched_share < 1 or not asked_bytes or did.stopped != "finished":
        return None
    return moved / asked_bytes - 1


def _inexact(
    record: PhaseRecord, op: DataOp, size_ratio: float, shared: bool, excess: float | None
) -> Iterator[Inexact]:
    load = record.phase.workload
    if not load.direct:
        yield "cached"
    if abs(size_ratio - 1) > SAME_SIZE:
        yield "merged"
    if op == "write" and load.sync != "none":
        yield "synced"
    if shared:
        yield "shared"
    elif excess is not None and excess > OTHERS:
        yield "others"
