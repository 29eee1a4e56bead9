"""`clean` removes exactly what iocast made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from makers.work_files import MIB, lay, listing, plan

from iocast import load
from iocast.errors import TargetError
from iocast.load import marks
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
    (tmp_path / "iocast-work.0.dat.iocast").touch()
    (tmp_path / "b.dat.iocast").write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    create(WorkFile(str(tmp_path / "iocast-work.2.dat"), MIB, fill=True))
    assert len(load.clean(str(tmp_path), dry_run=True).removed) == 3
    assert len(load.clean(str(tmp_path)).removed) == 3
    assert listing(tmp_path) == []


def test_the_place_of_mounts_is_removed_only_when_it_is_empty(tmp_path: Path) -> None:
    place = tmp_path / "iocast-work.mount"
    place.mkdir()
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
        return "0123"

    monkeypatch.setattr(marks.secrets, "token_hex", swap)
    with pytest.raises(TargetError, match="was replaced"):
        remove(str(path))
    assert victim.exists() or path.read_text() == "precious"
    assert (path.is_symlink(), path.is_dir()) == (by == "link", by == "directory")


def test_a_file_that_cannot_be_put_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stayed under a name that nobody knew, and the message said "File exists"."""
    lay(plan(tmp_path))
    work, rename = tmp_path / "iocast-work.0.dat", os.rename

    def swapped(old: str, new: str) -> None:
        if old == str(work):
            rename(work, tmp_path / "moved")
            work.write_text("first")
        rename(old, new)
        if old == str(work):
            work.write_text("second")

    monkeypatch.setattr(os, "rename", swapped)
    with pytest.raises(TargetError, match="replaced twice") as refused:
        remove(str(work))
    aside = refused.value.hint.removeprefix("what was there before is ").removesuffix(" now")
    assert (work.read_text(), Path(aside).read_text()) == ("second", "first")


def test_an_empty_file_with_the_name_of_a_mark_of_no_work_file_stays(tmp_path: Path) -> None:
    (tmp_path / "iocast-work.notes.dat.iocast").touch()
    assert load.clean(str(tmp_path)).removed == ()
    assert listing(tmp_path) == ["iocast-work.notes.dat.iocast"]
