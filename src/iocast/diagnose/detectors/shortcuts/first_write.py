"""The first write of a block costs more than the second.

What it is: space that is allocated, mapped or cleared on first write: thin volumes, snapshots, copy on write.
Why it matters: a new database pays for first writes, an old one does not; a test shows one or the other, and seldom
says which.
How it shows: the same writes to the same blocks are quicker the second time; a test that reaches the end of fresh
space speeds up suddenly.
How to confirm: write fresh blocks, then the same again, in turns, each time where nothing was ever written.
What to change: write every block before measuring, or preallocate fully (thick, eager-zeroed); report the first pass
apart where growth matters. New flash is the other way round: it is quicker while it is fresh.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import MixItem, Stride, Workload
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "first_write_penalty"
SUGGESTS = 1.25  # of one pair, whose ratio is not exact [J]
COSTS = 1.1  # [J] models C, 8 has 1.5, which is plain at once; in turns a tenth can be told from nothing
ENOUGH = 50  # I/Os [J]
STEP_BYTES = 1 << 20  # from one write to the next: further than any unit of allocation but the largest
WRITE_BYTES = 64 << 10
MOST_ROUNDS = 6


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that wrote the same places twice, and the first time took longer."""
    if facts.run.files_whole:
        return
    for first, second in facts.pairs():
        enough = min(first.measurement.ios, second.measurement.ios) >= ENOUGH
        if not first.only_writes or not enough or first.written_before:
            continue
        ratio = first.p50_ns / second.p50_ns
        if ratio > SUGGESTS:
            yield Finding(
                code=CODE,
                severity="warn",
                phase=first.name,
                says=f"First writes were {number(ratio)} times as slow: p50 {brief_time(first.p50_ns)}, against"
                f" {brief_time(second.p50_ns)} when the same blocks were written again.",
                evidence={"first_p50_ns": first.p50_ns, "second_p50_ns": second.p50_ns, "ratio": ratio},
                remedy="Write every block before measuring, or preallocate the volume; report first writes apart.",
                hypothesis="space is allocated or copied on first write",
                confidence=0.7,
                confirm="write blocks that were never written, and then the same again",
                state="suggested",
            )
            return


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Fresh places and the same once more, on new ground in every round; the far half is the least likely written."""
    half = target_bytes(run) // 2 >> 20 << 20
    size = mib_below(half / MOST_ROUNDS, 256)
    if size < 32 * STEP_BYTES:
        return None
    writes = Workload(mix=(MixItem("write", WRITE_BYTES),), locality=Stride(STEP_BYTES))
    first, second = (
        Arm(
            name=name,
            workload=writes,
            seconds=5.0,
            ios=size // STEP_BYTES,
            region_start_bytes=half,
            region_size_bytes=size,
            step_bytes=size,
        )
        for name in ("first writes", "second writes")
    )
    return Experiment(
        question="Do first writes take longer than the same writes repeated?",
        arms=(first, second),
        keep_order=True,
        decision=Decision(statistic="p50", first="second writes", other="first writes", limit=COSTS, direction="above"),
        if_confirmed="The first write of a block takes {ratio} times as long as the second.",
        if_rejected="First writes cost no more than others, as far as these blocks were fresh.",
    )
