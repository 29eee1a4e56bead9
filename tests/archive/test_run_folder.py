"""Run folders: what goes in comes out, anyone can query them, and they are valid at every moment."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers.saved_runs import empty_run, measured, saved
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder
from iocast.archive.json_files import unwritable
from iocast.errors import ArchiveError
from iocast.model.histogram import Histogram
from iocast.model.plan import Plan
from iocast.model.run import SCHEMA_VERSION, Run, Sample


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    samples = tuple(Sample(5 + n // 3, "o", f"s{n % 4}", "m'\"", n / 7) for n in range(1000))
    run, folder = saved(tmp_path, samples)
    assert archive.load(str(folder.path)) == run
    assert archive.load(str(folder.path / "run.json")) == run


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SAMPLES = st.builds(
    Sample,
    st.integers(0, 2**62),
    TEXTS,
    TEXTS,
    TEXTS,
    st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(samples=st.lists(SAMPLES, max_size=30), name=TEXTS, warning=TEXTS)
def test_any_text_and_number_comes_back(tmp_path: Path, samples: list[Sample], name: str, warning: str) -> None:
    run = replace(empty_run(name), warnings=(warning,))
    record, intervals = measured(run, 0, name)
    record = replace(record, samples=tuple(sorted(samples, key=lambda sample: sample.time_ns)))
    run = replace(run, phases=(record,))
    folder = RunFolder.create(str(tmp_path / "runs"), run)
    folder.save_phase(0, record.phase.name, intervals, record.samples)
    folder.save(run)
    try:
        assert archive.load(str(folder.path)) == run
    finally:
        folder.discard()


def test_plain_sql_reads_a_folder_of_runs_and_merges_exactly(tmp_path: Path) -> None:
    (run, _), _ = saved(tmp_path), saved(tmp_path)
    pattern = f"{tmp_path}/runs/*/intervals/*.parquet"
    rows = duckdb.sql(
        f"SELECT phase, op, size_bytes, sum(ios), sum(bytes), sum(errors), count(*), sum(response_sum_ns), "
        f"min(response_min_ns), max(response_max_ns) FROM '{pattern}' GROUP BY ALL"
    ).fetchall()
    buckets = duckdb.sql(
        f"SELECT phase, op, index, sum(count) FROM (SELECT phase, op, unnest(response_index) AS index, "
        f"unnest(response_count) AS count FROM '{pattern}') GROUP BY ALL ORDER BY index"
    ).fetchall()
    found = {(row[0], row[1]): row[2:] for row in rows}
    assert set(found) == {("randread 8k 1x1", "read"), ("mixed 8k 8x1", "read"), ("mixed 8k 8x1", "write")}
    for record in run.phases:
        for part in record.measurement.classes:
            size, ios, moved, errors, intervals, *times = found[record.phase.name, part.op]
            assert (size, ios, moved, errors) == (8192, 2 * part.ios, 2 * part.bytes, 0)
            assert intervals >= 2 * 4, "a phase of 20 ms has at least four intervals of 5 ms"
            whole = part.response
            assert times == [2 * whole.sum_ns, whole.min_ns, whole.max_ns]
            counts = {index: n for phase, op, index, n in buckets if (phase, op) == (record.phase.name, part.op)}
            assert counts == {i: 2 * n for i, n in zip(whole.index, whole.count, strict=True)}
            merged = Histogram(tuple(counts), tuple(counts.values()), 0, 0.0, whole.min_ns, whole.max_ns)
            assert merged.quantile_ns(0.99) == whole.quantile_ns(0.99)


def test_samples_are_readable_by_plain_sql(tmp_path: Path) -> None:
    saved(tmp_path, (Sample(1, "diskstats", "vda", "reads", 2.0), Sample(3, "diskstats", "vda", "reads", 5.0)))
    query = f"SELECT phase, max(value) - min(value) FROM '{tmp_path}/runs/*/samples/*.parquet' GROUP BY 1 ORDER BY 1"
    assert duckdb.sql(query).fetchall() == [("mixed 8k 8x1", 3.0), ("randread 8k 1x1", 3.0)]


def test_a_folder_can_be_read_from_its_first_moment(tmp_path: Path) -> None:
    run = empty_run()
    folder = RunFolder.create(str(tmp_path / "runs"), run)
    assert archive.load(str(folder.path)) == run
    assert os.listdir(tmp_path / "runs") == [folder.path.name]


def test_names(tmp_path: Path) -> None:
    asked = ("card quick", "card quick", "../../etc/passwd", "é'\"; rm *", "")
    names = [RunFolder.create(str(tmp_path), empty_run(name)).path.name for name in asked]
    assert [name[17:] for name in names] == ["-card-quick", "-card-quick-2", "-etc-passwd", "-rm", "-run"]
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_what_was_discarded_leaves_nothing(tmp_path: Path) -> None:
    one = RunFolder.create(str(tmp_path / "deep" / "runs"), empty_run())
    two = RunFolder.create(str(tmp_path / "deep" / "runs"), empty_run())
    one.discard()
    assert (tmp_path / "deep" / "runs").exists()
    two.discard()
    RunFolder.create(str(tmp_path / "other"), empty_run()).discard()
    assert os.listdir(tmp_path / "deep") == ["runs"]  # it was there before `two`
    assert not (tmp_path / "other").exists()


def changed(folder: RunFolder, **fields: Any) -> None:
    file = folder.path / "run.json"
    file.write_bytes(msgspec.json.encode(msgspec.json.decode(file.read_bytes()) | fields))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    _, folder = saved(tmp_path)
    changed(folder, schema_version=SCHEMA_VERSION + 1, phases="of another shape")
    with pytest.raises(ArchiveError, match=rf"newer iocast \(schema {SCHEMA_VERSION + 1}; .* up to {SCHEMA_VERSION}\)"):
        archive.load(str(folder.path))


def test_fields_of_a_later_iocast_of_the_same_schema_do_no_harm(tmp_path: Path) -> None:
    run, folder = saved(tmp_path)
    changed(folder, more={"a": 1})
    assert archive.load(str(folder.path)) == run


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"schema_version": "x"}', b"null"])
def test_a_broken_run_file_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(ArchiveError, match="is invalid") as refused:
        archive.load(str(tmp_path))
    assert refused.value.hint == "the file was modified or truncated"


def test_a_run_without_its_samples_is_a_run(tmp_path: Path) -> None:
    run, folder = saved(tmp_path, (Sample(1, "o", "s", "m", 1.0),))
    shutil.rmtree(folder.path / "samples")
    bare = tuple(replace(record, samples=()) for record in run.phases)
    assert archive.load(str(folder.path)) == replace(run, phases=bare)


def test_broken_samples_are_named(tmp_path: Path) -> None:
    _, folder = saved(tmp_path, (Sample(1, "o", "s", "m", 1.0),))
    (folder.path / "samples" / "001.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(ArchiveError, match=r"001\.parquet cannot be read") as refused:
        archive.load(str(folder.path))
    assert refused.value.hint.startswith("remove the file")


def test_no_run_folder(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "run.json is missing"), (tmp_path / "absent", "No such file")):
        with pytest.raises(ArchiveError, match=f"is not a run folder: {why}"):
            archive.load(str(path))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for base in (tmp_path / "file", tmp_path / "file" / "runs"):
        with pytest.raises(ArchiveError, match="cannot create a run folder") as refused:
            RunFolder.create(str(base), empty_run())
        assert "--out" in refused.value.hint
    _, folder = saved(tmp_path)
    shutil.rmtree(folder.path)
    with pytest.raises(ArchiveError, match="cannot write"):
        folder.save(empty_run())
    record, intervals = measured(empty_run(), 0)
    with pytest.raises(ArchiveError, match="cannot write"):
        folder.save_phase(0, record.phase.name, intervals, ())


def test_a_base_with_quotes(tmp_path: Path) -> None:
    run = empty_run()
    folder = RunFolder.create(str(tmp_path / 'it\'s "here"'), run)
    record, intervals = measured(run, 0, "it's; DROP")
    folder.save_phase(0, record.phase.name, intervals, (Sample(1, "o", "s", "m", 1.0),))
    folder.save(replace(run, phases=(record,)))
    assert archive.load(str(folder.path)).phases[0].samples == (Sample(1, "o", "s", "m", 1.0),)


def test_no_field_of_a_run_is_forgotten_in_its_file() -> None:
    """run.json is another shape than the nouns: a new field of either must be written down there."""
    assert set(Run.__struct_fields__) == {
        *("run_id", "plan", "host", "started_unix_ns", "status", "phases", "blind", "files_whole", "warnings"),
        *("iocast_version", "verifications", "source", "tape", "maintenance", "hosts"),
    }
    assert set(Plan.__struct_fields__) == {
        *("name", "target", "phases", "files", "engine", "polling", "seed", "interval_ns", "job", "experiment"),
        *("calibration", "tree"),
    }


def test_run_json_says_what_a_reader_of_all_runs_asks_for(tmp_path: Path) -> None:
    run, folder = saved(tmp_path)
    kept = msgspec.json.decode((folder.path / "run.json").read_bytes())
    assert (kept["schema_version"], kept["run_id"]) == (2, run.run_id)
    assert [host["name"] for host in kept["hosts"]] == ["h"]
    assert (kept["target"]["path"], kept["job"]["name"]) == ("sim:nvme", "card quick")
    assert {"target", "name", "job"}.isdisjoint(kept["plan"])
    changed(folder, hosts=kept["hosts"] * 2)
    with pytest.raises(ArchiveError, match="has 2 hosts; this iocast reads runs of one host"):
        archive.load(str(folder.path))


def test_runs_have_ids_of_their_own_that_stay(tmp_path: Path) -> None:
    anonymous = replace(empty_run(), run_id="")
    one, two = (RunFolder.create(str(tmp_path), anonymous) for _ in range(2))
    assert one.run_id != two.run_id
    assert one.run_id.startswith("20260921T141320Z-")
    one.save(replace(anonymous, status="done"))
    assert archive.load(str(one.path)).run_id == one.run_id
    assert msgspec.json.decode((one.path / "summary.json").read_bytes())["run_id"] == one.run_id
    RunFolder.open(one.path).save(anonymous)
    assert archive.load(str(one.path)).run_id == one.run_id


def test_a_folder_takes_as_many_queries_as_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To plan a query takes as long as to read a table: of 22 rows that was most of the time that opening took.
    asked: list[str] = []

    class Counting:
        def __init__(self) -> None:
            self._cursor = duckdb.connect().cursor()

        def __enter__(self) -> Counting:
            return self

        def __exit__(self, *_: object) -> None:
            self._cursor.close()

        def register(self, name: str, tables: object) -> None:
            self._cursor.register(name, tables)

        def unregister(self, name: str) -> None:
            self._cursor.unregister(name)

        def execute(self, query: str, *values: object) -> Any:
            asked.append(query)
            return self._cursor.execute(query, *values)

    counts = []
    for numbers in ((0,), (0, 10, 0, 10)):
        run, folder = saved(tmp_path / str(len(numbers)), (Sample(5, "o", "s", "m", 1.0),), numbers)
        with monkeypatch.context() as patch:
            patch.setattr("iocast.archive.parquet.reading_database", lambda: type("", (), {"cursor": Counting}))
            assert archive.load(str(folder.path)) == run
            assert len(archive.load_courses(str(folder.path))) == len(numbers)
        counts.append(len(asked))
        asked.clear()
    assert counts[0] == counts[1] == 4  # samples, intervals, quantiles of intervals, courses


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "free some space, or choose another directory with --out DIR"),
        (errno.EROFS, "choose another directory with --out DIR"),
        (errno.ENOTDIR, "choose another directory with --out DIR"),
    ],
)
def test_more_space_is_a_way_out_only_where_it_is_missing(tmp_path: Path, number: int, hint: str) -> None:
    refusal = unwritable(tmp_path, OSError(number, os.strerror(number)))
    assert (refusal.message, refusal.hint) == (f"cannot write {tmp_path}: {os.strerror(number)}", hint)
