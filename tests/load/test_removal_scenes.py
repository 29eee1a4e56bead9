"""What stands in a directory, and what `clean` makes of it: ours is removed, all else is there as it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from makers.rootly import command, need
from makers.work_files import MIB, lay, plan

from iocast.archive.writing import asides
from iocast.load.file_system_images import make_place
from iocast.load.filling import claimed, create
from iocast.load.work_files import WorkFile, lay_out
from iocast.sessions.clean_up import clean_up

WORK, MARK = "iocast-work.0.dat", "iocast-work.0.dat.iocast"
ASIDE = ".0123456789abcdef"
SOMEBODY = 65534


class Scene:
    """The directory that is cleaned, one beside it for what belongs to others, and what is undone at the end."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.place, self.beside, self.patch, self.stack = folder / "place", folder / "beside", patch, stack
        self.place.mkdir()
        self.beside.mkdir()
        self.asked = self.place  # what is given to `clean`
        self.work, self.mark = self.place / WORK, self.place / MARK

    def lay(self, name: str = WORK) -> Path:
        """A work file of ours of that name."""
        if name == WORK:
            lay(plan(self.place))
        else:
            lay(plan(self.place / name))
        return self.place / name

    def undo(self, *words: object) -> None:
        """A command for the end."""
        self.stack.callback(lambda: subprocess.run([str(word) for word in words], check=False, capture_output=True))

    def everything(self) -> dict[str, object]:
        """All that is there: inode, and content or where it leads."""
        found: dict[str, object] = {}
        for place in (self.place, self.beside):
            for path in sorted(place.rglob("*")):
                status = path.lstat()
                what: object = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
                found[str(path.relative_to(place.parent))] = (status.st_ino, status.st_mode, what)
        return found


Case = Callable[[Scene], set[str]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """One more of them; what it returns is to be removed."""
    CASES[function.__name__] = function
    return function


@case
def a_work_file(at: Scene) -> set[str]:
    at.lay()
    return {WORK, MARK}


@case
def several_work_files_and_one_of_a_name_of_its_own(at: Scene) -> set[str]:
    lay(plan(at.place, MIB, 3))
    at.lay("mine.dat")
    numbers = {f"iocast-work.{number}.dat" for number in range(3)}
    return {each + end for each in {*numbers, "mine.dat"} for end in ("", ".iocast")}


@case
def a_mark_whose_file_was_never_made(at: Scene) -> set[str]:
    at.mark.write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    return {MARK}


@case
def a_file_that_a_kill_left_half_filled(at: Scene) -> set[str]:
    create(WorkFile(str(at.work), MIB, fill=True))
    return {WORK, MARK}


@case
def a_name_with_newlines_and_control_characters(at: Scene) -> set[str]:
    name = "a\nb\x1b[31m \t*.dat"
    at.lay(name)
    return {name, name + ".iocast"}


@case
def a_directory_given_by_a_link(at: Scene) -> set[str]:
    at.lay()
    at.asked = at.beside / "link"
    at.asked.symlink_to(at.place)
    return {WORK, MARK}


@case
def a_file_with_a_second_name(at: Scene) -> set[str]:
    os.link(at.lay(), at.beside / "second")
    return {WORK, MARK}


@case
def the_empty_directory_of_a_killed_experiment(at: Scene) -> set[str]:
    make_place(str(at.place / "iocast-work.mount"))
    return {"iocast-work.mount"}


@case
def both_moved_together(at: Scene) -> set[str]:
    at.lay().rename(at.place / "other.dat")
    at.mark.rename(at.place / "other.dat.iocast")
    return {"other.dat", "other.dat.iocast"}


@case
def a_file_of_our_name_without_a_mark(at: Scene) -> set[str]:
    at.work.write_text("precious")
    return set()


@case
def a_mark_of_another_user(at: Scene) -> set[str]:
    at.lay()
    if os.geteuid():
        pytest.skip("needs root")
    os.chown(at.mark, SOMEBODY, SOMEBODY)
    return set()


@case
def a_mark_that_is_a_link(at: Scene) -> set[str]:
    at.lay()
    at.mark.rename(at.beside / "mark")
    at.mark.symlink_to(at.beside / "mark")
    return set()


@case
def a_mark_that_is_damaged(at: Scene) -> set[str]:
    at.lay()
    at.mark.write_bytes(at.mark.read_bytes()[:40])
    return set()


@case
def a_mark_of_another_program(at: Scene) -> set[str]:
    at.lay()
    at.mark.write_text(json.dumps({**json.loads(at.mark.read_text()), "made_by": "other"}))
    return set()


@case
def a_mark_that_says_more_than_ours(at: Scene) -> set[str]:
    at.lay()
    at.mark.write_text(json.dumps({**json.loads(at.mark.read_text()), "keep": True}))
    return set()


@case
def an_empty_mark_beside_a_file_of_somebody(at: Scene) -> set[str]:
    at.mark.touch()
    at.work.write_text("precious")
    return set()


@case
def an_empty_mark_that_may_be_of_anybody(at: Scene) -> set[str]:
    at.mark.touch()
    return set()


@case
def an_empty_file_beside_a_mark_that_names_none(at: Scene) -> set[str]:
    at.mark.write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    at.work.touch()
    return set()


@case
def an_empty_file_that_only_ends_like_a_mark(at: Scene) -> set[str]:
    (at.place / "notes.iocast").touch()
    return set()


@case
def a_directory_that_ends_like_a_mark(at: Scene) -> set[str]:
    (at.place / "x.dat.iocast").mkdir()
    os.mkfifo(at.place / "y.dat.iocast")
    return set()


@case
def another_file_took_the_name(at: Scene) -> set[str]:
    at.lay().rename(at.beside / "moved")
    at.work.write_text("precious")
    return set()


@case
def a_link_took_the_name(at: Scene) -> set[str]:
    at.lay().rename(at.beside / "moved")
    at.work.symlink_to(at.beside / "moved")
    return set()


@case
def a_hard_link_of_somebody_took_the_name(at: Scene) -> set[str]:
    at.lay().unlink()
    (at.beside / "data").write_text("precious")
    os.link(at.beside / "data", at.work)
    return set()


@case
def a_directory_or_a_fifo_took_the_name(at: Scene) -> set[str]:
    at.lay().unlink()
    at.work.mkdir()
    at.lay("fifo.dat").unlink()
    os.mkfifo(at.place / "fifo.dat")
    return set()


@case
def a_mark_that_was_moved_to_another_file(at: Scene) -> set[str]:
    at.lay().rename(at.beside / "moved")
    (at.place / "data").write_text("precious")
    at.mark.rename(at.place / "data.iocast")
    return set()


@case
def a_copy_with_a_copy_of_its_mark(at: Scene) -> set[str]:
    at.lay()
    for name in (WORK, MARK):
        shutil.copy2(at.place / name, at.beside)
        (at.place / name).unlink()
        (at.beside / name).rename(at.place / name)
    return set()


@case
def work_files_in_directories_below(at: Scene) -> set[str]:
    at.lay()
    (at.place / "below").mkdir()
    lay(plan(at.place / "below"))
    return {WORK, MARK}


@case
def a_file_that_another_iocast_uses(at: Scene) -> set[str]:
    at.lay()
    at.stack.enter_context(claimed(lay_out(plan(at.place))))
    return set()


@case
def a_file_that_a_process_writes(at: Scene) -> set[str]:
    at.stack.callback(os.close, os.open(at.lay(), os.O_RDWR))
    return set()


@case
def a_file_behind_a_loop_device(at: Scene) -> set[str]:
    need("losetup")
    at.undo("losetup", "--detach", command("losetup", "--find", "--show", at.lay()))
    return set()


@case
def an_immutable_file(at: Scene) -> set[str]:
    need("chattr")
    command("chattr", "+i", at.lay())
    at.undo("chattr", "-i", at.work)
    at.lay("another.dat")
    return {"another.dat", "another.dat.iocast"}


@case
def a_file_system_that_is_read_only(at: Scene) -> set[str]:
    need("mount")
    command("mount", "-t", "tmpfs", "none", at.place)
    at.undo("umount", at.place)
    at.lay()
    command("mount", "-o", "remount,ro", at.place)
    return set()


@case
def something_mounted_where_experiments_mount(at: Scene) -> set[str]:
    need("mount")
    mount = at.place / "iocast-work.mount"
    mount.mkdir()
    command("mount", "-t", "tmpfs", "none", mount)
    at.undo("umount", mount)
    return set()


@case
def a_file_of_somebody_that_looks_renamed(at: Scene) -> set[str]:
    at.lay()
    (at.place / (WORK + ASIDE)).write_text("precious")
    (at.place / (MARK + ASIDE)).write_text("precious")
    return {WORK, MARK}


def _swapped_in(at: Scene, path: Path, room: object) -> set[str]:
    """Another file takes a name just when `clean` has looked."""

    def late(_: int) -> str:
        if not (at.beside / "moved").exists():
            path.rename(at.beside / "moved")
            (at.beside / "data").rename(path)
        return ASIDE[1:]

    (at.beside / "data").write_text("precious")
    at.lay()
    at.patch.setattr(room, "token_hex", late)
    return set()


@case
def a_file_that_takes_the_name_at_the_last_moment(at: Scene) -> set[str]:
    return _swapped_in(at, at.work, asides.secrets)


@case
def a_file_that_takes_the_name_of_the_mark_at_the_last_moment(at: Scene) -> set[str]:
    at.mark.write_text('{"made_by":"iocast","size_bytes":1,"whole":false}')
    _swapped_in(at, at.mark, asides.secrets)
    at.work.unlink()
    return set()


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with ExitStack() as stack:
        yield Scene(tmp_path, monkeypatch, stack)


def test_there_are_as_many_as_promised() -> None:
    assert len(CASES) == 36


@pytest.mark.parametrize("name", CASES)
def test_ours_is_removed_and_nothing_else(scene: Scene, name: str) -> None:
    gone = CASES[name](scene)
    before = scene.everything()
    if "last_moment" not in name:
        clean_up(str(scene.asked), dry_run=True)
        assert scene.everything() == before
    done = clean_up(str(scene.asked))
    after = scene.everything()
    if "last_moment" in name:  # what was swapped in is where it was put
        assert any(found[2] == b"precious" for path, found in after.items() if path.startswith("place/"))  # type: ignore[index]
        return
    assert {path: found for path, found in before.items() if path not in after} == {
        path: before[path] for path in (f"place/{each}" for each in gone)
    }
    assert {path: before[path] for path in after} == after
    if not gone:
        assert done.removed == ()
    assert not clean_up(str(scene.asked)).removed, "what is left stays"
