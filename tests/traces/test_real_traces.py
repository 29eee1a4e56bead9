"""Real traces: counts and figures to the digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.trace_samples import SHARED, WITHOUT_SHARED

from iocast.traces.read_traces import TraceOptions, TraceReport, read_traces

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=WITHOUT_SHARED)


def _read(tmp_path: Path, pattern: str, **options: Any) -> tuple[TraceReport, str]:
    to = str(tmp_path / "events.parquet")
    report = read_traces((str(SHARED / pattern),), to, TraceOptions(**options))
    assert all(file.lines_accounted() == file.lines for file in report.files)
    return report, to


def test_the_trace_of_oracle_12_1_to_the_digit(tmp_path: Path) -> None:
    report, to = _read(tmp_path, "oracle_10046/ora12101_dbfsr_part1.trc")
    assert report.files[0].figures["single_block_reads"] == 14_395
    reads = f"select count(*), round(avg(lat_ns) / 1e6, 3) from '{to}' where op = 0 and lat_ns is not null"
    assert duckdb.execute(reads).fetchall() == [(14_395, 5.927)]
