"""Sequential reads are answered by read-ahead.

What it is: the kernel, the drive or the array notices sequential reads, and reads ahead of what was asked for.
Why it matters: right for scans and backups, but a figure of sequential reads then says nothing of single reads, or of
how long a lookup takes.
How it shows: sequential reads take less than half as long as the same reads at random. A disk arm does that by itself
with one reader, but not with two far apart, nor do several striped arms with more readers than arms: their reads are
quick only with read-ahead. Or random buffered reads move
more bytes at the device than were asked for: both ends are counted.
How to confirm: two readers that go forwards, and two that go backwards, on fresh blocks; caches and tiers treat both
alike, read-ahead does not.
What to change: nothing where scans are wanted; report sequential and random reads apart, and compare only like with
like. To measure the device alone: direct I/O, read_ahead_kb = 0, random reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.places import PAGE_BYTES
from iocast.diagnose.evidence import arms, row_of
from iocast.diagnose.preconditions import (
    DIRECT,
    ENOUGH_TO_COMPARE,
    MEASURED_HERE,
    NOT_SHORT_OF_CPU,
    ONLY_READS,
    REAL_DEVICE,
    Only,
    meets,
    pairs_for,
    rows_for,
)
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import Hotspot, MixItem, Sequential, Uniform, Workload, Zipf
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONLY_READS,)

CODE: FindingCode = "read_ahead"
HALF, MORE = 0.5, 1.1  # models C, 6: the time in order over that at random; bytes at the device over those asked for
ROUNDS = 6
READERS = 2


def detect(facts: Facts) -> Iterator[Finding]:
    """Random reads of which the device delivers more than was asked for; reads in order that took less than half as
    long as the same reads at random."""
    for row in rows_for(facts, (*ONLY, MEASURED_HERE, REAL_DEVICE)):
        yield from _more_than_asked(row)
    own = arms(facts)  # each arm is quick with one reader that stays with it for a while
    for one, other in pairs_for(facts, (*ONLY, ENOUGH_TO_COMPARE), "locality"):
        by_kind = {type(each.workload.locality): each for each in (one, other)}
        ordered, random = by_kind.get(Sequential), by_kind.get(Uniform)
        if ordered is None or random is None or one.measurement.asked_depth <= own:
            continue
        if not meets(random, NOT_SHORT_OF_CPU):
            continue
        if ordered.p50_ns < HALF * random.p50_ns and ordered.mean_ns < HALF * random.mean_ns:
            yield _finding(ordered, random)
            return


def _more_than_asked(row: RowFacts) -> Iterator[Finding]:
    """Buffered: what direct reads move beyond their own bytes is other I/O."""
    size = min((item.size_bytes for item in row.workload.mix), default=0)
    if meets(row, DIRECT) or size % PAGE_BYTES or not size:
        return  # of smaller reads a page is read whole
    share_and_device = (
        row.share_of_device("read") if isinstance(row.workload.locality, Uniform | Zipf | Hotspot) else None
    )
    if share_and_device is None or share_and_device[0] <= MORE:
        return
    share, device = share_and_device
    yield Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=f"{device.layer} delivered {number(share)} times the bytes of these random buffered reads: read-ahead, or"
        " blocks of the file system that are larger than the reads.",
        evidence={"device_share": share, "size_bytes": float(size)},
        remedy="Use direct I/O, or set read_ahead_kb to 0 for random reads; compare the file system's block size.",
    )


def _finding(ordered: RowFacts, random: RowFacts) -> Finding:
    ratio = random.p50_ns / ordered.p50_ns
    return Finding(
        code=CODE,
        severity="note",
        phase=ordered.name,
        says=f"Sequential reads: p50 {brief_time(ordered.p50_ns)}; the same reads at random: p50"
        f" {brief_time(random.p50_ns)},"
        f" {number(ratio)} times as long.",
        evidence={"sequential_p50_ns": ordered.p50_ns, "random_p50_ns": random.p50_ns},
        remedy="Report sequential and random reads apart: only scans profit from read-ahead.",
        hypothesis="read-ahead answers the sequential reads",
        confidence=0.6,
        confirm="two readers forwards against two backwards, on fresh blocks",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Two readers forwards and two backwards, each round on ground that was not read before."""
    record = row_of(run, finding)
    load = record.phase.workload
    room = mib_below(target_bytes(run) / (2 * ROUNDS), 64)
    if not room:
        return None
    arms = [
        Arm(
            name=name,
            workload=Workload(
                mix=(MixItem("read", load.mix[0].size_bytes),),
                locality=Sequential(backwards=backwards),
                users=READERS,
                direct=load.direct,
            ),
            seconds=1.5,
            ios=room // load.mix[0].size_bytes,
            region_start_bytes=start,
            region_size_bytes=room,
            step_bytes=2 * room,
        )
        for name, backwards, start in (("forwards", False, 0), ("backwards", True, room))
    ]
    return Experiment(
        question="Are forward reads quicker than backward reads?",
        arms=tuple(arms),
        decision=Decision(statistic="mean", first="backwards", other="forwards", limit=HALF, direction="below"),
        if_confirmed="Read-ahead answers sequential reads.",
        if_rejected="Forward reads were not twice as quick as backward ones: read-ahead explains nothing here.",
    )
