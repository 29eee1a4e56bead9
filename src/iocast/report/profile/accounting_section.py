"""The response time of traced sessions: what it is made of, by event and by statement."""

from __future__ import annotations

from iocast import text
from iocast.analyse.profiling.response_accounting import ResponseAccounting
from iocast.model.report import Column, Row, Section, Table
from iocast.report.wording import section

EVENTS_SHOWN = STATEMENTS_SHOWN = 12
INSIDE, CUT_OFF = "waits inside of calls", "waits of calls that the trace lacks"
OVERLAP = "Not accounted for is below 0: some CPU time is inside of waits, or some waits are outside of calls."
BREAKDOWN = (
    Column("part", "part", "text"),
    Column("time", "time", "duration"),
    Column("share", "of response time", "share"),
)
EVENTS = (
    Column("event", "wait"),
    Column("waits", "waits", "count"),
    Column("total", "total", "duration"),
    Column("mean", "mean", "duration"),
    Column("most", "longest", "duration"),
)
STATEMENTS = (
    Column("sql", "statement"),
    Column("calls", "calls", "count"),
    Column("elapsed", "elapsed", "duration", "without recursive calls"),
    Column("cpu", "CPU", "duration"),
    Column("waited", "waits", "duration"),
    Column("unaccounted", "not accounted for", "duration"),
)


def accounting_section(found: ResponseAccounting) -> Section:
    """The section; its first line is the largest part."""
    parts = _parts(found)
    whole = found.response_ns
    rows = tuple(Row({"part": name, "time": time, "share": time / whole}) for name, time in parts if time and whole)
    notes = (OVERLAP,) if found.unaccounted_ns < 0 and rows else ()
    events = tuple(
        Row(
            {
                "event": each.event,
                "waits": each.waits,
                "total": each.total_ns if each.known else None,
                "mean": each.total_ns / each.known if each.known else None,
                "most": each.most_ns,
            }
        )
        for each in found.events[:EVENTS_SHOWN]
    )
    statements = tuple(
        Row(
            {
                "sql": each.sql or "unknown",
                "calls": each.calls,
                "elapsed": each.elapsed_ns,
                "cpu": each.cpu_ns,
                "waited": each.waited_ns,
                "unaccounted": each.unaccounted_ns,
            }
        )
        for each in found.statements[:STATEMENTS_SHOWN]
    )
    tables = (
        Table("", BREAKDOWN, rows, key="breakdown", notes=notes),
        Table("", EVENTS, events, key="wait_events"),
        Table("", STATEMENTS, statements, key="statements"),
    )
    return section("response_time", (accounting_words(found),), tuple(table for table in tables if table.rows))


def accounting_words(found: ResponseAccounting) -> str:
    """The response time, its largest part, and the event that was waited for most inside of calls."""
    whole = found.response_ns
    if not whole:
        return "The trace does not say how long its calls and waits took."
    name, took = max(_parts(found), key=lambda part: part[1])
    said = f"Response time {text.brief_time(whole)}: {text.brief_percent(took / whole)} {name}"
    longest = next((each for each in found.events if not each.between_calls and each.total_ns), None)
    if name in (INSIDE, CUT_OFF) and longest is not None:
        said += f", most of all {text.shown(longest.event)} ({text.brief_time(longest.total_ns)})"
    return f"{said}."


def _parts(found: ResponseAccounting) -> tuple[tuple[str, int], ...]:
    return (
        ("CPU", found.cpu_ns),
        (INSIDE, found.waited_ns),
        ("not accounted for", found.unaccounted_ns),
        (CUT_OFF, found.cut_off_ns),
        ("between calls", found.between_ns),
        ("waits for the client (idle)", found.idle_ns),
    )
