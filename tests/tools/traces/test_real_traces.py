"""Real traces: counts and figures to the digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.read_anew import read_anew
from makers.trace_samples import SHARED, WITHOUT_SHARED

from iocast.errors import SourceError
from iocast.tools.traces import TraceOptions, TraceReport

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=WITHOUT_SHARED)


# File, its lines, its events, its rejected lines.
COUNTS = [
    ("oracle_10046/ora11204_oci12c_client.trc", 4_269, 32, 0),
    ("oracle_10046/ora12201_pdb_session1.trc", 4_226, 8, 0),
    ("oracle_10046/ora1910_direct_path_temp.trc", 20, 20, 0),
    ("oracle_10046/ora8174_9206_10104_waits.txt", 35, 16, 8),  # eight lines end in a remark
    ("oracle_10046/trctools_broken_trace.trc", 60, 1, 3),  # two records on one line, two calls that are cut
    ("block_csv/alibaba_fragment.csv", 6, 6, 0),
    ("block_csv/cloudphysics_part.csv", 40_000, 39_999, 0),
    ("block_csv/msr_fragment.csv", 6, 6, 0),
    ("block_csv/spc_spec_example.spc", 11, 10, 1),  # the misprint of the specification
    ("fio_iolog/local__iolog_redo_v3.txt", 1_002, 998, 0),
    ("fio_iolog/local__iolog_scan_v2_derived.txt", 244, 120, 0),
    ("fio_output/local__fl_clat.2.log", 499, 499, 0),
    ("blktrace/keks_blkparse.txt", 2_482, 1_192, 0),
    ("blktrace/wiscsee_blkparse.txt", 757, 677, 0),
    ("blktrace/sample.blktrace.0", 6_743, 963, 0),
]

REFUSED = [
    ("oracle_10046/ora19120_fetch500.trc", "no I/O in 2053 lines"),
    ("blktrace/leveldb_blkparse.txt", "completions only"),
    ("blktrace/btt_keks.txt", "a report of btt"),
    ("fio_output/local__la_clat.1.log", "an average of several I/Os"),
    ("fio_output/local__fl_bw.3.log", "a log of bw has no latency"),
    ("fio_output/fio_plot_hdd10k_rr16_lat.1.log", "four columns"),
]


def _read(tmp_path: Path, pattern: str, **options: Any) -> tuple[TraceReport, str]:
    to = str(tmp_path / "events.parquet")
    report = read_anew((str(SHARED / pattern),), to, TraceOptions(**options))
    assert all(file.lines_accounted() == file.lines for file in report.files)
    return report, to


def test_the_trace_of_oracle_12_1_to_the_digit(tmp_path: Path) -> None:
    report, to = _read(tmp_path, "oracle_10046/ora12101_dbfsr_part1.trc")
    assert report.files[0].figures["single_block_reads"] == 14_395
    reads = f"select count(*), round(avg(lat_ns) / 1e6, 3) from '{to}' where op = 0 and lat_ns is not null"
    assert duckdb.execute(reads).fetchall() == [(14_395, 5.927)]


@pytest.mark.parametrize(("name", "lines", "events", "rejected"), COUNTS)
def test_counts_of_real_traces(tmp_path: Path, name: str, lines: int, events: int, rejected: int) -> None:
    file = _read(tmp_path, name)[0].files[0]
    assert (file.lines, file.events, sum(file.rejected.values())) == (lines, events, rejected)


@pytest.mark.parametrize(("name", "said"), REFUSED)
def test_what_is_no_trace_of_single_ios_is_refused(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as refusal:
        _read(tmp_path, name)
    assert refusal.value.hint


def test_text_and_binary_of_one_block_trace_agree(tmp_path: Path) -> None:
    """The blkparse text was made from the files of the eight CPUs."""
    summary = "select op, count(*), sum(size), count(lat_ns), sum(lat_ns) from '{}' group by op order by op"
    found = []
    for pattern in ("blktrace/keks.blktrace.*", "blktrace/keks_blkparse.txt"):
        to = _read(tmp_path, pattern)[1]
        found.append(duckdb.execute(summary.format(to)).fetchall())
    assert found[0] == found[1]
