"""Files that grow without their name and get it when they are whole, in a folder that is held by its descriptor.

A file grows without any name where the file system can do that (O_TMPFILE): a killed iocast leaves nothing of it.
Elsewhere it grows under a name that nobody had, with a mark in an attribute and a lock: what is marked and locked by
nobody is what a killed iocast left.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from iocast.archive.writing.file_identity import identity
from iocast.archive.writing.renaming import exchange, rename_to_free_name
from iocast.errors import IocastError

NEW = ".new"  # the end of the name of every file that is not whole yet
PRIVATE = 0o600
COMMON = 0o666  # less the umask
_PIECE_BYTES = 1 << 30
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ACCESS = "system.posix_acl_access"
GROWING = "user.iocast.growing"  # on a file that is not whole yet, or that is added to
_NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)  # of file systems without O_TMPFILE


class NameTaken(OSError):
    """Something else has the name than what was looked at."""


class Growing:
    """A file that is being written to: in a folder, by descriptor; without a name, or under one that will go."""

    def __init__(self, folder: int, name: str, mode: int) -> None:
        self._folder, self._wanted = folder, name
        self._name: str | None = None
        try:
            self.descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode, dir_fd=folder)
        except OSError as error:
            if error.errno not in _NO_NAMELESS:
                raise
            self._name, self.descriptor = _named(folder, name, mode)

    @property
    def place(self) -> str:
        """A path that leads to the file whatever its name is, for what opens files by path."""
        return f"/proc/self/fd/{self.descriptor}"

    def take_name(self, former: os.stat_result | None) -> None:
        """Gives the file its name: in place of `former`, or of nothing. Raises NameTaken, OSError.

        Nothing else than `former` is replaced, whenever it takes the name.
        """
        if former is None:
            self._take_free_name()
        else:
            self._replace(former)
        with contextlib.suppress(OSError):
            os.removexattr(self.descriptor, GROWING)

    def keep_rights(self, former: os.stat_result) -> None:
        """Gives it the owner, the mode and the access list of the file that it is to replace. Raises OSError.

        Where the list cannot be kept only the owner has access: the mode of a file with a list is no more than the most
        that the list may give.
        """
        with contextlib.suppress(OSError):
            os.fchown(self.descriptor, former.st_uid, former.st_gid)
        mode = stat.S_IMODE(former.st_mode) & 0o777
        access = _access_list(self._folder, self._wanted, former)
        os.fchmod(self.descriptor, mode if access is None else mode & 0o700)
        if access is not None:
            with contextlib.suppress(OSError):
                os.setxattr(self.descriptor, _ACCESS, access)

    def _take_free_name(self) -> None:
        try:
            if self._name is None:
                _link(self.descriptor, self._folder, self._wanted)
            else:
                rename_to_free_name(self._folder, self._name, self._wanted)
                self._require_own(lambda name: rename_to_free_name(self._folder, self._wanted, name))
                self._name = None
        except FileExistsError:
            raise NameTaken(errno.EEXIST, os.strerror(errno.EEXIST)) from None

    def _replace(self, former: os.stat_result) -> None:
        if self._name is None:
            self._name = _free_name(self._wanted)
            mark_growing(self.descriptor)
            _link(self.descriptor, self._folder, self._name)
        if exchange(self._folder, self._name, self._wanted):
            if not _is_still(self._folder, self._name, former):
                exchange(self._folder, self._name, self._wanted)
                raise NameTaken(errno.EEXIST, os.strerror(errno.EEXIST))
            self._require_own(lambda name: exchange(self._folder, name, self._wanted))
            os.unlink(self._name, dir_fd=self._folder)
        else:
            if not _is_still(self._folder, self._wanted, former) or not self._is_own(self._name):
                raise NameTaken(errno.EEXIST, os.strerror(errno.EEXIST))
            os.rename(self._name, self._wanted, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self._require_own(lambda name: rename_to_free_name(self._folder, self._wanted, name))
        self._name = None

    def _is_own(self, name: str) -> bool:
        return _is(self._folder, name, os.fstat(self.descriptor))

    def _require_own(self, put_back: Callable[[str], object]) -> None:
        """What has the wanted name now is this file, and not what another program put under the growing name; that
        gets its name back. Raises NameTaken, OSError.
        """
        if self._name is not None and not self._is_own(self._wanted):
            put_back(self._name)
            raise NameTaken(errno.EEXIST, os.strerror(errno.EEXIST))

    def close(self) -> None:
        """Removes what did not get its name."""
        if self._name is not None:
            with contextlib.suppress(OSError):
                if self._is_own(self._name):
                    os.unlink(self._name, dir_fd=self._folder)
        os.close(self.descriptor)


@contextlib.contextmanager
def growing(folder: int, name: str, mode: int = COMMON) -> Iterator[Growing]:
    """A new file of the folder; one that did not take its name at the end is removed. Raises OSError."""
    file = Growing(folder, name, mode)
    try:
        yield file
    finally:
        file.close()


@contextlib.contextmanager
def told_by_name(places: Mapping[str, str | Path]) -> Iterator[None]:
    """Errors of what writes by the path of a descriptor name the file as people know it."""
    try:
        yield
    except IocastError as error:
        for place, name in places.items():
            error.message = error.message.replace(place, str(name))
        error.args = (error.message,)
        raise


def more_space_or(hint: str, error: OSError) -> str:
    """The way out of a write that failed: more space only where it may be what is missing."""
    # Without a number: DuckDB's words.
    return f"free some space, or {hint}" if error.errno in (None, errno.ENOSPC, errno.EDQUOT) else hint


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of it. Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def copy_into(descriptor: int, source: str) -> None:
    """Writes all that is in another file, from its beginning. Raises OSError."""
    with open(source, "rb", buffering=0) as others, open(descriptor, "wb", closefd=False) as copy:
        with contextlib.suppress(OSError):  # of older kernels, between file systems
            while os.copy_file_range(others.fileno(), descriptor, _PIECE_BYTES):
                pass
        shutil.copyfileobj(others, copy, 1 << 20)  # what is left


def status_of(folder: int, name: str) -> os.stat_result | None:
    """What has the name in the folder, links not followed; None for nothing. Raises OSError."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def remove_leftover(folder: int, name: str) -> None:
    """Removes what a killed iocast left: a file of ours with no other name that no process writes to, and that says in
    its attribute that it was growing. Any other stays, and where no file has attributes all.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=folder)
    except OSError:
        return
    with contextlib.suppress(OSError):  # of the lock: somebody is writing it
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_growing(descriptor) and _is(folder, name, status):
                os.unlink(name, dir_fd=folder)
    os.close(descriptor)


def remove_leftovers(folder: int, name: str) -> None:
    """Removes what killed ones left of a file of this name, among files of others."""
    unfinished = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}{re.escape(NEW)}")
    with contextlib.suppress(OSError):  # of directories that may be written to and not read
        for each in filter(unfinished.fullmatch, os.listdir(f"/proc/self/fd/{folder}")):
            remove_leftover(folder, each)


def hold(descriptor: int) -> None:
    """Takes the lock that tells a file or folder from a leftover; not every file system has locks."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _named(folder: int, wanted: str, mode: int) -> tuple[str, int]:
    while True:
        name = _free_name(wanted)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, mode, dir_fd=folder)
            hold(descriptor)
            mark_growing(descriptor)
            return name, descriptor


def mark_growing(descriptor: int) -> None:
    """Says of a file that it is added to; a copy of it does not say so of itself."""
    with contextlib.suppress(OSError):  # not every file system has attributes
        os.setxattr(descriptor, GROWING, identity_text(descriptor))


def is_growing(descriptor: int) -> bool:
    """Whether an open file says so. Raises OSError where no file has attributes."""
    return os.getxattr(descriptor, GROWING) == identity_text(descriptor)


def identity_text(descriptor: int) -> bytes:
    """What an attribute says to name the very file, or folder, that it is on."""
    return repr(tuple(identity(descriptor))).encode()


def _access_list(folder: int, name: str, former: os.stat_result) -> bytes | None:
    """Of the file that was looked at; None for one without. Raises OSError."""
    held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if not os.path.samestat(os.fstat(held), former):
            raise NameTaken(errno.EEXIST, os.strerror(errno.EEXIST))
        return os.getxattr(f"/proc/self/fd/{held}", _ACCESS)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
        return None
    finally:
        os.close(held)


def _free_name(wanted: str) -> str:
    return f".{wanted}.{secrets.token_hex(4)}{NEW}"


def _link(descriptor: int, folder: int, name: str) -> None:
    names = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(str(descriptor), name, src_dir_fd=names, dst_dir_fd=folder)
    finally:
        os.close(names)


def unchanged(status: os.stat_result, former: os.stat_result) -> bool:
    """Whether it is the file that it was, and not a new one that got its inode."""
    same = os.path.samestat(status, former)
    return same and (status.st_mtime_ns, status.st_size) == (former.st_mtime_ns, former.st_size)


def _is_still(folder: int, name: str, former: os.stat_result) -> bool:
    there = status_of(folder, name)
    return there is not None and unchanged(there, former)


def _is(folder: int, name: str, status: os.stat_result) -> bool:
    there = status_of(folder, name)
    return there is not None and os.path.samestat(there, status)
