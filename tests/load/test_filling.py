"""Work files are whole, unique, incompressible, marked before they exist, and never someone else's."""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path

import pytest
from makers.work_files import MIB, lay, listing, plan

from iocast import load
from iocast.archive.writing import asides
from iocast.errors import TargetError
from iocast.load.extents import survey
from iocast.load.filling import claimed, create, finish, spoil, trial_file
from iocast.load.marks import Mark, made_here, read_mark, write_mark
from iocast.load.page_cache import drop_below
from iocast.load.work_files import WorkFile
from iocast.observe.residency import by_mincore
from iocast.sessions.target_finding import find_target


def blocks(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[at : at + 4096] for at in range(0, len(data), 4096)]


def test_every_block_is_unique_and_incompressible(tmp_path: Path) -> None:
    lay(plan(tmp_path, 3 * MIB, 2))
    found = blocks(tmp_path / "iocast-work.0.dat") + blocks(tmp_path / "iocast-work.1.dat")
    assert len(found) == 2 * 3 * MIB // 4096
    assert len(set(found)) == len(found)
    assert all(len(zlib.compress(block, 9)) >= len(block) for block in found)


def test_a_file_is_whole_before_it_is_read(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    extents = survey(str(tmp_path / "iocast-work.0.dat"))
    assert extents.whole
    assert extents.size_bytes == 2 * MIB
    assert os.stat(tmp_path / "iocast-work.0.dat").st_blocks * 512 >= 2 * MIB


@pytest.mark.parametrize("size_bytes", [1, 511, 4097, MIB - 1, MIB + 1, 2_000_000])
def test_any_size_is_laid_out_to_the_byte(tmp_path: Path, size_bytes: int) -> None:
    made = plan(tmp_path, size_bytes)
    lay(made)
    file = tmp_path / "iocast-work.0.dat"
    assert file.stat().st_size == size_bytes
    assert survey(str(file)).whole
    assert not load.lay_out(made).fill_bytes
    if size_bytes >= 4096:
        assert len(set(blocks(file))) == len(blocks(file))


def test_a_whole_file_is_used_again_untouched(tmp_path: Path) -> None:
    made = plan(tmp_path)
    lay(made)
    before = os.stat(tmp_path / "iocast-work.0.dat")
    lay(made)
    after = os.stat(tmp_path / "iocast-work.0.dat")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_the_mark_is_there_before_the_file_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "iocast-work.0.dat")
    real, marks = os.link, []

    def watch(source: str, name: str, **more: int) -> None:
        marks.append(read_mark(path))
        real(source, name, **more)

    monkeypatch.setattr(os, "link", watch)
    create(WorkFile(path, MIB, fill=True))
    status = os.stat(path)
    assert [(mark.inode, mark.whole) for mark in marks if mark] == [(status.st_ino, False)]
    assert (status.st_nlink, status.st_mode & 0o777) == (1, 0o600)


def test_where_files_need_names_the_mark_is_there_before_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "iocast-work.0.dat")
    real, rename, marks = os.open, asides.Room.give_name, []

    def without(name: str, flags: int, mode: int = 0o777, **more: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported")
        return real(name, flags, mode, **more)

    def watch(room: asides.Room, name: str) -> None:
        marks.append(read_mark(path))
        assert not os.path.lexists(path)
        rename(room, name)

    monkeypatch.setattr(os, "open", without)
    monkeypatch.setattr(asides.Room, "give_name", watch)
    create(WorkFile(path, MIB, fill=True))
    assert [mark and mark.inode for mark in marks] == [os.stat(path).st_ino]
    assert made_here(path) is not None
    assert listing(tmp_path) == ["iocast-work.0.dat", "iocast-work.0.dat.iocast"]


def test_a_file_without_its_fill_is_not_whole(tmp_path: Path) -> None:
    file = WorkFile(str(tmp_path / "iocast-work.0.dat"), 2 * MIB, fill=True)
    create(file)
    assert os.path.getsize(file.path) == 2 * MIB
    assert not survey(file.path).whole
    with pytest.raises(TargetError, match="are still holes or unwritten"):
        finish(file)
    mark = made_here(file.path)
    assert mark is not None
    assert not mark.whole


def test_no_file_is_made_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    file = WorkFile(str(tmp_path / "iocast-work.0.dat"), MIB, fill=True)
    os.symlink(victim, file.path)
    with pytest.raises(TargetError):
        create(file)
    os.unlink(file.path)
    os.link(victim, file.path)
    with pytest.raises(TargetError):
        create(file)
    assert victim.read_text() == "precious"


def test_a_mark_that_someone_else_wrote_is_not_overwritten(tmp_path: Path) -> None:
    notes = tmp_path / "iocast-work.0.dat.iocast"
    notes.write_text("my notes")
    with pytest.raises(TargetError, match="not an iocast mark"):
        create(WorkFile(str(tmp_path / "iocast-work.0.dat"), MIB, fill=True))
    assert notes.read_text() == "my notes"
    assert listing(tmp_path) == [notes.name]


def test_a_mark_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    path = str(tmp_path / "iocast-work.0.dat")
    os.symlink(victim, path + ".iocast")
    with pytest.raises((TargetError, OSError)):
        write_mark(path, Mark("iocast", MIB, whole=False))
    os.unlink(path + ".iocast")
    os.link(victim, path + ".iocast")
    with pytest.raises(TargetError, match="not an iocast mark"):
        write_mark(path, Mark("iocast", MIB, whole=False))
    assert victim.read_bytes() == b""
    os.unlink(path + ".iocast")
    write_mark(path, Mark("iocast", MIB, whole=False))
    os.link(path + ".iocast", tmp_path / "second")
    with pytest.raises(TargetError, match="hard link"):
        write_mark(path, Mark("iocast", MIB, whole=True))


def test_two_at_once_do_not_share_a_file(tmp_path: Path) -> None:
    made = plan(tmp_path)
    layout = load.lay_out(made)
    with (
        claimed(layout),
        pytest.raises(TargetError, match="in use by another iocast"),
        claimed(load.lay_out(made)),
    ):
        pass
    with claimed(load.lay_out(made)):
        pass


def test_a_claim_that_came_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    with claimed(load.lay_out(plan(tmp_path, 2 * MIB, 2))):
        assert len(listing(tmp_path)) == 2
    assert listing(tmp_path) == []


def test_a_spoilt_file_is_laid_out_anew(tmp_path: Path) -> None:
    made = plan(tmp_path)
    layout = lay(made)
    spoil(layout.files[0])
    assert load.lay_out(made).fill_bytes == 2 * MIB


def test_a_trial_file_does_not_stay(tmp_path: Path) -> None:
    with trial_file(str(tmp_path)) as path:
        assert made_here(path) is not None
    assert listing(tmp_path) == []


def test_file_systems_without_fallocate_are_filled_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iocast.load.filling._allocate", lambda *_: None)
    lay(plan(tmp_path))
    assert survey(str(tmp_path / "iocast-work.0.dat")).whole


def test_the_page_cache_forgets_a_file(tmp_path: Path) -> None:
    """What a buffered read finds afterwards comes from the device."""
    path = tmp_path / "data"
    data = os.urandom(MIB)
    path.write_bytes(data)

    def cached_bytes() -> int:
        with path.open("rb") as file:
            return by_mincore(file.fileno(), MIB).cached_bytes

    assert cached_bytes() > 0
    load.drop_cached((WorkFile(str(path), MIB, fill=False),))
    if find_target(str(tmp_path)).filesystem in ("tmpfs", "ramfs"):
        pytest.skip("the file system is in memory")
    assert cached_bytes() == 0
    assert path.read_bytes() == data


def test_the_page_cache_forgets_all_files_below_a_folder_and_none_that_a_link_names(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    inside, outside = tmp_path / "folder" / "inner" / "data", tmp_path / "data"
    for path in (inside, outside):
        path.write_bytes(os.urandom(MIB))
        with path.open("rb") as file:
            os.fsync(file.fileno())
    (tmp_path / "folder" / "link").symlink_to(outside)
    os.mkfifo(tmp_path / "folder" / "pipe")
    drop_below(str(tmp_path / "folder"))
    if find_target(str(tmp_path)).filesystem in ("tmpfs", "ramfs"):
        pytest.skip("the file system is in memory")
    for path, is_dropped in ((inside, True), (outside, False)):
        with path.open("rb") as file:
            assert (by_mincore(file.fileno(), MIB).cached_bytes == 0) == is_dropped


def test_a_file_that_took_the_place_of_a_trial_file_stays(tmp_path: Path) -> None:
    trial = trial_file(str(tmp_path))
    path = Path(trial.__enter__())
    os.rename(path, tmp_path / "moved")
    path.write_text("mine")
    with pytest.raises(TargetError, match="was replaced while iocast removed it"):
        trial.__exit__(None, None, None)
    assert path.read_text() == "mine"


def test_a_trial_file_that_was_moved_away_is_no_error(tmp_path: Path) -> None:
    with trial_file(str(tmp_path)) as path:
        os.rename(path, tmp_path / "moved")
    assert listing(tmp_path) == ["moved"]


def test_an_empty_mark_of_another_user_is_not_written_to(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root")
    mark = tmp_path / "iocast-work.0.dat.iocast"
    mark.touch()
    os.chown(mark, 65534, 65534)
    with pytest.raises(TargetError):
        write_mark(str(tmp_path / "iocast-work.0.dat"), Mark("iocast", 1, whole=False))
    assert mark.stat().st_size == 0
