"""Half-written files of a killed iocast are removed by the next that works in the folder, and nothing else is."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from makers import proofs
from makers.command_line import environment, iocast, run_folder

from iocast import archive
from iocast.archive.writing import asides
from iocast.archive.writing.growing_folders import sweep_unborn
from iocast.archive.writing.held_folder import open_base, open_folder
from iocast.archive.writing.leftovers import sweep_run
from iocast.archive.writing.proofs import prove_folder
from iocast.model.summary import Notes

LEFT = ("run.json.new", "summary.json.new", "report.html.new", "notes.json.0a1b2c3d.new", ".report.html.iocast.new")
TABLES = ("intervals/000.parquet.new", "intervals/001.new")
# The last have names of ours, and no mark: somebody else made them.
OTHERS = ("mine.new", "run.json.old.new", "intervals/mine.parquet.new", ".run.json.0123abcd.new", "intervals/7.new")
KILLED = """
import os, signal, sys
from iocast.archive.writing.held_folder import HeldFolder
HeldFolder.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
sys.argv = ["iocast", "card", "sim:nvme", "--time", "1ms", "--no-page"]
from iocast.__main__ import main; main()
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with leftovers, and with files that nobody of us made."""
    assert iocast("card", "sim:nvme", "--time", "10ms", cwd=tmp_path).returncode == 0
    folder = run_folder(tmp_path / "iocast-runs")
    for name in (*LEFT, *TABLES, *OTHERS):
        (folder / name).write_text("half")
        if name not in OTHERS:
            proofs.growing(folder / name)
    return folder


def _left(run: Path) -> set[str]:
    return {str(each.relative_to(run)) for each in run.rglob("*.new")}


def test_the_next_that_writes_into_a_run_removes_them(run: Path) -> None:
    archive.save_notes(str(run), Notes(note="a note"))
    assert _left(run) == set(OTHERS)


def test_a_file_that_is_being_written_stays(run: Path) -> None:
    with (run / LEFT[0]).open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        sweep_run(open_folder(run))
        assert _left(run) == {LEFT[0], *OTHERS}


def test_links_stay_and_lead_nowhere(run: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (run / LEFT[0]).unlink()
    (run / LEFT[0]).symlink_to(victim)
    sweep_run(open_folder(run))
    assert (victim.read_text(), (run / LEFT[0]).is_symlink()) == ("keep", True)


def test_a_run_is_deleted_with_its_half_written_tables(run: Path) -> None:
    """`001.new` in intervals/ stayed, and the folder with it."""
    for name in OTHERS:
        (run / name).unlink()
    assert archive.delete_run(str(run)) == ()
    assert not run.exists()


@pytest.mark.long
def test_a_folder_that_never_got_its_name_is_removed_by_the_next_run(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env=environment(), check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path / "iocast-runs")
    assert left.endswith(".new")
    (tmp_path / "iocast-runs" / ".mine.new").mkdir()
    held = tmp_path / "iocast-runs" / ".2026-01-01T000000-run.1.new"
    held.mkdir()
    other = os.open(held, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert iocast("card", "sim:nvme", "--time", "1ms", cwd=tmp_path).returncode == 0
    os.close(other)
    assert {name for name in os.listdir(tmp_path / "iocast-runs") if name.endswith(".new")} == {".mine.new", held.name}


@pytest.mark.long
def test_what_is_not_of_a_run_keeps_such_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "iocast-runs" / ".2026-01-01T000000-run.1.new"
    folder.mkdir(parents=True)
    (folder / "mine").write_text("keep")
    (folder / "run.json").write_text("half")
    proofs.made(folder)
    proofs.growing(folder / "run.json")
    assert iocast("card", "sim:nvme", "--time", "1ms", cwd=tmp_path).returncode == 0
    assert os.listdir(folder) == ["mine"]


@pytest.mark.long
def test_a_folder_of_somebody_that_has_such_a_name_stays(tmp_path: Path) -> None:
    """It lost its documents, and all of a folder whose name begins as that of a spill does."""
    folder = tmp_path / "iocast-runs" / ".2026-11-01T120000-backup.77.new"
    (folder / ".profile-db" / "deep").mkdir(parents=True)
    (folder / ".profile-db" / "deep" / "orders.sql").write_text("keep")
    (folder / "report.html").write_text("keep")
    shutil.copytree(tmp_path / "iocast-runs", tmp_path / "copied")
    os.setxattr(folder, "user.iocast.made", b"1")  # of another folder: this one is a copy
    assert iocast("card", "sim:nvme", "--time", "1ms", cwd=tmp_path).returncode == 0
    left = sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
    assert left == [".profile-db/deep/orders.sql", "report.html"]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives folders to another user")
def test_a_folder_that_another_user_signed_is_not_swept(tmp_path: Path) -> None:
    """Whoever has a folder can give it any attribute."""
    forged = tmp_path / ".2026-11-28T000000-run.1.new"
    spilt = forged / ".profile-x"
    (spilt / "keep").mkdir(parents=True)
    (spilt / "keep" / "file").write_text("root's")
    for each in (forged, spilt):
        descriptor = os.open(each, os.O_RDONLY)
        prove_folder(descriptor)
        os.close(descriptor)
        os.chown(each, 65534, 65534)
    sweep_unborn(open_base(tmp_path))
    assert (spilt / "keep" / "file").read_text() == "root's"


def test_what_was_put_aside_is_kept_whatever_its_room_is_called(tmp_path: Path) -> None:
    """A killed one had put another's file aside; somebody calls the room one for what was being made."""
    with asides._room(tmp_path, asides._ASIDE) as room:
        (tmp_path / room.folder.path.name / "theirs").write_text("theirs")
    (aside,) = tmp_path.glob(".iocast-aside.*")
    aside.rename(aside.with_name(aside.name.replace("aside", "new")))
    asides.put_back_left(str(tmp_path))
    (left,) = tmp_path.rglob("theirs")
    assert left.read_text() == "theirs"
