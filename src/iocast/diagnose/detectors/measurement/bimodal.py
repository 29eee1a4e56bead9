"""The times of a row have two or more peaks: the mean describes no I/O.

What it is: two kinds of answers in one row, as of a cache and of the disks behind it, or of a device that sometimes
does something else first.
Why it matters: a mean, or a median, between two peaks describes neither; a service level between them is met or missed
by the share of each.
How it shows: the distribution has peaks with a real valley between them (a kernel density over the logarithm; in the
histogram of another tool, which must hold counts, a bucket with fewer I/Os than chance would leave). Peaks that a
coarse clock makes are told by that finding alone; on a machine short of CPU the slower one may be waits for a CPU.
How to confirm: it is counted. Which I/Os are in which peak: by region, by operation, by time.
What to change: report the peaks with their shares, never the mean alone; look for what makes the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.modes import Mode
from iocast.diagnose.evidence import starved_sentence
from iocast.diagnose.preconditions import ALONE, CLOSED_LOOP, NOT_SHORT_OF_CPU, ONLY_READS, PAST_THE_HOST, Only, meets
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.text import brief_percent, brief_time

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "several_peaks"
APART = 2.0  # peaks nearer to each other do not mislead [J]
SHARE = 0.02  # of the I/Os, in each of them [J]
TOLD = "Report the peaks with their shares; look for what distinguishes their I/Os."
TOLD_OF_READS = (
    "Report the peaks with their shares. Hits and misses of a cache in front of the medium would give such peaks:"
    " `iocast diagnose` reads single blocks repeatedly beside random ones to test that."
)
IN_TURN = "Look for what changed at that time, and measure longer: a mean over both describes neither."
NEAR = 0.8  # of the rate that one peak alone would give [J]
STARVED = "Measure again with CPUs to spare; peaks that stay are the storage's."


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of one operation of one size whose times have more than one peak."""
    for row in facts.rows:
        record, times = row.record, row.response()
        one_kind = len(record.phase.workload.mix) == 1 and not record.phase.workload.fsync_every
        if not one_kind or (times.coarse is not None and not times.coarse.holds_counts):
            continue
        tall = [mode for mode in row.modes if mode.share >= SHARE]
        if len(tall) < 2 or tall[-1].location_ns < APART * tall[0].location_ns:
            continue
        gap_ns = max(after.location_ns - before.location_ns for before, after in pairwise(tall))
        peaks = [f"{brief_percent(mode.share)} around {brief_time(mode.location_ns)}" for mode in tall]
        shape = "are bimodal" if len(tall) == 2 else f"have {len(tall)} peaks"
        starved = not meets(row, NOT_SHORT_OF_CPU)
        whose = f" {starved_sentence(row)}; the slower I/Os may have waited for a CPU." * starved
        in_turn = _in_turn(row, tall)
        when = ", one after the other: the storage changed within the row" * in_turn
        remedy = TOLD_OF_READS if meets(row, ONLY_READS, PAST_THE_HOST) else TOLD
        yield Finding(
            code=CODE,
            severity="note",
            phase=record.phase.name,
            says=f"The times {shape}: {', '.join(peaks[:-1])} and {peaks[-1]}{when}.{whose}",
            evidence={
                "peaks": len(tall),
                "mean_ns": times.mean_ns,
                "widest_gap_ns": gap_ns,
                "short_of_cpu": float(starved),
            },
            remedy=STARVED if starved else IN_TURN if in_turn else remedy,
        )


def _in_turn(row: RowFacts, peaks: list[Mode]) -> bool:
    """Whether a closed loop went as fast as the quick peak alone lets it for an interval, and as slowly as the slow one
    for another: hits and misses lie side by side in each."""
    rates = row.rates_per_s
    if len(rates) < 2 or not meets(row, CLOSED_LOOP, ALONE):
        return False
    quick, slow = (row.measurement.depth_mean * 1e9 / mode.location_ns for mode in (peaks[0], peaks[-1]))
    return max(rates) >= NEAR * quick and min(rates) <= slow / NEAR
