"""Trees of files: made under a mark, taken up again, removed; nothing that iocast did not make is touched."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from makers.rootly import command, need
from msgspec.structs import replace

from iocast import load
from iocast.errors import TargetError
from iocast.load.filling import claimed
from iocast.load.removal import clean
from iocast.load.tree_files import empty_tree, look_at, make_place, mark_tree, remove_tree
from iocast.load.work_files import Layout
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.tree import Tree, TreeSize, tree_plan
from iocast.model.workload import MixItem, Workload
from iocast.observe.target.device_stack import describe

TREE = Tree(depth=2, width=2, files=5, sizes=(TreeSize(3000),))
WANTED = tree_plan(TREE, 1)


def _plan(place: Path, tree: Tree = TREE) -> Plan:
    phase = Phase(
        name="create",
        test="create",
        workload=Workload(mix=(MixItem("create", 0),), direct=False),
        length=Length(ios=tree.files_each),
    )
    return Plan(name="t", target=describe(str(place)), phases=(phase,), files=WorkFiles(1, 0), tree=tree)


def _make(place: Path, tree: Tree = TREE) -> Layout:
    plan = _plan(place, tree)
    layout = load.lay_out(plan)
    with claimed(layout):
        make_place(layout.files[0], tree_plan(tree, 1))
        told = load.phase_plan(plan, plan.phases[0], layout.files, seed=1)
        assert told.tree is not None
        did, _ = load.measure(replace(told, tree=replace(told.tree, present="look")), lambda *_: True)
        assert not did.errors
        mark_tree(layout.files[0], whole=True)
    return layout


def test_a_tree_is_made_and_found_whole_by_the_next_run(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    found = look_at(layout.files[0], WANTED, sizes=True)
    assert (found.files, found.directories, found.wrong_size, found.foreign) == (20, 7, 0, 0)
    assert found.bytes == 20 * 3000
    again = load.lay_out(_plan(tmp_path))
    assert not again.files[0].fill
    assert not again.notes


def test_an_interrupted_make_is_gone_on_with(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    mark_tree(layout.files[0], whole=False)
    for lost in sorted((tmp_path / "iocast-tree").glob("d0/d1/f*"))[:3]:
        lost.unlink()
    assert load.lay_out(_plan(tmp_path)).files[0].fill
    _make(tmp_path)
    assert look_at(layout.files[0], WANTED, sizes=True).files == 20


def test_a_tree_of_another_shape_is_removed_first(tmp_path: Path) -> None:
    _make(tmp_path)
    other = replace(TREE, files=2)
    assert "another shape" in load.lay_out(_plan(tmp_path, other)).notes[0]
    _make(tmp_path, other)
    assert len(list((tmp_path / "iocast-tree").rglob("f*"))) == 8


def test_clean_removes_it_to_the_last_name(tmp_path: Path) -> None:
    _make(tmp_path)
    (dry,) = clean(str(tmp_path), dry_run=True).removed
    assert (tmp_path / "iocast-tree").exists()
    assert clean(str(tmp_path)).removed == (dry,)
    assert dry[1] >= 20 * 3000
    assert not list(tmp_path.iterdir())


def test_clean_leaves_what_somebody_put_there(tmp_path: Path) -> None:
    _make(tmp_path)
    theirs = tmp_path / "iocast-tree" / "d0" / "d1" / "f5"
    theirs.unlink()
    theirs.write_text("precious")
    cleaned = clean(str(tmp_path))
    assert not cleaned.removed
    assert "1 name that iocast did not make: f5" in cleaned.left[0][1]
    assert theirs.read_text() == "precious"
    assert sorted(path.name for path in (tmp_path / "iocast-tree").rglob("*")) == [".iocast-shape", "d0", "d1", "f5"]


def test_a_directory_that_took_its_place_is_neither_used_nor_removed(tmp_path: Path) -> None:
    _make(tmp_path)
    (tmp_path / "iocast-tree").rename(tmp_path / "aside")
    theirs = tmp_path / "iocast-tree"
    theirs.mkdir(mode=0o1700)
    theirs.chmod(0o1700)
    (theirs / "f1").touch(mode=0o600)
    (theirs / "f1").chmod(0o1600)
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(_plan(tmp_path))
    assert clean(str(tmp_path)).left
    assert (theirs / "f1").exists()
    theirs.joinpath("f1").unlink()
    theirs.rmdir()
    os.symlink(tmp_path / "aside", theirs)
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(_plan(tmp_path))
    assert len(list((tmp_path / "aside").rglob("f*"))) == 20


def test_a_directory_of_that_name_without_a_mark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "iocast-tree").mkdir()
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(_plan(tmp_path))


def test_an_empty_directory_beside_a_mark_that_names_none_is_not_taken(tmp_path: Path) -> None:
    """A kill had left the mark, and somebody made a directory of that name: it was filled and removed."""
    mark = tmp_path / "iocast-tree.iocast"
    mark.write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    theirs = tmp_path / "iocast-tree"
    theirs.mkdir(mode=0o755)
    before = theirs.stat()
    with pytest.raises(TargetError, match="was not created by iocast"):
        load.lay_out(_plan(tmp_path))
    assert clean(str(tmp_path)).removed == ()
    assert (theirs.stat().st_ino, theirs.stat().st_mode, os.listdir(theirs)) == (before.st_ino, before.st_mode, [])
    theirs.rmdir()
    _make(tmp_path)
    assert remove_tree(str(theirs)) > 0
    assert not list(tmp_path.iterdir())


def test_where_a_file_system_keeps_nothing_a_tree_is_known_by_how_it_was_left(tmp_path: Path) -> None:
    """As after a run of another process: its directory was not changed since."""
    need("mount")
    command("mount", "-t", "ramfs", "none", tmp_path)
    try:
        _make(tmp_path)
        words = "import sys; from iocast.load.removal import clean; print(len(clean(sys.argv[1]).removed))"
        done = subprocess.run([sys.executable, "-c", words, tmp_path], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["1"]
        assert not list(tmp_path.iterdir())
        _make(tmp_path)
        os.utime(tmp_path / "iocast-tree", (1, 1))
        done = subprocess.run([sys.executable, "-c", words, tmp_path], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["0"]
    finally:
        command("umount", tmp_path)


def test_emptied_it_has_its_directories_and_no_files(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    empty_tree(layout.files[0], WANTED)
    found = look_at(layout.files[0], WANTED, sizes=False)
    assert (found.files, found.directories, found.missing_directories) == (0, 7, 0)


def test_one_that_is_told_to_stop_stops(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    with pytest.raises(InterruptedError):
        look_at(layout.files[0], WANTED, sizes=False, go_on=lambda: False)
    with pytest.raises(InterruptedError):
        empty_tree(layout.files[0], WANTED, go_on=lambda: False)


def test_more_inodes_than_there_are_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    free = os.statvfs(tmp_path).f_favail
    if not free:
        pytest.skip("this file system makes inodes as it needs them")
    with pytest.raises(TargetError, match="inodes"):
        load.lay_out(_plan(tmp_path, Tree(depth=2, width=1000, files=min(4000, 1 + free // 1_000_000 + 1))))
    assert not list(tmp_path.iterdir())


def test_a_second_name_of_the_shape_is_not_written_to(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("keep")
    shape = Path(layout.files[0].path) / ".iocast-shape"
    shape.unlink()
    os.link(victim, shape)
    with pytest.raises(TargetError, match="it has a second name"):
        make_place(layout.files[0], tree_plan(replace(TREE, files=6), 1))
    assert victim.read_text() == "keep"


def test_names_that_files_have_elsewhere_are_counted(tmp_path: Path) -> None:
    layout = _make(tmp_path)
    assert look_at(layout.files[0], WANTED, sizes=True).named_elsewhere == 0
    (tmp_path / "backup").mkdir()
    for number, file in enumerate(sorted(Path(layout.files[0].path).rglob("f*"))[:3]):
        os.link(file, tmp_path / "backup" / str(number))
    assert look_at(layout.files[0], WANTED, sizes=True).named_elsewhere == 3


@pytest.mark.parametrize("whose", ["full", "old", "fresh"])
def test_a_directory_that_was_put_in_place_of_the_one_just_made_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    """Whether the tree is refused or made beside it."""
    layout = load.lay_out(_plan(tmp_path))
    other = tmp_path / "other"
    tmp_path.chmod(0o777)  # others may rename in it
    made = os.mkdir

    def others() -> None:
        made(other, 0o700)
        if whose == "full":
            (other / "file").write_text("keep")
        if whose == "old":
            os.utime(other, (1, 1))

    def swapped(name: Any, mode: int = 0o777, **more: Any) -> None:
        made(name, mode, **more)
        if str(name).startswith(".iocast-") and not (tmp_path / "moved").exists():
            if whose == "fresh":
                others()
                time.sleep(0.05)
            (tmp_path / name).rename(tmp_path / "moved")
            seen.append(other.stat())
            other.rename(tmp_path / name)

    seen = list[os.stat_result]()
    if whose != "fresh":
        others()
    monkeypatch.setattr(os, "mkdir", swapped)
    with claimed(layout), contextlib.suppress(TargetError):
        make_place(layout.files[0], WANTED)
    monkeypatch.undo()
    theirs = [each for each in tmp_path.iterdir() if os.path.samestat(each.stat(), seen[0])]
    assert [os.listdir(each) for each in theirs] == [["file"] if whose == "full" else []]
    assert theirs[0].stat().st_mode & 0o7777 == 0o700


def test_a_tree_that_another_directory_takes_the_place_of_is_put_aside_with_care(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty directory of somebody was removed in its place, at the last moment."""
    _make(tmp_path)
    tree, other = tmp_path / "iocast-tree", tmp_path / "other"
    other.mkdir(mode=0o700)
    real = os.rename

    def swapped(old: Any, new: Any, **more: Any) -> None:
        if old == tree.name:
            real(tree, tmp_path / "moved")
            real(other, tree)
        real(old, new, **more)

    monkeypatch.setattr(os, "rename", swapped)
    with pytest.raises(TargetError, match="was replaced while iocast removed it"):
        remove_tree(str(tree))
    assert tree.stat().st_mode & 0o7777 == 0o700
