"""A run folder that was damaged or forged is refused by name, with a way out; nothing else ever comes out of it."""

from __future__ import annotations

import contextlib
import io
import random
import shutil
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.damaged_folders import FILES, damaged, whole_folder
from makers.mutations import fuzzing

from iocast import archive
from iocast.archive.catalogue import runs_below
from iocast.errors import ArchiveError
from iocast.report.card.judged import judge
from iocast.report.listing import listing
from iocast.report.renderers import RENDERERS

NUMBERS = {"intervals": "response_sum_ns", "samples": "time_ns"}  # a column of numbers of each table


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all four files."""
    return whole_folder(tmp_path_factory.mktemp("whole"))


def _read_all(folder: Path) -> None:
    """All that reads a folder; only ArchiveError may come of it."""
    for read in (archive.load, archive.load_courses, archive.load_diagnosis, archive.read_summary):
        with contextlib.suppress(ArchiveError):
            read(str(folder))
    archive.load_under_way(str(folder))
    archive.owner_alive(str(folder))
    found = runs_below(str(folder.parent))
    RENDERERS["terminal"].render(listing(tuple(found), 1, "runs"), io.StringIO(), colour=False, width=100)


@fuzzing(300)
@given(name=st.sampled_from(FILES), seed=st.integers(0, 2**64))
def test_nothing_but_an_archive_error_comes_of_damage(whole: Path, tmp_path: Path, name: str, seed: int) -> None:
    folder = tmp_path / "run"
    if not folder.exists():
        shutil.copytree(whole, folder)
    for file in FILES:
        shutil.copyfile(whole / file, folder / file)
    (folder / name).write_bytes(damaged((whole / name).read_bytes(), random.Random(seed)))
    _read_all(folder)
    with contextlib.suppress(ArchiveError):
        report = judge(archive.load(str(folder)), str(folder)).report()
        RENDERERS["terminal"].render(report, io.StringIO(), colour=False, width=100)


def test_damaged_tables_are_named(whole: Path, tmp_path: Path) -> None:
    """Cut short, of no rows, without a column, of another type."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    for table, reads in (("intervals", (archive.load, archive.load_courses)), ("samples", (archive.load,))):
        file = folder / table / "000.parquet"
        good = file.read_bytes()
        for fault in (good[:-7], good[: len(good) // 2], b"", b"PAR1" * 9):
            file.write_bytes(fault)
            for read in reads:
                with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read") as refused:
                    read(str(folder))
                assert refused.value.hint.startswith("remove the file")
            file.write_bytes(good)
        column = NUMBERS[table]
        others = (
            f"SELECT * REPLACE ({value} AS {column}) FROM read_parquet('{file}.good')" for value in ("'x'", "NULL")
        )
        for query in ("SELECT 1 AS interval", *others):
            Path(f"{file}.good").write_bytes(good)
            duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
            for read in reads:
                with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read"):
                    read(str(folder))
        file.write_bytes(good)
    archive.load(str(folder))


def test_missing_tables_leave_a_run(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / "intervals")
    (folder / "samples/000.parquet").unlink()
    assert archive.load_courses(str(folder)) == {}
    assert len(archive.load(str(folder)).phases) == 2
    (folder / "intervals").write_text("no folder")
    assert len(archive.load(str(folder)).phases) == 2


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("run.json", b"[" * 100_000, "the file was modified or truncated"),
        ("run.json", b'{"schema_version": 2, "run_id": "\xff"}', "the file was modified or truncated"),
        ("diagnosis.json", b'{"schema_version": 1, "steps": 3}', "remove it, then run `iocast diagnose` again"),
        (
            "diagnosis.json",
            b'{"schema_version": 99}',
            "read it with the version of iocast that wrote it, or a newer one",
        ),
    ],
)
def test_the_file_and_the_way_out_are_said(whole: Path, tmp_path: Path, name: str, text: bytes, hint: str) -> None:
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(text)
    with pytest.raises(ArchiveError, match=name) as refused:
        (archive.load if name == "run.json" else archive.load_diagnosis)(str(tmp_path / "run"))
    assert refused.value.hint == hint
