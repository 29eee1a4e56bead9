"""A folder that iocast writes to, held by its descriptor: whatever has its path by then, what is written lands in it.

Every file of it is opened below that descriptor and links are not followed. A file is replaced or added to only if it
is a plain file of ours or of the folder's owner, has no second name, and lies on the folder's own mount.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.writing.file_identity import belongs_to
from iocast.archive.writing.renaming import rename_to_free_name
from iocast.archive.writing.whole_files import (
    COMMON,
    PRIVATE,
    Growing,
    growing,
    hold,
    remove_leftover,
    status_of,
    write_all,
)
from iocast.errors import ArchiveError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOST = 1000  # folders of one second
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


class HeldFolder:
    """The folder, for as long as this object lives."""

    def __init__(self, path: Path, descriptor: int, above: HeldFolder | None = None) -> None:
        self.path = path  # as people know it
        self.descriptor = descriptor
        self._above = above  # that it lies in, where iocast made it
        self._below: dict[str, HeldFolder] = {}
        self._written: dict[str, os.stat_result] = {}
        self._open_ended: set[str] = set()  # of these: those that are written to under their name
        self._made: set[str] = set()  # folders in it that did not exist
        self._status = os.fstat(descriptor)
        weakref.finalize(self, os.close, descriptor)

    @property
    def place(self) -> Path:
        """A path that leads to the folder whatever has its name, for what opens files by path."""
        return Path(f"/proc/{os.getpid()}/fd/{self.descriptor}")

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
            file.take_name(former)
            self._written[name] = os.fstat(file.descriptor)

    def own_status(self, name: str) -> os.stat_result | None:
        """What has the name, if iocast may replace it; None for nothing. Raises ForeignFile, OSError."""
        status = status_of(self.descriptor, name)
        if status is not None:
            self._refuse_foreign(name, status)
            written = self._written.get(name)
            if self._above is not None and (written is None or not self._is_ours(status, written)):
                raise _foreign(self.path / name, "was put there by another program")
        return status

    def _is_ours(self, status: os.stat_result, written: os.stat_result) -> bool:
        """Some file systems in user space give a file another inode number once they forgot it."""
        same = os.path.samestat(status, written)
        return same or (_content(status) == _content(written) and _in_user_space(self.descriptor))

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
        self._written[name] = os.fstat(descriptor)
        self._open_ended.add(name)
        return descriptor

    def add(self, name: str, source: str) -> None:
        """A file of others under a name in the folder too, or a copy where it lies on another file system. Raises
        OSError.
        """
        try:
            os.link(source, name, dst_dir_fd=self.descriptor)
        except OSError:
            with growing(self.descriptor, name, self._mode) as file, open(source, "rb") as others:
                with open(file.descriptor, "wb", closefd=False) as copy:
                    shutil.copyfileobj(others, copy, 1 << 20)
                file.take_name(None)
        self._written[name] = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def create(self, name: str) -> int:
        """The descriptor of a new file, which has its name from the start. Raises FileExistsError, OSError."""
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE, self._mode, dir_fd=self.descriptor)
        self._written[name] = os.fstat(descriptor)
        self._open_ended.add(name)
        return descriptor

    def has(self, name: str, descriptor: int) -> bool:
        """Whether an open file still is the one that has the name in the folder, and has no other. Raises OSError."""
        there = status_of(self.descriptor, name)
        return there is not None and there.st_nlink == 1 and os.path.samestat(there, os.fstat(descriptor))

    def folder(self, name: str) -> HeldFolder:
        """A folder in this one; it is made where it is missing, and held from then on. Raises OSError, ForeignFile."""
        if name not in self._below:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700 if self.private else 0o777, dir_fd=self.descriptor)
                self._made.add(name)
            below = HeldFolder(self.path / name, _below(self.descriptor, name))
            if _mount_of(below.descriptor) != _mount_of(self.descriptor):
                raise _foreign(self.path / name, "is a mount point")
            if not belongs_to(below._status, below.place, (os.geteuid(), self._status.st_uid)):
                raise _foreign(self.path / name, "belongs to another user")
            self._below[name] = below
        return self._below[name]

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

    def remove(self, name: str) -> None:
        """Removes a file of it, or a link itself; nothing that is no file. Raises OSError."""
        status = status_of(self.descriptor, name)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self.descriptor)

    def claim(self) -> None:
        """Takes the lock of a folder that a killed iocast left. Raises OSError where another process holds it."""
        fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove_leftover(self, name: str) -> None:
        """Removes a half written file of it, if no process is writing it."""
        remove_leftover(self.descriptor, name, marked=False)

    def empty(self) -> None:
        """Removes all that is in a folder that nobody else writes to. Raises OSError."""
        self._below.clear()
        for name in self.names():
            status = status_of(self.descriptor, name)
            if status is not None and stat.S_ISDIR(status.st_mode):
                below = self.folder(name)
                below.empty()
                self.remove_folder(name, below)
            else:
                self.remove(name)
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
        """Whether a name is still that of what this process wrote; an inode number may be another file's by now."""
        status = status_of(self.descriptor, name)
        if status is None or not stat.S_ISREG(status.st_mode) or not os.path.samestat(status, written):
            return False
        return name in self._open_ended or _content(status) == _content(written)

    def _remove_written(self) -> None:
        for name, written in self._written.items():
            if self._has_written(name, written):
                os.unlink(name, dir_fd=self.descriptor)
        for name in self._made & self._below.keys():
            self._below[name]._remove_written()
            self.remove_folder(name, self._below[name])

    def rename(self, name: str) -> None:
        """Gives a folder that iocast just made another name beside its old one. Raises FileExistsError, OSError."""
        above = self._above
        if above is None or not self._is_in(above):
            raise FileNotFoundError(errno.ENOENT, f"{self.path.name} was moved away", str(self.path))
        rename_to_free_name(above.descriptor, self.path.name, name)
        self.path = self.path.with_name(name)

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
            mounted = _mount_of(descriptor) != _mount_of(self.descriptor)
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


def open_folder(path: Path, *, links: bool = False) -> HeldFolder:
    """A folder that is there; a link that has its name is refused, unless `links`. Raises ArchiveError."""
    try:
        return HeldFolder(path, os.open(path, _FOLDER | (0 if links else os.O_NOFOLLOW)))
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and path.is_symlink()
        why = "it is a symbolic link, and iocast does not write through links" if link else error.strerror
        hint = f"name the folder itself: {os.path.realpath(path)}" if link else "check the permissions of the folder"
        raise ArchiveError(f"cannot write to {path}: {why}", hint) from error


def open_base(path: str | Path) -> HeldFolder:
    """The directory that a person chose for folders of results, made where it is missing; links to it count, but for
    those that another user put where anybody can. Raises OSError.
    """
    _refuse_link_of_others(Path(path))
    Path(path).mkdir(parents=True, exist_ok=True)
    return HeldFolder(Path(path), os.open(path, _FOLDER))


def _refuse_link_of_others(path: Path) -> None:
    """The kernel's protected_symlinks does the same, but may be off."""
    with contextlib.suppress(FileNotFoundError):
        link, above = os.lstat(path), os.stat(path.parent)
        if stat.S_ISLNK(link.st_mode) and not belongs_to(link, path, (os.geteuid(), 0, above.st_uid)):
            raise OSError(errno.EACCES, "it is a symbolic link of another user", str(path))


def make_folder(above: HeldFolder, name: str, *, private: bool) -> HeldFolder:
    """A folder that was not there, and is locked as long as it is held. Raises FileExistsError, OSError."""
    private = private or os.geteuid() == 0  # root sees what others may not
    os.mkdir(name, 0o700 if private else 0o777, dir_fd=above.descriptor)
    folder = HeldFolder(above.path / name, _below(above.descriptor, name), above)
    hold(folder.descriptor)
    if not folder._is_in(above):
        raise FileNotFoundError(errno.ENOENT, "it was moved away while it was made", str(folder.path))
    owner = folder._status.st_uid
    if owner != os.geteuid() and owner != _owner_of_new_files(folder):
        raise _foreign(folder.path, "belongs to another user")
    return folder


def _owner_of_new_files(folder: HeldFolder) -> int:
    """Some file systems give all files one owner (vfat), or those of root to nobody (NFS)."""
    with growing(folder.descriptor, "owner", PRIVATE) as file:
        return os.fstat(file.descriptor).st_uid


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


def _mount_of(descriptor: int) -> str:
    """The number of the mount that an open file was reached by; "" where the kernel does not say."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as facts:
        return next((line.split()[1] for line in facts if line.startswith("mnt_id:")), "")
    return ""


def _in_user_space(descriptor: int) -> bool:
    """Whether the file system of an open file is one of FUSE."""
    mount = _mount_of(descriptor)
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        fields = next((line.split(" - ", 1) for line in mounts if line.split(" ", 1)[0] == mount), [])
        return len(fields) == 2 and fields[1].startswith("fuse")
    return False


def _is_mounted(folder: int, name: str) -> bool:
    """Whether a name of the folder leads to what was mounted over it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            return _mount_of(descriptor) != _mount_of(folder)
        finally:
            os.close(descriptor)
    return False


def _content(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_size


def _foreign(path: Path, why: str) -> ForeignFile:
    return ForeignFile(errno.EPERM, f"{path.name} {why}: move it away", str(path))
