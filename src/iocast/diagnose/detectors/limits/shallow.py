"""Too few I/Os were outstanding: the row is not the load that its name says.

What it is: users that ended before the others, I/Os that failed or met the end of a file, a generator that was late
or had no CPU, I/Os that end many at a time (merged ones do) and are submitted again one by one.
Why it matters: a row of 32 outstanding I/Os that held 16 is compared with rows that held 32.
How it shows: the mean number of outstanding I/Os is more than a twentieth below users x queue depth.
How to confirm: it is counted; the ends of the users, the errors and the lag of the generator say which it was.
What to change: end rows by time, let all users share one range, look at the errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.analyse.load_kind import refilled_by
from iocast.diagnose import thresholds as limits
from iocast.diagnose.evidence import CPU_WAIT
from iocast.diagnose.limits.by_load import own_threads
from iocast.diagnose.preconditions import MEASURED_HERE, NO_DATABASE, NO_PAUSES, SOME_IOS, Only, rows_for
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord
from iocast.text import brief_percent, brief_time, counted, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (MEASURED_HERE, NO_PAUSES, NO_DATABASE, SOME_IOS)

CODE: FindingCode = "too_few_in_flight"
SPREAD = 0.05  # of the row: users that ended so much earlier than the last


def detect(facts: Facts) -> Iterator[Finding]:
    """Closed rows without think time, or work between statements, that kept less outstanding than asked."""
    for row in rows_for(facts, ONLY):
        record, did = row.record, row.measurement
        share = did.depth_mean / did.asked_depth
        if did.asked_depth < 2 or share >= limits.LOAD.a:
            continue
        yield Finding(
            code=CODE,
            severity="severe" if share < limits.LOAD.d else "warn" if share < limits.LOAD.b else "note",
            phase=record.phase.name,
            says=(
                f"Load not reached: {number(did.depth_mean)} of {did.asked_depth} I/Os were outstanding on average,"
                f" {brief_percent(share)}: {_why(record)}."
            ),
            evidence={
                "asked": did.asked_depth,
                "in_flight": did.depth_mean,
                "queued_ns": did.generator.queued_ns,
                "gap_ns": _gap_ns(did),
            },
            remedy="End rows by time, not by I/Os or bytes; share one range among all users; look for errors.",
        )


def _gap_ns(did: Measurement) -> float:
    """How long a place in the queue stood empty after each I/O."""
    return (did.asked_depth - did.depth_mean) * did.issuing_ns / did.ios


def _why(record: PhaseRecord) -> str:
    did = record.measurement
    ends = sorted(user.last_ns for user in did.users)
    if len(ends) > 1 and ends[0] < (1 - SPREAD) * ends[-1]:
        return f"the first user ended after {brief_time(ends[0])}, the last after {brief_time(ends[-1])}"
    if did.error_count:
        return f"{counted(did.error_count, 'I/O')} failed, and a user pauses after a failure"
    if did.queued_share > CPU_WAIT:
        waited = brief_percent(min(1.0, did.queued_share))
        return f"{own_threads(did.generator.threads)} waited for a CPU {waited} of the time"
    if by_batches := refilled_by(did)[1]:
        return f"the engine refills a queue of this depth by {by_batches} I/Os at a time"
    gap_ns = _gap_ns(did)
    return f"the next I/O was submitted {brief_time(gap_ns)} after each completion"
