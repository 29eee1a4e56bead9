"""Tables of text and of records: units, polarities and clocks of each, and what must be said of it."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers import trace_samples as samples
from makers.read_anew import read_anew

from iocast.errors import SourceError
from iocast.tools.traces import Columns, TraceOptions, TraceReport

READ, WRITE, OTHER = 0, 1, 6


def _read(folder: Path, text: str | bytes, **options: Any) -> tuple[TraceReport, list[tuple[Any, ...]]]:
    """A trace of this text: its report, and (ts, lat, op, offset, size)."""
    (folder / "t").write_bytes(text.encode() if isinstance(text, str) else text)
    to = str(folder / "events.parquet")
    report = read_anew((str(folder / "t"),), to, TraceOptions(**options))
    return report, duckdb.execute(f"select ts_ns, lat_ns, op, \"offset\", size from '{to}'").fetchall()


def test_disksim_counts_ms_and_odd_flags_are_reads(tmp_path: Path) -> None:
    _, rows = _read(tmp_path, "13.191135\t30\t8\t5\t1\n25.911729\t18\t28601\t12\t0\n")
    assert rows == [(13_191_135, None, READ, 4096, 2560), (25_911_729, None, WRITE, 28_601 * 512, 6144)]


def test_the_validation_traces_of_disksim_have_no_times(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, "R Hit    8   4  13670.00000  35942.00000\nW Miss   8   4  874.5  1.0\n")
    assert rows == [(None, 13_670_000, READ, 4096, 2048), (None, 874_500, WRITE, 4096, 2048)]
    assert report.clock is None


@pytest.mark.parametrize("name", ["mqsim", "ssdsim"])
def test_a_simulators_table_must_be_named(tmp_path: Path, name: str) -> None:
    text = "938513000 4 8 16 0\n938828000 3 16 16 1\n"
    with pytest.raises(SourceError, match="or of a tool where 0 is a read") as refusal:
        _read(tmp_path, text)
    assert "mqsim or ssdsim" in str(refusal.value.hint)
    assert _read(tmp_path, text, format=name)[1] == [
        (938_513_000, None, WRITE, 4096, 8192),
        (938_828_000, None, READ, 8192, 8192),
    ]


def test_references_need_the_size_of_a_block(tmp_path: Path) -> None:
    text = gzip.compress(b"3\n*\n7\n")
    with pytest.raises(SourceError, match="without the size of a block"):
        _read(tmp_path, text)
    _, rows = _read(tmp_path, text, block_size_bytes=4096)
    assert rows == [(None, None, OTHER, 12_288, 4096), (None, None, OTHER, 28_672, 4096)]


def test_vscsi_of_both_versions(tmp_path: Path) -> None:
    first = struct.pack("<IIIHHQQ", 1, 4096, 1, 0x2A, 0x100, 8, 5_000)
    assert _read(tmp_path, first * 3)[1] == [(5_000_000, None, WRITE, 4096, 4096)] * 3
    second = struct.pack("<HHIIIQQQ", 0x28, 0x200, 1, 4096, 1, 8, 5_000, 70)
    report, rows = _read(tmp_path, second * 2 + second[:9])
    assert rows == [(4_930_000, 70_000, READ, 4096, 4096)] * 2
    (file,) = report.files
    assert [(reject.line, reject.column, reject.rule) for reject in file.first_rejects] == [
        (3, 81, "the last record is cut")
    ]
    report, _ = _read(tmp_path, second * 9 + second[:3] + b"\7" + second[4:])
    assert [(reject.line, reject.column) for reject in report.files[0].first_rejects] == [(10, 364)]


@pytest.mark.parametrize(
    ("stamp", "unit"),
    [("1577808144", "s"), ("1577808144.5", "s"), ("1577808144360", "ms"), ("1577808144360767", "us"),
     ("1577808144360767123", "ns"), ("132222817443607671", "100 ns")],
)  # fmt: skip
def test_the_unit_of_a_time_since_1970_is_found(tmp_path: Path, stamp: str, unit: str) -> None:
    columns = Columns(4, 4, (0, "unix"), (1, 1), (2, 1), (3, "words"))
    report, rows = _read(tmp_path, f"{stamp},0,512,R\n", columns=columns)
    assert abs(rows[0][0] - 1577808144_000000000) < 1_000_000_000, unit
    assert report.clock == "unix"
    with pytest.raises(SourceError, match="not a time"):
        _read(tmp_path, "77,0,512,R\n", columns=columns)


@pytest.mark.parametrize(("unit", "wrong"), [("us", False), ("s", True)])
def test_littles_law_finds_a_wrong_unit(tmp_path: Path, unit: str, wrong: bool) -> None:
    """A thousand reads a second of 4 ms each: 4 are under way; read as seconds they would be thousands."""
    columns = Columns(5, 5, (0, "us"), (1, 1), (2, 1), (3, "words"), latency=(4, unit))
    text = "".join(f"{at * 1000},0,512,R,4000\n" for at in range(10_000))
    report, _ = _read(tmp_path, text, columns=columns)
    (file,) = report.files
    assert any("check the units" in note for note in file.notes) is wrong
    if not wrong:
        assert file.figures["ios_under_way_thousandths"] == pytest.approx(4000, abs=4)


def test_the_standard_input_is_a_trace(tmp_path: Path) -> None:
    to = tmp_path / "events.parquet"
    code = f"from iocast.tools.traces import read_traces as r; print(r(('-',), {str(to)!r}).files[0].path)"
    for text in (samples.MSR.encode(), gzip.compress(samples.MSR.encode())):
        to.unlink(missing_ok=True)
        done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, check=True)
        assert done.stdout == b"stdin\n"
        assert duckdb.execute(f"select count(*) from '{to}'").fetchall() == [(2,)]


def test_cloudphysics_counts_whole_seconds(tmp_path: Path) -> None:
    """The binary twin of this trace has 5633898368802 us where the table has 5633898."""
    report, rows = _read(tmp_path, "version,time,op,size,lbn\n1,5633898,2a,512,8\n1,5635759,28,65536,16\n")
    assert rows == [
        (5_633_898_000_000_000, None, WRITE, 4096, 512),
        (5_635_759_000_000_000, None, READ, 8192, 65_536),
    ]
    assert (report.clock, report.tick_ns) == ("trace", 1_000_000_000)


@pytest.mark.parametrize(
    ("stamps", "tick_ns"),
    [(("1538323200", "1538323201"), 1_000_000_000), (("1538323200.5", "1538323201.125"), 1_000_000)],
)
def test_the_step_of_stamps_is_that_of_their_last_digit(tmp_path: Path, stamps: list[str], tick_ns: int) -> None:
    columns = Columns(4, 4, (0, "s"), (1, 1), (2, 1), (3, "words"))
    report, _ = _read(tmp_path, "".join(f"{stamp},0,512,R\n" for stamp in stamps), columns=columns)
    assert report.tick_ns == tick_ns
