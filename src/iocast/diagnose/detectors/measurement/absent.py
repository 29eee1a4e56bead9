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
from iocast.diagnose.limits.own_group import held_by_quota
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.text import brief_time

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "generator_did_not_run"
LEAST_NS = 100_000_000  # as long as a stall of the storage must be to be told [J]
SHOWN = 3
WHY = {
    "queued": "other programs had the processors",
    "stopped": "it was stopped, or the whole machine was",
    "busy": "something in the test itself took that long",
}
CROWD = "other programs, or other threads of the test, had the processors"
QUOTA = "the CPU quota of its control group was used up"
REMEDY = (
    "Run it again on an idle machine, without pauses and CPU limits: these I/Os waited for the test, not the storage."
)


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for each measured phase in which the generator was away for long."""
    for row in facts.rows:
        whole, single = (list(filter(_is_long, spans)) for spans in (_of_all_threads(row), absences(row)))
        if whole or single:
            yield _finding(row, whole or single, "the test" if whole else "a thread of the test")


def _is_long(span: tuple[int, int]) -> bool:
    return span[1] - span[0] >= LEAST_NS


@once
def absences(row: RowFacts) -> list[tuple[int, int]]:
    """The spans in which a thread of the generator did not run, from and to; no two of them overlap.

    Of several threads the longest one counts where theirs overlap: one after the other they are no long absence, as
    the others went on. One thread and its watcher are away together, so theirs are joined.
    """
    generator = row.measurement.generator
    spans = sorted((each.start_ns, each.start_ns + each.duration_ns) for each in generator.absences)
    if generator.threads == 1:
        return _joined(spans)
    apart: list[tuple[int, int]] = []
    for start_ns, end_ns in sorted(spans, key=lambda span: span[0] - span[1]):
        if all(end_ns <= from_ns or to_ns <= start_ns for from_ns, to_ns in apart):
            apart.append((start_ns, end_ns))
    return sorted(apart)


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order of time, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start_ns, end_ns in spans:
        if joined and start_ns <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end_ns))
        else:
            joined.append((start_ns, end_ns))
    return joined


def _of_all_threads(row: RowFacts) -> list[tuple[int, int]]:
    """The spans in which all threads were away; of several, their watcher too: it looks like one of them."""
    generator = row.measurement.generator
    if generator.threads <= 1:
        return absences(row) if generator.threads else []
    turns = sorted(
        turn for each in generator.absences for turn in ((each.start_ns, 1), (each.start_ns + each.duration_ns, -1))
    )
    spans, away, from_ns = [], 0, 0
    for at_ns, more in turns:
        if more > 0 and away == generator.threads:
            from_ns = at_ns
        if more < 0 and away == generator.threads + 1:
            spans.append((from_ns, at_ns))
        away += more
    return spans


def explains(row: RowFacts, start_ns: int, end_ns: int) -> bool:
    """True when the generator was away for at least half of a span. The watcher may notice a tenth of a second late."""

    def within(spans: list[tuple[int, int]]) -> list[int]:
        return [max(0, min(end_ns, to_ns) - max(start_ns, from_ns)) for from_ns, to_ns in spans]

    # Those of all threads add up; of single ones, which may be others each time, one has to do it.
    away = max(sum(within(_of_all_threads(row))), *within(absences(row)), 0)
    return 2 * away >= end_ns - start_ns > 0


def _why(row: RowFacts, cause: str) -> str:
    """Of many threads on few processors those of the test have them, too."""
    if cause == "queued" and held_by_quota(row):
        return QUOTA
    crowd = row.measurement.generator.threads > row.run.host.cpus > 0
    return CROWD if cause == "queued" and crowd else WHY[cause]


def _finding(row: RowFacts, absences: list[tuple[int, int]], who: str) -> Finding:
    record = row.record
    longest = max(record.measurement.generator.absences, key=lambda each: each.duration_ns)
    moments = [f"{brief_time(to_ns - from_ns)} at t={brief_time(from_ns)}" for from_ns, to_ns in absences[:SHOWN]]
    more = f" and {len(absences) - SHOWN} more" if len(absences) > SHOWN else ""
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"This machine, not the storage, stalled: {who} did not run for {', '.join(moments)}{more};"
        f" {_why(row, longest.cause)}.",
        evidence={
            "absences": len(absences),
            "longest_ns": longest.duration_ns,
            "absent_ns": sum(to_ns - from_ns for from_ns, to_ns in absences),
            "first_at_ns": absences[0][0],
        },
        remedy=REMEDY,
        spans=tuple(Span(*each) for each in absences),
    )
