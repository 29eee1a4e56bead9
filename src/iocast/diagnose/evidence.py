"""What the storage is, memory or a disk with an arm; which row a finding is about; who kept a row from running."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.analyse.comparison import Ratio, ab_ratio
from iocast.analyse.facts import Facts, RowFacts, once
from iocast.diagnose.limits.own_group import held_by_quota, quota_share
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target
from iocast.text import brief_percent, sentence

# Places that are memory by construction: the device or file system is honest, but it is no storage.
MEMORY_FILESYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
MEMORY_KINDS = frozenset({"zram", "ram", "pmem", "brd"})
VOLATILE_KINDS = MEMORY_KINDS - {"pmem"}  # what they hold is gone when the machine stops

SMALL_BYTES = 64 << 10  # larger ones may fill the bandwidth alone [J]
ARM_NS = 1_000_000  # a random read of a disk takes longer: what is quicker is no arm [J]
CPU_FREE = 0.15  # of all processor time; with less, what is ready waits for a processor [J]
NO_TIME = 0.005  # of all processor time
CPU_WAIT = 0.10  # of the time of the test's threads [J]
LEAST_INTERVALS = 3  # of a row, for a scatter [J]


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
    """True for what takes as long as a disk with an arm, and is not said to be none. Guests are told of arms that are
    not there, and nobody says anything of a simulated device.
    """
    target = facts.run.plan.target
    single = [row for row in facts.rows if row.only_reads and row.measurement.asked_depth == 1]
    # The transfer of a large I/O may take as long as a seek.
    small = [row for row in single if max(item.size_bytes for item in row.workload.mix) <= SMALL_BYTES]
    # The median service: a stall, or a wait for what was due before, makes a mean of any length. A row that waited for
    # a processor took as long as that.
    slow = any(
        row.measurement.ios and row.service().quantile_ns(0.5) > ARM_NS and not waited_for_a_processor(row)
        for row in small or single
    )
    return slow and (facts.simulated or any(layer.rotational for layer in target.layers))


def arms(facts: Facts) -> int:
    """How many disks with an arm share the work, as far as that is known: 0 for storage without any."""
    if not has_an_arm(facts):
        return 0
    layers = facts.run.plan.target.layers
    return max(1, sum(bool(layer.rotational) and not layer.lower for layer in layers))


@once
def waited_for_a_processor(row: RowFacts) -> bool:
    """True when next to no processor time was left while a row ran, for the machine or for the test's own threads.

    Never of what another tool measured, nor of virtual time: there nobody knows, or nobody waits.
    """
    if row.facts.imported or row.facts.simulated:
        return False
    free = row.processors.idle_share
    return row.measurement.queued_share > CPU_WAIT or (free is not None and free < CPU_FREE)


def starved_sentence(row: RowFacts) -> str:
    """That a row was short of processor time, by whom."""
    words = cpu_words(row)
    return sentence(words)[:-1] if held_by_quota(row) else f"This machine was short of CPU: {words}"


def cpu_words(row: RowFacts) -> str:
    """How short of processor time a row was, fit to follow a colon."""
    if held_by_quota(row):
        used = brief_percent(quota_share(row))
        return f"the CPU quota of the test's control group was used up in {used} of its periods"
    waited, free = row.measurement.queued_share, row.processors.idle_share
    if waited > CPU_WAIT or free is None:
        return f"the test's threads waited for a CPU {brief_percent(min(1.0, waited))} of the time"
    return f"only {brief_percent(free)} of the CPU time was free" if free >= NO_TIME else "no CPU time was free"


def times_ratio(one: RowFacts, other: RowFacts) -> Ratio:
    """The mean time of `other` over that of `one`, by their intervals, in which a stall is one of many."""
    series = one.record.series.responses_ns, other.record.series.responses_ns
    return _ratio(*series, (one.mean_ns, other.mean_ns))


def bytes_ratio(one: RowFacts, other: RowFacts) -> Ratio:
    """The throughput of `other` over that of `one`, in the same way."""
    whole = one.measurement.bytes_per_s, other.measurement.bytes_per_s
    return _ratio(one.record.series.bytes, other.record.series.bytes, whole)


def _ratio(first: Sequence[float], second: Sequence[float], whole: tuple[float, float]) -> Ratio:
    """With too few intervals, or one in which nothing completed, that of the whole rows, which has no ends."""
    if min(len(first), len(second)) < LEAST_INTERVALS or min(*first, *second) <= 0:
        return ab_ratio(whole[:1], whole[1:])
    return ab_ratio(first, second)
