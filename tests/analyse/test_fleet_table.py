"""The rows of many runs, added up by SQL: by DuckDB as by hand, and by Spark as by DuckDB."""

from __future__ import annotations

import shutil
import sys
from math import log
from pathlib import Path
from statistics import fmean, median, variance

import msgspec
import pytest
from makers.planted_fleets import planted_fleet

from iocast.analyse.fleet_table import FleetTable, entries_of, fleet_table, host_rows, host_scores
from iocast.errors import AnalysisError
from iocast.model.codes import CountingEngine
from iocast.sessions.fleet import FleetRequest, fleet

ENGINES: tuple[CountingEngine, ...] = ("duckdb", "spark")
HAS_JAVA = shutil.which("java") is not None
# Host, run, mean latency in µs and IOPS of "a"; the last run has no row "b".
RUNS = ((0, 0, 100, 10_000), (0, 1, 110, 9_000), (0, 2, 130, 8_000), (1, 3, 200, 5_000))


def _lines(path: Path, runs: tuple[tuple[int, int, int, int], ...] = RUNS) -> Path:
    """The file that a fleet is read from."""
    lines = [
        {
            "run": run,
            "subject": subject,
            "model": "",
            "rows": [
                {"row": name, "load": "x", "rate_per_s": rate, "mean_ns": mean_us * 1e3, "busy_per_s": busy}
                for name, busy in (("a", 5.0 * run), ("b", None))[: 1 if run == 3 else 2]
            ],
        }
        for subject, run, mean_us, rate in runs
    ]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


def test_a_row_of_a_host_is_its_median_over_runs(tmp_path: Path) -> None:
    with FleetTable(_lines(tmp_path / "lines"), tmp_path) as table:
        one, other, of_b = host_rows(table)
    assert (one.row, one.subject, one.runs, one.is_open) == ("a", 0, 3, False)
    assert one.log_ns == pytest.approx(median(log(us * 1e3) for us in (100, 110, 130)))
    assert one.variance == pytest.approx(variance([log(100), log(110), log(130)]))
    assert (one.busy_per_s, one.rate_per_s, one.p99_ns) == (5.0, 9_000.0, None)
    assert (other.subject, other.runs, other.variance, other.busy_per_s) == (1, 1, None, 15.0)
    assert (of_b.row, of_b.busy_per_s) == ("b", None)


def test_a_host_is_as_fast_as_its_runs_are_on_rows_that_others_have(tmp_path: Path) -> None:
    with FleetTable(_lines(tmp_path / "lines"), tmp_path) as table:
        first, other = host_scores(table)
    typical = fmean([log(9_000), log(5_000)])  # of two, the median is the middle
    scores = [log(rate) - typical for rate in (10_000, 9_000, 8_000)]
    assert (first.subject, first.runs, first.rows) == (0, 3, 1)
    assert first.score == pytest.approx(fmean(scores))
    assert first.variance == pytest.approx(variance(scores))
    assert (other.runs, other.variance) == (1, None)


def test_the_runs_of_some_hosts(tmp_path: Path) -> None:
    with FleetTable(_lines(tmp_path / "lines"), tmp_path) as table:
        assert [(each.row, each.run, each.mean_ns) for each in entries_of(table, {1})] == [("a", 3, 200e3)]
        assert entries_of(table, set()) == []


def test_a_damaged_line_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text('{"run": 1, "rows": [{]}\n')
    with pytest.raises(AnalysisError, match="cannot be added up") as refused:
        FleetTable(tmp_path / "lines", tmp_path)
    assert "remove it" in refused.value.hint


def test_without_pyspark_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.errors", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(AnalysisError, match=r"--engine spark needs .*, which is not installed") as refused:
        fleet_table(_lines(tmp_path / "lines"), tmp_path, "spark")
    assert 'pip install "iocast[spark]"' in refused.value.hint


@pytest.mark.long
@pytest.mark.skipif(not HAS_JAVA, reason="Spark needs Java, which is not installed")
def test_spark_says_the_same_of_a_thousand_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pip install iocast[spark]")
    pytest.importorskip("sqlglot", reason="pip install iocast[spark]")
    place = planted_fleet(tmp_path / "runs", 1, hosts=100, runs=10, slow={2: 1.8, 30: 1.5}, busy={3: 1.0})
    ours, spark = (fleet(FleetRequest(directories=(str(place),), engine=engine)) for engine in ENGINES)
    assert (spark.verdict, spark.next_steps) == (ours.verdict, ours.next_steps)
    assert "2 of 100 hosts are slow: db02, db30." in ours.verdict
    exact, close = (msgspec.to_builtins(report.result) for report in (ours, spark))
    assert _rounded(close) == _rounded(exact)


def _rounded(value: object) -> object:
    """Sums come in another order, and differ in their last digits."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value
