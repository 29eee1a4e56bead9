"""A cache inside the drive, the controller or the array answers part of the reads.

What it is: random reads whose times fall into two groups, of which the quick one is too quick for the medium.
Why it matters: the share of quick answers depends on how small the test is beside the cache; a database of
another size sees other figures.
How it shows: some of the random reads take a small part of the time of the others, and more so on media that
cannot be that quick.
How to confirm: read a small region again and again, and the whole of the data at random, in turns: when the small
region is twice as quick, something remembers it.
What to change: ten times as much data as the cache, or the size of the real working set; report both groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.statistics import bucket_shares
from iocast.diagnose.evidence import data_bytes, only_reads, really_direct, simulated
from iocast.diagnose.words import percent, time
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Uniform, Workload

NEEDS: tuple[str, ...] = ()

NAME = "cache in the storage"
FLOOR_NS = 500_000  # no disk reads at random below this (models C, 1b)
ENOUGH = 200  # reads, for a share of two in a hundred to be more than chance [J]
SHARE = 0.02  # of the reads
APART = 4.0  # the slow group takes so many times as long as the quick one [J]
SMALL_BYTES = 16 << 20  # smaller than any array's cache, larger than what a drive reads ahead at once
TWICE = 0.5  # models C, 1b: the small set over the cold reads; by the mean, since half of the cold ones may hit too


def detect(run: Run) -> Iterator[Finding]:
    """Rows of direct random reads with a quick and a slow group."""
    for record in run.measured:
        if not (only_reads(record) and isinstance(record.phase.workload.locality, Uniform)):
            continue
        if not (really_direct(run, record) or simulated(run)) or record.measurement.asked_depth > 1:
            continue
        found = _groups(record)
        if found is not None:
            yield _finding(record, *found)


def _groups(record: PhaseRecord) -> tuple[float, float, float] | None:
    """The share of reads below the floor, and the medians of both groups; None when there is one group only."""
    response = record.measurement.response("read")
    if response.total < ENOUGH:
        return None
    quick, _ = bucket_shares(response, (FLOOR_NS,))
    if not SHARE <= quick <= 1 - SHARE:
        return None
    low, high = response.quantile_ns(quick / 2), response.quantile_ns(quick + (1 - quick) / 2)
    return (quick, low, high) if high >= APART * low else None


def _finding(record: PhaseRecord, quick: float, low_ns: float, high_ns: float) -> Finding:
    return Finding(
        name=NAME,
        severity="warn",
        phase=record.phase.name,
        says=f"{percent(quick)} of the reads took about {time(low_ns)}, the others about {time(high_ns)}.",
        evidence={"quick_share": quick, "quick_ns": low_ns, "slow_ns": high_ns},
        remedy="Test with ten times as much data as the cache, or with the size of the real working set.",
        hypothesis="a cache inside the drive, the controller or the array answers part of the reads",
        confidence=0.7,
        confirm="read a small region again and again beside cold random reads, and compare the medians",
        state="suggested",
        rivals=("tiers",),
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """A small region, read until it must be remembered, against the whole."""
    record = next(each for each in run.measured if each.phase.name == finding.phase)
    size = record.phase.workload.mix[0].size_bytes
    if data_bytes(record) < 8 * SMALL_BYTES:
        return None
    reads = Workload(mix=(MixItem("read", size),), depth=1)
    small = Arm(name="a small region", workload=reads, region_size_bytes=SMALL_BYTES)
    return Experiment(
        question="Is a small region that was just read quicker than reads from everywhere?",
        prepare=(Arm(name="a small region", workload=reads, seconds=4.0, region_size_bytes=SMALL_BYTES),),
        arms=(small, Arm(name="everywhere", workload=reads)),
        decision=Decision(statistic="mean", first="everywhere", other="a small region", limit=TWICE, direction="below"),
        if_confirmed="Something between the file system and the medium remembers what was read.",
        if_rejected="Nothing remembers what was read: the two groups have another reason.",
    )
