"""The spool of the script for SQL*Plus: looks become the samples that a live watch has."""

from __future__ import annotations

import pytest

from iocast.errors import SourceError
from iocast.formats.oracle.capture_spool import Spool, begins_so, read_spool
from iocast.formats.oracle.oracle_statements import statements_of
from iocast.metrics import NO_BOUND
from iocast.model.view import View, views

START_S = 1_795_000_000
FIRST_S = 1_795_442_280


def look(
    at_s: int,
    reads: int,
    *,
    version: str = "19.0.0.0.0",
    start_s: int = START_S,
    event: str = "db file sequential read",
    extra: str = "",
) -> str:
    """One run of the script, padded as SQL*Plus pads. Waits are of 1 ms each, half of them below 512 us."""
    return f"""
Session altered.

#iocast look 1
#iocast clock whole_s|second_s
{at_s:>38}|{at_s % 60:>36}.5
#iocast instance inst_id|instance_name|host_name|version|started_s
{1:>38}|orcl1           |db1{"":<61}|{version:<17}|{start_s:>38}
#iocast parameter name|value
timed_statistics{"":<48}|TRUE
#iocast event_histogram_micro inst_id|event|wait_time_micro|wait_count
{1:>38}|{event:<64}|{512:>38}|{reads // 2:>38}
{1:>38}|{event:<64}|{2048:>38}|{reads - reads // 2:>38}
{1:>38}|log file sync{"":<51}|{4294967295:>38}|{3:>38}
#iocast event_histogram inst_id|event|wait_time_milli|wait_count
{1:>38}|{event:<64}|{1:>38}|{reads:>38}
#iocast system_event inst_id|event|total_waits|total_timeouts|time_waited_micro|total_waits_fg|time_waited_micro_fg
{1:>38}|{event:<64}|{reads:>38}|{0:>38}|{1000 * reads:>38}|{reads:>38}|{1000 * reads:>38}
{1:>38}|log file sync{"":<51}|{7:>38}|{0:>38}|{9000:>38}|{7:>38}|{9000:>38}
#iocast sysstat inst_id|name|value
{1:>38}|physical read total bytes{"":<39}|{8192 * reads:>38}
{1:>38}|redo synch time (usec){"":<42}|{5:>38}
#iocast sqlstats inst_id|sql_id|plan_hash_value|executions|elapsed_time|cpu_time|user_io_wait_time|disk_reads|buffer_gets|rows_processed|physical_read_requests|physical_read_bytes|physical_write_requests|physical_write_bytes
{1:>38}|7fjjjf0yvd05m|{42:>38}|{reads:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}|{1:>38}
#iocast asm_disk_iostat inst_id|instname|dbname|group_number|disk_number|reads|writes|read_time|write_time|bytes_read|bytes_written|read_errs|write_errs
select inst_id, instname, dbname
                          *
ERROR at line 2:
ORA-00942: table or view does not exist
#iocast session inst_id|sid|serial#|sql_id|event|wait_class|state
{1:>38}|{77:>38}|{5:>38}|7fjjjf0yvd05m|{event:<64}|User I/O|WAITING
{1:>38}|{78:>38}|{6:>38}|             |SQL*Net message to client{"":<39}|Network|WAITED KNOWN TIME
{extra}#iocast end
"""


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
    whole = spool(look(FIRST_S, 10), look(FIRST_S + 10, 30))
    lines = [look(FIRST_S, 10), look(FIRST_S + 10, 30)]
    without = spool(*("".join(li for li in text.splitlines(True) if "sequential" not in li) for text in lines))
    kept = [each for each in whole.samples if "sequential" not in each.subject]
    kept = [each for each in kept if not each.observer.endswith((".waits", ".active_sql", ".sessions"))]
    assert [
        each for each in without.samples if not each.observer.endswith((".waits", ".active_sql", ".sessions"))
    ] == kept


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
    told = spool(look(FIRST_S, 10, extra="a line | of another | kind\n"))
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
    assert names <= known | {"oracle.waits", "oracle.active_sql", "oracle.sessions"}
