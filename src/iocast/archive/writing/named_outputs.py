"""The one way to a file that a person named: whole or not at all, and never in place of what iocast did not make.

iocast knows its own former output by the attribute `user.iocast.sha256`, the digest of what it wrote. All else needs
--force: where a file system has no attributes that is each former output. The directory is opened once, and all that
follows happens in it, whatever has its path by then.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from iocast.archive.writing.held_folder import ForeignFile, HeldFolder
from iocast.archive.writing.proofs import SHA256
from iocast.archive.writing.whole_files import (
    COMMON,
    Growing,
    NameTaken,
    growing,
    more_space_or,
    remove_leftovers,
    status_of,
    write_all,
)
from iocast.errors import ArchiveError
from iocast.text import capacity

_NOT_OURS = {
    "changed": "was changed after iocast wrote it",
    "unknown": "exists, and iocast did not make it",
    "foreign": "belongs to another user",
    "document": "is part of what iocast keeps of a run",
    "unmarked": "exists, and its file system keeps no attributes that would tell whether iocast made it",
}
_NAMED = "user.iocast.named"  # a person said where it should be
_MEMORY, _NOTHING_IS_KEPT = 1, (3, 5, 7)  # null, zero, full
_TERMINALS = (4, 5, *range(136, 144))  # tty and console, /dev/tty, pts
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link, and iocast does not write through links",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}


def check_output(path: Path, option: str = "-o", *, force: bool = False) -> None:
    """Refuses, before any work is done, what `put_output` would refuse. Raises ArchiveError."""
    with _directory(path, option) as directory:
        _former(directory, path, option, force)
        if not os.access(f"/proc/self/fd/{directory}", os.W_OK | os.X_OK):
            raise _unwritable(path, errno.EACCES, option)


# Options that name a directory, and arguments whose verb has no --force.
_OF_DIRECTORIES, _NEVER_REPLACED = ("DIRECTORY", "--files"), ("DESTINATION",)


def _elsewhere(option: str) -> str:
    """The way out: another place."""
    return f"name another {'directory' if option in _OF_DIRECTORIES else 'file'} with {option}"


def _or_replace(option: str) -> str:
    return ", or move it away" if option in _NEVER_REPLACED else ", or add --force to replace this one"


def make_directory(path: Path, option: str) -> None:
    """A directory for outputs, made where it is missing. Raises ArchiveError."""
    hint = f"choose another directory with {option}"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArchiveError(f"cannot make {path}: {error.strerror}", hint) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ArchiveError(f"cannot write in {path}: {os.strerror(errno.EACCES)}", hint)


def put_page(folder: HeldFolder, name: str, data: bytes) -> None:
    """Writes a page into a folder of ours. Raises ArchiveError."""
    try:
        folder.put(name, data)
    except OSError as error:
        why, hint = error.strerror or error, more_space_or("name another file with -o", error)
        if isinstance(error, ForeignFile):
            hint = "what is there stays; `iocast report RUN -o FILE` writes the page elsewhere"
        raise ArchiveError(f"cannot write {folder.path / name}: {why}", hint) from error


def put_output(path: Path, data: bytes, option: str = "-o", *, force: bool = False, mode: int = COMMON) -> None:
    """Writes it; a FIFO or a character device gets the bytes as they are. `option` named it. Raises ArchiveError."""
    with _directory(path, option) as directory:
        former = _former(directory, path, option, force)
        try:
            if former is not None and not stat.S_ISREG(former.st_mode):
                _stream(directory, path, former, data, option)
                return
            with growing(directory, path.name, mode) as file:
                write_all(file.descriptor, data)
                _place(file, path, former, hashlib.sha256(data).hexdigest(), option)
            remove_leftovers(directory, path.name)
        except OSError as error:
            raise _unwritable(path, error.errno, option) from error


def begin_output(path: Path, option: str = "-o", mode: int = COMMON) -> int:
    """The descriptor of a new file that has its name from the start, to add to. Raises ArchiveError."""
    with _directory(path, option) as directory:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        try:
            return os.open(path.name, flags | _SAFELY, mode, dir_fd=directory)
        except FileExistsError:
            raise ArchiveError(f"{path} exists", f"{_elsewhere(option)}, or move it away") from None
        except OSError as error:
            raise _unwritable(path, error.errno, option) from error


class Output:
    """A file for a person, while it is written through its descriptor or its `place`."""

    def __init__(self, file: Growing, directory: int, path: Path, option: str, force: bool, fresh: bool) -> None:
        self.descriptor, self.place = file.descriptor, file.place
        self._file, self._directory = file, directory
        self._path, self._option, self._force, self._fresh = path, option, force, fresh

    def finish(self) -> None:
        """It is whole, and gets its name. Raises ArchiveError."""
        if self._fresh:
            self._give_free_name()
            return
        former = _regular(self._directory, self._path, self._option, self._force)
        try:
            _place(self._file, self._path, former, _digest_of(self._file), self._option)
        except OSError as error:
            raise _unwritable(self._path, error.errno, self._option) from error

    def _give_free_name(self) -> None:
        try:
            self._file.take_name(None)
        except NameTaken:
            raise _made_meanwhile(self._path, self._option) from None
        except OSError as error:
            raise _unwritable(self._path, error.errno, self._option) from error


@contextlib.contextmanager
def growing_output(
    path: Path, option: str = "-o", *, force: bool = False, fresh: bool = False, mode: int = COMMON
) -> Iterator[Output]:
    """A file that is not finished leaves nothing. One with the data of a person is `fresh`: it replaces nothing, and is
    not iocast's. Raises ArchiveError.
    """
    with _directory(path, option) as directory:
        if _regular(directory, path, option, force) is not None and fresh:
            raise ArchiveError(f"{path} exists", f"{_elsewhere(option)}, or move it away")
        remove_leftovers(directory, path.name)
        try:
            file = Growing(directory, path.name, mode)
        except OSError as error:
            raise _unwritable(path, error.errno, option) from error
        try:
            yield Output(file, directory, path, option, force, fresh)
        finally:
            file.close()


def is_own(path: Path) -> bool:
    """Whether iocast made this file, and nobody changed it since. Raises OSError."""
    return _whose(None, str(path)) == "ours"


@contextlib.contextmanager
def _directory(path: Path, option: str) -> Iterator[int]:
    """The directory of an output, opened once; its path may be a link, as it was named by a person."""
    try:
        descriptor = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(path, error.errno, option) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _former(directory: int, path: Path, option: str, force: bool) -> os.stat_result | None:
    """What has the name; None for nothing. Raises ArchiveError where it must stay."""
    try:
        former = status_of(directory, path.name)
        if former is None:
            return None
        kind = stat.S_IFMT(former.st_mode)
        if kind in _KINDS:
            raise ArchiveError(f"{path} is {_KINDS[kind]}", _elsewhere(option))
        if kind == stat.S_IFCHR and not force and not _is_terminal(former.st_rdev):
            raise ArchiveError(f"{path} is a device that keeps data", f"name a file with {option}, or add --force")
        whose = "ours" if force or kind != stat.S_IFREG else _whose(directory, path.name)
        if whose == "ours" and not force and kind == stat.S_IFREG and _is_document(directory, path.name):
            whose = "document"
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error.errno, option) from error
    if whose != "ours":
        said = _NOT_OURS[whose]
        changed = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(former.st_mtime))
        raise ArchiveError(
            f"{path} {said} ({capacity(former.st_size)}, last change {changed})",
            f"{_elsewhere(option)}{_or_replace(option)}",
        )
    return former


def _regular(directory: int, path: Path, option: str, force: bool) -> os.stat_result | None:
    former = _former(directory, path, option, force)
    if former is not None and not stat.S_ISREG(former.st_mode):
        raise ArchiveError(f"{path} is not a regular file", _elsewhere(option))
    return former


def _whose(directory: int | None, name: str) -> str:
    """ "ours", "changed" since we wrote it, "unknown", "unmarked" where no file has attributes, or "foreign" of another
    user. Raises OSError.
    """
    descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=directory)
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return "foreign"  # its owner may have written the attribute as well as the file
        try:
            written = os.getxattr(descriptor, SHA256)
        except OSError as error:
            # An editor, or a copy, made it anew; or no file there has attributes.
            return "unmarked" if error.errno in (errno.ENOTSUP, errno.ENOSYS) else "unknown"
        return "ours" if hashlib.file_digest(file, "sha256").hexdigest().encode() == written else "changed"


def _is_terminal(device: int) -> bool:
    """Whether a character device is a terminal, or one that drops what it gets: no tape, no memory."""
    if os.major(device) == _MEMORY:
        return os.minor(device) in _NOTHING_IS_KEPT
    return os.major(device) in _TERMINALS


def _is_document(directory: int, name: str) -> bool:
    """Whether a file of ours is neither a page nor what a person named."""
    if name.endswith(".html"):
        return False
    descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=directory)
    try:
        return _NAMED not in os.listxattr(descriptor)
    finally:
        os.close(descriptor)


def _place(file: Growing, path: Path, former: os.stat_result | None, sha256: str, option: str) -> None:
    """Gives the whole file its name, if what was looked at is still what has it. Raises ArchiveError, OSError."""
    _sign(file, sha256)
    try:
        if former is not None:
            file.keep_rights(former)
        file.take_name(former)
    except NameTaken:
        raise _made_meanwhile(path, option) from None


def _sign(file: Growing, sha256: str) -> None:
    with contextlib.suppress(OSError):  # not every file system has attributes
        os.setxattr(file.descriptor, SHA256, sha256.encode())
        os.setxattr(file.descriptor, _NAMED, b"1")


def _digest_of(file: Growing) -> str:
    """The digest of all that is in the file by now. Raises OSError."""
    with open(file.place, "rb") as whole:
        return hashlib.file_digest(whole, "sha256").hexdigest()


def _stream(directory: int, path: Path, former: os.stat_result, data: bytes, option: str) -> None:
    """Into the FIFO or device that was looked at, and into nothing else. Raises ArchiveError, OSError."""
    held = os.open(path.name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        there = os.fstat(held)
        if not os.path.samestat(there, former) or (there.st_mode, there.st_rdev) != (former.st_mode, former.st_rdev):
            raise _made_meanwhile(path, option)
        descriptor = os.open(f"/proc/self/fd/{held}", os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    finally:
        os.close(held)
    try:
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _made_meanwhile(path: Path, option: str) -> ArchiveError:
    return ArchiveError(f"{path} was made by another program while iocast wrote", _elsewhere(option))


def _unwritable(path: Path, number: int | None, option: str) -> ArchiveError:
    return ArchiveError(f"cannot write {path}: {os.strerror(number or errno.EIO)}", _elsewhere(option))
