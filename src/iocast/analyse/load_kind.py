"""What kind of load a phase is: open or closed, direct, durable, what it may touch; and how much of it was done."""

from __future__ import annotations

from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op

REFILLED = "refilled by "  # a flag of the engine
MOVING: tuple[Op, ...] = ("read", "write")  # operations that move bytes; a trim only names them


def simulated(run: Run) -> bool:
    """True when the target is the simulated device: its time is virtual and its answers are exact."""
    return run.plan.target.kind == "sim"


def really_direct(run: Run, record: PhaseRecord) -> bool:
    """True when direct I/O was asked for, handed to the core, and the target can do it."""
    return record.phase.workload.direct and record.plan.direct and run.plan.target.direct is not False


def is_open_loop(record: PhaseRecord) -> bool:
    """True when I/Os are due at given times, whether earlier ones have ended or not."""
    return not isinstance(record.phase.workload.arrival, Closed)


def paced_ios(record: PhaseRecord) -> int:
    """Completed I/Os that came by the clock, or after a pause: the syncs of `fsync_every` follow their writes."""
    did, load = record.measurement, record.phase.workload
    return did.ios - sum(part.ios for part in did.classes if load.fsync_every and part.op == load.fsync_op)


def paced_rate_per_s(record: PhaseRecord) -> float:
    """The same per second."""
    did = record.measurement
    return paced_ios(record) * 1e9 / did.elapsed_ns if did.elapsed_ns else 0.0


def refilled_by(measurement: Measurement) -> tuple[int, str]:
    """How many free places of a deep queue the engine waits for before it submits, and how it says so: "2 to 4"
    (decision 12). 1 and "" where each is filled at once."""
    for flag in measurement.engine.flags:
        if flag.startswith(REFILLED):
            said = flag.removeprefix(REFILLED)
            return int(said.split()[0]), said
    return 1, ""


def paced_unit(record: PhaseRecord) -> str:
    """What a rate of the row counts: writes where their syncs only follow them, all operations where syncs are some."""
    load = record.phase.workload
    if load.tree_only or any(item.op in ("fsync", "fdatasync") for item in load.mix):
        return "operations/s"
    return "writes/s" if load.fsync_every and only(record, "write") else "IOPS"


def bytes_of(measurement: Measurement, op: Op) -> int:
    """Bytes that the engine moved with one operation."""
    return sum(part.bytes for part in measurement.classes if part.op == op)


def bytes_per_s_of(measurement: Measurement, op: Op) -> float:
    """The same a second."""
    return bytes_of(measurement, op) * 1e9 / max(1, measurement.elapsed_ns)


def data_bytes(record: PhaseRecord) -> int:
    """The size of what the phase may touch."""
    if record.plan.tree is not None:
        return record.plan.tree.size_bytes
    return sum(region.size_bytes for region in record.plan.files)


def region(record: PhaseRecord) -> tuple[int, int]:
    """First byte and size of what a row may touch, of each file."""
    return record.phase.region_start_bytes, min((part.size_bytes for part in record.plan.files), default=0)


def only(record: PhaseRecord, op: Op) -> bool:
    """True when the row asks for this operation and nothing else."""
    return all(item.op == op for item in record.phase.workload.mix)


def is_synced(record: PhaseRecord) -> bool:
    """True when writes wait for the device, at once or at a flush: O_SYNC, O_DSYNC, fsync, fdatasync."""
    workload = record.phase.workload
    flushes = workload.fsync_every > 0 or any(item.op in ("fsync", "fdatasync") for item in workload.mix)
    return workload.sync != "none" or flushes


def waits_for_the_device(record: PhaseRecord) -> bool:
    """True for nothing but writes, each of which, or a flush after them, waits until it is durable."""
    return is_synced(record) and all(item.op != "read" for item in record.phase.workload.mix)
