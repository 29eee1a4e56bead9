"""Snapshots of Oracle's views, by hand in the form of spools: differences by name, restarts, rows that come and go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.stated import Bucket
from iocast.tools import importers
from iocast.tools.oracle import oracle_event_histogram, oracle_iostat_file
from iocast.tools.oracle.oracle_events import OVERFLOW
from iocast.tools.oracle.view_snapshots import seconds_between
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
READ = "db file sequential read"


def test_files_of_two_intervals_have_their_means_and_rates(fixtures: Path) -> None:
    """The figures of a published calibration: 141.22 and 139.60, then 486.80 and 487.40 ms."""
    (run,) = importers.read((str(fixtures / "oracle_iostat_file.txt"),))
    rows = [(each.phase.name, each.measurement) for each in run.phases]
    assert [name for name, _ in rows] == [
        "Data File 1 small 23:57:55 to 23:58:21",
        "Data File 2 small 23:57:55 to 23:58:21",
        "Data File 1 small 23:58:21 to 23:59:28",
        "Data File 2 small 23:58:21 to 23:59:28",
    ]
    assert [round(each.service("read").mean_ns / 1e6, 2) for _, each in rows] == [141.22, 139.60, 486.80, 487.40]
    assert [round(each.rate_per_s, 2) for _, each in rows] == [1.96, 3.92, 2.42, 3.81]
    assert [each.ios for _, each in rows] == [51, 102, 162, 255]
    assert "Data File 8, 23:58:21 to 23:59:28: it was not there before: left out" in run.warnings[0]


def test_headings_that_are_printed_once_count_for_the_queries_after_them(read_all: Reader, fixtures: Path) -> None:
    """`set heading off`, or a pagesize that holds all: the spool repeats none."""
    text = (fixtures / "oracle_iostat_file.txt").read_text()
    first, *others = text.split("SQL> /\n\n")
    bare = ["\n".join(line for line in each.splitlines() if not line.startswith(("SYSDATE", "---"))) for each in others]
    once = text[: text.index(others[1])] + "SQL> /\n\n".join([bare[1], *bare[2:]]) + "\n"
    repeated, single = (read_all(("a.lst", each)).phases for each in (text, once))
    assert [each.measurement for each in single] == [each.measurement for each in repeated]
    other = "SQL> select name, value from v$parameter;\n\nNAME   VALUE\n------ -----\n" + first.splitlines()[0] + "\n"
    assert len(read_all(("b.lst", once + other)).phases) == len(repeated)


CSV = '"SYSDATE","INST_ID","FILE_NO","FILETYPE_NAME","SMALL_READ_REQS","SMALL_READ_SERVICETIME","LARGE_WRITE_REQS"\n'


def csv_rows(*rows: str) -> str:
    return CSV + "".join(f"{each}\n" for each in rows)


def test_csv_is_bound_by_name_and_large_writes_are_rows_of_their_own(read_all: Reader) -> None:
    run = read_all(
        (
            "a.csv",
            csv_rows(
                '"2026-11-23 10:00:00",1,4,"Data File",100,500,7',
                '"2026-11-23 10:00:00",2,4,"Data File",10,50,0',
                '"2026-11-23 10:00:10",1,4,"Data File",300,500,9',
                '"2026-11-23 10:00:10",2,4,"Data File",60,150,0',
            ),
        )
    )
    found = {each.phase.name: each.measurement for each in run.phases}
    span = "10:00:00 to 10:00:10"
    assert {name: each.ios for name, each in found.items()} == {
        f"instance 1 Data File 4 small {span}": 200,
        f"instance 1 Data File 4 large {span}": 2,
        f"instance 2 Data File 4 small {span}": 50,
    }
    none = found[f"instance 1 Data File 4 small {span}"].service("read")
    assert none.total == 0  # no time passed: statistics are off, or all was faster than a millisecond
    assert found[f"instance 2 Data File 4 small {span}"].service("read").mean_ns == 2_000_000
    assert found[f"instance 1 Data File 4 large {span}"].service("write").total == 0  # its column is missing
    assert not run.warnings


def test_a_restart_leaves_its_interval_out(read_all: Reader) -> None:
    rows = ("10:00:00,1,4,Data File,100,500,7", "10:00:10,1,4,Data File,90,900,9", "10:00:20,1,4,Data File,190,1000,9")
    run = read_all(("a.csv", csv_rows(*rows)))
    assert [(each.phase.name, each.measurement.ios) for each in run.phases] == [
        ("instance 1 Data File 4 small 10:00:10 to 10:00:20", 100)
    ]
    assert "a counter that fell: the instance was restarted: left out" in run.warnings[0]


def test_snapshots_out_of_order_are_unknown(read_all: Reader) -> None:
    rows = ("10:00:10,1,4,Data File,100,500,7", "10:00:00,1,4,Data File,190,900,9", "10:00:20,1,4,Data File,290,1000,9")
    run = read_all(("a.csv", csv_rows(*rows)))
    assert [each.measurement.ios for each in run.phases] == [100]
    assert "is not later than the one before: left out" in run.warnings[0]


def test_snapshots_in_two_files_without_times_have_no_rate(read_all: Reader) -> None:
    head = "FILE_NO|FILETYPE_NAME|SMALL_READ_REQS|SMALL_READ_SERVICETIME\n"
    run = read_all(("a.txt", f"{head}1|Temp File|5|10\n"), ("b.txt", f"{head}1|Temp File|25|70\n"))
    (row,) = run.phases
    assert (row.phase.name, row.measurement.ios, row.timed) == ("Temp File 1 small", 20, False)
    assert row.measurement.service("read").mean_ns == 3_000_000


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (("10:00:00,1,4,Data File,100,500,7",), "it has one snapshot"),
        (("10:00:00,1,4,Data File,7.89E+08,500,7", "10:00:01,1,4,Data File,9,500,7"), 'is "7.89E+08", not a whole'),
        (("10:00:00,1,4,Data File,####,500,7", "10:00:01,1,4,Data File,9,500,7"), 'is "####", not a whole'),
        (("10:00:00,1,4,Data File,1,5", "10:00:01,1,4,Data File,9,500,7"), "a row of 6 cells under a heading of 7"),
        (("10:00:00,1,4,Data File,1,5,7", "10:00:01,1,4,Data File,1,5,7"), "no file is known to have done I/O"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, rows: tuple[str, ...], says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.csv", csv_rows(*rows)))
    assert says in refused.value.message
    assert refused.value.hint


def test_an_event_is_what_its_buckets_grew_by_on_all_instances(fixtures: Path) -> None:
    assert oracle_event_histogram.sniff(Head("a.txt", (fixtures / "oracle_event_histogram.txt").read_text()))
    (run,) = importers.read((str(fixtures / "oracle_event_histogram.txt"),))
    reads, writes = run.phases
    assert reads.phase.name == f"{READ} 11:59:55 PM to 12:00:05 AM"
    assert reads.measurement.elapsed_ns == 10**10  # over midnight
    times = reads.measurement.service("read")
    assert times.coarse is not None
    assert times.coarse.buckets == (
        Bucket(128_000, 256_000, 100.0),
        Bucket(256_000, 512_000, 758.0),  # 700 and 58
        Bucket(4_096_000, 8_192_000, 100.0),
        Bucket(8_192_000, 16_384_000, 40.0),  # new since the first snapshot: it was empty
        Bucket(16_384_000, None, 2.0),  # 4294967295: no edge
    )
    assert (reads.measurement.ios, reads.measurement.rate_per_s) == (1000, 100)
    assert times.mean_ns == 2_050_000  # (2,000,000 + 50,000) us over 1000 waits
    assert (writes.timed, writes.measurement.service("write").mean_ns != 0) == (False, True)  # parallel; no totals
    assert not run.warnings


HEAD = "SNAP_TIME,EVENT,WAIT_TIME_MILLI,WAIT_COUNT\n"


def test_the_first_bucket_of_milliseconds_begins_at_nothing(read_all: Reader) -> None:
    """Of Oracle 11.2 and before: whatever took less than a millisecond."""
    rows = (f"10:00:00,{READ},1,10", f"10:00:00,{READ},2,10", f"10:00:05,{READ},1,60", f"10:00:05,{READ},2,15")
    run = read_all(("a.csv", HEAD + "\n".join(rows) + "\n"))
    times = run.phases[0].measurement.service("read")
    assert times.quantile_bounds_ns(0.5) == (0, 1_000_000)
    assert times.mean_ns != times.mean_ns


def test_a_count_that_fell_leaves_out_its_event_only(read_all: Reader) -> None:
    other = "log file single write"
    rows = (f"1,{READ},1,10", f"1,{other},1,10", f"2,{READ},1,60", f"2,{other},1,9")
    run = read_all(("a.csv", HEAD.replace("SNAP_TIME", "SNAP_ID") + "\n".join(rows) + "\n"))
    assert [(each.phase.name, each.measurement.ios, each.timed) for each in run.phases] == [
        (f"{READ} 1 to 2", 50, False)
    ]
    assert f"{other}, 1 to 2: a count fell or is missing: left out" in run.warnings[0]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((f"1,{READ},1,10",), "it has one snapshot"),
        ((f"1,{READ},3,10", f"2,{READ},3,20"), "bad.csv:2: the upper edge 3 of a bucket is not a power of two"),
        ((f"1,{READ},,10", f"2,{READ},3,20"), "a bucket without WAIT_TIME_MILLI"),
        (("1,log file sync,1,10", "2,log file sync,1,20"), "no waits for I/O are known"),
        ((f"1,{READ},1,10", f"1,{READ},{OVERFLOW},10", f"2,{READ},1,11"), "no waits for I/O are known"),
    ],
)
def test_buckets_that_cannot_be_read_are_refused(read_all: Reader, rows: tuple[str, ...], says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.csv", HEAD.replace("SNAP_TIME", "SNAP_ID") + "\n".join(rows) + "\n"))
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("first", "then", "seconds"),
    [
        ("02-12-14 23:57:55", "02-12-14 23:58:21", 26),
        ("02-12-14 23:57:55", "03-12-14 00:00:05", None),  # day or month: unknown
        ("2014-12-02 23:57:55", "2014-12-03 00:00:05", 130),
        ("02-DEC-14 11.59.59.750000 PM +01:00", "03-DEC-14 12.00.01.250000 AM +01:00", 1.5),
        ("1789000000", "1789000010.5", 10.5),
        ("6693", "6694", None),
        ("2014-13-02 23:57:55", "2014-13-02 23:57:56", 1),  # no date, but the same
    ],
)
def test_times_as_databases_print_them(first: str, then: str, seconds: float | None) -> None:
    assert seconds_between(first, then) == seconds


def test_statements_that_name_the_columns_are_no_headings(read_all: Reader) -> None:
    """A spool echoes what was asked."""
    echo = "SQL> SELECT file_no, filetype_name,\n  2  small_read_reqs, small_read_servicetime, filetype_name,\n"
    assert not oracle_iostat_file.sniff(Head("a.txt", echo))
    head = "FILE_NO|FILETYPE_NAME|SMALL_READ_REQS\n"
    run = read_all(("a.txt", f"{echo}{head}1|Temp File|5\n\n{echo}{head}1|Temp File|25\n\n"))
    assert run.phases[0].measurement.ios == 20
