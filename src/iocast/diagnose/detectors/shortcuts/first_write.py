"""The first write of a block costs more than the second.

What it is: space that is allocated, mapped or cleared on first write: thin volumes, snapshots, copy on write.
Why it matters: a new database pays for first writes, an old one does not; a test shows one or the other, and seldom
says which.
How it shows: the same writes to the same blocks are quicker the second time; a test that reaches the end of fresh
space speeds up suddenly; or of writes in order one in so many is slow, and all random ones are.
How to confirm: write fresh blocks, then the same again, in turns, each time where nothing was ever written.
What to change: write every block before measuring, or preallocate fully (thick, eager-zeroed); report the first pass
apart where growth matters. New flash is the other way round: it is quicker while it is fresh.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.evidence import has_an_arm
from iocast.diagnose.preconditions import ENOUGH_TO_COMPARE, NEW_FILES, ONLY_WRITES, Only, applies, meets, pairs_for
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import MixItem, Sequential, Stride, Workload
from iocast.text import brief_percent, brief_time, capacity, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (NEW_FILES, ONLY_WRITES)

CODE: FindingCode = "first_write_penalty"
SUGGESTS = 1.25  # of one pair, whose ratio is not exact [J]
COSTS = 1.1  # [J] models C, 8 has 1.5, which is plain at once; in turns a tenth can be told from nothing
LEAST_SHARE, OFF = 0.01, 0.15  # of the slow writes; how far beside one in a power of two their share may be [J]
APART, AS_SLOW = 4.0, 0.7  # times the quick ones; of the slow ones random writes take at least [J]
ALL_OF_THEM = 0.98  # of the second writes
STEP_BYTES = 1 << 20  # from one write to the next: further than any unit of allocation but the largest
WRITE_BYTES = 64 << 10
MOST_ROUNDS = 6


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that wrote the same places twice, and the first time took longer."""
    if not applies(facts, ONLY):
        return
    for first, second in pairs_for(facts, (*ONLY, ENOUGH_TO_COMPARE)):
        if first.written_before:
            continue
        ratio = first.p50_ns / second.p50_ns
        if ratio > SUGGESTS:
            yield Finding(
                code=CODE,
                severity="warn",
                phase=first.name,
                says=f"First writes were {_times(first, second)}: p50 {brief_time(first.p50_ns)}, against"
                f" {brief_time(second.p50_ns)} {_again(first, second)}.",
                evidence={
                    "first_p50_ns": first.p50_ns,
                    "second_p50_ns": second.p50_ns,
                    "ratio": ratio,
                    "repeated_share": _repeated(first, second),
                },
                remedy="Write every block before measuring, or preallocate the volume; report first writes apart.",
                hypothesis="space is allocated or copied on first write",
                confidence=0.7,
                confirm="write blocks that were never written, and then the same again",
                state="suggested",
            )
            return
    yield from _in_order(facts)


def _in_order(facts: Facts) -> Iterator[Finding]:
    """Writes in order of which one in so many is slow, as the first in each unit that is allocated, where random writes
    of that size, each in a unit of its own, are all as slow."""
    scattered = [curve.points[0] for curve in facts.random_curves("write")]
    for row in () if has_an_arm(facts) else facts.rows:
        peaks = [mode for mode in row.modes if mode.share >= LEAST_SHARE]
        load = row.workload
        if len(peaks) != 2 or not meets(row, *ONLY) or not isinstance(load.locality, Sequential) or row.written_before:
            continue
        (quick, slow), size = peaks, load.mix[0].size_bytes
        one_in = 2 ** round(-math.log2(slow.share))
        if len(load.mix) > 1 or one_in < 2 or abs(slow.share * one_in - 1) > OFF:
            continue
        same = [each for each in scattered if each.record.phase.workload.mix[0].size_bytes == size]
        alike = any(each.response.quantile_ns(0.5) >= AS_SLOW * slow.location_ns for each in same)
        if not alike or slow.location_ns < APART * quick.location_ns:
            continue
        yield Finding(
            code=CODE,
            severity="warn",
            phase=row.name,
            says=f"One in {one_in} of the writes in order took about {brief_time(slow.location_ns)}, the others"
            f" {brief_time(quick.location_ns)}, and random writes took as long each: as where each"
            f" {capacity(one_in * size)} is allocated at its first write.",
            evidence={"first_p50_ns": slow.location_ns, "second_p50_ns": quick.location_ns, "one_in": float(one_in)},
            remedy="Write every block before measuring, or preallocate the volume; report first writes apart.",
            hypothesis="space is allocated or copied on first write",
            confidence=0.5,
            confirm="write blocks that were never written, and then the same again",
            state="suggested",
        )
        return


def _repeated(first: RowFacts, second: RowFacts) -> float:
    """Which share of the second row's writes, in the same order, met what the first one had written."""
    return min(1.0, first.measurement.ios / second.measurement.ios)


def _times(first: RowFacts, second: RowFacts) -> str:
    least = "at least " if _repeated(first, second) < ALL_OF_THEM else ""
    return f"{least}{number(first.p50_ns / second.p50_ns)} times as slow"


def _again(first: RowFacts, second: RowFacts) -> str:
    """What the second row was: a row with an end in time comes further when it is quicker, and meets fresh blocks."""
    share = _repeated(first, second)
    if share >= ALL_OF_THEM:
        return "when the same blocks were written again"
    return f"in a second row over the same blocks, of which {brief_percent(share)} were written again, others first"


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
