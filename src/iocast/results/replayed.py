"""Replays become results: the times in the trace and here, how late I/Os were issued, and what was changed."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.statistics import published
from iocast.model.measurement import Measurement, RecordedLatency, ReplayFacts
from iocast.model.results.replay import IssueError, ReplayChange, Replayed, ReplayedRate, ReplayedTime
from iocast.model.run import PhaseRecord, Run

LATE_NS = 1_000_000  # an I/O that is issued later than this after its time is late [J]
SPANS = 20  # rows of the table of rates


def replays(run: Run) -> Iterator[Replayed]:
    """Those of a run, in its order."""
    for record in run.measured:
        facts, did = record.measurement.replay, record.measurement
        if facts is not None:
            yield Replayed(
                phase=record.phase.name,
                events=facts.events,
                recorded_ns=facts.recorded_ns,
                times=tuple(_times(did, facts)),
                issue_error=_issue_error(did),
                rates=tuple(_rates(record, facts)),
                changes=tuple(_changes(facts)),
            )


def _times(did: Measurement, facts: ReplayFacts) -> Iterator[ReplayedTime]:
    recorded = {each.op: each for each in facts.latency}
    for op in dict.fromkeys(each.op for each in did.classes):
        service, there = did.service(op), recorded.get(op)
        yield ReplayedTime(
            op=op,
            ios=service.total,
            trace_p50_ns=published(there.service, 0.5) if there else None,
            trace_p99_ns=published(there.service, 0.99) if there else None,
            trace_may_be_cached_share=may_be_cached_share(there) if there else None,
            service_p50_ns=published(service, 0.5),
            service_p99_ns=published(service, 0.99),
            response_p99_ns=published(did.response(op), 0.99),
        )


def may_be_cached_share(recorded: RecordedLatency) -> float:
    """Of the I/Os with a service time, those that the page cache may have answered: calls not known to be direct."""
    return recorded.may_be_cached / recorded.service.total if recorded.service.total else 0.0


def _issue_error(did: Measurement) -> IssueError | None:
    error = did.issue_error
    if not error.total:
        return None
    return IssueError(
        ios=error.total,
        p50_ns=error.quantile_ns(0.5),
        p99_ns=error.quantile_ns(0.99),
        max_ns=error.max_ns,
        late_share=1.0 - error.share_up_to(LATE_NS),
        generator_p99_ns=did.lag.quantile_ns(0.99) if did.lag.total else None,
    )


def _rates(record: PhaseRecord, facts: ReplayFacts) -> Iterator[ReplayedRate]:
    """I/Os a second, in at most SPANS equal spans: issued in the trace, completed here."""
    replay, interval_ns = record.phase.replay, record.series.interval_ns
    seconds = max(len(facts.due_ios), len(record.series.ios))
    if replay is None or replay.mode == "fast" or not interval_ns or seconds < 2:
        return
    width = -(-seconds // SPANS)
    for start in range(0, seconds, width):
        due, done = facts.due_ios[start : start + width], record.series.ios[start : start + width]
        whole = len(done) == min(width, seconds - start)
        scale = 1e9 / interval_ns
        yield ReplayedRate(
            at_ns=start * interval_ns,
            trace_per_s=sum(due) * scale / min(width, seconds - start),
            here_per_s=sum(done) * scale / len(done) if whole and done else None,
        )


def _changes(facts: ReplayFacts) -> Iterator[ReplayChange]:
    for why, ios in facts.left_out.items():
        yield ReplayChange(ios=ios, change=why)
    if facts.rounded:
        yield ReplayChange(ios=facts.rounded, change="rounded")
    if facts.moved:
        yield ReplayChange(ios=facts.moved, change="moved")
    if facts.independent:
        yield ReplayChange(ios=facts.independent, change="independent")
