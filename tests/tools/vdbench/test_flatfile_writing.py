"""vdbench's flatfile: its columns, the average without the first interval, and the importer reads it back."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

import iocast
from iocast import archive
from iocast.model.histogram import Histogram, bucket_index
from iocast.report.renderers.vdbench.vdbench_flatfile import render_flatfile
from iocast.tools import importers
from iocast.tools.vdbench.console_writing import IntervalFigures, RunFigures
from iocast.tools.vdbench.flatfile_writing import COLUMNS, FlatfileRequest, flatfile_text
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

ASKED = FlatfileRequest(xfersize_bytes=1024, threads=8, read_percent=100.0, seek_percent=100.0, size_bytes=10 << 30)


def _interval(ios: int) -> IntervalFigures:
    reads = Histogram((bucket_index(20_000),), (ios,), ios * 20_000, ios * 4e8, 20_000, 20_000)
    return IntervalFigures(1.0, ios * 1024, reads, Histogram())


def _table(text: str) -> list[dict[str, str]]:
    head, *rows = [line.split() for line in text.splitlines() if not line.startswith("*")]
    assert head == list(COLUMNS)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_v12_in_columns() -> None:
    intervals = tuple(map(_interval, (84, 103, 103, 106, 106)))
    began = 1_548_324_002_001_000_000  # 2019-01-24 10:00:02.001
    run = RunFigures(
        name="rd1", started_unix_ns=began, rate_per_s=100.0, loops="None", interval_s=1.0, intervals=intervals
    )
    text = flatfile_text([(run, ASKED)])
    rows = _table(text)
    assert [row["Interval"] for row in rows] == ["1", "2", "3", "4", "5", "avg_2-5"]
    assert rows[0]["tod"] == "10:00:03.001"
    assert (rows[0]["rate"], rows[-1]["rate"], rows[-1]["reqrate"]) == ("84.0000", "104.5000", "100.0000")
    assert (rows[0]["bytes/io"], rows[0]["read%"], rows[0]["resp"]) == ("1024", "100.0000", "0.0200")
    assert (rows[0]["xfersize"], rows[0]["lunsize"], rows[0]["cpu_used"]) == ("1024", "10.0000", "n/a")
    assert len({len(line) for line in text.splitlines() if not line.startswith("*")}) == 1


def test_what_has_no_one_value_is_unknown() -> None:
    run = RunFigures(name="r", started_unix_ns=0, rate_per_s=None, loops="", interval_s=1.0, intervals=(_interval(5),))
    unknown = FlatfileRequest(xfersize_bytes=None, threads=1, read_percent=None, seek_percent=None, size_bytes=None)
    (row,) = _table(flatfile_text([(run, unknown)]))
    assert row["reqrate"] == "999988.0000"
    assert {row[name] for name in ("xfersize", "rdpct", "seekpct", "lunsize")} == {"n/a"}


def test_the_importer_reads_the_flatfile_back(tmp_path: Path) -> None:
    text = (
        "sd=sd1,threads=2,openflags=o_direct\nwd=w,sd=sd1,xfersize=4k,rdpct=60\nrd=r,wd=w,iorate=(max,200),elapsed=5\n"
    )
    card = iocast.run(parse_vdbench_job(text, "t.vdb"), "sim:nvme,service=constant:1ms", out=str(tmp_path / "runs"))
    out = StringIO()
    render_flatfile(card.run, archive.load_courses(card.folder), out)
    (tmp_path / "flatfile.html").write_text(out.getvalue())
    (back,) = importers.read((str(tmp_path / "flatfile.html"),))
    assert [record.phase.name for record in back.phases] == ["r_max", "r_@200/s"]
    for ours, theirs in zip(card.run.measured, back.phases, strict=True):
        assert theirs.measurement.rate_per_s == pytest.approx(ours.measurement.rate_per_s, rel=0.03)
    rows = _table(out.getvalue())
    assert {row["xfersize"] for row in rows} == {"4096"}
    assert {row["rdpct"] for row in rows} == {"60.0000"}
