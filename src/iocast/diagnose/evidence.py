"""What trust and the detectors ask of a phase: what it was meant to do, what it did to the device."""

from __future__ import annotations

from iocast.analyse.device import under_filesystem
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op

# With fewer bytes than this in a whole phase, one stray request would decide the share.
ENOUGH_BYTES = 1 << 20

# Places that are memory by construction: the device or file system is honest, but it is no storage.
MEMORY_FILESYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
MEMORY_KINDS = frozenset({"zram", "ram", "pmem", "brd"})

# These spread over several devices or compress by themselves: device bytes need not equal file bytes.
RESHAPING_FILESYSTEMS = frozenset({"btrfs", "zfs", "bcachefs", "overlay", "f2fs"})


def simulated(run: Run) -> bool:
    """True when the target is the simulated device: its time is virtual and its answers are exact."""
    return run.plan.target.kind == "sim"


def really_direct(run: Run, record: PhaseRecord) -> bool:
    """True when direct I/O was asked for, handed to the core, and the target can do it."""
    return record.phase.workload.direct and record.plan.direct and run.plan.target.direct is not False


def only_reads(record: PhaseRecord) -> bool:
    """True when the phase asks for reads and nothing else."""
    return all(item.op == "read" for item in record.phase.workload.mix)


def is_open_loop(record: PhaseRecord) -> bool:
    """True when I/Os are due at given times, whether earlier ones have ended or not."""
    return not isinstance(record.phase.workload.arrival, Closed)


def bytes_of(measurement: Measurement, op: Op) -> int:
    """Bytes that the engine moved with one operation."""
    return sum(part.bytes for part in measurement.classes if part.op == op)


def data_bytes(record: PhaseRecord) -> int:
    """The size of what the phase may touch."""
    return sum(region.size_bytes for region in record.plan.files)


def read_share_of_device(run: Run, record: PhaseRecord) -> float | None:
    """Bytes that the device delivered over bytes that the test read; None when it cannot be told."""
    return _share(run, record, "read")


def written_share_of_device(run: Run, record: PhaseRecord) -> float | None:
    """Bytes that the device took over bytes that the test wrote; None when it cannot be told."""
    return _share(run, record, "write")


def _share(run: Run, record: PhaseRecord, op: Op) -> float | None:
    device = under_filesystem(record, run.plan.target)
    engine = bytes_of(record.measurement, op)
    if device is None or engine < ENOUGH_BYTES:
        return None
    seen = device.read_bytes if op == "read" else device.written_bytes
    return None if seen is None else seen / engine
