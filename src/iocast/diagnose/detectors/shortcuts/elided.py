"""Reads of holes, blocks that were never written, are answered without the medium.

What it is: holes, unwritten extents, trimmed or thin space: there are no data to fetch, so zeros come back immediately.
Why it matters: the test measured an answer that no row of a database will ever get.
How it shows: reads of blocks that were never written are much quicker than reads of written ones; below a loop device,
or any other layer that knows of the hole, the disk reads nothing.
How to confirm: where a disk below was counted, this is confirmed already. Else write random data to one part, leave
another untouched, and read both in turns, on fresh blocks each time.
What to change: fill everything with incompressible data before reading any of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ENOUGH_TO_COMPARE,
    NEVER_STILL,
    NEW_FILES,
    NOT_SHORT_OF_CPU,
    ONLY_READS,
    PAST_THE_HOST,
    Only,
    meets,
    pairs_for,
)
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import MixItem, Sequential, Workload
from iocast.text import brief_percent, brief_time

NEEDS: tuple[str, ...] = ()
# Of two means one would be that of a stall.
ONLY: Only = (NEW_FILES, ONLY_READS, PAST_THE_HOST, ENOUGH_TO_COMPARE, NEVER_STILL)

CODE: FindingCode = "elided_reads"
# models C, 9 says a half. The way through a loop device is half of a quick read, and a hole has to go it too. [J]
QUICKER = 0.67
PROVEN = 0.8  # by the whole interval: it is told which parts were written, so chance has no part in it [J]
NOT_READ, READ = 0.05, 0.5  # of the bytes, at the device below a layer that knows of the hole [J]
ROUNDS = 6


def detect(facts: Facts) -> Iterator[Finding]:
    """What two rows show."""
    pair = _paired(facts)
    if pair is not None:
        yield pair


def _paired(facts: Facts) -> Finding | None:
    """Rows of the same reads on a part that the run had written, and on one that it had not."""
    for one, other in pairs_for(facts, ONLY, "region"):
        alike = one.region[1] == other.region[1]  # or a cache, or a short way of an arm, would make the difference
        if not alike:
            continue
        written = [each for each in (one, other) if each.written_before]
        fresh = [each for each in (one, other) if not each.written_before]
        finding = _finding(fresh[0], written[0]) if written and fresh else None
        if finding is not None:
            return finding
    return None


def _finding(fresh: RowFacts, written: RowFacts) -> Finding | None:
    """By what the device was seen to read, which proves it, or by the times, which only suggest it."""
    fresh_ns, written_ns = fresh.mean_ns, written.mean_ns
    times = {"untouched_ns": fresh_ns, "written_ns": written_ns, "ratio": fresh_ns / written_ns}
    took = f"took {brief_time(fresh_ns)}, reads of blocks that this run wrote {brief_time(written_ns)}"
    certain = Finding(
        code=CODE,
        severity="void",
        phase=fresh.name,
        says=f"Reads of blocks that were never written {took}.",
        evidence=times,
        remedy="Fill everything with unique data first: reads of holes measure nothing.",
    )
    share, later = fresh.device_share_of_reads, written.device_share_of_reads
    if share is not None and later is not None and share < NOT_READ and later > READ:
        counted = (
            f"The device read {brief_percent(share)} of the former's bytes and {brief_percent(later)} of the latter's."
        )
        return replace(certain, says=f"{certain.says} {counted}", evidence={**times, "device_share": share})
    if times["ratio"] >= QUICKER or not meets(written, NOT_SHORT_OF_CPU):
        return None
    return replace(
        certain,
        state="suggested",
        hypothesis="the storage knows of the holes and answers without the medium",
        confidence=0.7,
        confirm="write one part, leave another untouched, and read both",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """A part is written, and read in turns with one beside it that is not; each round on new ground."""
    half = target_bytes(run) // 2 >> 20 << 20
    size = mib_below(half / (2 * ROUNDS), 64)
    record = row_of(run, finding)
    if not size:
        return None
    reads = Workload(mix=(MixItem("read", record.phase.workload.mix[0].size_bytes),))
    writes = Workload(mix=(MixItem("write", min(size, 1 << 20)),), locality=Sequential(), depth=4)
    written = Arm(
        name="written",
        workload=reads,
        seconds=1.5,
        region_start_bytes=half,
        region_size_bytes=size,
        step_bytes=2 * size,
    )
    return Experiment(
        question="Are reads of blocks that were never written quicker than reads of written ones?",
        arms=(
            replace(written, name="writing", workload=writes, seconds=5.0, bytes=size, measured=False),
            written,
            replace(written, name="never written", region_start_bytes=half + size),
        ),
        keep_order=True,
        decision=Decision(statistic="mean", first="written", other="never written", limit=PROVEN, direction="below"),
        if_confirmed="Holes are answered without the medium.",
        if_rejected="Never written or written makes no difference.",
    )
