"""Runs made by hand, whose every figure is known: the material of the tests of the study."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cache
from statistics import NormalDist
from typing import Any

from iocast.model.histogram import Histogram, bucket_index
from iocast.model.measurement import (
    ClassResult,
    EngineReport,
    ErrorCount,
    ErrorPlace,
    Measurement,
    SlowIo,
    UserResult,
)
from iocast.model.plan import FileRegion, Length, Phase, PhasePlan, Plan, WorkFiles
from iocast.model.run import MARKS, Blind, Host, OpSeries, PhaseRecord, Run, Sample, Series
from iocast.model.service_laws import ConstantLaw
from iocast.model.simulated_device import SimulatedDevice
from iocast.model.target import Layer, Target
from iocast.model.workload import Closed, MixItem, Op, Poisson, Sequential, Uniform, Workload

GIB = 1 << 30
SECOND_NS = 1_000_000_000
START_UNIX_NS = 1_790_000_000 * SECOND_NS


def histogram(*pairs: tuple[float, int]) -> Histogram:
    """A histogram of (value in ns, how often)."""
    counts: dict[int, int] = {}
    values = [(round(value), count) for value, count in pairs if count]
    for value, count in values:
        counts[bucket_index(value)] = counts.get(bucket_index(value), 0) + count
    if not values:
        return Histogram()
    order = sorted(counts)
    return Histogram(
        tuple(order),
        tuple(counts[index] for index in order),
        sum(value * count for value, count in values),
        float(sum(value * value * count for value, count in values)),
        min(value for value, _ in values),
        max(value for value, _ in values),
    )


def lognormal(total: int, median_ns: float, sigma: float) -> Histogram:
    """`total` values that lie as a lognormal distribution does, the same every time, in an object of its own."""
    return copy(_lognormal(total, median_ns, sigma))


@cache
def _lognormal(total: int, median_ns: float, sigma: float) -> Histogram:
    steps = min(total, 4000)
    normal = NormalDist()
    share, rest = divmod(total, steps)
    values = [median_ns * 2.718281828 ** (sigma * normal.inv_cdf((step + 0.5) / steps)) for step in range(steps)]
    return histogram(*((value, share + (step < rest)) for step, value in enumerate(values)))


def part(op: Op, size_bytes: int, times: Histogram, service: Histogram | None = None) -> ClassResult:
    """What one operation of one size did."""
    return ClassResult(op, size_bytes, times.total, times.total * size_bytes, 0, times, service or times)


def measurement(classes: Iterable[ClassResult], *, users: int = 1, depth: int = 1, **changes: Any) -> Measurement:
    """A measurement that lasted exactly as long as Little's law wants for users x depth."""
    parts = tuple(classes)
    busy_ns = sum(each.service.sum_ns for each in parts)
    elapsed_ns = changes.pop("elapsed_ns", max(1, busy_ns // (users * depth)))
    ios = sum(each.ios for each in parts)
    fields: dict[str, Any] = {
        "engine": EngineReport("uring"),
        "started_unix_ns": START_UNIX_NS,
        "elapsed_ns": elapsed_ns,
        "asked_depth": users * depth,
        "asked_rate_per_s": None,
        "issuing_ns": elapsed_ns,
        "depth_mean": busy_ns / elapsed_ns,
        "in_flight_ns": float(busy_ns),
        "ios": ios,
        "bytes": sum(each.bytes for each in parts),
        "stopped": "finished",
        "abandoned_ios": 0,
        "classes": parts,
        "lag": histogram((300, max(1, ios))),
        "errors": (),
        "slow": (),
        "users": tuple(UserResult(ios // users, elapsed_ns) for _ in range(users)),
        "cpu_user_ns": elapsed_ns // 100,
        "cpu_system_ns": elapsed_ns // 50,
    }
    return Measurement(**{**fields, **changes})


def steady_series(did: Measurement, seconds: int = 300) -> Series:
    """A row that ran evenly for five minutes, whatever the measurement says of its length."""
    ios, moved = max(1, did.ios // seconds), did.bytes // seconds
    return Series(
        interval_ns=SECOND_NS,
        ios=(max(10, ios),) * seconds,
        bytes=(moved,) * seconds,
        response_ns=(did.response().sum_ns // seconds,) * seconds,
        ops=tuple(
            _steady_op(did, op, seconds)
            for op in dict.fromkeys(each.op for each in did.classes if each.response.total and not each.response.coarse)
        ),
    )


def _steady_op(did: Measurement, op: Op, seconds: int) -> OpSeries:
    """Every second the same: no I/O depends on another."""
    times = did.response(op)
    up_to = tuple((round(q * 1000),) * seconds for q in MARKS)
    return OpSeries(op=op, ios=(1000,) * seconds, response_ns=(round(times.mean_ns) * 1000,) * seconds, up_to=up_to)


def diskstats(elapsed_ns: int, *, layer: str = "vda1", **deltas: float) -> tuple[Sample, ...]:
    """The samples of one layer right before and right after a load, by how far each counter went."""
    before = 1_000_000.0
    return tuple(
        Sample(START_UNIX_NS + at, "diskstats", layer, metric, before + (delta if at else 0))
        for at in (0, elapsed_ns)
        for metric, delta in deltas.items()
    )


def honest_device(did: Measurement, *, layer: str = "vda1", journal: float = 0.0) -> tuple[Sample, ...]:
    """A device that saw exactly what the engine did, and `journal` times as many writes on top."""
    reads = [each for each in did.classes if each.op == "read"]
    writes = [each for each in did.classes if each.op == "write"]
    more = 1 + journal
    return diskstats(
        did.elapsed_ns,
        layer=layer,
        reads=sum(each.ios for each in reads),
        reads_merged=0,
        read_bytes=sum(each.bytes for each in reads),
        read_ns=sum(each.service.sum_ns for each in reads),
        writes=round(more * sum(each.ios for each in writes)),
        writes_merged=0,
        written_bytes=round(more * sum(each.bytes for each in writes)),
        write_ns=sum(each.service.sum_ns for each in writes),
        queue_ns=sum(each.service.sum_ns for each in did.classes),
    )


def record(
    name: str, workload: Workload, did: Measurement, samples: tuple[Sample, ...] | None = None, **changes: Any
) -> PhaseRecord:
    """A phase that was run as asked; without `samples` the device saw exactly what the engine did."""
    length = Length(seconds=10.0)
    test = changes.pop("test", name.split()[0])
    role = changes.pop("role", "measure")
    files = changes.pop("files", (FileRegion("/mnt/db/iocast.0", 0, 8 * GIB),))
    plan = PhasePlan(
        name=name,
        role=role,
        engine="uring",
        files=files,
        mix=workload.mix,
        locality=workload.locality,
        arrival=workload.arrival,
        users=workload.users,
        depth=workload.depth,
        direct=workload.direct,
        sync=workload.sync,
        fsync_every=workload.fsync_every,
        payload=workload.payload,
        length=length,
        interval_ns=SECOND_NS,
        seed=1,
    )
    phase = Phase(name=name, test=test, workload=workload, length=length, role=role)
    seen = honest_device(did) if samples is None else samples
    series = changes.pop("series", steady_series(did))
    return PhaseRecord(phase=phase, plan=plan, measurement=did, samples=seen, series=series)


def reads(
    name: str = "randread 8k",
    *,
    size_bytes: int = 8192,
    times: Histogram | None = None,
    sequential: bool = False,
    samples: tuple[Sample, ...] | None = None,
    users: int = 1,
    depth: int = 1,
    direct: bool = True,
    think_ns: int = 0,
    **changes: Any,
) -> PhaseRecord:
    """A phase of nothing but reads in a closed loop."""
    workload = Workload(
        mix=(MixItem("read", size_bytes),),
        locality=Sequential() if sequential else Uniform(),
        arrival=Closed(think_ns),
        users=users,
        depth=depth,
        direct=direct,
    )
    found = times if times is not None else lognormal(40_000, 240_000, 0.3)
    did = measurement((part("read", size_bytes, found),), users=users, depth=depth, **changes)
    return record(name, workload, did, samples)


def fill(size_bytes: int = 8 * GIB) -> PhaseRecord:
    """The phase that wrote the files in full."""
    workload = Workload(mix=(MixItem("write", 1 << 20),), locality=Sequential(), depth=8)
    count = size_bytes >> 20
    did = measurement((part("write", 1 << 20, histogram((4e6, count))),), depth=8)
    return record("fill", workload, did, role="fill")


def commits(name: str = "commit 4k") -> PhaseRecord:
    """One log writer, each write through to the medium; the journal writes as much again and half."""
    workload = Workload(mix=(MixItem("write", 4096),), locality=Sequential(), sync="dsync")
    did = measurement((part("write", 4096, lognormal(11_000, 850_000, 0.25)),))
    return record(name, workload, did, honest_device(did, journal=1.5))


def mixed(name: str = "mixed 8k") -> PhaseRecord:
    """Seven reads to three writes, and a flush now and then, at four users of depth sixteen."""
    items = (MixItem("read", 8192, 70), MixItem("write", 8192, 30), MixItem("fsync", 0, 0.5))
    workload = Workload(mix=items, users=4, depth=16)
    parts = (
        part("read", 8192, lognormal(140_000, 2_600_000, 0.5)),
        part("write", 8192, lognormal(60_000, 3_400_000, 0.6)),
        part("fsync", 0, lognormal(900, 9_000_000, 0.4)),
    )
    did = measurement(parts, users=4, depth=16)
    return record(name, workload, did, honest_device(did, journal=0.004))


def paced(name: str = "paced 8k") -> PhaseRecord:
    """An open loop that fell behind: responses are longer than services."""
    workload = Workload(mix=(MixItem("read", 8192),), arrival=Poisson(3000.0), users=4, depth=16)
    service = lognormal(28_800, 260_000, 0.3)
    did = measurement(
        (part("read", 8192, lognormal(28_800, 700_000, 0.8), service),),
        users=4,
        depth=16,
        elapsed_ns=10 * SECOND_NS,
        asked_rate_per_s=3000.0,
    )
    return record(name, workload, did)


VDA1 = Layer(
    name="vda1",
    kind="partition",
    major=254,
    minor=1,
    lower=("vda",),
    size_bytes=200 * GIB,
    logical_block_bytes=512,
    physical_block_bytes=4096,
    rotational=False,
)
VDA = Layer(
    name="vda",
    kind="disk",
    major=254,
    minor=0,
    size_bytes=200 * GIB,
    rotational=False,
    scheduler="mq-deadline",
    write_cache="write back",
    max_io_bytes=1280 << 10,
    queue_depth=256,
    model="SSD 970",
    link="PCIe 8.0 GT/s x4",
    link_bytes_per_s=3_938_000_000,
)

TARGET = Target(
    path="/mnt/db",
    kind="directory",
    mount_point="/mnt/db",
    filesystem="ext4",
    mount_source="/dev/vda1",
    mount_options="rw,relatime",
    free_bytes=120 * GIB,
    total_bytes=196 * GIB,
    direct=True,
    layers=(VDA1, VDA),
)

SIMULATED = Target(
    path="sim:ssd",
    kind="sim",
    size_bytes=64 * GIB,
    simulated=SimulatedDevice(size_bytes=64 * GIB, service=ConstantLaw(240_000), servers=8),
)

HOST = Host(
    name="db01",
    kernel="Linux 6.1.0",
    cpus=8,
    cpu_model="EPYC 7302",
    memory_bytes=32 * GIB,
    memory_bytes_per_s=9_000_000_000,
    virtualisation="KVM",
)


def run(*phases: PhaseRecord, target: Target = TARGET, **changes: Any) -> Run:
    """A run of these phases."""
    plan = Plan(
        name="card quick",
        target=target,
        phases=tuple(each.phase for each in phases),
        files=WorkFiles(1, 8 * GIB),
    )
    fields: dict[str, Any] = {"host": HOST, "started_unix_ns": START_UNIX_NS, "status": "done"}
    return Run(plan=plan, phases=phases, **{**fields, **changes})


def size_ladder(*sizes_bytes: int) -> Run:
    """Scans at several sizes under two loads; the heavier one does four times as many I/Os in the same time."""
    return run(
        *(
            reads(f"scan {size} {users}x1", size_bytes=size, users=users, times=lognormal(4000 * users, 240_000, 0.3))
            for users in (1, 4)
            for size in sizes_bytes
        )
    )


def quick_card() -> Run:
    """The run of a sound SSD: what a newcomer sees first."""
    return run(
        fill(),
        reads("randread 8k", times=lognormal(40_000, 240_000, 0.3)),
        reads("randread 8k x 8", users=8, times=lognormal(220_000, 330_000, 0.35)),
        reads("randread 8k 4 x 16", users=4, depth=16, times=lognormal(400_000, 1_450_000, 0.45)),
        reads("read 1M", size_bytes=1 << 20, sequential=True, times=lognormal(5_200, 1_900_000, 0.15)),
        reads(
            "read 1M x 4",
            size_bytes=1 << 20,
            sequential=True,
            users=4,
            times=lognormal(9_300, 4_200_000, 0.3),
        ),
        commits(),
        mixed(),
        paced(),
    )


def troubled_card() -> Run:
    """A run in which much went wrong: a cache, errors, a stall, strangers, too few I/Os."""
    cached = lognormal(40_000, 9_000, 0.2)
    cached_did = measurement((part("read", 8192, cached),))
    stranger = measurement((part("read", 1 << 20, lognormal(900, 1_900_000, 0.15)),))
    broken = ErrorCount("write", 5, "EIO", 17, (ErrorPlace(2_400_000_000, 0, 5_368_709_120),))
    slow = SlowIo(6_100_000_000, "read", 0, 1_234_567_168, 8192, 2_140_000_000, 2_139_990_000)
    stalled = histogram((240_000, 39_999), (2_140_000_000, 1))
    return run(
        fill(),
        record(
            "randread 8k",
            Workload(mix=(MixItem("read", 8192),)),
            cached_did,
            diskstats(cached_did.elapsed_ns, reads=4_800, read_bytes=4_800 * 8192, writes=0, written_bytes=0),
        ),
        reads("randread 8k x 8", users=8, times=stalled, slow=(slow,)),
        record(
            "read 1M",
            Workload(mix=(MixItem("read", 1 << 20),), locality=Sequential()),
            stranger,
            diskstats(
                stranger.elapsed_ns,
                reads=1_100,
                read_bytes=1_050 << 20,
                writes=400,
                written_bytes=20 << 20,
                queue_ns=stranger.elapsed_ns,
            ),
        ),
        record(
            "commit 4k",
            Workload(mix=(MixItem("write", 4096),), locality=Sequential(), sync="dsync"),
            measurement((part("write", 4096, lognormal(600, 9_850_000, 0.25)),), errors=(broken,)),
        ),
        reads("short 8k", times=lognormal(15, 8_000_000, 0.2)),
        blind=(Blind("pressure", "the kernel has no /proc/pressure (CONFIG_PSI)"),),
        warnings=("Another resync may start: md127 is due to be checked on Sunday",),
    )
