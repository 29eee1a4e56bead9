"""What trust and the detectors ask of a phase: what it was meant to do, what it did to the device."""

from __future__ import annotations

from iocast.analyse.combined_load import seen_by_devices
from iocast.analyse.device_io import DeviceIo, under_filesystem
from iocast.analyse.places import places
from iocast.model.finding import Finding
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op

# With fewer bytes than this in a whole phase, one stray request would decide the share.
ENOUGH_BYTES = 1 << 20

# Places that are memory by construction: the device or file system is honest, but it is no storage.
MEMORY_FILESYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
MEMORY_KINDS = frozenset({"zram", "ram", "pmem", "brd"})
MOVING: tuple[Op, ...] = ("read", "write")  # operations that move bytes; a trim only names them
VOLATILE_KINDS = MEMORY_KINDS - {"pmem"}  # what they hold is gone when the machine stops


def simulated(run: Run) -> bool:
    """True when the target is the simulated device: its time is virtual and its answers are exact."""
    return run.plan.target.kind == "sim"


def row_of(run: Run, finding: Finding) -> PhaseRecord:
    """The measured row that a finding is about; what is about the whole run has none."""
    return next(each for each in run.measured if each.phase.name == finding.phase)


def really_direct(run: Run, record: PhaseRecord) -> bool:
    """True when direct I/O was asked for, handed to the core, and the target can do it."""
    return record.phase.workload.direct and record.plan.direct and run.plan.target.direct is not False


def is_open_loop(record: PhaseRecord) -> bool:
    """True when I/Os are due at given times, whether earlier ones have ended or not."""
    return not isinstance(record.phase.workload.arrival, Closed)


def paced_rate_per_s(record: PhaseRecord) -> float:
    """Completed I/Os per second that came by the clock: the syncs of `fsync_every` follow their writes."""
    did, load = record.measurement, record.phase.workload
    syncs = sum(part.ios for part in did.classes if load.fsync_every and part.op == load.fsync_op)
    return (did.ios - syncs) * 1e9 / did.elapsed_ns if did.elapsed_ns else 0.0


def bytes_of(measurement: Measurement, op: Op) -> int:
    """Bytes that the engine moved with one operation."""
    return sum(part.bytes for part in measurement.classes if part.op == op)


def bytes_per_s_of(measurement: Measurement, op: Op) -> float:
    """The same a second."""
    return bytes_of(measurement, op) * 1e9 / max(1, measurement.elapsed_ns)


def data_bytes(record: PhaseRecord) -> int:
    """The size of what the phase may touch."""
    return sum(region.size_bytes for region in record.plan.files)


def is_synced(record: PhaseRecord) -> bool:
    """True when writes wait for the device, at once or at a flush: O_SYNC, O_DSYNC, fsync, fdatasync."""
    workload = record.phase.workload
    flushes = workload.fsync_every > 0 or any(item.op in ("fsync", "fdatasync") for item in workload.mix)
    return workload.sync != "none" or flushes


def waits_for_the_device(record: PhaseRecord) -> bool:
    """True for nothing but writes, each of which, or a flush after them, waits until it is durable."""
    return is_synced(record) and all(item.op != "read" for item in record.phase.workload.mix)


def devices_below(run: Run, record: PhaseRecord) -> tuple[DeviceIo, ...]:
    """What must have moved every byte of direct I/O: right under the file system, and all disks together.

    Disks that were not counted, or stand still for another reason than a cache, are left out.
    """
    top = under_filesystem(record, run.plan.target)
    seen = places(record, run.plan.target)
    bottom = seen[-1] if seen else None
    if bottom is None or top is None or bottom.io.layer == top.layer:
        return () if top is None else (top,)
    # Paths of NVMe multipath are not counted by older kernels; under a loop device it is a cache that explains it.
    silent = bottom.io.stood_still and not bottom.cached
    return (top,) if silent else (top, bottom.io)


def share_of_device(run: Run, record: PhaseRecord, op: Op) -> tuple[float, DeviceIo] | None:
    """Bytes that the device moved over bytes that the test did, and where; None when it cannot be told.

    Of the places that all of them must pass, the one that moved the least. Phases that ran at once count together.
    """
    record = seen_by_devices(run, record)
    engine = bytes_of(record.measurement, op)
    if engine < ENOUGH_BYTES:
        return None
    found = [
        (moved / engine, device)
        for device in devices_below(run, record)
        if (moved := device.read_bytes if op == "read" else device.written_bytes) is not None
    ]
    return min(found, key=lambda share: share[0], default=None)
