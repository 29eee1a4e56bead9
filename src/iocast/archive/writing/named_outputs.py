"""The one way to a file that a person named: whole or not at all, and never in place of what iocast did not make.

iocast knows its own former output by the attribute `user.iocast.sha256`, the digest of what it wrote, and where a file
system has no attributes by what its pages and JSON documents begin with. All else needs --force.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from pathlib import Path

from iocast.archive.writing.whole_files import Growing, growing, write_all
from iocast.errors import ArchiveError
from iocast.text import capacity

GENERATOR = '<meta name="generator" content="iocast '  # on every page
_ATTRIBUTE = "user.iocast.sha256"
_HEAD_BYTES = 4096
_DOCUMENT = re.compile(rb'\{\s*"kind": "[a-z_]+",\s*"schema_version": \d+,\s*"title": ')
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)  # of file systems without hard links
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link, and iocast does not write through links",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
}


def check_output(path: Path, option: str = "-o", *, force: bool = False) -> None:
    """Refuses, before any work is done, what `put_output` would refuse. Raises ArchiveError."""
    _found(path, option, force)
    parent = path.parent
    if not parent.is_dir():
        raise _unwritable(path, errno.ENOTDIR if parent.exists() else errno.ENOENT, option)
    if not os.access(parent, os.W_OK | os.X_OK):
        raise _unwritable(path, errno.EACCES, option)


def put_output(path: Path, data: bytes, option: str = "-o", *, force: bool = False) -> None:
    """Writes it; a FIFO or a character device gets the bytes as they are. `option` named it. Raises ArchiveError."""
    there = _found(path, option, force)
    try:
        if there is not None and not stat.S_ISREG(there.st_mode):
            _stream(path, data)
            return
        with growing(path.with_name(f".{path.name}.iocast.new")) as file:
            write_all(file.descriptor, data)
            with contextlib.suppress(OSError):  # not every file system has attributes
                os.setxattr(file.descriptor, _ATTRIBUTE, _digest(data))
            _place(file, path, there, option)
    except OSError as error:
        raise _unwritable(path, error.errno, option) from error


def put_grown(file: Growing, path: Path, sha256: str, option: str = "-o", *, force: bool = False) -> None:
    """Gives a file that was written beside `path` this name; `sha256` is the digest of what it holds, in hexadecimal.

    Raises ArchiveError.
    """
    there = _found(path, option, force)
    try:
        if there is not None and not stat.S_ISREG(there.st_mode):
            raise ArchiveError(f"{path} is not a regular file", f"name another file with {option}")
        with contextlib.suppress(OSError):  # not every file system has attributes
            os.setxattr(file.descriptor, _ATTRIBUTE, sha256.encode())
        _place(file, path, there, option)
    except OSError as error:
        raise _unwritable(path, error.errno, option) from error


def is_own(path: Path) -> bool:
    """Whether iocast made this file, and nobody changed it since. Raises OSError."""
    return _whose(path) == "ours"


def _found(path: Path, option: str, force: bool) -> os.stat_result | None:
    """What has the name; None for nothing. Raises ArchiveError where it must stay."""
    try:
        there = os.lstat(path)
        kind = stat.S_IFMT(there.st_mode)
        if kind in _KINDS:
            raise ArchiveError(f"{path} is {_KINDS[kind]}", f"name another file with {option}")
        whose = "ours" if force or kind != stat.S_IFREG else _whose(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error.errno, option) from error
    if whose != "ours":
        changed = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(there.st_mtime))
        said = "was changed after iocast wrote it" if whose == "changed" else "exists, and iocast did not make it"
        raise ArchiveError(
            f"{path} {said} ({capacity(there.st_size)}, last change {changed})",
            f"name another file with {option}, or add --force to replace this one",
        )
    return there


def _whose(path: Path) -> str:
    """ "ours", "changed" since we wrote it, or "unknown". Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        with contextlib.suppress(OSError):
            written = os.getxattr(descriptor, _ATTRIBUTE)
            return "ours" if hashlib.file_digest(file, "sha256").hexdigest().encode() == written else "changed"
        head = file.read(_HEAD_BYTES)
    page = head.startswith(b"<!doctype html>") and GENERATOR.encode() in head
    return "ours" if page or _DOCUMENT.match(head) else "unknown"


def _place(file: Growing, path: Path, there: os.stat_result | None, option: str) -> None:
    """Gives the whole file its name, if what was looked at is still what has it. Raises ArchiveError, OSError."""
    if there is None:
        try:
            os.link(file.path, path, follow_symlinks=False)  # unlike a rename it replaces nothing
            return
        except FileExistsError:
            raise _came_meanwhile(path, option) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if os.path.lexists(path):
                raise _came_meanwhile(path, option) from None
    else:
        if not os.path.samestat(os.lstat(path), there):
            raise _came_meanwhile(path, option)
        os.fchmod(file.descriptor, stat.S_IMODE(there.st_mode) & 0o777)
        if there.st_uid != os.geteuid() or there.st_gid != os.getegid():
            with contextlib.suppress(OSError):
                os.fchown(file.descriptor, there.st_uid, there.st_gid)
    os.replace(file.path, path)


def _stream(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _came_meanwhile(path: Path, option: str) -> ArchiveError:
    return ArchiveError(f"{path} was made by another program while iocast wrote", f"name another file with {option}")


def _unwritable(path: Path, number: int | None, option: str) -> ArchiveError:
    return ArchiveError(f"cannot write {path}: {os.strerror(number or errno.EIO)}", f"name another file with {option}")
