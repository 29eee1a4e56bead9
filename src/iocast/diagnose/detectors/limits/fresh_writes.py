"""Reads of what was written a moment ago take longer than reads of older data.

What it is: storage that moves, folds or verifies what it has just taken: flash that reads back from a fast area while
it is being folded, a log-structured layer that merges, a copy or checksum that is not done yet.
Why it matters: a database reads back what it has just written (checkpoints, index splits, replicas); a read test on
data of yesterday does not show it.
How it shows: reads of a region that the run had written take at least half as long again as reads of one of the same
size that it had not. Or the slowest random reads after the files were laid out lie at their very end.
How to confirm: write one part and read it, beside reads of as much elsewhere. Those come first, so that a device which
is still busy with the writes makes them the slower ones; and they lie where the slow reads were: so does a slow place.
What to change: measure reads after the usual writes as well; look for a setting of the layer that delays its work.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.detectors.limits import slow_region
from iocast.diagnose.evidence import row_of, times_ratio
from iocast.diagnose.preconditions import (
    CLOSED_LOOP,
    ENOUGH_TO_COMPARE,
    MEASURED_HERE,
    NEVER_STILL,
    NOT_SHORT_OF_CPU,
    ONLY_READS,
    PAST_THE_HOST,
    Only,
    pairs_for,
)
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Sequential, Workload
from iocast.text import brief_time

NEEDS: tuple[str, ...] = ()
ONLY: Only = (
    MEASURED_HERE,
    CLOSED_LOOP,
    ONLY_READS,
    PAST_THE_HOST,
    NOT_SHORT_OF_CPU,
    NEVER_STILL,
    ENOUGH_TO_COMPARE,
)

CODE: FindingCode = "fresh_writes"
SLOWER = 1.5  # than reads of older data [J]
AT_THE_END = 0.98  # of the files: what a layout wrote last
ROUNDS = 3
MOST_MIB = 64  # of a part


def detect(facts: Facts) -> Iterator[Finding]:
    """A pair of rows that shows it; or else the end of files that this run laid out. One finding tells."""
    yield from _of_a_pair(facts) or _at_the_end(facts)


def _of_a_pair(facts: Facts) -> tuple[Finding, ...]:
    """The same reads of a region that the run had written, and of another one as large."""
    for pair in pairs_for(facts, ONLY, "region"):
        written = [row for row in pair if row.written_before]
        older = [row for row in pair if not row.written_before]
        if not written or not older or written[0].region[1] != older[0].region[1]:
            continue
        apart = times_ratio(older[0], written[0])
        if (apart.ratio if apart.low is None else apart.low) >= SLOWER:
            says = (
                f"Reads of blocks that this run had written took {brief_time(written[0].mean_ns)}, reads of as much"
                f" older data {brief_time(older[0].mean_ns)}."
            )
            times = {
                "written_ns": written[0].mean_ns,
                "older_ns": older[0].mean_ns,
                "ratio": apart.ratio,
                "slow_at_bytes": float(written[0].region[0]),
            }
            return (_finding(written[0].record, says, times),)
    return ()


def _at_the_end(facts: Facts) -> tuple[Finding, ...]:
    """Slow reads at the very end of files that were laid out just before."""
    if not any(record.phase.role == "fill" for record in facts.run.phases):
        return ()
    for row, stretch in slow_region.slow_stretches(facts):
        start, size = row.region
        if stretch.end_bytes >= start + AT_THE_END * size and not _wrote_before(facts, row):
            says = (
                f"The slowest reads lie in what was written last, the end of the work file: {stretch.within} of"
                f" {stretch.slow}."
            )
            return (_finding(row.record, says, {"slow_at_bytes": float(stretch.end_bytes)}),)
    return ()


def _wrote_before(facts: Facts, row: RowFacts) -> bool:
    """Whether a row before it wrote, so that the end of the files was not what was written last."""
    return any(earlier.workload.writes for earlier in facts.rows[: facts.rows.index(row)])


def _finding(record: PhaseRecord, says: str, evidence: dict[str, float]) -> Finding:
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=says,
        evidence=evidence,
        remedy="Measure reads after the usual writes as well; look for a setting of the layer that delays its work.",
        hypothesis="what was written a moment ago is read more slowly than older data",
        confidence=0.85,  # asked before the place, whose reads would be slow as well
        confirm="write a part and read it, beside reads of as much elsewhere",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """In each round a new part is written, as much elsewhere is read, then the part. It lies in the half that was not
    slow: if the other one is, what is older takes longer.
    """
    half = target_bytes(run) // 2 >> 20 << 20
    size = mib_below(half / ROUNDS / 2, MOST_MIB)
    if not size:
        return None
    block_bytes = max(item.size_bytes for item in row_of(run, finding).phase.workload.mix if item.op == "read")
    at = 0 if finding.evidence["slow_at_bytes"] >= half else half
    written = Arm(
        name="just written",
        workload=Workload(mix=(MixItem("read", block_bytes),)),
        seconds=1.5,
        region_start_bytes=at,
        region_size_bytes=size,
        step_bytes=size,
    )
    older = replace(written, name="older", region_start_bytes=half - at)
    writes = Workload(mix=(MixItem("write", min(size, 1 << 20)),), locality=Sequential(), depth=4)

    def writing(arm: Arm, name: str) -> Arm:
        return replace(arm, name=name, workload=writes, seconds=5.0, bytes=size, measured=False)

    # Files of our own were written when they were laid out; elsewhere what was never written may need no read at all.
    first = () if run.plan.target.kind == "directory" else (writing(older, "writing what will be older"),)
    return Experiment(
        question="Do reads of what was just written take longer than reads of as much older data?",
        arms=(
            *first,
            writing(written, "writing"),
            older,
            written,
        ),
        keep_order=True,
        rounds=ROUNDS,
        decision=Decision(statistic="mean", first="older", other="just written", limit=SLOWER, direction="above"),
        if_confirmed="Reads of what was just written take {ratio} times as long.",
        if_rejected="Just written or older makes no difference.",
    )
