"""A run folder that was damaged or forged is refused by name, with a way out; nothing else ever comes out of it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.damaged_folders import FILES, damaged, whole_folder
from makers.hostile_folders import IN_PLACE, TABLES
from makers.left_out import long_after
from makers.live_moments import tape_of_a_load
from makers.mutations import TIMES, examples, fuzzing
from makers.trace_samples import MSR

from iocast import archive
from iocast.archive import profile_folder
from iocast.archive.catalogue import runs_below
from iocast.archive.file_names import EVENTS_FILE, PROFILE_FILE
from iocast.archive.json_files import MOST_VALUES, refuse_swollen
from iocast.errors import ArchiveError
from iocast.report.card.judged import judge
from iocast.report.listing import listing
from iocast.report.renderers import RENDERERS
from iocast.sessions.profiling.profile_traces import profile_traces
from iocast.sessions.requests.profile import ProfileRequest

pytestmark = pytest.mark.slow

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


@pytest.mark.long
@examples(100)
def test_nothing_but_an_archive_error_comes_of_damage(whole: Path, tmp_path: Path, examples: int) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)

    @fuzzing(examples)
    @given(name=st.sampled_from(FILES), seed=st.integers(0, 2**64))
    def attempt(name: str, seed: int) -> None:
        for file in FILES:
            shutil.copyfile(whole / file, folder / file)
        (folder / name).write_bytes(damaged((whole / name).read_bytes(), random.Random(seed)))
        _read_all(folder)
        with contextlib.suppress(ArchiveError):
            report = judge(archive.load(str(folder)), str(folder)).report()
            RENDERERS["terminal"].render(report, io.StringIO(), colour=False, width=100)

    attempt()


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


def test_a_column_whose_name_is_no_text_is_one_error(whole: Path, tmp_path: Path) -> None:
    """DuckDB names it in its message, which then cannot be decoded."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    table = folder / "intervals/000.parquet"
    named = table.read_bytes()
    assert b"size_bytes" in named
    table.write_bytes(named.replace(b"size_bytes", b"size_\xffytes"))
    with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read"):
        archive.load_courses(str(folder))


def _tried_in_bounds(
    whole: Path, scratch: Path, number: int, kind: str, *, side_by_side: int = 3, first: int = 0
) -> None:
    """Folders of a kind with faults, each through all that reads one, in a process of 3 GiB."""
    command = [sys.executable, "-m", "makers.verbs_in_bounds", str(whole)]
    tests = str(Path(__file__).parents[1])
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])}
    tried = []
    for at in range(side_by_side):
        (own := scratch / str(at)).mkdir()
        seeds = (str(first + at * number), str(number), kind)
        tried.append(subprocess.Popen([*command, str(own), *seeds], stdout=subprocess.PIPE, text=True, env=where))
    all_failures = []
    for process in tried:  # each is waited for: the first with a failure may not hide those of the others
        said, _ = process.communicate()
        *failures, figures = map(json.loads, said.splitlines())
        all_failures += failures
        assert figures["tried"] == number
    assert not all_failures, json.dumps(all_failures[:9], indent=1)


@pytest.mark.long
def test_hostile_folders_cost_their_own_line(whole: Path, tmp_path: Path) -> None:
    """No verb ends in a traceback, without memory or never, or prints what it should not.

    15 folders, and as many times that as `make fuzz` asks for, each through all verbs and loaders that read one.
    """
    _tried_in_bounds(whole, tmp_path, 15 * TIMES, "run")


@pytest.mark.long
def test_the_folder_that_ended_the_process(whole: Path, tmp_path: Path) -> None:
    """A changed byte in the footer of a table: DuckDB's reader of Parquet died of it (SIGSEGV)."""
    _tried_in_bounds(whole, tmp_path, 1, "run", side_by_side=1, first=293)


@pytest.mark.long
def test_hostile_tapes_and_profiles_are_one_error(tmp_path: Path) -> None:
    """16 of each, and as many times that as `make fuzz` asks for."""
    tape = Path(tape_of_a_load(tmp_path / "tapes"))
    (trace := tmp_path / "trace.csv").write_text(MSR)
    profile = Path(profile_traces(ProfileRequest(traces=(str(trace),), out=str(tmp_path / "profiles"))).folder)
    for kind, whole in (("tape", tape), ("profile", profile)):
        (scratch := tmp_path / kind).mkdir()
        _tried_in_bounds(whole, scratch, 8 * TIMES, kind, side_by_side=2)


@pytest.mark.parametrize("kind", long_after(4, IN_PLACE))
def test_what_is_no_file_is_refused_with_its_name(whole: Path, tmp_path: Path, kind: str) -> None:
    """A FIFO, a device, a terabyte, a hundred thousand brackets: none is waited for, read or opened."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    for name in ("run.json", "diagnosis.json", "notes.json", *TABLES):
        file, aside = folder / name, tmp_path / "aside"
        had = file.exists()
        if had:
            file.rename(aside)
        IN_PLACE[kind](file)
        absent = kind == "dangling" and name != "run.json"
        loads = {"run.json": archive.load, "diagnosis.json": archive.load_diagnosis, "notes.json": archive.load_notes}
        if absent or (kind in ("locked", "latin", "digits") and name.endswith("json")):
            with contextlib.suppress(ArchiveError):  # root reads it; what no noun has is not looked at
                loads.get(name, archive.load)(str(folder))
        elif kind == "dangling":
            with pytest.raises(ArchiveError):
                loads[name](str(folder))
        else:
            with pytest.raises(ArchiveError, match=re.escape(str(folder))) as refused:
                loads.get(name, archive.load)(str(folder))
            assert refused.value.hint
        shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink()
        if had:
            aside.rename(file)
    archive.load(str(folder))


def test_one_bad_folder_costs_its_own_line(whole: Path, tmp_path: Path) -> None:
    for at, kind in enumerate(("fifo", "terabyte", "arrays", "latin", "swollen", "endless")):
        shutil.copytree(whole, folder := tmp_path / f"bad-{at}")
        for name in ("run.json", "summary.json"):
            (folder / name).unlink()
            IN_PLACE[kind](folder / name)
    shutil.copytree(whole, tmp_path / "good")
    listed = {run.name: run for run in runs_below(str(tmp_path))}
    assert listed["good"].summary is not None
    assert len(listed) == 7
    assert all(run.why for name, run in listed.items() if name != "good")


def test_a_name_with_signs_of_patterns_is_read_alone(whole: Path, tmp_path: Path) -> None:
    for name in ("run-*", "run-?", "run-[1]"):
        shutil.copytree(whole, tmp_path / name)
    asked = tmp_path / "run-*"
    shutil.rmtree(tmp_path / "run-?" / "samples")
    assert archive.load(str(asked)) == archive.load(str(whole))
    assert archive.load_courses(str(tmp_path / "run-[1]")) == archive.load_courses(str(whole))
    assert not archive.load(str(tmp_path / "run-?")).phases[0].samples


def test_what_would_take_all_memory_is_counted_first() -> None:
    refuse_swollen(b"[" + b"1," * (MOST_VALUES - 2) + b"1]")
    with pytest.raises(msgspec.ValidationError, match="more than 6,000,000 values"):
        refuse_swollen(b"[" + b"1," * MOST_VALUES + b"1]")


def test_a_profile_that_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / PROFILE_FILE)
    os.mkfifo(tmp_path / EVENTS_FILE)
    with pytest.raises(ArchiveError, match="FIFO"):
        profile_folder.load(str(tmp_path))
    assert not profile_folder.is_profile(str(tmp_path))
    assert not profile_folder.is_events(str(tmp_path / EVENTS_FILE))


@pytest.mark.long
def test_events_that_have_nothing_to_give_are_not_waited_for(tmp_path: Path) -> None:
    """The kernel's log passes for a regular file, and whoever reads it waits for the next message."""
    (events := tmp_path / EVENTS_FILE).symlink_to("/proc/kmsg")
    for _ in range(2):  # the first may find messages that nobody has read
        words = [sys.executable, "-m", "iocast", "profile", str(events), "--out", str(tmp_path / "out")]
        refused = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr


def test_a_tape_with_a_reel_that_is_no_file_is_refused(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, folder := tmp_path / "run")
    (folder / "samples/0x.parquet").write_text("stray")
    assert len(list(archive.reel_samples(folder))) == 2
    os.mkfifo(folder / "samples/007.parquet")
    with pytest.raises(ArchiveError, match=r"007\.parquet cannot be read: it is a FIFO"):
        list(archive.reel_samples(folder))
