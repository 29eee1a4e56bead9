"""Marks: beside each work file a small JSON file, `<file>.iocast`, says which file iocast made there.

A mark gets its name when it is whole, before its file does, so that no kill can leave a file without one. It names the
very file by all that the file system keeps of it: another file that later takes the place, a symbolic link put there,
or the same file in a snapshot is not the one that iocast made. It is one short record, later written in place by one
call. A mark counts only when it belongs to the caller or to root, whoever can write in the directory.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast._core import unix_ns
from iocast.archive.writing.asides import is_ours_alone, remove_ours
from iocast.archive.writing.file_identity import MARK_SUFFIX, identity, is_ours
from iocast.archive.writing.held_directories import directory_of, held_directory, held_path
from iocast.archive.writing.whole_files import growing, remove_leftovers, write_all
from iocast.errors import TargetError
from iocast.load.signs_of_work import is_changed_since, sampled

T = TypeVar("T")

MAKER = "iocast"
WRITTEN_BY_OTHERS = "was written to by another program since iocast left it"
_KEEP_AWAY = "keep other programs away from the work files; remove it (rm) if what is in it may be lost"
_SECOND_NS = 1_000_000_000
_COARSE_NS = 20_000_000  # by which the clock of time stamps may lag
_PARTS = 16  # of the sample of a file
_RECORD_BYTES = 384
_ASKED_S = 0.02
_MODE = 0o600
# A link is not followed, and a FIFO of the name does not block.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NONCE = "user.iocast.work"
_PROCESS = secrets.token_hex(8)  # of this process
_held_here: set[str] = set()  # paths of files whose marks this process holds


class Mark(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the file beside a work file says."""

    made_by: str
    size_bytes: int
    whole: bool  # filled to the end with unique data, and checked
    inode: int | None = None  # None: no file has been made, and none is ours
    generation: int | None = None  # tells a file from a later one of the same inode number, as do the next three
    born_ns: int | None = None
    subvolume: int | None = None  # tells it from its copy in a snapshot
    nonce: str | None = None  # where the file system keeps neither: stands in an attribute, or is that of the process
    left_ns: int | None = None  # when the file was written to last, as iocast left it; None while it works on it
    left_bytes: int | None = None  # its size then
    left_digest: str | None = None  # of a sample of its content
    left_boot: str | None = None  # the start of the machine, while it is worked on
    worked_on_by: str | None = None  # the process that writes to it, and touches the mark; None when it was left


def mark_path(path: str) -> str:
    """Where the mark of a work file is."""
    return path + MARK_SUFFIX


def mark_of(descriptor: int, size_bytes: int, *, whole: bool = False, touched: bool = False) -> Mark:
    """The mark that names an open file or directory; `touched` while this process works on it. Raises OSError."""
    known = identity(descriptor)
    mark = Mark(MAKER, size_bytes, whole, *known)
    if not known.lasts:
        return _with_nonce(mark, descriptor)
    return _worked_on(mark) if touched else mark


def _worked_on(mark: Mark) -> Mark:
    """File systems that keep no generation may date what was written later than its process ended."""
    if not mark.generation:
        return mark
    return replace(mark, worked_on_by=_PROCESS, left_boot=_boot())


def _with_nonce(mark: Mark, descriptor: int) -> Mark:
    with suppress(OSError):
        os.setxattr(descriptor, _NONCE, _PROCESS.encode())
    return replace(mark, nonce=_PROCESS, left_ns=None)


def read_mark(path: str) -> Mark | None:
    """What stands beside `path`, None when there is no mark of the caller or of root. It may be the mark of another,
    earlier file.
    """
    return _look(mark_path(path), _mark_in, None)


def _mark_in(descriptor: int) -> Mark | None:
    """The mark in an open file; None when it is none, or is another user's, who may have written anything there."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_ours(status, f"/proc/self/fd/{descriptor}"):
            return None
        if status.st_size > 16 * _RECORD_BYTES:  # a mark, and something else behind it
            return None
        mark = msgspec.json.decode(os.pread(descriptor, 16 * _RECORD_BYTES, 0), type=Mark)
    except (OSError, msgspec.MsgspecError):
        return None
    return mark if mark.made_by == MAKER else None


def write_mark(path: str, mark: Mark, durable: bool = True) -> None:
    """Writes the mark of `path`, over an earlier mark only. `durable`: storage has it then. Raises TargetError,
    NameTaken, OSError.
    """
    name, record = held_path(mark_path(path)), msgspec.json.encode(mark).ljust(_RECORD_BYTES - 1) + b"\n"
    if not os.path.lexists(name):
        _make_mark(name, record)
        return
    if read_mark(path) is None:
        raise TargetError(
            f"{mark_path(path)} exists and is not an iocast mark",
            "move it away, or choose another path: iocast writes only to files that it created",
        )
    descriptor = os.open(name, os.O_RDWR | _SAFELY)
    try:
        if os.fstat(descriptor).st_nlink != 1:
            raise TargetError(
                f"{mark_path(path)} has a second name (hard link)", "remove the other name, or choose another path"
            )
        if _mark_in(descriptor) is None:
            raise TargetError(
                f"{mark_path(path)} was replaced while iocast worked", "choose a directory that only you can change"
            )
        os.pwrite(descriptor, record, 0)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_mark(path: str, record: bytes) -> None:
    """A new mark, which is whole when it gets its name: an empty file of that name is not ours."""
    directory, name = os.path.split(path)
    folder = os.open(directory or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        remove_leftovers(folder, name)
        with growing(folder, name, _MODE) as file:
            write_all(file.descriptor, record)
            os.fsync(file.descriptor)  # no lost power leaves a name without a content
            file.take_name(None)
            os.fsync(file.descriptor)
    finally:
        os.close(folder)


def made_here(path: str) -> Mark | None:
    """The mark of the very file that is at `path`; None when iocast did not make that file."""
    mark = read_mark(path)
    return mark if mark is not None and _regular(path, lambda file: is_named(mark, path, file)) else None


def is_anothers(path: str) -> bool:
    """Whether a file is there that is not known as one on which this process may work."""
    return os.path.lexists(held_path(path)) and made_here(path) is None


def is_changed_by_others(path: str) -> bool:
    """Whether it is the file that iocast made, and another program wrote to it since iocast left it."""
    mark = read_mark(path)
    if mark is None:
        return False
    return _regular(path, lambda file: _is_the_file(mark, path, file) and _is_changed(mark, path, file))


def _regular(path: str, ask: Callable[[int], bool]) -> bool:
    """What `ask` says of a regular file; False of anything else: to open a device may do something to it."""
    try:
        if not stat.S_ISREG(os.lstat(held_path(path)).st_mode):
            return False
    except OSError:
        return False
    return _look(path, ask, False)


def require_ours(path: str, descriptor: int) -> None:
    """Raises TargetError unless the open file is the one that iocast made at `path`, and has no other name."""
    mark = read_mark(path)
    if mark is None or not stat.S_ISREG(os.fstat(descriptor).st_mode) or not is_named(mark, path, descriptor):
        raise TargetError(f"{path} is not the file that iocast created", "move it away, or choose another directory")
    refuse_second_name(path, os.fstat(descriptor))


def refuse_second_name(path: str, status: os.stat_result) -> None:
    """Raises TargetError for a file with a hard link: what is written to it is written to that too."""
    if status.st_nlink != 1:
        raise TargetError(f"{path} has a second name (hard link)", "remove the other name, or choose another directory")


def is_named(mark: Mark, path: str, descriptor: int) -> bool:
    """True when the open file or directory is the one that the mark names, and nobody else wrote to the file since.

    An inode number alone may have been used before. Where the file system keeps nothing else a mark is believed only
    where nobody else can put files, and if the file has its nonce, or was made by this process, or was not written to
    since an iocast left it.
    """
    return _is_the_file(mark, path, descriptor) and not _is_changed(mark, path, descriptor)


def _is_changed(mark: Mark, path: str, descriptor: int) -> bool:
    """Whether another program wrote to the file since an iocast left it.

    Its size and the time of its last write are as they were left, and so is a sample of what is in it: programs can
    set that time back, or write without a new one, and storage that went without a word may have lost it.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):  # how a tree was left is not noted: its files are known by themselves
        return False
    if mark.worked_on_by is not None:
        return _is_changed_since_its_end(mark, path, descriptor)
    if mark.left_ns is None or mark.left_digest is None:
        return False
    if status.st_mtime_ns != mark.left_ns or status.st_size != (mark.left_bytes or status.st_size):
        return True
    return _digest_of(descriptor) != mark.left_digest


def _is_changed_since_its_end(mark: Mark, path: str, descriptor: int) -> bool:
    """The same, when no process is left that worked on the file, and none noted how it left it."""
    if mark.worked_on_by == _PROCESS and path in _held_here:
        return False
    touched_ns = _look(mark_path(path), _changed_ns if path in _held_here else _touched_ns, None)
    same_boot = mark.left_boot == _boot() != ""
    return touched_ns is not None and is_changed_since(touched_ns, descriptor, mark.size_bytes, same_boot=same_boot)


def _touched_ns(descriptor: int) -> int | None:
    """When an open mark was touched last; None while a process works on its file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            return None
    return _changed_ns(descriptor)


def _changed_ns(descriptor: int) -> int | None:
    return os.fstat(descriptor).st_mtime_ns


@cache
def _boot() -> str:
    """Which start of this machine it is, in short."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(13)
    except OSError:
        return ""


def _digest_of(descriptor: int) -> str:
    """Of a sample of what is in it."""
    digest = hashlib.blake2b(digest_size=8)
    for content in sampled(descriptor, _PARTS):
        digest.update(content)
    return digest.hexdigest()


def _is_the_file(mark: Mark, path: str, descriptor: int) -> bool:
    known = identity(descriptor)
    if (mark.inode, mark.generation, mark.subvolume) != (known.inode, known.generation, known.subvolume):
        return False
    older = mark.generation and mark.born_ns is None  # they have no more, and that is enough
    if not older and mark.born_ns != known.born_ns:
        return False
    return known.lasts or (
        is_ours_alone(held_directory(directory_of(path)), descriptor) and _is_known(mark, descriptor)
    )


def _is_known(mark: Mark, descriptor: int) -> bool:
    if mark.nonce is None:
        return False
    with suppress(OSError):
        return os.getxattr(descriptor, _NONCE) == mark.nonce.encode()
    return mark.nonce == _PROCESS or mark.left_ns == os.fstat(descriptor).st_mtime_ns


def take_up(path: str, writing: bool = True, touched: bool = False) -> None:
    """From now on this process works on the file of a mark, and knows it where its file system does not tell it from
    later ones; `touched`: it touches the mark meanwhile. A mark that may not be changed is that of a file which is only
    read.
    """
    taken = _taken_up_and_touched if touched else _taken_up
    try:
        _renew(path, taken if writing else _known_again)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES, errno.EROFS):
            raise


def work_again(path: str) -> None:
    """Takes up a file that this process let rest. Raises TargetError where another program wrote to it meanwhile. What
    took its place by then is found by who opens it.
    """
    if is_changed_by_others(path):
        raise TargetError(f"{path} {WRITTEN_BY_OTHERS}", _KEEP_AWAY)
    with suppress(OSError):
        _renew(
            path, lambda mark, file: mark if _is_ours_now(mark) else _taken_up_and_touched(mark, file), durable=False
        )


def rest(path: str) -> None:
    """Notes how the file is left while this process only reads it, if it can. A flush would change what is measured
    next.
    """
    with suppress(OSError, TargetError):
        _renew(path, lambda mark, file: _left(mark, file) if _is_ours_now(mark) else mark, durable=False)


def _is_ours_now(mark: Mark) -> bool:
    return mark.worked_on_by == _PROCESS


def _taken_up(mark: Mark, descriptor: int) -> Mark:
    taken = replace(mark, left_ns=None, left_bytes=None, left_digest=None, left_boot=None)
    return _known_again(taken, descriptor)


def _taken_up_and_touched(mark: Mark, descriptor: int) -> Mark:
    taken = _taken_up(mark, descriptor)
    return _worked_on(taken) if stat.S_ISREG(os.fstat(descriptor).st_mode) else taken


def _known_again(mark: Mark, descriptor: int) -> Mark:
    return mark if mark.nonce is None else _with_nonce(mark, descriptor)


def leave(path: str, written: bool = True) -> None:
    """Notes how the file of a mark is left: what another program writes to it afterwards is not ours. What was only
    read is as it was left before.
    """
    _renew(path, lambda mark, file: _left(mark, file) if written or mark.nonce is not None else mark, durable=False)
    _look(mark_path(path), os.fsync, None)  # what was noted while the run went on, too


def _left(mark: Mark, descriptor: int) -> Mark:
    """File systems that keep no generation may still send what was written, and date it then. A file that rests is left
    as it was noted.
    """
    if mark.left_digest is not None:
        return mark
    status = os.fstat(descriptor)
    if mark.nonce is not None:
        return replace(mark, left_ns=status.st_mtime_ns)
    if not mark.generation or not stat.S_ISREG(status.st_mode):
        return mark
    _outlast_its_second(status)
    return replace(
        mark,
        left_ns=status.st_mtime_ns,
        left_bytes=status.st_size,
        left_digest=_digest_of(descriptor),
        left_boot=None,
        worked_on_by=None,
    )


def _outlast_its_second(status: os.stat_result) -> None:
    """Where a file system keeps whole seconds, waits until what is written from now on has another time."""
    if status.st_mtime_ns % _SECOND_NS or status.st_ctime_ns % _SECOND_NS:
        return
    left_ns = status.st_ctime_ns + _SECOND_NS + _COARSE_NS - unix_ns()
    time.sleep(max(0, min(left_ns, _SECOND_NS + _COARSE_NS)) / _SECOND_NS)


def _renew(path: str, renewed: Callable[[Mark, int], Mark], durable: bool = True) -> None:
    mark = read_mark(path)
    if mark is None or not os.path.lexists(held_path(path)):
        return
    descriptor = os.open(held_path(path), os.O_RDONLY | _SAFELY)
    try:
        if is_named(mark, path, descriptor) and (new := renewed(mark, descriptor)) != mark:
            write_mark(path, new, durable)
    finally:
        os.close(descriptor)


def unlink_work_file(path: str) -> None:
    """Removes the file, or the empty directory, that the mark of `path` names, and the mark. Raises TargetError,
    OSError.
    """
    if os.path.lexists(held_path(path)):
        mark, kind = read_mark(path), stat.S_IFMT(os.lstat(held_path(path)).st_mode)

        def remove(descriptor: int) -> bool:
            known = os.fstat(descriptor)
            if mark is None or not is_named(mark, path, descriptor):
                return False
            remove_ours(path, lambda moved: _is_as_it_was(moved, known))
            return True

        # To open anything else may do something to it.
        if kind not in (stat.S_IFREG, stat.S_IFDIR) or not _look(path, remove, False):
            raise TargetError(f"{path} was replaced while iocast removed it", "it was left there: look at it yourself")
    if os.path.lexists(held_path(mark_path(path))):
        unlink_mark(path)


def _is_as_it_was(descriptor: int, known: os.stat_result) -> bool:
    """Whether it is the file with that status, which stays open, and nobody has written to it since. Its ctime does not
    count: moving the file aside changed that.
    """
    now = os.fstat(descriptor)
    if not os.path.samestat(now, known):
        return False
    return not stat.S_ISREG(now.st_mode) or (now.st_mtime_ns, now.st_size) == (known.st_mtime_ns, known.st_size)


def unlink_mark(path: str) -> None:
    """Removes the mark of `path`. Raises TargetError, OSError."""
    remove_ours(mark_path(path), lambda descriptor: _mark_in(descriptor) is not None)


def _look(path: str, ask: Callable[[int], T], otherwise: T) -> T:
    """What `ask` says of a file; no link is followed, and nothing waits. `otherwise` where it cannot be opened."""
    try:
        descriptor = os.open(held_path(path), os.O_RDONLY | _SAFELY)
    except OSError:
        return otherwise
    try:
        return ask(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def held(path: str) -> Iterator[int]:
    """While entered, no other iocast works on the file of this mark, whose descriptor it is. Raises TargetError when
    one does.
    """
    descriptor = os.open(held_path(mark_path(path)), os.O_RDONLY | _SAFELY)
    try:
        if not _locked(descriptor):
            raise TargetError(f"{path} is in use by another iocast process", "wait until it ends, or give another path")
        _held_here.add(path)
        try:
            yield descriptor
        finally:
            _held_here.discard(path)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether an open mark is locked now. One who only asks whether it is has it for an instant."""
    for wait_s in (_ASKED_S, _ASKED_S, None):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some network file systems have no locks: that is no reason not to measure them.
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                return True
            if wait_s is not None:
                time.sleep(wait_s)
        else:
            return True
    return False
