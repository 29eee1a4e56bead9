"""Oracle's calls and waits become a table of their own: what the response time of each statement is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.read_anew import read_anew

from iocast.errors import SourceError
from iocast.tools.traces import TraceOptions, TraceReport

TRACE = """\
Oracle Database 12c Release 12.1.0.1.0 - 64bit Production
Unix process pid: 41, image: oracle
*** SESSION ID:(409.215) 2013-08-26 14:40:23.035
PARSING IN CURSOR #7 len=20 dep=0 uid=0 oct=3 lid=0 tim=2000000 hv=99 ad='x' sqlid='abc'
select count(*)
from t
END OF STMT
PARSE #7:c=10,e=20,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=5,tim=2000020
WAIT #7: nam='db file sequential read' ela= 900 file#=4 block#=29 blocks=1 obj#=8 tim=2001000
WAIT #7: nam='SQL*Net message from client' ela= 5000 driver id=1 #bytes=1 p3=0 obj#=8 tim=2006000
FETCH #7:c=100,e=1500,p=1,cr=3,cu=0,mis=0,r=1,dep=0,og=1,plh=5,tim=2007000
CLOSE #7:c=0,e=3,dep=0,type=0,tim=2007010
"""
PARSE, EXEC, FETCH, CLOSE, OTHER_WAIT, IO_WAIT = range(6)


def _read(folder: Path, text: str, columns: str, **options: Any) -> tuple[TraceReport, list[tuple[Any, ...]]]:
    (folder / "o.trc").write_text(text)
    to, calls_to = str(folder / "events.parquet"), str(folder / "calls.parquet")
    report = read_anew((str(folder / "o.trc"),), to, TraceOptions(**options), calls_to=calls_to)
    return report, duckdb.execute(f"select {columns} from '{calls_to}'").fetchall()


def test_every_call_and_wait_is_a_row(tmp_path: Path) -> None:
    columns = 'kind, cursor, sql, dep, start_ns, elapsed_ns, cpu_ns, event, "rows", target, session, src_line'
    report, rows = _read(tmp_path, TRACE, columns)
    assert rows == [
        (PARSE, 7, "abc", 0, 2_000_000_000, 20_000, 10_000, None, 0, None, "409.215", 8),
        (IO_WAIT, 7, "abc", None, 2_000_100_000, 900_000, None, "db file sequential read", None, 4, "409.215", 9),
        (OTHER_WAIT, 7, "abc", None, 2_001_000_000, 5_000_000, None, "SQL*Net message from client", None, None,
         "409.215", 10),
        (FETCH, 7, "abc", 0, 2_005_500_000, 1_500_000, 100_000, None, 1, None, "409.215", 11),
        (CLOSE, 7, "abc", 0, 2_007_007_000, 3_000, 0, None, None, None, "409.215", 12),
    ]  # fmt: skip
    assert (report.calls, report.events) == (5, 1)
    joined = "select c.sql, e.lat_ns from '{0}/calls.parquet' c join '{0}/events.parquet' e using (source, src_line)"
    assert duckdb.execute(joined.format(tmp_path)).fetchall() == [("abc", 900_000)]
    kept = f"select decode(key), decode(value) from parquet_kv_metadata('{tmp_path}/calls.parquet')"
    facts = dict(duckdb.execute(kept).fetchall())
    assert facts["iocast.statements"] == '{"abc":"select count(*)\\nfrom t"}'


def test_the_work_of_a_call_is_in_columns(tmp_path: Path) -> None:
    columns = "blocks_read, consistent_gets, current_gets, misses, plan"
    _, rows = _read(tmp_path, TRACE, columns)
    assert rows[3] == (1, 3, 0, 0, 5)


def test_calls_up_to_8_count_hundredths_of_a_second(tmp_path: Path) -> None:
    text = (
        "Oracle8i Enterprise Edition Release 8.1.7.4.0\nPARSING IN CURSOR #1 len=9 dep=0 tim=100 hv=77 ad='x'\n"
        "select 1\nEND OF STMT\nWAIT #1: nam='db file sequential read' ela= 2 p1=8 p2=649 p3=1\n"
        "EXEC #1:c=1,e=5,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=1000\n"
    )
    _, rows = _read(tmp_path, text, "kind, sql, start_ns, elapsed_ns, cpu_ns, target")
    assert rows == [
        (IO_WAIT, "hv=77", 9_980_000_000, 20_000_000, None, 8),
        (EXEC, "hv=77", 9_950_000_000, 50_000_000, 10_000_000, None),
    ]


def test_waits_without_a_time_stand_in_front_of_their_call(tmp_path: Path) -> None:
    text = (
        "Oracle9i Enterprise Edition Release 9.2.0.6.0\n"
        "WAIT #1: nam='db file sequential read' ela= 300 p1=8 p2=649 p3=1\n"
        "WAIT #1: nam='SQL*Net message to client' ela= 100 p1=8 p2=649 p3=1\n"
        "WAIT #1: nam='db file sequential read' ela= 200 p1=8 p2=650 p3=1\n"
        "EXEC #1:c=0,e=5000,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=9000\n"
        "WAIT #1: nam='db file sequential read' ela= 200 p1=8 p2=650 p3=1\n"
    )
    report, _ = _read(tmp_path, text, "kind")
    times = duckdb.execute(f"select ts_ns, src_line from '{tmp_path}/events.parquet'").fetchall()
    assert times == [(8_400_000, 2), (8_800_000, 4), (None, 6)]
    notes = " ".join(report.files[0].notes)
    assert "latest possible times" in notes
    assert "have no time of issue" in notes


@pytest.mark.parametrize(("ticks", "took_ns"), [(120_000_000, 1_000_000), (117_187_500, 1_024_000)])
def test_the_tick_of_9_and_10_is_found_by_stamps(tmp_path: Path, ticks: int, took_ns: int) -> None:
    """Two minutes between the stamps are 120 million us, or 117.2 million times 1024 ns."""
    call = "EXEC #1:c=0,e=1000,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim={}\n"
    text = (
        "Oracle Database 10g Enterprise Edition Release 10.2.0.3.0\n*** 2007-03-30 10:00:00.000\n"
        + call.format(5_000_000)
        + "*** 2007-03-30 10:02:00.000\n"
        + call.format(5_000_000 + ticks)
        + "WAIT #1: nam='db file sequential read' ela= 1000 file#=8 block#=649 blocks=1 obj#=1 "
        + f"tim={5_002_000 + ticks}\n"
    )
    report, rows = _read(tmp_path, text, "elapsed_ns, cpu_ns")
    assert rows == [(took_ns, 0), (took_ns, 0), (took_ns, None)]
    assert duckdb.execute(f"select lat_ns from '{tmp_path}/events.parquet'").fetchall() == [(took_ns,)]
    assert ("1024 ns" in " ".join(report.files[0].notes)) is (took_ns == 1_024_000)


def test_files_may_have_blocks_of_their_own_size(tmp_path: Path) -> None:
    wait = "WAIT #7: nam='db file sequential read' ela= 9 file#={} block#=10 blocks=1 obj#=8 tim=200{}000\n"
    text = wait.format(4, 1) + wait.format(5, 2)
    report, _ = _read(tmp_path, text, "kind", block_size_bytes=8192, block_size_bytes_of_files={5: 32768})
    sizes = duckdb.execute(f"select \"offset\", size from '{tmp_path}/events.parquet'").fetchall()
    assert sizes == [(81_920, 8192), (327_680, 32_768)]
    report, _ = _read(tmp_path, text, "kind", block_size_bytes_of_files={5: 32768})
    assert "--block-size 8k, in Python block_size_bytes" in " ".join(report.files[0].notes)


def test_a_call_that_is_cut_is_rejected(tmp_path: Path) -> None:
    report, _ = _read(tmp_path, TRACE + "FETCH #7:c=100,e=15\nEXEC #7:c=1,e=2,zz=3,dep=0\n", "kind")
    assert [(reject.line, reject.rule) for reject in report.files[0].first_rejects] == [
        (13, "no e= and dep=: the line is cut"),
        (14, "not a field of a call"),
    ]


def test_a_session_that_waits_twice_at_a_time_has_a_wrong_unit(tmp_path: Path) -> None:
    wait = "WAIT #7: nam='db file sequential read' ela= {} file#=4 block#=10 blocks=1 obj#=8 tim={}\n"
    right = "".join(wait.format(900, 2_000_000 + 1_000 * at) for at in range(50))
    report, _ = _read(tmp_path, right, "kind")
    assert report.files[0].figures["ios_under_way_thousandths"] == 902
    assert not any("check the unit" in note for note in report.files[0].notes)
    wrong = "".join(wait.format(90_000, 2_000_000 + 1_000 * at) for at in range(50))
    report, _ = _read(tmp_path, wrong, "kind")
    assert "check the unit of ela" in " ".join(report.files[0].notes)


def test_a_trace_of_calls_without_io_is_read_for_its_calls_only(tmp_path: Path) -> None:
    text = "".join(line for line in TRACE.splitlines(keepends=True) if "db file" not in line)
    report, rows = _read(tmp_path, text, "kind")
    assert (report.events, rows) == (0, [(PARSE,), (OTHER_WAIT,), (FETCH,), (CLOSE,)])
    assert duckdb.execute(f"select count(*) from '{tmp_path}/events.parquet'").fetchall() == [(0,)]
    with pytest.raises(SourceError, match="no I/O in"):
        read_anew((str(tmp_path / "o.trc"),), str(tmp_path / "alone.parquet"))
    with pytest.raises(SourceError, match="two tables"):
        read_anew((str(tmp_path / "o.trc"),), str(tmp_path / "x"), calls_to=str(tmp_path / "." / "x"))
    assert not (tmp_path / "alone.parquet").exists()


def test_two_sessions_read_together_are_their_sum(tmp_path: Path) -> None:
    """Cursor 7 of both is another cursor, and the statement of one is not that of the other."""
    second = TRACE.replace("pid: 41", "pid: 42").replace("409.215", "410.1").replace("'abc'", "'xyz'")
    texts = [TRACE, second.replace("ela= 900", "ela= 300").replace("file#=4", "file#=5")]
    paths = []
    for number, text in enumerate(texts):
        paths.append(str(tmp_path / f"{number}.trc"))
        Path(paths[-1]).write_text(text)

    def read(*sources: str) -> tuple[TraceReport, list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        events, calls = str(tmp_path / "events.parquet"), str(tmp_path / "calls.parquet")
        report = read_anew(sources, events, calls_to=calls)
        ios = duckdb.execute(f"select ts_ns, lat_ns, op, src_line from '{events}' order by all").fetchall()
        asked = f"select kind, sql, elapsed_ns, cpu_ns, event, session, src_line from '{calls}' order by all"
        return report, ios, duckdb.execute(asked).fetchall()

    both, ios, calls = read(*paths)
    alone = [read(path) for path in paths]
    assert (both.events, both.calls) == (
        sum(each.events for each, _, _ in alone),
        sum(each.calls or 0 for each, _, _ in alone),
    )
    assert ios == sorted(row for _, rows, _ in alone for row in rows)
    assert sorted(map(str, calls)) == sorted(str(row) for _, _, rows in alone for row in rows)
    assert sorted(both.actors) == ["41/7", "42/7"]
    assert sorted(both.targets) == ["file 4", "file 5"]


@pytest.mark.parametrize("cache", ["", ": flash cache", ": RDMA", ": xrmem cache", ": one of later"])
def test_a_read_is_one_whatever_cache_of_a_cell_answered(tmp_path: Path, cache: str) -> None:
    """Since 19c its name stands behind the event: only reads that missed all caches were counted."""
    wait = f"nam='cell single block physical read{cache}' ela= 310 cellhash#=1 diskhash#=2 bytes=8192"
    text = TRACE.replace("nam='db file sequential read' ela= 900 file#=4 block#=29 blocks=1", wait)
    report, rows = _read(tmp_path, text, "kind, elapsed_ns")
    assert (IO_WAIT, 310_000) in rows
    assert report.events == 1
