"""Stalls: for a moment I/Os did not complete, while all others of the same phase were quick.

What it is: for a tenth of a second or more, or for a hundredth again and again at equal intervals, none of the
outstanding I/Os, or only some, completed; then all went on as before.
Why it matters: averages and even p99 hide it, because few I/Os are issued during a stall; yet each user of the
database waits through it.
How it shows: among the slowest I/Os, some that took 100 ms or more and twenty times the median of their kind, and that
were outstanding at the same time; or five and more of 10 ms and longer, likewise, that recur at equal intervals. The
core records only the slowest I/Os one by one, so with many outstanding one stall may fill the list and hide the others.
A stall during which the generator itself did not run is not the storage's, and is reported apart (generator did not
run).
How to confirm: a longer run, to see whether the stalls recur at equal intervals; the log of the device, the array or
the hypervisor at the same second.
What to change: what runs at that interval: garbage collection, a flush of a write-back cache, path failover,
snapshots, throttling by burst credits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.diagnose.detectors.measurement.absent import explains
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.model.run import PhaseRecord
from iocast.text import brief_time, counted, sentence

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "stalls"
LEAST_NS = 100_000_000  # what a person and a lock time-out begin to notice [J]
OVER_MEDIAN = 20  # disks whose every I/O takes long do not stall [J]
RECURRING_NS, RECURS = 10_000_000, 5  # shorter ones count where they come by a clock, so often [J]
BY_A_CLOCK, FITS = 0.10, 0.9  # of the period may a gap be off; of the gaps must be whole periods [J]
SHOWN = 5

REMEDY = (
    "Run for longer and see whether the stalls recur at equal intervals; then look for what runs at that interval:"
    " the drive's garbage collection, a cache flush, path failover, snapshots, burst credits."
)


class Stall(Struct, frozen=True):
    """From the submission of the first I/O that stood still to the end of the last, since the phase began."""

    start_ns: int
    end_ns: int
    ios: int

    @property
    def duration_ns(self) -> int:
        """How long it lasted."""
        return self.end_ns - self.start_ns


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for each measured phase that stood still while the generator ran."""
    for row in facts.rows:
        found = _told(tuple(each for each in stalls(row) if not explains(row, each.start_ns, each.end_ns)))
        if found:
            yield _finding(row.record, found)


def _told(found: tuple[Stall, ...]) -> tuple[Stall, ...]:
    """Without short ones that come by no clock: the machine may have had a part in the others."""
    return found if period_ns(found) else tuple(each for each in found if each.duration_ns >= LEAST_NS)


@once
def stalls(row: RowFacts) -> tuple[Stall, ...]:
    """The stalls of a phase in order of time: I/Os that stood still and overlap are one."""
    long = _stood_still(row, LEAST_NS)
    if long:
        return long
    short = _stood_still(row, RECURRING_NS)
    return short if period_ns(short) else ()


def period_ns(found: tuple[Stall, ...]) -> int:
    """The equal distance of stalls, of which some may be missing; 0 where they come by no clock.

    By their ends: who stood still was submitted at any time.
    """
    if len(found) < RECURS:
        return 0
    gaps = [after.end_ns - before.end_ns for before, after in pairwise(found)]
    shortest = min(gaps)
    times = [round(gap / shortest) for gap in gaps]
    period = sum(gaps) / sum(times)
    fit = sum(abs(gap / period - count) <= BY_A_CLOCK for gap, count in zip(gaps, times, strict=True))
    return round(period) if fit >= FITS * len(gaps) else 0


def _stood_still(row: RowFacts, least_ns: int) -> tuple[Stall, ...]:
    """I/Os that took so long, and far longer than others of their kind, those that overlap together."""
    late = [io for io in row.measurement.slow if io.service_ns >= least_ns]
    median_ns = {op: row.service(op).quantile_ns(0.5) for op in {io.op for io in late}}
    # A kind of I/O of which none ended without error has no median, and nothing is ever as large as nan.
    stood = sorted((io for io in late if io.service_ns >= OVER_MEDIAN * median_ns[io.op]), key=lambda io: io.time_ns)
    found: list[Stall] = []
    for io in stood:
        end_ns = io.time_ns + io.service_ns
        if found and io.time_ns < found[-1].end_ns:
            last = found[-1]
            found[-1] = Stall(last.start_ns, max(last.end_ns, end_ns), last.ios + 1)
        else:
            found.append(Stall(io.time_ns, end_ns, 1))
    return tuple(found)


def _finding(record: PhaseRecord, found: tuple[Stall, ...]) -> Finding:
    did = record.measurement
    stood = sum(each.ios for each in found)
    full = stood == len(did.slow) >= record.plan.slow_limit
    bounded = (
        f" Only the {len(did.slow)} slowest I/Os are recorded one by one: there may have been more." if full else ""
    )
    period = period_ns(found)
    recur = f" They recur every {brief_time(period)}." if period else ""
    longest = max(each.duration_ns for each in found)
    spans = tuple(Span(each.start_ns, each.end_ns) for each in found)
    clause = f"I/O stalled: {in_words(spans)}"
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"{sentence(clause)}{recur}{bounded}",
        clause=clause,
        evidence={
            "stalls": len(found),
            "longest_ns": longest,
            "stalled_ns": sum(each.duration_ns for each in found),
            "first_at_ns": found[0].start_ns,
            "ios": stood,
            "elapsed_ns": did.elapsed_ns,
            **({"period_ns": period} if period else {}),
        },
        remedy=REMEDY,
        spans=spans,
    )


def in_words(spans: tuple[Span, ...]) -> str:
    """How many stalls, how long and when: "2 stalls of 110 ms to 2.1 s, at t=6.1 s and t=9.0 s"."""
    shortest, longest = (brief_time(pick(each.end_ns - each.start_ns for each in spans)) for pick in (min, max))
    often = counted(len(spans), "stall")
    lasted = longest if shortest == longest else f"{shortest} to {longest}"
    return f"{often} of {lasted}, at {_when(spans)}"


def _when(spans: tuple[Span, ...]) -> str:
    moments = [f"t={brief_time(each.start_ns)}" for each in spans[:SHOWN]]
    if len(spans) > SHOWN:
        return f"{', '.join(moments)} and {len(spans) - SHOWN} more"
    return " and ".join([", ".join(moments[:-1]), moments[-1]]) if len(moments) > 1 else moments[0]
