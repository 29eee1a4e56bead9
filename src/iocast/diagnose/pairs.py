"""Rows of a run that differ in one thing only, and which parts of the target its rows have written."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from iocast.diagnose.evidence import really_direct, simulated
from iocast.model.run import PhaseRecord, Run
from iocast.model.service_laws import DiskLaw
from iocast.model.workload import Op

ARM_NS = 1_000_000  # a random read of a disk takes longer: what is quicker is no arm [J]


def pairs(run: Run, but: str = "") -> Iterator[tuple[PhaseRecord, PhaseRecord]]:
    """Measured rows with answers, the earlier first, that are alike in all but the field `but`, and differ in that.

    `but` is a field of the workload, "region", or "" for rows that are alike in everything.
    """
    if run.source is not None:  # what other tools leave out cannot be held equal
        return
    rows = [record for record in run.measured if record.measurement.ios]
    for at, later in enumerate(rows):
        for earlier in rows[:at]:
            one, other = _marks(earlier), _marks(later)
            if all((one[field] == other[field]) != (field == but) for field in one):
                yield earlier, later


def groups(run: Run) -> list[list[PhaseRecord]]:
    """Measured rows that are alike in everything, in order, each kind in a list."""
    found: list[list[PhaseRecord]] = []
    if run.source is not None:
        return found
    for record in run.measured:
        alike = next((group for group in found if _marks(group[0]) == _marks(record)), None)
        if alike is None:
            found.append([record])
        else:
            alike.append(record)
    return found


def _marks(record: PhaseRecord) -> dict[str, object]:
    return {**asdict(record.phase.workload), "region": region(record), "together": record.phase.together}


def region(record: PhaseRecord) -> tuple[int, int]:
    """First byte and size of what a row may touch, of each file."""
    return record.phase.region_start_bytes, min((part.size_bytes for part in record.plan.files), default=0)


def only(record: PhaseRecord, op: Op) -> bool:
    """True when the row asks for this operation and nothing else."""
    return all(item.op == op for item in record.phase.workload.mix)


def p50_ns(record: PhaseRecord) -> float:
    """The median response of a row."""
    return record.measurement.response().quantile_ns(0.5)


def mean_ns(record: PhaseRecord) -> float:
    """The mean response of a row."""
    return record.measurement.response().mean_ns


def written_before(run: Run, record: PhaseRecord) -> bool:
    """True when an earlier phase of the run wrote to any part of what a row may touch, and none trimmed it since."""
    start, size = region(record)
    written = False
    for earlier in run.phases:
        if earlier is record or earlier.phase.name == record.phase.name:
            break
        begin, length = region(earlier)
        if earlier.phase.workload.writes and begin < start + size and start < begin + length:
            written = not earlier.phase.workload.trims
    return written


def past_the_host(run: Run, record: PhaseRecord) -> bool:
    """True when the page cache of this machine has no part in a row."""
    return simulated(run) or really_direct(run, record)


def has_an_arm(run: Run) -> bool:
    """True for what is, or takes as long as, a disk with an arm. Guests are told of arms that are not there."""
    device = run.plan.target.simulated
    if device is not None:
        return isinstance(device.service, DiskLaw)
    reads = [record for record in run.measured if only(record, "read") and record.measurement.asked_depth == 1]
    # The median service: a stall, or a wait for what was due before, makes a mean of any length.
    slow = any(record.measurement.ios and record.measurement.service().quantile_ns(0.5) > ARM_NS for record in reads)
    return slow and any(layer.rotational for layer in run.plan.target.layers)


def target_bytes(run: Run) -> int:
    """Bytes of each file, or of the device, that experiments may use."""
    target = run.plan.target
    whole = target.size_bytes if target.kind == "block" else None
    return whole or max((region(record)[0] + region(record)[1] for record in run.phases), default=0)


def mib_below(size_bytes: float, most_mib: int) -> int:
    """So many bytes in whole MiB, at the most `most_mib` of them; 0 when there is not one."""
    return min(most_mib, int(size_bytes) >> 20) << 20
