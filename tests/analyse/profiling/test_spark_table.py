"""Spark counts what DuckDB counts, for every statement of a profile. Skipped without pyspark, sqlglot and Java."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.made_traces import OPTIONS, database_load, write_trace

from iocast.analyse.profiling.event_queries import EventTable, footprint, references_of, table_facts
from iocast.analyse.profiling.measure_profile import measure_profile
from iocast.analyse.profiling.spark_table import SparkTable
from iocast.errors import AnalysisError
from iocast.model.codes import CountingEngine
from iocast.tools.traces import read_traces

ENGINES: tuple[CountingEngine, ...] = ("duckdb", "spark")
HAS_SPARK = shutil.which("java") is not None
needs_spark = pytest.mark.skipif(not HAS_SPARK, reason="Spark needs Java, which is not installed")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventTable, EventTable]]:
    """One table of events, asked by both."""
    pytest.importorskip("pyspark", reason="pip install iocast[spark]")
    pytest.importorskip("sqlglot", reason="pip install iocast[spark]")
    room = tmp_path_factory.mktemp("spark")
    events = room / "events.parquet"
    read_traces((str(write_trace(room / "trace.csv", database_load(10))),), str(events), OPTIONS)
    with EventTable(str(events), room) as ours, SparkTable(str(events), room) as spark:
        yield ours, spark


@needs_spark
def test_counts_are_equal(tables: tuple[EventTable, EventTable]) -> None:
    ours, spark = (table_facts(table) for table in tables)
    assert ours == spark
    assert ours.events > 1000
    assert len(ours.sizes) > 1


@needs_spark
@pytest.mark.parametrize("only", [(), ((0, 8192), (1, 8192))])
def test_blocks_are_equal(tables: tuple[EventTable, EventTable], only: tuple[tuple[int, int], ...]) -> None:
    ours, spark = (footprint(table, 8192, 1 << 40, only) for table in tables)
    assert ours == spark
    assert ours is not None
    assert ours.hot_spots
    assert references_of(tables[0], 4096) == references_of(tables[1], 4096)


@needs_spark
def test_a_whole_profile_is_the_same(tables: tuple[EventTable, EventTable], tmp_path: Path) -> None:
    ours, spark = (measure_profile(tables[0].path, "a", "1", spill=tmp_path, engine=each) for each in ENGINES)
    assert ours == spark


def test_without_pyspark_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    events = tmp_path / "events.parquet"
    read_traces((str(write_trace(tmp_path / "trace.csv", database_load(2))),), str(events), OPTIONS)
    with pytest.raises(AnalysisError, match=r"--engine spark needs .*, which is not installed") as refused:
        SparkTable(str(events), tmp_path)
    assert 'pip install "iocast[spark]"' in refused.value.hint
