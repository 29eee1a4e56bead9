"""The spool of the script for SQL*Plus: looks become the samples that a live watch has."""

from __future__ import annotations

import pytest
from makers.oracle_spools import FIRST_S, START_S, heads, row

from iocast.errors import SourceError
from iocast.metrics import NO_BOUND
from iocast.model.view import View, views
from iocast.tools.oracle.oracle_spool import Spool, begins_so, read_spool
from iocast.tools.oracle.oracle_statements import statements_of

SESSIONS = (".waits", ".active_sql", ".sessions", ".session_waits")


def look(
    at_s: int,
    reads: int,
    *,
    version: str = "19.0.0.0.0",
    start_s: int = START_S,
    event: str = "db file sequential read",
    extra: str = "",
) -> str:
    """One run of the script. Waits are of 1 ms each, half of them below 512 us."""
    lines = [
        "",
        "Session altered.",
        "#iocast look 1",
        "#iocast clock whole_s|second_s",
        row(at_s, at_s % 60 + 0.5),
        "#iocast instance inst_id|instance_name|host_name|version|started_s",
        row(1, "orcl1", "db1", version, start_s),
        "#iocast parameter name|value",
        row("timed_statistics", "TRUE"),
        heads("event_histogram_micro"),
        row(1, event, 512, reads // 2),
        row(1, event, 2048, reads - reads // 2),
        row(1, "log file sync", 4294967295, 3),
        heads("event_histogram"),
        row(1, event, 1, reads),
        heads("system_event"),
        row(1, event, reads, 0, 1000 * reads, reads, 1000 * reads),
        row(1, "log file sync", 7, 0, 9000, 7, 9000),
        heads("sysstat"),
        row(1, "physical read total bytes", 8192 * reads),
        row(1, "redo synch time (usec)", 5),
        heads("sqlstats"),
        row(1, "7fjjjf0yvd05m", 42, reads, *([1] * 10)),
        heads("asm_disk_iostat"),
        "select inst_id, instname, dbname",
        "                          *",
        "ERROR at line 2:",
        "ORA-00942: table or view does not exist",
        "#iocast session inst_id|sid|serial#|sql_id|event|wait_class|state",
        row(1, 77, 5, "7fjjjf0yvd05m", event, "User I/O", "WAITING"),
        row(1, 78, 6, "", "SQL*Net message to client", "Network", "WAITED KNOWN TIME"),
    ]
    return "\n".join([*lines, *([extra] if extra else []), "#iocast end", ""])


def spool(*looks: str) -> Spool:
    return read_spool("tape.txt", "".join(looks))


def seen(told: Spool, view: str, subject: str) -> View:
    return views(told.samples, f"oracle.{view}")[subject]


def test_two_looks_are_an_interval() -> None:
    told = spool(look(FIRST_S, 1000), look(FIRST_S + 10, 1400))
    assert (told.version, told.instances, told.looks, told.cut_off) == ("19.0.0.0.0", ("orcl1",), 2, 0)
    waits = seen(told, "system_event", "1|db file sequential read")
    assert waits.elapsed_ns == 10_000_000_000
    assert waits.delta("total_waits") == 400
    assert waits.mean("time_waited_ns", of="total_waits") == 1_000_000
    buckets = seen(told, "event_histogram_micro", "1|db file sequential read").deltas
    assert buckets == {"lt_512000ns": 200, "lt_2048000ns": 200}
    assert seen(told, "event_histogram_micro", "1|log file sync").deltas == {NO_BOUND: 0}
    assert seen(told, "sysstat", "1").per_s("physical read total bytes") == 40 * 8192
    assert seen(told, "sqlstats", "1|7fjjjf0yvd05m|42").delta("executions") == 400
    assert seen(told, "waits", "User I/O|db file sequential read").delta("samples") == 1
    assert seen(told, "waits", "CPU").delta("samples") == 1
    assert seen(told, "sessions", "1|77|5").delta("samples") == 1
    assert seen(told, "waits", "").delta("polls") == 1
    assert told.texts == {"setting|timed_statistics": "TRUE"}


def test_views_of_another_version_are_left_out_without_a_word() -> None:
    told = spool(look(FIRST_S, 10), look(FIRST_S + 10, 20))
    assert not any(each.observer == "oracle.event_histogram" for each in told.samples)
    old = spool(look(FIRST_S, 10, version="11.2.0.4.0"), look(FIRST_S + 10, 20, version="11.2.0.4.0"))
    assert seen(old, "event_histogram", "1|db file sequential read").deltas == {"lt_1000000ns": 10}
    assert not any(each.observer == "oracle.event_histogram_micro" for each in old.samples)


def test_a_view_that_was_refused_is_told_with_the_reason() -> None:
    told = spool(look(FIRST_S, 10))
    assert told.unseen == ("asm_disk_iostat: ORA-00942: table or view does not exist",)
    assert not any(each.observer == "oracle.asm_disk_iostat" for each in told.samples)


def test_an_event_that_is_missing_moves_no_other() -> None:
    looks = [look(FIRST_S, 10), look(FIRST_S + 10, 30)]
    without = ["".join(line for line in text.splitlines(True) if "sequential" not in line) for text in looks]
    kept, found = (
        [each for each in told.samples if "sequential" not in each.subject and not each.observer.endswith(SESSIONS)]
        for told in (spool(*looks), spool(*without))
    )
    assert found == kept
    assert len(kept) > 10


def test_a_new_event_counts_from_nought() -> None:
    """Oracle lists an event, and a bucket, once there was one."""
    told = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30, event="direct path read"))
    assert seen(told, "system_event", "1|direct path read").delta("total_waits") == 30
    assert seen(told, "event_histogram_micro", "1|direct path read").deltas == {"lt_512000ns": 15, "lt_2048000ns": 15}


def test_another_start_of_the_instance_is_unknown() -> None:
    told = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30, start_s=FIRST_S + 5))
    assert seen(told, "system_event", "1|db file sequential read").deltas == {}
    jitter = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30, start_s=START_S + 1))
    assert seen(jitter, "system_event", "1|db file sequential read").delta("total_waits") == 20


def test_a_look_that_was_cut_off_is_left_out() -> None:
    cut = look(FIRST_S + 20, 50).partition("#iocast sysstat")[0]
    told = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30), cut)
    assert (told.looks, told.cut_off) == (2, 1)
    assert seen(told, "system_event", "1|db file sequential read").delta("total_waits") == 20


def test_lines_that_are_no_row_are_counted() -> None:
    told = spool(look(FIRST_S, 10, extra="a line | of another | kind"))
    clean = spool(look(FIRST_S, 10))
    assert told.unread - clean.unread == 1
    assert told.samples == clean.samples


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no whole look"),
        ("#iocast look 1\n#iocast end\n", "without its time"),
        ("#iocast look 2\n#iocast end\n", "format 2"),
        (look(FIRST_S, 10) + look(FIRST_S, 20), "not later"),
        (look(FIRST_S, 10).replace("#iocast instance", "#iocast nothing"), "without an instance"),
    ],
)
def test_what_is_no_spool_is_refused(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_spool("tape.txt", text)


def test_a_spool_is_known_by_its_beginning() -> None:
    assert begins_so(look(FIRST_S, 1))
    assert not begins_so("SQL*Plus: Release 19.0.0.0.0\n")


def test_the_samples_are_named_as_those_of_a_live_watch() -> None:
    told = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30))
    names = {each.observer for each in told.samples}
    known = {f"oracle.{each.name}" for each in statements_of((19, 0))}
    assert names <= known | {f"oracle{kind}" for kind in SESSIONS}
