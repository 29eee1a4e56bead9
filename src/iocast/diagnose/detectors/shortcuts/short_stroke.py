"""The disk was short-stroked: the test used only a small part of it.

What it is: random I/O on less than half of a rotating disk: seeks are short, and the outer tracks are the fastest.
Why it matters: a database that fills the disk seeks across all of it; its random reads take up to twice as long.
How it shows: the test's files, or the part of the device that it used, are small beside the disk.
How to confirm: the same reads over the tested part and over the whole disk, in turns.
What to change: test over as much of the disk as production will use.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.analyse.load_kind import data_bytes, region
from iocast.diagnose.evidence import has_an_arm, row_of
from iocast.diagnose.preconditions import ONLY_READS, PAST_THE_HOST, Only, rows_for
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Uniform, Workload
from iocast.text import brief_percent, capacity

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONLY_READS, PAST_THE_HOST)

CODE: FindingCode = "short_stroke"
SPAN = 0.5  # models C, 17
LONGER = 1.15  # models C, 17


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding when no row of random I/O went over half of a rotating disk."""
    disk = _disk_bytes(facts.run)
    if not disk or not has_an_arm(facts):
        return
    reads = [row.record for row in rows_for(facts, ONLY) if isinstance(row.workload.locality, Uniform)]
    if not reads:
        return
    widest = max(reads, key=data_bytes)
    share = data_bytes(widest) / disk
    if share < SPAN:
        yield Finding(
            code=CODE,
            severity="warn",
            phase=widest.phase.name,
            says=f"Short-stroked: the test used {capacity(data_bytes(widest))}, {brief_percent(share)} of a rotating"
            f" disk of {capacity(disk)}.",
            evidence={"span_bytes": float(data_bytes(widest)), "disk_bytes": float(disk), "share": share},
            remedy="Test over as much of the disk as production will use.",
            hypothesis="seeks are shorter than they will be in production",
            confidence=0.8,
            confirm="run the same reads over the whole disk, which needs the device itself and not a file on it",
            state="suggested",
        )


def _disk_bytes(run: Run) -> int:
    """Bytes of all disks below the target together; 0 when not known."""
    target = run.plan.target
    if target.kind == "sim":
        return target.size_bytes or 0
    sizes = [layer.size_bytes for layer in target.layers if not layer.lower]
    return sum(size or 0 for size in sizes) if all(sizes) else 0


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The reads over what was tested, and over all; a file has no more than was tested."""
    if run.plan.target.kind not in ("sim", "block"):
        return None
    record = row_of(run, finding)
    return _compared(record)


def _compared(record: PhaseRecord) -> Experiment:
    start, size = region(record)
    reads = Workload(mix=(MixItem("read", record.phase.workload.mix[0].size_bytes),))
    part = Arm(name="tested part", workload=reads, seconds=3.0, region_start_bytes=start, region_size_bytes=size)
    return Experiment(
        question="Do the same reads over the whole disk take longer?",
        arms=(part, Arm(name="whole disk", workload=reads, seconds=3.0)),
        decision=Decision(statistic="p50", first="tested part", other="whole disk", limit=LONGER, direction="above"),
        if_confirmed="Short-stroked: over the whole disk a read takes {ratio} times as long.",
        if_rejected="Reads over the whole disk take about as long: the length of seeks does not decide.",
    )
