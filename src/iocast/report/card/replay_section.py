"""What a replay did with a trace: how true its times were, what was left out, and how the storage compares."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.statistics import published
from iocast.model.measurement import LeftOut, Measurement, ReplayFacts
from iocast.model.report import Column, Row, Section, Table
from iocast.model.run import PhaseRecord, Run
from iocast.report.charts import charts_at
from iocast.report.wording import section as titled

LATE_NS = 1_000_000  # an I/O that is issued later than this after its time is late [J]
LATE_SHARE = 0.05  # with more than this, a replay did not keep to the times of its trace [J]
SPANS = 20  # rows of the table of rates

REASONS: dict[LeftOut, str] = {
    "not_io": "opens, seeks and other calls that move no data",
    "not_a_read": "not reads: only reads were replayed",
    "other_target": "to other targets of the trace",
    "failed": "failed in the trace",
    "no_time": "without a time",
    "no_place": "without an offset or a size",
    "empty": "of 0 bytes",
    "too_far": "beyond 4 PiB",
    "too_large": "over 1 GiB",
}


def section(run: Run, *, charts: bool = False) -> Section | None:
    """The replays of a run, with charts where wanted; None without any."""
    replayed = [record for record in run.measured if record.measurement.replay is not None]
    if not replayed:
        return None
    tables = [table for record in replayed for table in _tables(record, record.measurement.replay)]
    drawn = tuple(chart for record in replayed for chart in charts_at("replay", record)) if charts else ()
    return titled("replay", tuple(sentence(record) for record in replayed), tuple(tables), drawn)


def sentence(record: PhaseRecord) -> str:
    """What came of one replay, "" of any other row."""
    facts, asked = record.measurement.replay, record.phase.replay
    if facts is None or asked is None:
        return ""
    did = record.measurement
    what = f"{text.whole(did.ios)} of {text.counted(facts.events, 'event')} of the trace were replayed"
    speed = f" at {text.number(asked.speed)}x speed" if asked.speed != 1.0 else ""
    match asked.mode:
        case "fast":
            said = f"{what} as fast as possible, {_in_all(did, facts)}."
        case "timed":
            said = f"{what} at their times{speed}, {_in_all(did, facts)}. {_timing(did)}"
        case "dependent":
            said = f"{what} with the pauses of the trace{speed}, {_in_all(did, facts)}. {_timing(did)}"
    return " ".join(filter(None, (said, _against(did, facts))))


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


def _against(did: Measurement, facts: ReplayFacts) -> str:
    """The busiest operation: how long it took here and there."""
    known = [each for each in facts.latency if each.service.total]
    if not known:
        return "The trace has no service times to compare."
    most = max(known, key=lambda each: each.service.total)
    here, there = did.service(most.op), most.service
    if not here.total:
        return ""
    times = f"{text.duration(here.quantile_ns(0.5))} here, {text.duration(there.quantile_ns(0.5))} in the trace"
    return f"Median service time of a {most.op}: {times}."


def _tables(record: PhaseRecord, facts: ReplayFacts | None) -> Iterator[Table]:
    if facts is None:
        return
    yield _times(record.measurement, facts)
    yield from _error(record.measurement)
    yield from _rates(record, facts)
    yield from _changes(facts)


def _times(did: Measurement, facts: ReplayFacts) -> Table:
    recorded = {each.op: each.service for each in facts.latency}
    rows = []
    for op in dict.fromkeys(each.op for each in did.classes):
        service, response = did.service(op), did.response(op)
        there = recorded.get(op)
        rows.append(
            Row(
                {
                    "op": op,
                    "ios": service.total,
                    "trace_p50": published(there, 0.5) if there else None,
                    "trace_p99": published(there, 0.99) if there else None,
                    "service_p50": published(service, 0.5),
                    "service_p99": published(service, 0.99),
                    "response_p99": published(response, 0.99),
                }
            )
        )
    columns = (
        Column("op", "op"),
        Column("ios", "I/Os", "count"),
        Column("trace_p50", "trace\np50", "duration", "service time in the trace"),
        Column("trace_p99", "trace\np99", "duration", "service time in the trace"),
        Column("service_p50", "service\np50", "duration", "here, from submission"),
        Column("service_p99", "service\np99", "duration", "here, from submission"),
        Column("response_p99", "response\np99", "duration", "here, from the time it was due", spare=1),
    )
    return Table("Times in the trace and here", columns, tuple(rows), key="times")


def _error(did: Measurement) -> Iterator[Table]:
    error = did.issue_error
    if not error.total:
        return
    row = Row(
        {
            "ios": error.total,
            "p50": error.quantile_ns(0.5),
            "p99": error.quantile_ns(0.99),
            "most": error.max_ns,
            "late": 1.0 - error.share_up_to(LATE_NS),
            "generator_p99": did.lag.quantile_ns(0.99) if did.lag.total else None,
        }
    )
    columns = (
        Column("ios", "I/Os", "count"),
        Column("p50", "p50", "duration"),
        Column("p99", "p99", "duration"),
        Column("most", "max", "duration"),
        Column("late", "over 1 ms", "exact_share"),
        Column(
            "generator_p99", "of it generator\np99", "duration", "late although an outstanding I/O was free", spare=1
        ),
    )
    yield Table("Issue time less the time wanted", columns, (row,), key="issue_error")


def _rates(record: PhaseRecord, facts: ReplayFacts) -> Iterator[Table]:
    """I/Os a second, in at most SPANS equal spans: issued in the trace, completed here."""
    asked, interval_ns = record.phase.replay, record.series.interval_ns
    seconds = max(len(facts.due_ios), len(record.series.ios))
    if asked is None or asked.mode == "fast" or not interval_ns or seconds < 2:
        return
    width = -(-seconds // SPANS)
    rows = []
    for start in range(0, seconds, width):
        due, done = facts.due_ios[start : start + width], record.series.ios[start : start + width]
        whole = len(done) == min(width, seconds - start)
        scale = 1e9 / interval_ns
        rows.append(
            Row(
                {
                    "at": start * interval_ns,
                    "trace": sum(due) * scale / min(width, seconds - start),
                    "here": sum(done) * scale / len(done) if whole and done else None,
                }
            )
        )
    columns = (
        Column("at", "from", "duration"),
        Column("trace", "IOPS\ntrace", "rate", "issued"),
        Column("here", "IOPS\nhere", "rate", "completed"),
    )
    yield Table("IOPS over time", columns, tuple(rows), key="rates")


def _changes(facts: ReplayFacts) -> Iterator[Table]:
    said = [(f"left out: {REASONS[why]}", ios) for why, ios in facts.left_out.items()]
    said += [("rounded to whole blocks", facts.rounded)] if facts.rounded else []
    said += [("moved to another offset", facts.moved)] if facts.moved else []
    said += [("waited for no other I/O, issued at their time", facts.independent)] if facts.independent else []
    if said:
        columns = (Column("ios", "events", "count"), Column("change", "change"))
        yield Table("", columns, tuple(Row({"ios": ios, "change": change}) for change, ios in said), key="changes")
