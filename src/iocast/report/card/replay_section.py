"""What a replay did with a trace: how true its times were, what was left out, and how the storage compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from iocast import text
from iocast.model.measurement import DATA, LeftOut, Measurement, ReplayFacts
from iocast.model.report import Section, Table
from iocast.model.results.replay import IssueError, ReplayChange, Replayed, ReplayedRate, ReplayedTime
from iocast.model.run import PhaseRecord, Run
from iocast.report.result_tables import result_table
from iocast.report.wording import section as titled
from iocast.results.replayed import LATE_NS, may_be_cached_share

CACHED_SHARE = 0.5  # of a trace's calls: where the page cache may have answered more, times are not compared [J]
LATE_SHARE = 0.05  # with more than this, a replay did not keep to the times of its trace [J]

CHANGES: dict[LeftOut | Literal["rounded", "moved", "independent"], str] = {
    "not_io": "left out: opens, seeks and other calls that move no data",
    "not_a_read": "left out: not reads: only reads were replayed",
    "other_target": "left out: to other targets of the trace",
    "failed": "left out: failed in the trace",
    "no_time": "left out: without a time",
    "no_place": "left out: without an offset or a size",
    "empty": "left out: of 0 bytes",
    "too_far": "left out: beyond 4 PiB",
    "too_large": "left out: over 1 GiB",
    "rounded": "rounded to whole blocks",
    "moved": "moved to another offset",
    "independent": "waited for no other I/O, issued at their time",
}


def replays(run: Run) -> tuple[PhaseRecord, ...]:
    """The rows that replayed a trace."""
    return tuple(record for record in run.measured if record.measurement.replay is not None)


def section(run: Run, results: Sequence[Replayed]) -> Section | None:
    """The replays of a run; None without any."""
    replayed = replays(run)
    if not replayed:
        return None
    tables = [table for each in results for table in _tables(each)]
    return titled("replay", tuple(sentence(record) for record in replayed), tuple(tables))


def sentence(record: PhaseRecord) -> str:
    """What came of one replay, "" of any other row."""
    facts, replay = record.measurement.replay, record.phase.replay
    if facts is None or replay is None:
        return ""
    did = record.measurement
    what = f"{text.whole(did.ios)} of {text.counted(facts.events, 'event')} of the trace were replayed"
    speed = f" at {text.number(replay.speed)}x speed" if replay.speed != 1.0 else ""
    match replay.mode:
        case "fast":
            said = f"{what} as fast as possible, {_in_all(did, facts)}."
        case "timed":
            said = f"{what} at their times{speed}, {_in_all(did, facts)}. {_timing(did)}"
        case "dependent":
            said = f"{what} with the pauses of the trace{speed}, {_in_all(did, facts)}. {_timing(did)}"
    return " ".join(filter(None, (said, _against(record, facts))))


def _in_all(did: Measurement, facts: ReplayFacts) -> str:
    took, recorded = text.duration(did.elapsed_ns), text.duration(facts.recorded_ns)
    return f"in {took}; the trace spans {recorded}"


def _timing(did: Measurement) -> str:
    """Whether the times were kept, and if not, who was late."""
    error = did.issue_error
    if not error.total:
        return ""
    late = 1.0 - error.share_up_to(LATE_NS)
    if not late:
        return f"Issue times were kept: none was more than 1 ms late (at most {text.duration(error.max_ns)})."
    figures = f"p99 {text.duration(error.quantile_ns(0.99))}, at most {text.duration(error.max_ns)}"
    if late <= LATE_SHARE:
        return f"Issue times were kept: {text.percent(late)} were more than 1 ms late ({figures})."
    own = 1.0 - did.lag.share_up_to(LATE_NS) if did.lag.total else 0.0
    who = (
        "this machine could not issue them in time"
        if own > late / 2
        else f"the storage was slower than the trace: all {did.asked_depth} outstanding I/Os were in use"
    )
    return f"Issue times were not kept: {text.percent(late)} were more than 1 ms late ({figures}); {who}."


def _against(record: PhaseRecord, facts: ReplayFacts) -> str:
    """The busiest operation: how long it took here and there, or why both say nothing of each other."""
    did = record.measurement
    known = [each for each in facts.latency if each.service.total]
    if not known:
        return "The trace has no service times to compare."
    most = max(known, key=lambda each: each.service.total)
    here, there = did.service(most.op), most.service
    if not here.total:
        return ""
    here_p50, there_p50 = (text.duration(each.quantile_ns(0.5)) for each in (here, there))
    cached = may_be_cached_share(most) > CACHED_SHARE
    if cached and record.plan.direct and most.op in DATA:
        return (
            f"{most.op.capitalize()}s are not compared: they were direct here ({here_p50} in the median), and those of"
            f" the trace are not known to be: {there_p50} may be the time of the page cache."
            " --buffered replays them through the page cache."
        )
    if not cached and not record.plan.direct and most.op in DATA:
        return (
            f"{most.op.capitalize()}s are not compared: they were buffered here ({here_p50} in the median), and those"
            f" of the trace were not ({there_p50})."
        )
    return f"Median service time of a {most.op}: {here_p50} here, {there_p50} in the trace."


def _tables(result: Replayed) -> Iterator[Table]:
    yield result_table(ReplayedTime, result.times, key="times", title="Times in the trace and here")
    if result.issue_error is not None:
        yield result_table(
            IssueError, (result.issue_error,), key="issue_error", title="Issue time less the time wanted"
        )
    if result.rates:
        yield result_table(ReplayedRate, result.rates, key="rates", title="IOPS over time")
    if result.changes:
        words: dict[str, Callable[[ReplayChange], str]] = {"change": lambda each: CHANGES[each.change]}
        yield result_table(ReplayChange, result.changes, key="changes", words=words)
