"""Traces become one table of events: times of issue, unknown is NULL, every line accounted for."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers import trace_samples as samples
from makers.read_anew import read_anew

from iocast._core import trace_formats
from iocast.errors import SourceError
from iocast.tools.traces import Columns, TraceOptions, TraceReport

READ, WRITE, FLUSH, DATASYNC, TRIM = range(5)


def _read(folder: Path, text: str | bytes, name: str, **options: Any) -> tuple[TraceReport, list[tuple[Any, ...]]]:
    """A trace of this text: its report, and (ts, lat, queue, op, offset, size, line) of its events."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    to = str(folder / "events.parquet")
    report = read_anew((str(path),), to, TraceOptions(**options))
    rows = duckdb.execute(f"select ts_ns, lat_ns, queue_ns, op, \"offset\", size, src_line from '{to}'").fetchall()
    assert len(rows) == report.events
    assert all(file.lines_accounted() == file.lines for file in report.files)
    return report, rows


def test_msr_counts_from_1601_in_steps_of_100_ns(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, samples.MSR, "hm_1.csv")
    assert rows[0] == (1_172_174_139_434_557_300, 11_373_600, None, READ, 383_496_192, 32_768, 1)
    assert (report.clock, report.epoch_ns, report.targets) == ("unix", 0, ("hm,1",))
    facts = duckdb.execute(f"select decode(key), decode(value) from parquet_kv_metadata('{tmp_path}/events.parquet')")
    meaning = dict(facts.fetchall())
    assert json.loads(meaning["iocast.targets"]) == ["hm,1"]
    assert (meaning["iocast.clock"], meaning["iocast.tick_ns"]) == ("unix", "100")


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
def test_compressed_traces_equal_plain_ones(tmp_path: Path, packed: Any) -> None:
    assert _read(tmp_path, packed(samples.MSR.encode()), "a.csv")[1] == _read(tmp_path, samples.MSR, "b.csv")[1]


def test_a_cut_compressed_trace_says_so(tmp_path: Path) -> None:
    whole = gzip.compress(samples.MSR.encode() * 50)
    report, rows = _read(tmp_path, whole[:-12], "a.csv.gz")
    assert rows
    assert "compressed data is cut" in " ".join(report.files[0].notes)


def test_rejected_lines_have_line_column_and_rule(tmp_path: Path) -> None:
    bad = "128166477394345573,hm,1,Erase,1,2,3\n128166477394345573,hm,1,Read,1,2\n"
    report, _ = _read(tmp_path, "\ufeff" + samples.MSR.replace("\n", "\r\n") + bad, "a.csv", format="msr")
    found = [(reject.line, reject.column, reject.rule) for reject in report.files[0].first_rejects]
    assert found == [(3, 25, "not an operation"), (4, 33, "too few fields")]
    assert report.files[0].accepted == 2


def test_iologs_of_both_versions(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, samples.IOLOG_3, "log")
    assert rows == [(91_000, None, None, WRITE, 0, 4096, 3), (268_000, None, None, DATASYNC, None, None, 4)]
    assert report.targets == ("/a b",)
    _, rows = _read(tmp_path, samples.IOLOG_2, "log")
    assert rows == [(50_000, None, None, READ, 0, 512, 4), (57_000, None, None, TRIM, 512, 512, 6)]


def test_logs_of_latencies_are_stamped_at_the_end(tmp_path: Path) -> None:
    _, rows = _read(tmp_path, samples.FIO_LAT, "job_lat.1.log")
    assert rows[0] == (1_000_000 - 493_547, 493_547, None, READ, 0, 1_048_576, 1)
    with pytest.raises(SourceError, match="four columns were written by fio 2"):
        _read(tmp_path, "1, 493, 0, 4096\n", "job_lat.1.log")
    assert _read(tmp_path, "1, 493, 0, 4096\n", "job_lat.1.log", latency_unit="us")[1][0][1] == 493_000
    with pytest.raises(SourceError, match="no latency of single I/Os"):
        _read(tmp_path, samples.FIO_LAT, "job_bw.1.log")
    with pytest.raises(SourceError, match="average of several"):
        _read(tmp_path, "505, 18796404, 1, 0, 0\n", "job_lat.1.log")


def test_blkparse_pairs_queue_issue_and_completion(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, samples.BLKPARSE, "blk.txt")
    assert rows == [
        (150_000, 200_000, 50_000, WRITE, 512_000, 4096, 2),
        (160_000, None, None, READ, 1_024_000, 4096, 3),
    ]
    figures = report.files[0].figures
    assert (figures["issue_to_completion"], figures["completed_without_issue"]) == (1, 1)
    assert report.files[0].notes == ("the trace lost events: blkparse skipped 2",)


def test_a_trace_of_completions_only_has_no_times(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="completions only"):
        _read(tmp_path, "  8,52   3   1     0.000843237     0  C  WS 100 + 64 [0]\n", "blk.txt")


@pytest.mark.parametrize("order", ["<", ">"])
def test_binary_block_traces_of_two_cpus_are_merged_by_time(tmp_path: Path, order: str) -> None:
    issue = samples.block_record(1000, samples.WRITES | samples.ISSUED, 8, 4096, order)
    done = samples.block_record(3500, samples.WRITES | samples.COMPLETED, 8, 4096, order)
    (tmp_path / "sdb.blktrace.0").write_bytes(done)
    (tmp_path / "sdb.blktrace.1").write_bytes(issue + b"\0\0\0" + done[:20])
    to = str(tmp_path / "events.parquet")
    report = read_anew((str(tmp_path / "sdb.blktrace.*"),), to)
    rows = duckdb.execute(f"select ts_ns, lat_ns, op, \"offset\", size, source, err from '{to}'").fetchall()
    assert rows == [(1000, 2500, WRITE, 4096, 4096, 1, 0)]  # the file and record of its issue
    assert sum(report.files[1].rejected.values()) == 1
    assert report.targets == ("8,16",)


def test_oracle_text_that_looks_like_a_wait_is_none(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, samples.ORACLE, "o.trc")
    assert rows[0] == (1_377_520_823_035_657_000, 977_000, None, READ, None, None, 14)
    assert rows[1][:2] == (1_377_520_823_036_703_000, None)  # asynchronous: its wait is no service time
    assert (len(rows), report.actors, report.targets) == (2, ("41/7",), ("file 7",))
    assert report.files[0].ignored["wait that is no I/O"] == 1
    _, rows = _read(tmp_path, samples.ORACLE, "o.trc", block_size_bytes=8192)
    assert rows[1][4:6] == (64 * 8192, 128 * 8192)


def test_the_unit_of_old_oracle_traces_must_be_known(tmp_path: Path) -> None:
    wait = "WAIT #1: nam='db file sequential read' ela= 2 p1=8 p2=649 p3=1\n"
    report, rows = _read(tmp_path, wait, "o.trc")
    assert rows[0][:2] == (None, None)
    assert "give oracle_release" in " ".join(report.files[0].notes)
    assert _read(tmp_path, wait, "o.trc", oracle_release="8.1.7")[1][0][1] == 20_000_000
    assert _read(tmp_path, wait, "o.trc", oracle_release="9.2")[1][0][1] == 2_000


def test_any_table_by_its_columns(tmp_path: Path) -> None:
    columns = Columns(5, 5, (0, "ns"), (2, 512), (3, 512), (4, "zero_writes"), separator="blanks", target=(1, 1))
    _, rows = _read(tmp_path, "938513000 4 264719034 16 0\n", "mqsim.trace", columns=columns)
    assert rows == [(938_513_000, None, None, WRITE, 264_719_034 * 512, 8192, 1)]
    with pytest.raises(SourceError, match="a field that a line need not have"):
        _read(tmp_path, "1 2\n", "a", columns=Columns(2, 2, (0, "ns"), (2, 512), (3, 512), (4, "words")))


def test_a_trace_without_io_and_a_file_that_is_none_are_refused(tmp_path: Path) -> None:
    to = tmp_path / "events.parquet"
    for text, said in [
        ("Oracle Database Release 19.0\n", "no I/O in 1 lines"),
        ("hello\n", "no trace format"),
        ("", "is empty"),
    ]:
        (tmp_path / "t").write_text(text)
        with pytest.raises(SourceError, match=said) as refusal:
            read_anew((str(tmp_path / "t"),), str(to))
        assert refusal.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
    with pytest.raises(SourceError, match="no such file"):
        read_anew((str(tmp_path / "*.trc"),), str(to))


def test_traces_of_different_clocks_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(samples.MSR)
    (tmp_path / "b.log").write_text(samples.IOLOG_3)
    with pytest.raises(SourceError, match="do not count from where"):
        read_anew((str(tmp_path),), str(tmp_path / "events.parquet"))


_CUT = {"a.csv": samples.MSR, "i.log": samples.IOLOG_2, "x_lat.1.log": samples.FIO_LAT, "b.txt": samples.BLKPARSE,
        "o.trc": samples.ORACLE}  # fmt: skip


@pytest.mark.parametrize("name", sorted(_CUT))
def test_a_trace_may_be_cut_anywhere(tmp_path: Path, name: str) -> None:
    text = _CUT[name].encode()
    for end in range(1, len(text), 3):
        (tmp_path / name).write_bytes(text[:end])
        try:
            report = read_anew((str(tmp_path / name),), str(tmp_path / "events.parquet"))
        except SourceError:
            continue
        assert all(file.lines_accounted() == file.lines for file in report.files)


def test_every_format_is_in_the_guide() -> None:
    guide = (Path(__file__).parents[3] / "docs/guide/traces.md").read_text()
    assert [name for name, _ in trace_formats() if f"`{name}`" not in guide] == []


@pytest.mark.long
def test_a_binary_trace_may_be_cut_or_damaged_anywhere(tmp_path: Path) -> None:
    steps = [(samples.ISSUED, 0), (samples.COMPLETED, 0), (samples.ISSUED, 64), (samples.COMPLETED, 64)]
    whole = b"".join(
        samples.block_record(at, samples.WRITES | step, sector, 4096) for at, (step, sector) in enumerate(steps)
    )
    for at in range(4, len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]):
            (tmp_path / "a.blktrace.0").write_bytes(damaged)
            try:
                report = read_anew((str(tmp_path / "a.blktrace.0"),), str(tmp_path / "events.parquet"))
            except SourceError:
                continue
            assert all(file.lines_accounted() == file.lines for file in report.files)
