"""Rows of which block requests were seen, made by hand."""

from __future__ import annotations

from makers.card_runs import histogram, measurement, part, record
from msgspec.structs import replace

from iocast.model.block_times import BlockClass, BlockDevice, BlockTimes, DeviceNumber
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Uniform, Workload

WORKLOAD = Workload(mix=(MixItem("read", 8192),), locality=Uniform())


def block(ios: int = 100, size_bytes: int = 8192, name: str = "vda", watched_ns: int = 10, lost: int = 0) -> BlockTimes:
    """Requests of which half queued for 20 µs, and each was 300 µs in the device."""
    each = BlockClass(
        op="read",
        size_bytes=size_bytes,
        ios=ios,
        bytes=ios * size_bytes,
        queue=histogram((20_000, ios // 2)),
        device=histogram((300_000, ios)),
        total=histogram((310_000, ios)),
    )
    disk = BlockDevice(device=DeviceNumber(254, 0), name=name, classes=(each,))
    return BlockTimes(elapsed_ns=10, watched_ns=watched_ns, lost_events=lost, devices=(disk,))


def row(times: BlockTimes | None, service_ns: int = 400_000, response_ns: int = 400_000) -> PhaseRecord:
    """100 reads of 8k."""
    did = measurement([part("read", 8192, histogram((response_ns, 100)), histogram((service_ns, 100)))])
    return replace(record("reads", WORKLOAD, did), block=times)
