"""A folder that iocast writes to, held by its descriptor: whatever has its path by then, what is written lands in it.

Every file of it is opened below that descriptor and links are not followed. A file is replaced, added to or removed
only if it is a plain file of ours or of the folder's owner, has no second name, lies on the folder's own mount, and is
proven to be iocast's: this process wrote it, an attribute of it says so (`proofs.py`), or its content does.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

from iocast.archive.writing.file_identity import FileIdentity, belongs_to, identity
from iocast.archive.writing.proofs import (
    is_folder_proven,
    is_proven,
    only_ours_change,
    prove_folder,
    sign,
    unlink_same,
)
from iocast.archive.writing.renaming import rename_to_free_name
from iocast.archive.writing.whole_files import (
    COMMON,
    NEW,
    PRIVATE,
    Growing,
    copy_into,
    growing,
    hold,
    mark_growing,
    remove_leftover,
    status_of,
    write_all,
)
from iocast.errors import ArchiveError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOST = 1000  # folders of one second
_COARSE = 5  # CLOCK_REALTIME_COARSE, by which file systems date
_COARSER_NS = 10_000_000  # the most that a file system keeps of a time of birth less than that
_OTHER_DIRECTORY = "choose another directory with --out DIR"
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link, and iocast does not write through links",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class ForeignFile(OSError):
    """A file in a folder of ours that iocast would not have made: it is neither replaced nor added to."""


Knows = Callable[["HeldFolder", str], bool]


def _own_number() -> str:
    """This process in /proc, which may be that of another namespace than its own."""
    try:
        return os.readlink("/proc/self")
    except OSError:  # nothing is mounted there
        return str(os.getpid())


class HeldFolder:
    """The folder, for as long as this object lives."""

    def __init__(
        self, path: Path, descriptor: int, above: HeldFolder | None = None, knows: Knows | None = None
    ) -> None:
        self.path = path  # as people know it
        self.descriptor = descriptor
        self._above = above  # that it lies in, where this process made it
        self._knows = knows  # tells a file of ours by what is in it
        self._below: dict[str, HeldFolder] = {}
        self._written: dict[str, os.stat_result] = {}
        self._identities: dict[str, FileIdentity] = {}  # of these
        self._open_ended: set[str] = set()  # of these: those that are written to under their name
        self.made: set[str] = set()  # folders in it that did not exist
        self._is_new = above is not None  # all that is in it was put there by this process, or by somebody else
        self._status = os.fstat(descriptor)
        weakref.finalize(self, os.close, descriptor)

    @property
    def place(self) -> Path:
        """A path that leads to the folder whatever has its name, for what opens files by path."""
        return Path(f"/proc/{_own_number()}/fd/{self.descriptor}")

    @property
    def private(self) -> bool:
        """Whether nobody but its owner may look into it; its files are as private."""
        return not self._status.st_mode & 0o077

    def put(self, name: str, data: bytes) -> None:
        """A file of the folder: it is there whole, or as it was. Raises OSError; ForeignFile for what must stay."""
        with self.growing(name) as file:
            write_all(file.descriptor, data)

    @contextlib.contextmanager
    def growing(self, name: str) -> Iterator[Growing]:
        """A file that gets its name, also in place of a former one of ours, when it is whole. Raises OSError."""
        former = self.own_status(name)
        with growing(self.descriptor, name, self._mode) as file:
            yield file
            sign(file.descriptor)
            if former is not None:
                file.keep_rights(former)
            file.take_name(former)
            self._remember(name, file.descriptor)

    def own_status(self, name: str, *, unproven: bool = False) -> os.stat_result | None:
        """What has the name, if iocast may replace it; None for nothing. `unproven`: a person said that it may.
        Raises ForeignFile, OSError.
        """
        status = status_of(self.descriptor, name)
        if status is not None:
            self._refuse_foreign(name, status)
            if not unproven and not self._is_proven(name, status):
                raise _foreign(self.path / name, "was put there by another program")
        return status

    def _is_proven(self, name: str, status: os.stat_result) -> bool:
        """In a folder that this process made it knows each file; in others the file itself has to tell."""
        written = self._written.get(name)
        if written is not None and self._is_ours(name, status, written):
            return True
        if self._is_new:
            return False
        known = self._knows is not None and self._knows(self, name)
        return known or is_proven(self.descriptor, name, status, growing=self._knows is None or not status.st_size)

    def _is_ours(self, name: str, status: os.stat_result, written: os.stat_result) -> bool:
        """Some file systems in user space give a file another inode number once they forgot it."""
        if self._is_same(name, status, written):
            return name in self._open_ended or _content(status) == _content(written)
        return _content(status) == _content(written) and _in_user_space(self.descriptor)

    def _is_same(self, name: str, status: os.stat_result, written: os.stat_result) -> bool:
        """Whether it is what this process wrote: an inode number alone may be that of another file by now."""
        if not os.path.samestat(status, written):
            return False
        descriptor = os.open(name, os.O_RDONLY | _FILE, dir_fd=self.descriptor)
        try:
            return identity(descriptor) == self._identities[name]
        finally:
            os.close(descriptor)

    def open_to_append(self, name: str) -> int:
        """The descriptor of a file of ours that is added to. Raises OSError; ForeignFile without waiting for a FIFO."""
        self.own_status(name)  # before it is opened: to open a device may do something to it
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _FILE
        descriptor = os.open(name, flags, self._mode, dir_fd=self.descriptor)
        try:
            self._refuse_foreign(name, os.fstat(descriptor), descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return self._growing_by_name(name, descriptor)

    def add(self, name: str, source: str) -> None:
        """A copy of a file of others, which shares its blocks where the file system can do that. Raises OSError."""
        with growing(self.descriptor, name, self._mode) as file:
            copy_into(file.descriptor, source)
            sign(file.descriptor)
            file.take_name(None)
            self._remember(name, file.descriptor)

    def _remember(self, name: str, descriptor: int) -> None:
        self._written[name], self._identities[name] = os.fstat(descriptor), identity(descriptor)

    def create(self, name: str) -> int:
        """The descriptor of a new file, which has its name from the start. Raises FileExistsError, OSError."""
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE, self._mode, dir_fd=self.descriptor)
        return self._growing_by_name(name, descriptor)

    def _growing_by_name(self, name: str, descriptor: int) -> int:
        mark_growing(descriptor)
        self._remember(name, descriptor)
        self._open_ended.add(name)
        return descriptor

    def has(self, name: str, descriptor: int) -> bool:
        """Whether an open file still is the one that has the name in the folder, and has no other. Raises OSError."""
        there = status_of(self.descriptor, name)
        return there is not None and there.st_nlink == 1 and os.path.samestat(there, os.fstat(descriptor))

    def folder(self, name: str) -> HeldFolder:
        """A folder in this one; it is made where it is missing, and held from then on. Raises OSError, ForeignFile."""
        if name not in self._below:
            try:
                descriptor = _new_folder(self, name, 0o700 if self.private else 0o777)
            except FileExistsError:
                below = self._open_below(name)
                if self._is_new:
                    raise _foreign(self.path / name, "was put there by another program") from None
            else:
                below = HeldFolder(self.path / name, descriptor, knows=self._knows)
                below._is_new = True
                self.made.add(name)
            self._below[name] = below
        return self._below[name]

    def _open_below(self, name: str) -> HeldFolder:
        below = HeldFolder(self.path / name, _below(self.descriptor, name), knows=self._knows)
        if mount_of(below.descriptor) != mount_of(self.descriptor):
            raise _foreign(self.path / name, "is a mount point")
        if not belongs_to(below._status, below.place, (os.geteuid(), self._status.st_uid)):
            raise _foreign(self.path / name, "belongs to another user")
        return below

    @property
    def is_proven(self) -> bool:
        """Whether it says of itself that iocast made it; a copy does not, nor does any without attributes."""
        return is_folder_proven(self.descriptor)

    def has_folder(self, name: str) -> bool:
        """Whether the name is that of a folder in this one, and no link. Raises OSError."""
        status = status_of(self.descriptor, name)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def remove_folder(self, name: str, folder: HeldFolder) -> None:
        """Removes a folder of this one if nothing is in it, and it still is that one. Raises OSError."""
        status = status_of(self.descriptor, name)
        if status is not None and os.path.samestat(status, folder._status) and not folder.names():
            os.rmdir(name, dir_fd=self.descriptor)
            self._below.pop(name, None)

    def make_durable(self) -> None:
        """Waits until storage holds what was written in it. Raises OSError where storage did not take it."""
        for name, written in self._written.items():
            if self._has_written(name, written):  # else it was removed, or is not ours
                _flush(name, self.descriptor, _FILE)
        for below in self._below.values():
            below.make_durable()
        _flush(".", self.descriptor, _FOLDER)

    def names(self) -> list[str]:
        """What is in it. Raises OSError."""
        return os.listdir(self.descriptor)

    def is_own(self, name: str) -> bool:
        """Whether a file of it is there, and is proven to be iocast's."""
        try:
            return self.own_status(name) is not None
        except OSError:
            return False

    def remove(self, name: str, *, unproven: bool = False) -> None:
        """Removes a file of ours, if it is there; `unproven` as for `own_status`. Raises OSError; ForeignFile for what
        must stay.
        """
        status = self.own_status(name, unproven=unproven)
        if status is not None:
            unlink_same(self.descriptor, name, status)

    def remove_any(self, name: str) -> None:
        """Removes a file of whomever, or a link itself; nothing that is no file: for rooms that are ours alone. Raises
        OSError.
        """
        status = status_of(self.descriptor, name)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self.descriptor)

    def claim(self) -> None:
        """Takes the lock of a folder that a killed iocast left. Raises OSError where another process holds it."""
        fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove_leftover(self, name: str) -> None:
        """Removes a half written file of it, if no process is writing it."""
        remove_leftover(self.descriptor, name)

    def empty(self) -> None:
        """Removes everything in a folder that nobody else writes to. Folders of other users in it keep what they hold.
        Raises OSError.
        """
        self._below.clear()
        for name in self.names():
            status = status_of(self.descriptor, name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                below = self._open_below(name)
                if below._status.st_uid == self._status.st_uid:
                    below.empty()
                self.remove_folder(name, below)
            else:
                self.remove_any(name)
        self._below.clear()

    def remove_if_empty(self) -> bool:
        """Removes the folder that iocast made, if nothing is in it; whether it is gone."""
        with contextlib.suppress(OSError):
            if self._above is not None:
                self._above.remove_folder(self.path.name, self)
                return not self._is_in(self._above)
        return False

    def discard(self) -> None:
        """Removes the folder that iocast made, wherever it is by then, with all that this process put into it; what
        others put there stays, and the folder with it.
        """
        with contextlib.suppress(OSError):
            self._remove_written()
        self.remove_if_empty()

    def _has_written(self, name: str, written: os.stat_result) -> bool:
        """Whether a name is still that of what this process wrote."""
        status = status_of(self.descriptor, name)
        if status is None or not stat.S_ISREG(status.st_mode) or not self._is_same(name, status, written):
            return False
        return name in self._open_ended or _content(status) == _content(written)

    def _remove_written(self) -> None:
        for name, written in self._written.items():
            if self._has_written(name, written):
                os.unlink(name, dir_fd=self.descriptor)
        for name in self.made & self._below.keys():
            self._below[name]._remove_written()
            self.remove_folder(name, self._below[name])

    def rename(self, name: str) -> None:
        """Gives a folder that iocast just made another name beside its old one. Raises FileExistsError, OSError."""
        above = self._above
        if above is None or not self._is_in(above):
            raise FileNotFoundError(errno.ENOENT, f"{self.path.name} was moved away", str(self.path))
        above.rename_folder(self, name)

    def rename_folder(self, folder: HeldFolder, name: str) -> None:
        """Gives a folder in this one another, free name. Raises FileExistsError, OSError."""
        former, folder.path = folder.path, folder.path.with_name(name)
        try:
            rename_to_free_name(self.descriptor, former.name, name)
            if not folder._is_in(self):
                rename_to_free_name(self.descriptor, name, former.name)
                raise FileNotFoundError(errno.ENOENT, f"{former.name} was exchanged by another program", str(former))
        except BaseException:
            folder.path = former
            raise

    def find(self) -> Path:
        """The path of the folder by now: it follows a folder that was moved."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self.path), self._status):
                return self.path
            now = Path(os.readlink(self.place))
            if os.path.samestat(os.lstat(now), self._status):
                self.path = now
        return self.path

    @property
    def _mode(self) -> int:
        return PRIVATE if self.private else COMMON

    def _is_in(self, above: HeldFolder) -> bool:
        there = status_of(above.descriptor, self.path.name)
        return there is not None and os.path.samestat(there, self._status)

    def _refuse_foreign(self, name: str, status: os.stat_result, descriptor: int | None = None) -> None:
        path = self.path / name
        kind = stat.S_IFMT(status.st_mode)
        if kind in _KINDS:
            raise _foreign(path, f"is {_KINDS[kind]}")
        if status.st_nlink > 1:
            raise _foreign(path, "has a second name elsewhere (a hard link)")
        if not belongs_to(status, self.place / name, (os.geteuid(), self._status.st_uid)):
            raise _foreign(path, "belongs to another user")
        if descriptor is None:
            mounted = _is_mounted(self.descriptor, name)
        else:
            mounted = mount_of(descriptor) != mount_of(self.descriptor)
        if mounted:
            raise _foreign(path, "is mounted there from elsewhere")


def _flush(name: str, folder: int, flags: int) -> None:
    """Some file systems have no fsync, of folders above all: EINVAL, ENOSYS."""
    descriptor = os.open(name, os.O_RDONLY | flags, dir_fd=folder)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(descriptor)


def open_folder(path: Path, *, links: bool = False, knows: Knows | None = None) -> HeldFolder:
    """A folder that is there; a link that has its name is refused, unless `links`. Raises ArchiveError.

    `knows` tells a file of ours that lost its proof by what is in it.
    """
    try:
        return HeldFolder(path, os.open(path, _FOLDER | (0 if links else os.O_NOFOLLOW)), knows=knows)
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and path.is_symlink()
        why = "it is a symbolic link, and iocast does not write through links" if link else error.strerror
        hint = f"name the folder itself: {os.path.realpath(path)}" if link else "check the permissions of the folder"
        raise ArchiveError(f"cannot write to {path}: {why}", hint) from error


def open_base(path: str | Path, knows: Knows | None = None) -> HeldFolder:
    """The directory that a person chose for folders of results, made where it is missing; links to it count, but for
    those that another user put where anybody can. Raises OSError.
    """
    _refuse_link_of_others(Path(path))
    Path(path).mkdir(parents=True, exist_ok=True)
    return HeldFolder(Path(path), os.open(path, _FOLDER), knows=knows)


def _refuse_link_of_others(path: Path) -> None:
    """The kernel's protected_symlinks does the same, but may be off."""
    with contextlib.suppress(FileNotFoundError):
        link, above = os.lstat(path), os.stat(path.parent)
        if stat.S_ISLNK(link.st_mode) and not belongs_to(link, path, (os.geteuid(), 0, above.st_uid)):
            raise OSError(errno.EACCES, "it is a symbolic link of another user", str(path))


def make_folder(above: HeldFolder, name: str, *, private: bool) -> HeldFolder:
    """A folder that was not there, and is locked as long as it is held. Raises FileExistsError, OSError."""
    private = private or os.geteuid() == 0  # root sees what others may not
    folder = HeldFolder(above.path / name, _new_folder(above, name, 0o700 if private else 0o777), above)
    hold(folder.descriptor)
    if not folder._is_in(above):
        raise FileNotFoundError(errno.ENOENT, "it was moved away while it was made", str(folder.path))
    owner = folder._status.st_uid
    if owner != os.geteuid() and owner != _status_of_new_files(folder).st_uid:
        raise _foreign(folder.path, "belongs to another user")
    prove_folder(folder.descriptor)
    return folder


def _new_folder(above: HeldFolder, name: str, mode: int) -> int:
    """The descriptor of a new folder in one that is held. Raises FileExistsError, OSError.

    Where others can put another folder in its place before it is opened, it is made in a folder that only the caller
    can enter, and moved from there; that one is removed if it is as young as it has to be.
    """
    if status_of(above.descriptor, name) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(above.path / name))
    if only_ours_change(above.descriptor) or not _closes_folders(above):
        return _made_in(above.descriptor, name, mode)
    hidden, since_ns = f".iocast-{secrets.token_hex(8)}{NEW}", time.clock_gettime_ns(_COARSE) - _COARSER_NS
    room = HeldFolder(above.path / hidden, _made_in(above.descriptor, hidden, 0o700))
    moved = room._status.st_ctime_ns - room._status.st_mtime_ns >= _COARSER_NS  # a rename changes one of them
    if moved or room._status.st_uid != os.geteuid() or not room.private:
        raise _foreign(room.path, "was put there by another program")
    try:
        descriptor = _made_in(room.descriptor, name, mode)
        try:
            rename_to_free_name(room.descriptor, name, name, above.descriptor)
        except BaseException:
            os.close(descriptor)
            os.rmdir(name, dir_fd=room.descriptor)
            raise
    finally:
        with contextlib.suppress(OSError):
            if (identity(room.descriptor).born_ns or 0) >= since_ns:
                above.remove_folder(hidden, room)
    return descriptor


def _made_in(folder: int, name: str, mode: int) -> int:
    os.mkdir(name, mode, dir_fd=folder)
    descriptor = _below(folder, name)
    if os.listdir(descriptor):
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "another folder was put in its place", name)
    return descriptor


def _closes_folders(folder: HeldFolder) -> bool:
    """Whether the file system gives what is made in a folder the owner and the mode that it should have."""
    status = _status_of_new_files(folder)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _status_of_new_files(folder: HeldFolder) -> os.stat_result:
    """Some file systems give all files one owner (vfat), or those of root to nobody (NFS)."""
    with growing(folder.descriptor, "owner", PRIVATE) as file:
        return os.fstat(file.descriptor)


def make_named(out: str | Path, name: str, *, private: bool = False) -> HeldFolder:
    """A folder that was not there: OUT/<time>-<name>, with a number behind it where two begin in one second. Raises
    ArchiveError.
    """
    try:
        above = open_base(out)
        for wanted in names_of_now(name):
            with contextlib.suppress(FileExistsError, FileNotFoundError):  # or taken for a leftover before its lock
                return make_folder(above, wanted, private=private)
    except OSError as error:
        raise ArchiveError(f"cannot create a folder in {out}: {error.strerror or error}", _OTHER_DIRECTORY) from error
    raise ArchiveError(f"{out} already has {_MOST} folders of this second", _OTHER_DIRECTORY)


def names_of_now(name: str) -> Iterator[str]:
    """Names for a folder that begins now, in the order in which they are tried."""
    plain = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in name)[:80] or "unnamed"
    yield from numbered(f"{time.strftime('%Y-%m-%dT%H%M%S')}-{plain}")


def numbered(name: str) -> Iterator[str]:
    """A name, and the same with a number for all that begin in its second."""
    yield name
    yield from (f"{name}-{number}" for number in range(2, _MOST))


def _below(folder: int, name: str) -> int:
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def mount_of(descriptor: int) -> str:
    """The number of the mount that an open file was reached by; "" where the kernel does not say."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as facts:
        return next((line.split()[1] for line in facts if line.startswith("mnt_id:")), "")
    return ""


def _in_user_space(descriptor: int) -> bool:
    """Whether the file system of an open file is one of FUSE."""
    mount = mount_of(descriptor)
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        fields = next((line.split(" - ", 1) for line in mounts if line.split(" ", 1)[0] == mount), [])
        return len(fields) == 2 and fields[1].startswith("fuse")
    return False


def _is_mounted(folder: int, name: str) -> bool:
    """Whether a name of the folder leads to what was mounted over it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            return mount_of(descriptor) != mount_of(folder)
        finally:
            os.close(descriptor)
    return False


def _content(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_size


def _foreign(path: Path, why: str) -> ForeignFile:
    return ForeignFile(errno.EPERM, f"{path.name} {why}: move it away", str(path))
