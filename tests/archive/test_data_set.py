"""A folder of runs is one data set: any program that reads Parquet answers questions over all of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import duckdb
import pytest
from makers.saved_runs import empty_run, measured, saved
from msgspec.structs import replace

from iocast.archive import RunFolder, parquet
from iocast.archive.interval_tables import INTERVAL_COLUMNS
from iocast.archive.parquet import KEYS
from iocast.archive.sample_tables import SAMPLE_COLUMNS
from iocast.model.run import Sample

SAMPLES = (Sample(1, "diskstats", "vda", "reads", 2.0), Sample(3, "diskstats", "vda", "reads", 5.0))
GUIDE = Path(__file__).parents[2] / "docs/guide/run-folder.md"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs with two phases each, one of them on another target."""
    saved(tmp_path, SAMPLES)
    other = replace(empty_run("other job", "sim:hdd"), run_id="20260921T141320Z-ffffffffffff")
    folder = RunFolder.create(str(tmp_path / "runs"), other)
    for number in (0, 10):
        record, intervals = measured(other, number)
        folder.save_phase(number, record.phase.name, intervals, SAMPLES)
    return tmp_path / "runs"


def test_plain_sql_groups_by_run_and_phase(runs: Path) -> None:
    asked = f"SELECT run_id, phase, sum(ios) FROM '{runs}/*/intervals/*.parquet' GROUP BY run_id, phase"
    found = duckdb.sql(asked).fetchall()
    assert len(found) == 4
    assert {phase for _, phase, _ in found} == {"randread 8k 1x1", "mixed 8k 8x1"}
    assert all(ios > 0 for *_, ios in found)
    asked = f"SELECT DISTINCT host, target, job FROM '{runs}/*/samples/*.parquet' ORDER BY target"
    assert duckdb.sql(asked).fetchall() == [("h", "sim:hdd", "other job"), ("h", "sim:nvme", "card quick")]


@pytest.mark.parametrize(("table", "columns"), [("intervals", INTERVAL_COLUMNS), ("samples", SAMPLE_COLUMNS)])
def test_numbers_are_signed_and_the_guide_says_what_they_are(runs: Path, table: str, columns: tuple) -> None:  # type: ignore[type-arg]
    found = duckdb.sql(f"DESCRIBE SELECT * FROM '{runs}/*/{table}/*.parquet'").fetchall()
    assert [row[:2] for row in found] == [(column.name, column.type) for column in (*KEYS, *columns)]
    assert not [row for row in found if row[1].startswith("U")]
    guide = GUIDE.read_text(encoding="utf-8")
    for column in (*KEYS, *columns):
        assert f"| `{column.name}` | {column.type} | {column.says} |" in guide


def test_what_names_the_run_takes_no_room(runs: Path) -> None:
    """The columns that are the same in every row are kept once a file, as a dictionary."""
    file = next(runs.glob("*/intervals/*.parquet"))
    asked = f"SELECT path_in_schema, total_compressed_size, encodings FROM parquet_metadata('{file}')"
    sizes = {name: (size, encodings) for name, size, encodings in duckdb.sql(asked).fetchall()}
    for column in KEYS:
        size, encodings = sizes[column.name]
        assert size < 120
        assert "DICTIONARY" in encodings


def test_what_the_guide_shows_can_be_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SQL of the guide answers over a folder of runs; its pandas where pandas is installed."""
    monkeypatch.chdir(runs.parent)
    runs.rename(runs.parent / "iocast-runs")
    guide = GUIDE.read_text(encoding="utf-8")
    queries = [block.split("```")[0] for block in guide.split("```sql\n")[1:]]
    assert len(queries) >= 3
    for query in queries:
        assert duckdb.sql(query).fetchall(), query
    if importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"):
        for block in guide.split("```python\n")[1:]:
            exec(block.split("```")[0], {})


def test_a_database_spills_where_nobody_can_have_put_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own names there are known, and what is in the current directory may be anybody's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    parquet.database.cache_clear()
    try:
        ((place,),) = parquet.database().sql("SELECT current_setting('temp_directory')").fetchall()
    finally:
        parquet.database.cache_clear()
    assert Path(place).parent == tmp_path
    assert len(Path(place).name) > 32
