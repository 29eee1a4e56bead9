"""vdbench's lines: avg_2-N leaves out the first interval (vector V12), and the importer reads them back."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

import iocast
from iocast import archive
from iocast.model.histogram import Histogram, bucket_index
from iocast.report.renderers.vdbench.vdbench_console import render_console
from iocast.tools import importers
from iocast.tools.vdbench.console_writing import IntervalFigures, RunFigures, average, run_text
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

HEAD = (
    "Jan 24, 2019    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp"
    "  queue  cpu%  cpu%"
)


def interval(ios: int) -> IntervalFigures:
    reads = Histogram((bucket_index(20_000),), (ios,), ios * 20_000, ios * 4e8, 20_000, 20_000)
    return IntervalFigures(1.0, ios * 1024, reads, Histogram())


def test_v12_the_first_interval_is_left_out() -> None:
    intervals = tuple(map(interval, (84, 103, 103, 106, 106)))
    assert average(intervals).every.total / average(intervals).seconds == 104.5
    began = 1_548_324_002_001_000_000  # 2019-01-24 10:00:02.001
    text = run_text(
        RunFigures(
            name="rd1", started_unix_ns=began, rate_per_s=100.0, loops="None", interval_s=1.0, intervals=intervals
        )
    )
    lines = text.splitlines()
    assert lines[0] == "10:00:02.001 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: None"
    assert lines[2] == HEAD
    assert lines[4].startswith("10:00:03.001           1       84.0     0.08    1024 100.00    0.020    0.020    0.000")
    assert lines[-1].startswith("10:00:07.001     avg_2-5      104.5     0.10    1024 100.00    0.020")
    assert len({len(line) for line in lines[4:]}) == 1


def test_one_interval_has_no_average() -> None:
    text = run_text(
        RunFigures(name="a", started_unix_ns=0, rate_per_s=None, loops="None", interval_s=1.0, intervals=(interval(5),))
    )
    assert "avg_" not in text
    assert "I/O rate: Uncontrolled MAX" in text


def test_the_importer_reads_the_lines_back(tmp_path: Path) -> None:
    text = "sd=sd1,threads=2,openflags=o_direct\nwd=w,sd=sd1,xfersize=4k\nrd=r,wd=w,iorate=(max,200),elapsed=5\n"
    card = iocast.run(parse_vdbench_job(text, "t.vdb"), "sim:nvme,service=constant:1ms", out=str(tmp_path / "runs"))
    out = StringIO()
    render_console(card.run, archive.load_courses(card.folder), out)
    (tmp_path / "console.txt").write_text(out.getvalue())
    (back,) = importers.read((str(tmp_path / "console.txt"),))
    assert [record.phase.name for record in back.phases] == ["r_max", "r_@200/s"]
    for ours, theirs in zip(card.run.measured, back.phases, strict=True):
        assert theirs.measurement.rate_per_s == pytest.approx(ours.measurement.rate_per_s, rel=0.03)
