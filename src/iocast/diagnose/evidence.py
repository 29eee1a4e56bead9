"""What the storage is, memory or a disk with an arm; and which row a finding is about."""

from __future__ import annotations

from iocast.analyse.facts import Facts
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.service_laws import DiskLaw
from iocast.model.target import Target

# Places that are memory by construction: the device or file system is honest, but it is no storage.
MEMORY_FILESYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
MEMORY_KINDS = frozenset({"zram", "ram", "pmem", "brd"})
VOLATILE_KINDS = MEMORY_KINDS - {"pmem"}  # what they hold is gone when the machine stops

ARM_NS = 1_000_000  # a random read of a disk takes longer: what is quicker is no arm [J]


def memory_words(target: Target) -> str:
    """That the place is memory by construction, fit to follow a colon; "" where it is storage."""
    if target.filesystem in MEMORY_FILESYSTEMS:
        return f"{target.filesystem} keeps its files in memory"
    disks = [layer for layer in target.layers if not layer.lower]
    if disks and all(layer.kind in VOLATILE_KINDS for layer in disks):
        return f"{' and '.join(layer.name for layer in disks)} keeps its blocks in this machine's memory"
    return ""


def row_of(run: Run, finding: Finding) -> PhaseRecord:
    """The measured row that a finding is about; what is about the whole run has none."""
    return next(each for each in run.measured if each.phase.name == finding.phase)


def has_an_arm(facts: Facts) -> bool:
    """True for what is, or takes as long as, a disk with an arm. Guests are told of arms that are not there."""
    target = facts.run.plan.target
    if target.simulated is not None:
        return isinstance(target.simulated.service, DiskLaw)
    reads = [row for row in facts.rows if row.is_only("read") and row.measurement.asked_depth == 1]
    # The median service: a stall, or a wait for what was due before, makes a mean of any length.
    slow = any(row.measurement.ios and row.service().quantile_ns(0.5) > ARM_NS for row in reads)
    return slow and any(layer.rotational for layer in target.layers)
