"""The response time of traced sessions: what it is made of, by event and by statement."""

from __future__ import annotations

from collections.abc import Callable

from iocast import text
from iocast.analyse.profiling.response_accounting import ResponseAccounting
from iocast.model.codes import ResponsePartCode
from iocast.model.report import Section
from iocast.model.results.profiles import EventWaits, ResponsePart, StatementTimes, TraceProfile
from iocast.report.result_tables import result_table, with_rows
from iocast.report.wording import section
from iocast.results.profiles import response_parts

PARTS: dict[ResponsePartCode, str] = {
    "cpu": "CPU",
    "inside_calls": "waits inside of calls",
    "unaccounted": "not accounted for",
    "cut_off": "waits of calls that the trace lacks",
    "between_calls": "between calls",
    "idle": "waits for the client (idle)",
}
OVERLAP = "Not accounted for is below 0: some CPU time is inside of waits, or some waits are outside of calls."


def accounting_section(found: ResponseAccounting, result: TraceProfile) -> Section:
    """The section; its first line is the largest part."""
    notes = (OVERLAP,) if found.unaccounted_ns < 0 else ()
    parts: dict[str, Callable[[ResponsePart], str]] = {"part": lambda row: PARTS[row.part]}
    statements: dict[str, Callable[[StatementTimes], str]] = {"sql": lambda row: row.sql or "unknown"}
    tables = with_rows(
        result_table(ResponsePart, result.breakdown, key="breakdown", words=parts, notes=notes),
        result_table(EventWaits, result.wait_events, key="wait_events"),
        result_table(StatementTimes, result.statements, key="statements", words=statements),
    )
    return section("response_time", (accounting_words(found),), tables)


def accounting_words(found: ResponseAccounting) -> str:
    """The response time, its largest part, and the event that was waited for most inside of calls."""
    whole = found.response_ns
    if not whole:
        return "The trace does not say how long its calls and waits took."
    part, took = max(response_parts(found), key=lambda part: part[1])
    said = f"Response time {text.brief_time(whole)}: {text.brief_percent(took / whole)} {PARTS[part]}"
    longest = next((each for each in found.events if not each.between_calls and each.total_ns), None)
    if part in ("inside_calls", "cut_off") and longest is not None:
        said += f", most of all {text.shown(longest.event)} ({text.brief_time(longest.total_ns)})"
    return f"{said}."
