"""Which files a plan takes: reused, rewritten, refused, only read."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from makers.command_line import small_job
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load
from iocast.errors import TargetError
from iocast.jobs import load_job
from iocast.load.marks import made_here, take_up
from iocast.load.work_files import own_file, permission_of
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.target_finding import find_target


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A whole work file of 2 MiB."""
    lay(plan(tmp_path))
    return tmp_path / "iocast-work.0.dat"


def test_nothing_is_written_by_looking(tmp_path: Path) -> None:
    assert load.lay_out(plan(tmp_path, 2 * MIB, 3)).fill_bytes == 6 * MIB
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["hole", "cut", "grown", "other size"])
def test_a_damaged_file_is_rewritten(work: Path, damage: str) -> None:
    size_bytes = 3 * MIB if damage == "other size" else 2 * MIB
    take_up(str(work))  # and was killed: else it were data of another program
    if damage == "hole":
        subprocess.run(["fallocate", "-p", "-o", "1M", "-l", "64K", work], check=True)
    elif damage != "other size":
        os.truncate(work, MIB if damage == "cut" else 3 * MIB)
    made = plan(work.parent, size_bytes)
    inode = work.stat().st_ino
    assert lay(made).fill_bytes == size_bytes
    assert not load.lay_out(made).fill_bytes
    assert (work.stat().st_size, work.stat().st_ino) == (size_bytes, inode)


def test_a_file_of_our_name_without_a_mark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "iocast-work.0.dat").write_text("mine")
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(tmp_path))


def test_another_file_that_took_the_place_is_refused(work: Path) -> None:
    work.unlink()
    work.write_bytes(b"precious" * 1000)  # most file systems give it the same inode number
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(work.parent))


def test_a_copied_file_with_its_mark_is_refused(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in (work.name, work.name + ".iocast"):
        shutil.copy2(work.parent / name, other / name)
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(other))


def test_a_symbolic_link_in_the_place_is_refused(work: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    work.rename(victim)  # even when it leads to the very file
    work.symlink_to(victim)
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(work.parent))


def test_a_second_name_is_refused(work: Path, tmp_path: Path) -> None:
    os.link(work, tmp_path / "second")
    with pytest.raises(TargetError, match="hard link"):
        load.lay_out(plan(work.parent))


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"made_by":"you","size_bytes":2097152,"whole":true}'])
def test_a_mark_that_is_none_marks_nothing(work: Path, content: str) -> None:
    (work.parent / (work.name + ".iocast")).write_text(content)
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(work.parent))


def test_a_fifo_in_the_place_of_a_mark_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "iocast-work.0.dat.iocast")
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(plan(tmp_path))


def test_a_kill_between_mark_and_file_is_made_good(tmp_path: Path) -> None:
    path = tmp_path / "iocast-work.0.dat"
    mark = tmp_path / "iocast-work.0.dat.iocast"
    mark.write_text('{"made_by":"iocast","size_bytes":2097152,"whole":false}')
    assert load.lay_out(plan(tmp_path)).fill_bytes == 2 * MIB
    lay(plan(tmp_path))
    made = made_here(str(path))
    assert made is not None
    assert made.whole


def test_a_file_to_be_made_is_ours(tmp_path: Path) -> None:
    made = plan(tmp_path / "new.dat")
    assert own_file(made.target.path)
    lay(made)
    assert own_file(made.target.path)
    assert load.lay_out(made).own


def test_a_foreign_file_is_only_read(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(MIB))
    layout = load.lay_out(plan(file, MIB))
    assert not layout.own
    assert not layout.fill_bytes
    assert "only read" in layout.notes[0]
    assert not own_file(str(file))


def test_a_foreign_file_with_a_hole_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(MIB))
    os.truncate(file, 4 * MIB)
    with pytest.raises(TargetError, match=r"3,145,728 of its 4,194,304 bytes were never written"):
        load.lay_out(plan(file, 4 * MIB))


def test_what_does_not_fit_is_refused_with_what_does(tmp_path: Path) -> None:
    room = {"free_bytes": 50 * MIB, "total_bytes": 60 * MIB}
    with pytest.raises(TargetError, match="a work file of 64 MiB does not fit") as refused:
        load.lay_out(plan(tmp_path, 64 * MIB, **room))
    assert refused.value.hint == "reduce the size (--size 47MiB), or give another path"
    assert load.lay_out(plan(tmp_path, 47 * MIB, **room)).fill_bytes == 47 * MIB


def test_no_room_at_all(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as refused:
        load.lay_out(plan(tmp_path, 64 * MIB, free_bytes=MIB, total_bytes=60 * MIB))
    assert refused.value.hint == "free some space, or give another path"


def test_what_is_there_already_needs_no_room(work: Path) -> None:
    assert not load.lay_out(plan(work.parent, free_bytes=0, total_bytes=60 * MIB)).fill_bytes


def test_a_file_system_without_a_limit_has_room(tmp_path: Path) -> None:
    assert load.lay_out(plan(tmp_path, free_bytes=0, total_bytes=0)).fill_bytes


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file system is mounted read-only."""
    real = os.statvfs

    def statvfs(path: str) -> os.statvfs_result:
        found = list(real(path))
        found[8] |= os.ST_RDONLY
        return os.statvfs_result(found)

    monkeypatch.setattr(os, "statvfs", statvfs)


def test_an_old_work_file_on_a_read_only_mount_is_not_written_to(work: Path, read_only: None) -> None:
    target = find_target(str(work.parent))
    assert permission_of(target).code == "read_only"
    job = load_job(small_job(work.parent, direct=False))
    fitted = make_plan(replace(job, fits_target=True), target, 1)
    assert fitted.excluded == ("randwrite 8k 1x1",)
    assert [phase.name for phase in fitted.plan.phases] == ["randread 8k 2x1"]
    with pytest.raises(TargetError, match=r"is on a read-only file system: phase .* cannot write"):
        make_plan(job, target, 1)


def test_a_work_file_of_another_user_is_refused_before_the_first_row(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, *_, **__: path != str(work))
    with pytest.raises(TargetError, match=f"cannot write to {work}: Permission denied"):
        load.lay_out(plan(work.parent, 2 * MIB, 1, phase("write")))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
def test_a_work_file_of_another_user_is_told_as_his() -> None:
    """It was said to be none of iocast's, and had to be moved away."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        room.chmod(0o777)
        lay(plan(room))
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.setgroups([])
            os.setresgid(1234, 1234, 1234)
            os.setresuid(1234, 1234, 1234)
            try:
                lay(plan(room))
            except TargetError as error:
                os.write(write, error.message.encode())
            finally:
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read) as said:
            assert said.read() == (
                f"{room}/iocast-work.0.dat belongs to root, and may not be read and written by this user"
            )
