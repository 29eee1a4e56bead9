"""A mark counts only when it is the caller's or root's, names the very file, and says everything."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from makers.rootly import command, need
from makers.work_files import MIB, lay, plan
from msgspec.structs import replace

from iocast import load
from iocast.archive.writing.file_identity import identity
from iocast.archive.writing.proofs import sign
from iocast.errors import TargetError
from iocast.load.filling import claimed_file, create
from iocast.load.marks import (
    _outlast_its_second,
    is_changed_by_others,
    leave,
    made_here,
    mark_path,
    read_mark,
    take_up,
    write_mark,
)
from iocast.load.work_files import WorkFile, own_file
from iocast.observe.residency import by_mincore

SOMEBODY = 65534
# Ends the process by force before a call that changes a directory, or writes.
KILLED = """
import os, sys
from iocast.load.filling import claimed_file, create
from iocast.load.work_files import WorkFile
path, step, nameless = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
left = step

def ends(call, refused=False):
    real = getattr(os, call)
    def called(*words, **more):
        global left
        if call == "open":
            if not words[1] & (os.O_CREAT | os.O_RDWR):
                return real(*words, **more)
            if not nameless and words[1] & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(95, "not supported")
        left -= 1
        if not left:
            os.kill(os.getpid(), 9)
        return real(*words, **more)
    setattr(os, call, called)

for call in ("open", "link", "rename", "mkdir", "unlink", "write", "pwrite", "fsync", "ftruncate", "rmdir"):
    ends(call)
with claimed_file(WorkFile(path, 1 << 20, fill=True)):
    create(WorkFile(path, 1 << 20, fill=True))
"""
# Goes into a user namespace that knows the caller only, by the number that all others have there, too.
NAMESPACE = """
import ctypes, encodings.ascii, os, sys  # what is not imported by now cannot be read any more
from pathlib import Path
from iocast.archive.writing.held_folder import HeldFolder
from iocast.load.marks import made_here
place = Path(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
os.setgroups([])
os.setresgid(30001, 30001, 30001)
os.setresuid(30001, 30001, 30001)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: its files in /proc are its own
if libc.unshare(0x10000000):  # CLONE_NEWUSER
    sys.exit("no user namespaces here")
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text("65534 30001 1")
Path("/proc/self/gid_map").write_text("65534 30001 1")
folder = HeldFolder(place, os.open(place, os.O_RDONLY))
for name in ("theirs.dat", "mine.dat"):
    known = made_here(str(place / name)) is not None
    try:
        folder.put(name, b"new")
        put = True
    except OSError:
        put = False
    print(name, known, put)
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


def forged(path: Path, **changes: object) -> None:
    """The mark that a file at `path` would have if iocast had made it, with changes."""
    descriptor = os.open(path, os.O_RDONLY)
    said = {"made_by": "iocast", "size_bytes": 2 * MIB, "whole": True, **identity(descriptor)._asdict()}
    os.close(descriptor)
    Path(mark_path(str(path))).write_text(json.dumps({**said, **changes}))


def refused(path: Path) -> None:
    """Neither written to nor removed."""
    held = path.read_bytes()
    assert not own_file(str(path))
    with pytest.raises(TargetError):
        load.clean(str(path))
    assert load.clean(str(path.parent)).removed == ()
    with pytest.raises(TargetError):
        create(WorkFile(str(path), MIB, fill=True))
    assert path.read_bytes() == held


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_a_mark_of_another_user_is_not_believed(tmp_path: Path, mode: int) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    private = shared / "x.dat"
    private.write_bytes(b"private")
    forged(private)
    assert made_here(str(private)) is not None, "root's own mark of this very file counts"
    os.chown(mark_path(str(private)), SOMEBODY, SOMEBODY)
    assert read_mark(str(private)) is None
    refused(private)


@needs_root
def test_an_empty_mark_of_another_user_is_no_trace_of_a_kill(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    mark = tmp_path / "iocast-work.0.dat.iocast"
    mark.touch()
    os.chown(mark, SOMEBODY, SOMEBODY)
    with pytest.raises(TargetError, match="not an iocast mark"):
        create(WorkFile(str(tmp_path / "iocast-work.0.dat"), MIB, fill=True))
    assert load.clean(str(tmp_path)).removed == ()


def test_a_mark_without_its_generation_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"private")
    forged(path)
    if json.loads(Path(mark_path(str(path))).read_bytes())["generation"] is None:
        pytest.skip("this file system keeps no generations")
    forged(path, generation=None)
    refused(path)


@pytest.mark.parametrize("content", ["", '{"made_by":"iocast","size_bytes":2097152,"whole":false}'])
def test_a_mark_that_names_no_file_makes_none_ours(tmp_path: Path, content: str) -> None:
    """It was believed of an empty file that was made after it, and an empty mark of a file that was missing."""
    path = tmp_path / "iocast-work.0.dat"
    Path(mark_path(str(path))).write_text(content)
    path.touch(mode=0o640)
    refused(path)


def test_an_empty_file_with_the_name_of_a_mark_is_neither_written_to_nor_removed(tmp_path: Path) -> None:
    """Somebody renamed one of root's, and got it filled and removed."""
    mark = tmp_path / "iocast-work.0.dat.iocast"
    mark.touch()
    with pytest.raises(TargetError, match="not an iocast mark"):
        create(WorkFile(str(tmp_path / "iocast-work.0.dat"), MIB, fill=True))
    why = "is empty, so that nothing says who made it: remove it by hand"
    assert load.clean(str(tmp_path)) == load.Cleaned((), ((str(mark), why),))
    assert mark.stat().st_size == 0


def left_empty(place: Path) -> list[str]:
    """A room whose attribute was not there yet: it may be anybody's, and clean says so."""
    return [Path(name).name for name, why in load.clean(str(place)).left if "may be of an iocast" in why]


@pytest.mark.long
def test_a_kill_at_any_moment_leaves_no_file_without_a_whole_mark(tmp_path: Path) -> None:
    """Before each system call that makes, links, renames or writes, in both ways of making a file."""
    for nameless in (True, False):
        for step in range(1, 40):
            place = tmp_path / f"{nameless}-{step}"
            place.mkdir()
            done = subprocess.run(
                [sys.executable, "-c", KILLED, str(place / "iocast-work.0.dat"), str(step), str(int(nameless))],
                check=False,
            )
            for mark in place.glob("*.iocast"):
                assert read_mark(str(mark).removesuffix(".iocast")) is not None
            assert not (place / "iocast-work.0.dat").exists() or made_here(str(place / "iocast-work.0.dat"))
            with claimed_file(WorkFile(str(place / "iocast-work.0.dat"), MIB, fill=True)):
                create(WorkFile(str(place / "iocast-work.0.dat"), MIB, fill=True))
            load.clean(str(place))
            assert os.listdir(place) in ([], left_empty(place)), f"killed at {step}"
            if done.returncode == 0:
                break
        assert done.returncode == 0
        assert step > 3


@needs_root
def test_a_later_file_with_the_inode_number_of_a_work_file_is_not_ours(tmp_path: Path) -> None:
    """Overlays keep no generation, and ext4 gives a number again at once: any file of the name was overwritten."""
    need("mount")
    for name in ("lower", "upper", "work", "merged"):
        (tmp_path / name).mkdir()
    ways = [f"{key}dir={tmp_path / key}" for key in ("lower", "upper", "work")]
    command("mount", "-t", "overlay", "overlay", "-o", ",".join(ways), tmp_path / "merged")
    try:
        path = tmp_path / "merged" / "redo.dat"
        create(WorkFile(str(path), MIB, fill=True))
        inode = path.stat().st_ino
        path.unlink()
        for number in range(300):
            other = tmp_path / "merged" / f"db.{number}"
            other.write_bytes(b"data of a database")
            if other.stat().st_ino == inode:
                break
        else:
            pytest.skip("the number was not used again")
        other.rename(path)
        refused(path)
    finally:
        command("umount", tmp_path / "merged")


@needs_root
def test_the_copy_of_a_work_file_in_a_snapshot_is_not_ours(tmp_path: Path) -> None:
    """It has inode, generation and birth of the work file, and its mark."""
    need("mount", "mkfs.btrfs", "btrfs")
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(300 * MIB)
    command("mkfs.btrfs", "--quiet", image)
    command("mount", "-o", "loop", image, mount)
    try:
        command("btrfs", "subvolume", "create", mount / "volume")
        lay(plan(mount / "volume"))
        command("btrfs", "subvolume", "snapshot", mount / "volume", mount / "daily")
        assert not load.lay_out(plan(mount / "volume")).fill_bytes
        copy = mount / "daily" / "iocast-work.0.dat"
        refused(copy)
        older = json.loads(Path(mark_path(str(copy))).read_bytes())
        forged(copy, born_ns=None, subvolume=None)
        refused(copy)
        assert older["subvolume"]
    finally:
        command("umount", mount)


@needs_root
def test_where_a_file_system_keeps_nothing_a_file_is_known_by_how_it_was_left(tmp_path: Path) -> None:
    """NFS before 4.2, and ramfs: no generation, no birth, no attributes."""
    need("mount")
    command("mount", "-t", "ramfs", "none", tmp_path)
    try:
        made, path = plan(tmp_path), tmp_path / "iocast-work.0.dat"
        lay(made)
        again = f"import sys; from iocast.load.marks import made_here; sys.exit(not made_here({str(path)!r}))"
        known = [sys.executable, "-c", again]
        assert subprocess.run(known, check=False).returncode == 0
        assert not load.lay_out(made).fill_bytes
        os.utime(path, (1, 1))  # another file may have the inode number by now
        assert subprocess.run(known, check=False).returncode == 1
        tmp_path.chmod(0o777)
        assert made_here(str(path)) is None
    finally:
        command("umount", tmp_path)


def test_older_marks_count_by_inode_and_generation(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"ours")
    forged(path, born_ns=None, subvolume=None)
    said = json.loads(Path(mark_path(str(path))).read_bytes())
    descriptor = os.open(path, os.O_RDONLY)
    if not said["generation"] or identity(descriptor).subvolume is not None:
        pytest.skip("this file system keeps no generations, or has snapshots")
    os.close(descriptor)
    assert made_here(str(path)) is not None


@needs_root
def test_in_a_user_namespace_a_mark_of_an_unknown_user_is_not_believed(tmp_path: Path) -> None:
    """All users that the namespace does not know have one number there; as that very user they all looked like it."""
    place = Path("/dev/shm") / f"iocast-test-namespace-{os.getpid()}"
    place.mkdir()
    try:
        place.chmod(0o777)
        for name, owner in (("theirs.dat", 12345), ("mine.dat", 30001)):
            (place / name).write_bytes(b"bytes")
            with open(place / name, "rb") as file:
                sign(file.fileno())  # so that only its owner decides
            forged(place / name)
            for each in (place / name, place / f"{name}.iocast"):
                os.chown(each, owner, owner)
                each.chmod(0o644)
        words = [sys.executable, "-c", NAMESPACE, str(place)]
        told = subprocess.run(words, capture_output=True, text=True, check=False)
        if told.returncode:
            pytest.skip(told.stderr)
        signed = str(bool(os.listxattr(place / "mine.dat")))  # not every /dev/shm has attributes
        assert told.stdout.split() == ["theirs.dat", "False", "False", "mine.dat", "True", signed]
    finally:
        shutil.rmtree(place)


def test_a_moved_mark_does_not_make_another_file_ours(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    private = tmp_path / "private.dat"
    private.write_bytes(b"private")
    (tmp_path / "iocast-work.0.dat.iocast").rename(mark_path(str(private)))
    refused(private)


def test_to_note_how_a_file_is_left_drops_nothing_else_of_the_page_cache(tmp_path: Path) -> None:
    """The next run reads through the page cache what this one left there."""
    lay(plan(tmp_path, 8 * MIB))
    work = tmp_path / "iocast-work.0.dat"
    work.read_bytes()
    take_up(str(work))
    leave(str(work))
    mark = read_mark(str(work))
    assert mark is not None
    if mark.left_digest is None:
        pytest.skip("this file system keeps no generations")
    with work.open("rb") as file:
        assert by_mincore(file.fileno(), 8 * MIB).cached_bytes > 7 * MIB


def test_what_was_added_at_the_end_of_a_work_file_is_another_programs(tmp_path: Path) -> None:
    """A few bytes, and the time of the last write set back: no sample of the blocks before shows them."""
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    take_up(str(work))
    leave(str(work))
    mark = read_mark(str(work))
    assert mark is not None
    if mark.left_digest is None:
        pytest.skip("this file system keeps no generations")
    times = work.stat()
    with work.open("ab") as file:
        file.write(b"mine")
    os.utime(work, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert is_changed_by_others(str(work))
    refused(work)


def test_a_write_that_leaves_no_time_behind_is_seen(tmp_path: Path) -> None:
    """Storage that went away kept what was made durable and lost its times; open_by_handle of XFS changes none."""
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    take_up(str(work))
    leave(str(work))
    if read_mark(str(work)) is None or read_mark(str(work)).left_digest is None:  # type: ignore[union-attr]
        pytest.skip("this file system keeps no generations")
    with work.open("r+b") as file:
        file.write(b"mine" * 1024)
    mark = read_mark(str(work))
    assert mark is not None
    write_mark(str(work), replace(mark, left_ns=work.stat().st_mtime_ns))
    assert is_changed_by_others(str(work))
    refused(work)


def test_where_times_are_whole_seconds_a_file_is_left_after_its_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written right after a run has another time than the run's own writes."""
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    waited_s: list[float] = []
    monkeypatch.setattr("iocast.load.marks.unix_ns", lambda: int(work.stat().st_ctime) * 1_000_000_000 + 400_000_000)
    monkeypatch.setattr("iocast.load.marks.time.sleep", waited_s.append)
    take_up(str(work))
    leave(str(work))
    assert waited_s == [], "these times have parts of a second"
    second_ns = int(work.stat().st_ctime) * 1_000_000_000
    _outlast_its_second(SimpleNamespace(st_mtime_ns=second_ns, st_ctime_ns=second_ns))  # type: ignore[arg-type]
    assert waited_s == [pytest.approx(0.62)]
