"""`clean` removes exactly what iocast made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from makers.work_files import MIB, lay, listing, plan

from iocast import load
from iocast.archive.writing import asides
from iocast.errors import TargetError
from iocast.load.file_system_images import make_place
from iocast.load.filling import claimed, create
from iocast.load.removal import remove
from iocast.load.work_files import WorkFile


def test_what_was_made_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    (tmp_path / "notes.iocast").write_text("mine too")
    (tmp_path / "empty.iocast").touch()
    before = listing(tmp_path)
    lay(plan(tmp_path, 2 * MIB, 2))
    lay(plan(tmp_path / "own.dat"))
    dry = load.clean(str(tmp_path), dry_run=True)
    assert len(listing(tmp_path)) == len(before) + 6
    done = load.clean(str(tmp_path))
    assert done == dry
    assert [Path(name).name for name, _ in done.removed] == ["iocast-work.0.dat", "iocast-work.1.dat", "own.dat"]
    assert all(freed >= 2 * MIB for _, freed in done.removed)
    assert listing(tmp_path) == before
    assert load.clean(str(tmp_path)).removed == ()


def test_traces_of_a_kill_are_removed(tmp_path: Path) -> None:
    (tmp_path / "b.dat.iocast").write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    create(WorkFile(str(tmp_path / "iocast-work.2.dat"), MIB, fill=True))
    assert len(load.clean(str(tmp_path), dry_run=True).removed) == 2
    assert len(load.clean(str(tmp_path)).removed) == 2
    assert listing(tmp_path) == []


def test_the_place_of_mounts_is_removed_only_when_it_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "iocast-work.mount"
    place.mkdir(mode=0o700)
    assert load.clean(str(tmp_path)).left == ((str(place), "was not created by iocast"),), "ours say so of themselves"
    place.rmdir()
    make_place(str(place))
    place.chmod(0o755)
    assert load.clean(str(tmp_path)).left == ((str(place), "was not created by iocast"),), "ours are closed to others"
    place.chmod(0o700)
    (place / "data").write_text("precious")
    kept = load.clean(str(tmp_path))
    assert (kept.removed, [name for name, _ in kept.left]) == ((), [str(place)])
    (place / "data").unlink()
    assert load.clean(str(tmp_path), dry_run=True).removed == ((str(place), 0),)
    assert place.exists()
    assert load.clean(str(tmp_path)).removed == ((str(place), 0),)
    assert not place.exists()
    place.symlink_to(tmp_path)
    assert load.clean(str(tmp_path)).removed == ()
    place.unlink()
    place.mkdir(mode=0o700)
    tmp_path.chmod(0o777)  # somebody may have renamed one of ours: experiments mount elsewhere then
    assert load.clean(str(tmp_path)).removed == ()
    assert place.exists()


def test_a_file_that_took_the_place_is_left_alone(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    work.unlink()
    work.write_text("precious")
    done = load.clean(str(tmp_path))
    assert done.removed == ()
    assert done.left == ((str(work), "is not the file that iocast created there"),)
    assert work.read_text() == "precious"
    with pytest.raises(TargetError, match="is not the file that iocast created there"):
        load.clean(str(work))


def test_where_a_link_leads_nothing_is_removed(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    work, victim = tmp_path / "iocast-work.0.dat", tmp_path / "victim"
    work.rename(victim)
    work.symlink_to(victim)
    assert load.clean(str(tmp_path)).removed == ()
    assert victim.stat().st_size == 2 * MIB


def test_a_file_in_use_is_left_alone(tmp_path: Path) -> None:
    made = plan(tmp_path)
    lay(made)
    with claimed(load.lay_out(made)):
        assert load.clean(str(tmp_path)).left == (
            (str(tmp_path / "iocast-work.0.dat"), "is in use by another iocast process"),
        )
    assert len(load.clean(str(tmp_path)).removed) == 1


def test_unmarked_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_text("mine")
    for what in (load.clean, remove):
        with pytest.raises(TargetError, match="was not created by iocast"):
            what(str(file))
    with pytest.raises(TargetError, match="does not exist"):
        load.clean(str(tmp_path / "absent"))
    assert file.read_text() == "mine"


def test_one_file_is_cleaned_by_its_name(tmp_path: Path) -> None:
    lay(plan(tmp_path, 2 * MIB, 2))
    load.clean(str(tmp_path / "iocast-work.1.dat"))
    assert listing(tmp_path) == ["iocast-work.0.dat", "iocast-work.0.dat.iocast"]
    os.unlink(tmp_path / "iocast-work.0.dat")
    load.clean(str(tmp_path / "iocast-work.0.dat"))
    assert listing(tmp_path) == []


@pytest.mark.parametrize("by", ["rename", "link", "directory"])
def test_what_takes_the_name_between_the_look_and_the_removal_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    path, victim = tmp_path / "iocast-work.0.dat", tmp_path / "victim"
    lay(plan(tmp_path))
    victim.write_text("precious")

    def swap(_: int) -> str:
        path.rename(tmp_path / "moved")
        if by == "rename":
            victim.rename(path)
        elif by == "link":
            path.symlink_to(victim)
        else:
            path.mkdir()
        return "0123456789abcdef"

    monkeypatch.setattr(asides.secrets, "token_hex", swap)
    with pytest.raises(TargetError, match="was replaced"):
        remove(str(path))
    assert victim.exists() or path.read_text() == "precious"
    assert (path.is_symlink(), path.is_dir()) == (by == "link", by == "directory")


def _swapped(path: Path, other: Path, after: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file takes the name just before it is put aside; then something more happens."""
    real = os.rename

    def rename(old: Any, new: Any, **more: Any) -> None:
        last = old == path.name
        if last:
            real(path, f"{path}.moved")
            real(other, path)
        real(old, new, **more)
        if last:
            after()

    monkeypatch.setattr(os, "rename", rename)


def test_a_file_that_cannot_be_put_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stayed under a name that nobody knew, and the message said "File exists"."""
    lay(plan(tmp_path))
    work, other = tmp_path / "iocast-work.0.dat", tmp_path / "other"
    other.write_text("first")
    _swapped(work, other, lambda: work.write_text("second") and None, monkeypatch)
    with pytest.raises(TargetError, match="replaced twice") as refused:
        remove(str(work))
    aside = refused.value.hint.removeprefix("what was there before is ").removesuffix(" now")
    assert (work.read_text(), Path(aside).read_text()) == ("second", "first")
    monkeypatch.undo()
    left = [path for path, why in load.clean(str(tmp_path)).left if "cannot be put back: File exists" in why]
    assert left == [aside]
    work.rename(tmp_path / "elsewhere")
    load.clean(str(tmp_path))
    assert work.read_text() == "first"
    assert not Path(aside).parent.exists()


def test_what_a_kill_left_aside_is_put_back_by_the_next_clean(tmp_path: Path) -> None:
    """It stayed under a name that nobody was told, and the next one did not look for it."""
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    (tmp_path / "other").write_text("precious")
    child = os.fork()
    if not child:
        with pytest.MonkeyPatch.context() as patch:
            _swapped(work, tmp_path / "other", lambda: os.kill(os.getpid(), 9), patch)
            remove(str(work))
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 9
    (aside,) = tmp_path.glob(".iocast-aside.*/*")
    assert aside.read_text() == "precious"
    assert load.clean(str(tmp_path), dry_run=True).left[0][0] == str(aside)
    assert aside.exists()
    done = load.clean(str(tmp_path))
    assert done.removed == ()
    assert work.read_text() == "precious"
    assert not aside.parent.exists()


def test_nothing_comes_from_a_folder_that_only_looks_like_a_room(tmp_path: Path) -> None:
    """Who may rename in the directory could have made root move out what it keeps for itself."""
    private = tmp_path / ".iocast-aside.0123456789abcdef"
    private.mkdir(mode=0o700)
    (private / "key").write_text("secret")
    (tmp_path / ".iocast-new.0123456789abcdef").mkdir(mode=0o700)
    before = listing(tmp_path)
    done = load.clean(str(tmp_path))
    assert (done.removed, [why for _, why in done.left]) == (
        (),
        ["may be of an iocast that was killed: look at it yourself"] * 2,
    )
    assert listing(tmp_path) == before
    assert (private / "key").read_text() == "secret"


def test_who_may_rename_in_the_directory_cannot_reach_what_is_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody renamed another file over it between the look and the removal."""
    lay(plan(tmp_path))
    seen: list[int] = []
    real = os.unlink

    def unlink(name: Any, **more: Any) -> None:
        seen.append(os.fstat(more["dir_fd"]).st_mode & 0o777)
        real(name, **more)

    monkeypatch.setattr(os, "unlink", unlink)
    assert remove(str(tmp_path / "iocast-work.0.dat"))
    assert seen == [0o700, 0o700]


def test_an_ordinary_user_can_put_back_the_file_of_another(tmp_path: Path) -> None:
    """By a second name it could not (protected_hardlinks): the file kept a name that nobody knew."""
    if os.geteuid():
        pytest.skip("needs root")
    place = Path("/dev/shm") / f"iocast-test-put-back-{os.getpid()}"
    place.mkdir()
    try:
        place.chmod(0o777)
        (place / "ann.db").write_text("ann's")
        (place / "ann.db").chmod(0o600)
        os.chown(place / "ann.db", 23456, 23456)
        child = os.fork()
        if not child:
            os.setgroups([])
            os.setresgid(12345, 12345, 12345)
            os.setresuid(12345, 12345, 12345)
            try:
                asides.remove_ours(str(place / "ann.db"), lambda _: False)
            except TargetError:
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert listing(place) == ["ann.db"]
    finally:
        shutil.rmtree(place)


def test_a_full_file_system_can_be_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no place for a room."""
    lay(plan(tmp_path))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "mkdir", full)
    assert len(load.clean(str(tmp_path)).removed) == 1
    assert listing(tmp_path) == []
    monkeypatch.undo()
    lay(plan(tmp_path))
    tmp_path.chmod(0o777)
    monkeypatch.setattr(os, "mkdir", full)
    assert load.clean(str(tmp_path)).removed == ()


def test_an_empty_file_with_the_name_of_a_mark_of_no_work_file_stays(tmp_path: Path) -> None:
    (tmp_path / "iocast-work.notes.dat.iocast").touch()
    assert load.clean(str(tmp_path)).removed == ()
    assert listing(tmp_path) == ["iocast-work.notes.dat.iocast"]
