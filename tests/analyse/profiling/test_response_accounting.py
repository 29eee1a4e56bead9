"""Response time of a session: recursive calls are inside their parents, and a cut trace has parents missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
from makers.made_traces import profile_of, random_reads

from iocast.analyse.profiling.response_accounting import ResponseAccounting, response_accounting
from iocast.model.report import Section
from iocast.report.profile.profile_report import accounting_section
from iocast.results.profiles import trace_profile

PARSE, EXEC, FETCH, CLOSE, OTHER_WAIT, IO_WAIT, LOB = range(7)
# kind, statement, depth, start, elapsed, CPU, event
Row = tuple[int, str, int | None, int, int | None, int | None, str | None]


def _accounted(folder: Path, rows: list[Row]) -> ResponseAccounting:
    path = folder / "calls.parquet"
    values = ", ".join("(" + ", ".join(_sql(each) for each in (*row, at + 1)) + ")" for at, row in enumerate(rows))
    columns = "kind, sql, dep, start_ns, elapsed_ns, cpu_ns, event, src_line"
    texts = "sql::VARCHAR AS sql, event::VARCHAR AS event"
    numbers = ", ".join(f"{name}::BIGINT AS {name}" for name in ("dep", "start_ns", "elapsed_ns", "cpu_ns"))
    rows_of = f"SELECT * REPLACE ({texts}, {numbers}), 0 AS source FROM (VALUES {values}) AS t({columns})"
    duckdb.execute(f"COPY ({rows_of}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
    return response_accounting(str(path), folder)


def _section(folder: Path, found: ResponseAccounting) -> Section:
    return accounting_section(found, trace_profile(profile_of(folder, random_reads(1)), found))


def _sql(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def test_a_recursive_call_is_inside_its_parent(tmp_path: Path) -> None:
    found = _accounted(
        tmp_path,
        [
            (IO_WAIT, "child", None, 120, 50, None, "db file sequential read"),
            (EXEC, "child", 1, 110, 80, 20, None),
            (IO_WAIT, "parent", None, 200, 30, None, "db file sequential read"),
            (EXEC, "parent", 0, 100, 200, 60, None),
            (OTHER_WAIT, "parent", None, 300, 1000, None, "SQL*Net message from client"),
        ],
    )
    assert (found.elapsed_ns, found.cpu_ns, found.waited_ns, found.idle_ns) == (200, 60, 80, 1000)
    assert (found.unaccounted_ns, found.response_ns) == (60, 1200)
    parent, child = found.statements
    assert (parent.sql, parent.elapsed_ns, parent.cpu_ns, parent.waited_ns) == ("parent", 120, 40, 30)
    assert (child.sql, child.elapsed_ns, child.unaccounted_ns) == ("child", 80, 10)
    told = _section(tmp_path, found)
    assert told.paragraphs[0].startswith("Response time 1.2 µs: 83% waits for the client (idle).")
    assert [table.key for table in told.tables] == ["breakdown", "wait_events", "statements"]
    assert (found.events[1].event, found.events[1].waits, found.events[1].total_ns) == (
        "db file sequential read",
        2,
        80,
    )


def test_a_recursion_whose_parent_was_cut_off_counts_itself(tmp_path: Path) -> None:
    found = _accounted(
        tmp_path,
        [
            (IO_WAIT, "a", None, 0, 90, None, "db file sequential read"),
            (FETCH, "a", 1, 0, 100, 5, None),
            (FETCH, "a", 1, 200, 100, 5, None),
        ],
    )
    assert (found.elapsed_ns, found.unaccounted_ns) == (200, 100)


def test_a_call_after_the_parent_is_none_of_its_children(tmp_path: Path) -> None:
    found = _accounted(
        tmp_path,
        [(EXEC, "a", 0, 0, 100, 0, None), (EXEC, "b", 1, 150, 20, 0, None), (EXEC, "c", 0, 140, 50, 0, None)],
    )
    assert found.elapsed_ns == 150
    assert {each.sql: each.elapsed_ns for each in found.statements} == {"a": 100, "b": 20, "c": 30}


def test_a_call_for_a_lob_is_on_top_or_inside_of_the_call_around_it(tmp_path: Path) -> None:
    """They were left out, so that their waits were more than all calls took. They say no depth."""
    found = _accounted(
        tmp_path,
        [
            (IO_WAIT, "", None, 0, 80, None, "direct path read"),
            (LOB, "", None, 0, 100, 10, None),
            (LOB, "", None, 210, 30, 5, None),
            (EXEC, "a", 0, 200, 90, 20, None),
            (LOB, "", None, 300, 40, 5, None),
        ],
    )
    assert (found.elapsed_ns, found.cpu_ns, found.waited_ns) == (100 + 90 + 40, 10 + 20 + 5, 80)
    assert {each.sql: each.elapsed_ns for each in found.statements} == {"": 170, "a": 60}


def test_waits_of_a_call_that_is_cut_off_are_inside_of_none(tmp_path: Path) -> None:
    """The trace ends within a fetch: the waits of it are there, the fetch is not."""
    found = _accounted(
        tmp_path,
        [
            (IO_WAIT, "a", None, 0, 60, None, "db file sequential read"),
            (FETCH, "a", 0, 0, 100, 30, None),
            (IO_WAIT, "a", None, 100, 900, None, "db file sequential read"),
            (OTHER_WAIT, "a", None, 1000, 7, None, "SQL*Net message to client"),
        ],
    )
    assert (found.waited_ns, found.unaccounted_ns) == (60, 10)
    assert (found.cut_off_ns, found.between_ns, found.response_ns) == (900, 7, 1007)
    assert _section(tmp_path, found).paragraphs == (
        "Response time 1 µs: 89% waits of calls that the trace lacks, most of all db file sequential read (960 ns).",
    )


def test_waits_of_unknown_length_have_no_sum(tmp_path: Path) -> None:
    found = _accounted(tmp_path, [(IO_WAIT, "a", None, 0, None, None, "db file sequential read")])
    told = _section(tmp_path, found)
    assert told.paragraphs == ("The trace does not say how long its calls and waits took.",)
    (events,) = (table for table in told.tables if table.key == "wait_events")
    assert [events.rows[0].cells[each] for each in ("waits", "total_ns", "mean_ns")] == [1, None, None]


def test_cpu_inside_of_waits_is_explained(tmp_path: Path) -> None:
    rows: list[Row] = [
        (IO_WAIT, "a", None, 0, 90, None, "db file sequential read"),
        (FETCH, "a", 0, 0, 100, 30, None),
    ]
    (breakdown, *_) = _section(tmp_path, _accounted(tmp_path, rows)).tables
    assert "below 0" in breakdown.notes[0]
