"""The load generator itself did not run: I/Os outstanding then say nothing of the storage.

What it is: for a tenth of a second or more the load threads were stopped, had no processor, or were busy with
something else; the outstanding I/Os look slow, and those that were due were submitted late.
Why it matters: it looks exactly like a stall of the device, and the device gets the blame.
How it shows: a worker that spent long between two system calls, a timer that expired long before, time that the kernel
counted as ready without a processor, or a watcher that was woken late.
How to confirm: run it again on an idle machine; watch steal time, the CPU limits of the control group, and pauses of
the virtual machine (snapshots, migration).
What to change: give the test dedicated processors.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.model.run import PhaseRecord
from iocast.text import brief_time

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "generator_did_not_run"
LEAST_NS = 100_000_000  # as long as a stall of the storage must be to be told [J]
SHOWN = 3
WHY = {
    "queued": "other programs had the processors",
    "stopped": "it was stopped, or the whole machine was",
    "busy": "something in the test itself took that long",
}
REMEDY = (
    "Run it again on an idle machine, without pauses and CPU limits: these I/Os waited for the test, not the storage."
)


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for each measured phase in which the generator was away for long."""
    for row in facts.rows:
        found = [span for span in absences(row) if span[1] - span[0] >= LEAST_NS]
        if found:
            yield _finding(row.record, found)


@once
def absences(row: RowFacts) -> list[tuple[int, int]]:
    """The spans in which a thread of the generator did not run, from and to, those that overlap as one."""
    spans: list[tuple[int, int]] = []
    for each in sorted(row.measurement.generator.absences, key=lambda each: each.start_ns):
        end_ns = each.start_ns + each.duration_ns
        if spans and each.start_ns <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end_ns))
        else:
            spans.append((each.start_ns, end_ns))
    return spans


def explains(row: RowFacts, start_ns: int, end_ns: int) -> bool:
    """True when the generator was away for at least half of a span. The watcher may notice a tenth of a second late."""
    away = sum(max(0, min(end_ns, to_ns) - max(start_ns, from_ns)) for from_ns, to_ns in absences(row))
    return 2 * away >= end_ns - start_ns > 0


def _finding(record: PhaseRecord, found: list[tuple[int, int]]) -> Finding:
    longest = max(record.measurement.generator.absences, key=lambda each: each.duration_ns)
    moments = [f"{brief_time(to_ns - from_ns)} at t={brief_time(from_ns)}" for from_ns, to_ns in found[:SHOWN]]
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"This machine, not the storage, stalled: the test did not run for {', '.join(moments)}{more};"
        f" {WHY[longest.cause]}.",
        evidence={
            "absences": len(found),
            "longest_ns": longest.duration_ns,
            "absent_ns": sum(to_ns - from_ns for from_ns, to_ns in found),
            "first_at_ns": found[0][0],
        },
        remedy=REMEDY,
        spans=tuple(Span(*each) for each in found),
    )
