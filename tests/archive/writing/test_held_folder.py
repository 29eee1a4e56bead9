"""A folder that is held: what takes its place, or that of its files, is never written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from iocast.archive.writing import held_folder
from iocast.archive.writing.held_folder import (
    ForeignFile,
    HeldFolder,
    make_folder,
    make_named,
    open_base,
    open_folder,
)
from iocast.archive.writing.renaming import exchange
from iocast.errors import ArchiveError

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def held(tmp_path: Path) -> HeldFolder:
    """A folder that iocast made, with one file."""
    folder = make_named(tmp_path / "out", "run")
    folder.put("run.json", b"ours")
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of somebody."""
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


def test_folders_of_one_second_are_numbered_and_names_are_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_folder.time, "strftime", lambda _: "then")
    names = [make_named(tmp_path / "out", "copy of /data:1").path.name for _ in range(3)]
    assert names == ["then-copy-of--data-1", "then-copy-of--data-1-2", "then-copy-of--data-1-3"]
    assert make_named(tmp_path, "").path.name == "then-unnamed"


def test_a_place_that_cannot_have_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArchiveError, match=r"cannot create a folder in .*/file"):
        make_named(tmp_path / "file", "a")


def test_what_has_its_path_by_then_gets_nothing(held: HeldFolder, tmp_path: Path) -> None:
    was, other = held.path, tmp_path / "other"
    other.mkdir()
    (other / "run.json").write_text("precious")
    was.rename(tmp_path / "moved")
    was.symlink_to(other)
    held.put("run.json", b"ours again")
    os.close(held.open_to_append("rows.jsonl"))
    assert os.listdir(other) == ["run.json"]
    assert (other / "run.json").read_text() == "precious"
    assert (tmp_path / "moved" / "run.json").read_text() == "ours again"
    assert held.find() == tmp_path / "moved"


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _hard_link(path: Path, victim: Path) -> None:
    os.link(victim, path)


def _moved_there(path: Path, victim: Path) -> None:
    os.link(victim, path)
    victim.unlink()


def _pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def _directory(path: Path, _: Path) -> None:
    path.mkdir()


SWAPS = (_link, _hard_link, _moved_there, _pipe, _directory)


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("way", ["put", "open_to_append"])
def test_what_takes_the_place_of_a_file_stays_and_nobody_waits(
    held: HeldFolder, victim: Path, swap: Callable[[Path, Path], None], way: str
) -> None:
    place = held.path / "run.json"
    place.unlink()
    swap(place, victim)
    with pytest.raises(ForeignFile, match=r"run\.json (is|has|was) .*: move it away"):
        held.put("run.json", b"ours") if way == "put" else held.open_to_append("run.json")
    text = (victim if victim.exists() else place).read_text()
    assert text == "precious"


@ROOT
def test_a_device_in_the_place_of_a_file_is_not_opened(held: HeldFolder) -> None:
    os.mknod(held.path / "rows.jsonl", 0o600 | 0o060000, os.makedev(7, 200))
    with pytest.raises(ForeignFile, match="is a block device"):
        held.open_to_append("rows.jsonl")


@pytest.fixture
def bind(tmp_path: Path) -> Iterator[Callable[[Path, Path], None]]:
    """Mounts what is at one path over another, until the test ends."""
    mounted: list[Path] = []

    def mount(what: Path, over: Path) -> None:
        subprocess.run(["mount", "--bind", what, over], check=True)
        mounted.append(over)

    yield mount
    for each in reversed(mounted):
        subprocess.run(["umount", each], check=True)


@ROOT
def test_a_mount_over_a_file_the_folder_or_a_room_is_not_written_to(
    held: HeldFolder, victim: Path, tmp_path: Path, bind: Callable[[Path, Path], None]
) -> None:
    (other := tmp_path / "other").mkdir()
    (held.path / "rows.jsonl").touch()
    (held.path / "samples").mkdir()
    held.folder("intervals")
    bind(victim, held.path / "rows.jsonl")
    bind(other, held.path / "samples")
    bind(other, held.path / "intervals")
    with pytest.raises(ForeignFile, match="is mounted there from elsewhere"):
        held.open_to_append("rows.jsonl")
    with pytest.raises(ForeignFile, match="samples is a mount point"):
        held.folder("samples")
    held.folder("intervals").put("000.parquet", b"rows")
    bind(other, held.path)
    held.put("run.json", b"ours again")
    assert (victim.read_text(), os.listdir(other)) == ("precious", [])


def test_a_link_to_a_folder_is_refused_with_the_folder_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "link").symlink_to("run")
    with pytest.raises(ArchiveError, match="does not write through links") as refused:
        open_folder(tmp_path / "link")
    assert refused.value.hint == f"name the folder itself: {tmp_path / 'run'}"


@ROOT
def test_a_file_of_a_third_user_stays(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (theirs := tmp_path / "run" / "notes.json").write_text("precious")
    os.chown(theirs, 1234, 1234)
    with pytest.raises(ForeignFile, match="belongs to another user"):
        open_folder(tmp_path / "run").put("notes.json", b"ours")
    assert theirs.read_text() == "precious"


def test_a_discarded_folder_goes_and_what_took_its_name_stays(held: HeldFolder, tmp_path: Path) -> None:
    was = held.path
    was.rename(tmp_path / "moved")
    was.mkdir()
    (was / "mine").touch()
    held.discard()
    assert (os.listdir(tmp_path / "moved"), os.listdir(was)) == ([], ["mine"])


def test_a_private_folder_has_private_files(tmp_path: Path) -> None:
    folder = make_named(tmp_path, "tape", private=True)
    folder.put("run.json", b"ours")
    os.close(folder.open_to_append("rows.jsonl"))
    folder.folder("samples").put("000.parquet", b"rows")
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder.path, *folder.path.rglob("*"))}
    assert modes == {
        folder.path.name: 0o700,
        "samples": 0o700,
        "run.json": 0o600,
        "rows.jsonl": 0o600,
        "000.parquet": 0o600,
    }


FILE_SYSTEMS = ("vfat", "overlay", "tmpfs")


@ROOT
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_file_systems_that_are_different_are_written_to_all_the_same(kind: str, tmp_path: Path) -> None:
    """One owner for all files and no O_TMPFILE (vfat); files and folders with devices of their own (overlay)."""
    for name in ("place", "lower", "upper", "work"):
        (tmp_path / name).mkdir()
    source, options = "none", list[str]()
    if kind == "vfat":
        if shutil.which("mkfs.vfat") is None:
            pytest.skip("mkfs.vfat is not installed")
        source = str(tmp_path / "image")
        with open(source, "wb") as image:
            image.truncate(16 << 20)
        subprocess.run(["mkfs.vfat", source], check=True, capture_output=True)
        options = ["-o", "loop,uid=1234"]
    elif kind == "overlay":
        options = ["-o", f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/upper,workdir={tmp_path}/work"]
    mounted = subprocess.run(["mount", "-t", kind, *options, source, tmp_path / "place"], check=False)
    if mounted.returncode:
        pytest.skip(f"{kind} cannot be mounted here")
    try:
        folder = make_named(tmp_path / "place", "run")
        for text in (b"one", b"other"):
            folder.put("run.json", text)
            folder.folder("intervals").put("000.parquet", text)
        os.close(folder.open_to_append("rows.jsonl"))
        assert (folder.path / "run.json").read_bytes() == b"other"
        assert sorted(folder.names()) == ["intervals", "rows.jsonl", "run.json"]
        folder.discard()
        assert not folder.path.exists()
        del folder
    finally:
        subprocess.run(["umount", tmp_path / "place"], check=True)


def test_discard_removes_what_this_process_wrote_and_nothing_else(tmp_path: Path) -> None:
    """A run that was stopped before its first row removed all of its folder, whoever had put it there."""
    held = make_folder(open_base(tmp_path), "run", private=False)
    held.put("run.json", b"{}")
    held.folder("intervals").put("000.parquet", b"rows")
    os.close(held.open_to_append("rows.jsonl"))
    held.discard()
    assert not (tmp_path / "run").exists()

    held = make_folder(open_base(tmp_path), "run", private=False)
    held.put("run.json", b"{}")
    held.folder("intervals").put("000.parquet", b"rows")
    (tmp_path / "run" / "precious" / "deep").mkdir(parents=True)
    (tmp_path / "run" / "precious" / "deep" / "file").write_text("keep")
    (tmp_path / "run" / "intervals" / "mine").write_text("keep")
    held.discard()
    left = sorted(str(each.relative_to(tmp_path / "run")) for each in (tmp_path / "run").rglob("*"))
    assert left == ["intervals", "intervals/mine", "precious", "precious/deep", "precious/deep/file"]


def test_another_file_of_the_same_time_and_size_is_not_replaced(tmp_path: Path) -> None:
    held = make_folder(open_base(tmp_path), "run", private=False)
    held.put("run.json", b"ours")
    path = tmp_path / "run" / "run.json"
    status = path.stat()
    path.rename(tmp_path / "moved")
    path.write_bytes(b"mine")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ForeignFile, match="was put there by another program"):
        held.put("run.json", b"new")
    assert path.read_bytes() == b"mine"


@ROOT
def test_a_link_that_another_user_put_into_a_directory_of_all_is_no_place_for_results(tmp_path: Path) -> None:
    """`iocast-runs` in /tmp: the kernel refuses it where protected_symlinks is on."""
    (tmp_path / "other").mkdir()
    tmp_path.chmod(0o1777)
    (tmp_path / "iocast-runs").symlink_to(tmp_path / "other")
    open_base(tmp_path / "iocast-runs")  # our own link
    os.lchown(tmp_path / "iocast-runs", 65534, 65534)
    with pytest.raises(OSError, match="symbolic link of another user"):
        open_base(tmp_path / "iocast-runs")


def _exchanges(monkeypatch: pytest.MonkeyPatch, victim: Path) -> None:
    """Whoever owns the directory puts another folder in the place of each that was just made there."""
    make = os.mkdir

    def exchanged(name: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        make(name, mode, dir_fd=dir_fd)
        assert dir_fd is not None
        if os.path.samestat(os.fstat(dir_fd), victim.parent.stat()):
            assert exchange(dir_fd, name, victim.name)

    monkeypatch.setattr(os, "mkdir", exchanged)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A private folder of the caller in a directory of somebody else, who may rename it."""
    (base := tmp_path / "base").mkdir()
    os.chown(base, 1234, 1234)
    (folder := base / "precious").mkdir(mode=0o700)
    return folder


@ROOT
def test_a_full_folder_in_the_place_of_one_that_was_just_made_gets_nothing(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It got the name of the run, the run's files, and lost its report.html."""
    (theirs / "report.html").write_text("precious")
    _exchanges(monkeypatch, theirs)
    inode = theirs.stat().st_ino
    with pytest.raises(ArchiveError, match="another folder was put in its place"):
        make_named(theirs.parent, "run")
    (there,) = (each for each in theirs.parent.iterdir() if each.stat().st_ino == inode)
    assert [each.name for each in there.iterdir()] == ["report.html"]
    assert (there / "report.html").read_text() == "precious"


@ROOT
def test_an_empty_folder_in_the_place_of_one_that_was_just_made_gets_nothing(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.05)  # as long as a file system may be unsure
    _exchanges(monkeypatch, theirs)
    inode = theirs.stat().st_ino
    with pytest.raises(ArchiveError, match="was put there by another program"):
        make_named(theirs.parent, "run")
    (there,) = (each for each in theirs.parent.iterdir() if each.stat().st_ino == inode)
    assert list(there.iterdir()) == []


@ROOT
def test_a_folder_that_is_exchanged_before_it_gets_its_name_is_not_renamed(theirs: Path) -> None:
    made = make_named(theirs.parent, "run")
    above, hidden = open_base(theirs.parent), made.path.name
    inode, looks = theirs.stat().st_ino, held_folder.HeldFolder._is_in

    def late(folder: HeldFolder, base: HeldFolder) -> bool:
        found = looks(folder, base)
        held_folder.HeldFolder._is_in = looks  # type: ignore[method-assign]
        assert exchange(above.descriptor, hidden, theirs.name)
        return found

    held_folder.HeldFolder._is_in = late  # type: ignore[method-assign]
    with pytest.raises(FileNotFoundError, match="was exchanged by another program"):
        made.rename("final")
    assert (theirs.parent / hidden).stat().st_ino == inode
    assert not (theirs.parent / "final").exists()


def test_no_hidden_folder_is_left(theirs: Path) -> None:
    make_named(theirs.parent, "run").folder("intervals").put("000.parquet", b"rows")
    assert [each for each in os.listdir(theirs.parent) if each.startswith(".")] == []


def test_a_folder_of_somebody_in_a_new_one_is_not_used(held: HeldFolder) -> None:
    (held.path / "intervals").mkdir()
    with pytest.raises(ForeignFile, match="intervals was put there by another program"):
        held.folder("intervals")


def test_a_folder_that_is_opened_again_keeps_what_it_does_not_know(held: HeldFolder) -> None:
    """The look at who wrote a file ended with the process that made the folder."""
    (page := held.path / "report.html").write_text("mine")
    again = open_folder(held.path)
    for change in (lambda: again.put("report.html", b"ours"), lambda: again.remove("report.html")):
        with pytest.raises(ForeignFile, match="was put there by another program"):
            change()
    assert page.read_text() == "mine"
    again.put("run.json", b"ours again")
    again.remove("run.json")
    assert os.listdir(held.path) == ["report.html"]


@ROOT
def test_without_attributes_nothing_is_taken_for_ours(tmp_path: Path) -> None:
    """Half-written files of such names went; documents of others were replaced."""
    (tmp_path / "place").mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "none", tmp_path / "place"], check=False).returncode:
        pytest.skip("ramfs cannot be mounted here")
    try:
        (tmp_path / "place" / "run.json.new").write_text("mine")
        (tmp_path / "place" / "run.json").write_text("mine")
        folder = open_folder(tmp_path / "place")
        folder.remove_leftover("run.json.new")
        with pytest.raises(ForeignFile):
            folder.put("run.json", b"ours")
        assert sorted(folder.names()) == ["run.json", "run.json.new"]
        del folder
    finally:
        subprocess.run(["umount", tmp_path / "place"], check=True)


@pytest.mark.parametrize("name", ["run.json", "rows.jsonl"])
def test_a_file_of_somebody_with_the_inode_number_of_ours_stays(tmp_path: Path, name: str) -> None:
    """A restore over the folder of a run under way gets the numbers that are free again."""
    made = make_named(tmp_path, "run")
    if name == "rows.jsonl":
        os.close(made.create(name))
    else:
        made.put(name, b"{}")
    inode, path = (made.path / name).stat().st_ino, made.path / name
    path.unlink()
    for number in range(64):
        path.write_text("mine")
        if path.stat().st_ino == inode:
            break
        path.rename(tmp_path / str(number))
    else:
        pytest.skip("this file system gives numbers again late")
    with pytest.raises(ForeignFile):
        made.put(name, b"new")
    with pytest.raises(ForeignFile):
        made.remove(name)
    assert path.read_text() == "mine"


@ROOT
def test_what_a_folder_of_others_holds_is_not_emptied(tmp_path: Path) -> None:
    """As root: a directory of the server's user into which he moved one that holds a directory of root."""
    room, brought = tmp_path / "room", tmp_path / "room" / "brought"
    keep = brought / "keep"
    keep.mkdir(parents=True)
    (keep / "file").write_text("root's")
    for each in (room, brought):
        os.chown(each, 65534, 65534)
    held = open_base(room)
    held.empty()
    assert (keep / "file").read_text() == "root's"


def test_the_place_of_a_folder_is_found_in_the_proc_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a namespace of its own a process may see the /proc of another one, where its number is another one's."""
    (tmp_path / "file").write_text("ours")
    held = open_base(tmp_path)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert (held.place / "file").read_text() == "ours"
