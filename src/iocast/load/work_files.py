"""Which files a plan works on: those of its own, made or still to be made, or one that belongs to others."""

from __future__ import annotations

import errno
import os
import pwd
import stat
from pathlib import Path

from msgspec import Struct

from iocast.errors import TargetError
from iocast.load.extents import survey
from iocast.load.file_attributes import refuse_fixed
from iocast.load.marks import WRITTEN_BY_OTHERS, is_changed_by_others, made_here, mark_path, read_mark
from iocast.load.os_refusals import refusal
from iocast.model.permission import Permission, permission
from iocast.model.plan import Plan
from iocast.model.target import Target

WORK_NAME = "iocast-work"
MOUNT_NAME = f"{WORK_NAME}.mount"  # where file systems on an image are mounted
# What must stay free on the file system: others live there too.
RESERVE_SHARE, RESERVE_MOST_BYTES = 0.05, 2 << 30
_MIB = 1 << 20
LEAST_BYTES = 64 * _MIB  # a work file that is made smaller by itself; below, a person decides [J]


class WorkFile(Struct, frozen=True):
    """One file that a plan works on."""

    path: str
    size_bytes: int
    fill: bool  # must be written before anything is read


class Layout(Struct, frozen=True):
    """The files of a plan; `own` is False when they belong to someone else and are only read."""

    files: tuple[WorkFile, ...]
    own: bool
    notes: tuple[str, ...] = ()
    tree: bool = False  # its files are directories of trees; their size says how far places in them reach

    @property
    def fill_bytes(self) -> int:
        """Bytes that laying out will write."""
        return 0 if self.tree else sum(file.size_bytes for file in self.files if file.fill)


def work_paths(target: Target, count: int) -> tuple[str, ...]:
    """Where the work files of a target are or will be."""
    if target.kind != "directory":
        return (target.path,)
    return tuple(str(Path(target.path) / f"{WORK_NAME}.{number}.dat") for number in range(count))


def own_file(path: str) -> bool:
    """True for a file that iocast made, and for one that does not exist yet."""
    return not os.path.lexists(path) or made_here(path) is not None


def permission_of(target: Target) -> Permission:
    """May iocast write to the target, as its files stand now?"""
    ours = target.kind == "file" and own_file(target.path)
    read_only = _read_only(target)
    return permission(target, own_file=ours, read_only=read_only)


def _read_only(target: Target) -> bool:
    """True on a file system that is mounted read-only."""
    if target.kind not in ("directory", "file"):
        return False
    place = target.path if os.path.exists(target.path) else os.path.dirname(target.path) or "."
    try:
        return bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    except OSError:
        return False  # what is wrong there is said by whoever opens it


def lay_out(plan: Plan) -> Layout:
    """What is there and what must be written. Writes nothing. Raises TargetError.

    A device and a file that iocast did not make are taken as they are, to be read only.
    """
    target, wanted, writes = plan.target, plan.files, any(phase.workload.writes for phase in plan.phases)
    if target.members:
        each = [_as_it_is(member) for member in target.members]
        files = tuple(file for layout in each for file in layout.files)
        return Layout(files, own=False, notes=tuple(note for layout in each for note in layout.notes))
    if target.kind == "block":
        return Layout((WorkFile(target.path, target.size_bytes or 0, fill=False),), own=False)
    try:
        if permission_of(target).code == "foreign_file":
            return _foreign(target)
        paths = work_paths(target, wanted.count)
        files = tuple(
            _work_file(path, size_bytes, writes) for path, size_bytes in zip(paths, wanted.each_bytes, strict=True)
        )
        layout = Layout(files, own=True, notes=_shared_notes(files))
    except OSError as error:
        raise refusal("cannot read", error.filename or target.path, error) from error
    changed = files if writes else [file for file in files if file.fill]
    refuse_fixed(*(path for file in changed for path in (file.path, mark_path(file.path))))
    if layout.fill_bytes:
        refuse_fixed(os.path.dirname(files[0].path))
        _check_writable(os.path.dirname(files[0].path))
    if writes:
        _check_files_writable(layout)
    _check_room(target, layout)
    return layout


def _as_it_is(member: Target) -> Layout:
    """One of several files or devices."""
    if member.kind == "block":
        return Layout((WorkFile(member.path, member.size_bytes or 0, fill=False),), own=False)
    try:
        return _foreign(member)
    except OSError as error:
        raise refusal("cannot read", error.filename or member.path, error) from error


def _work_file(path: str, size_bytes: int, writes: bool) -> WorkFile:
    if not os.path.lexists(path):
        mark = mark_path(path)
        if os.path.lexists(mark) and read_mark(path) is None:
            raise _not_ours(mark)
        return WorkFile(path, size_bytes, fill=True)
    work_file = made_here(path)
    if work_file is None:
        raise _not_ours(path)
    status = os.stat(path)
    if not status.st_nlink:
        raise TargetError(
            f"{path} has no place on its file system any more: an overlay shows a file that was removed below it",
            "mount the overlay again, or choose another directory",
        )
    if status.st_nlink != 1:
        raise TargetError(
            f"{path} has a second name (hard link), whose data would be overwritten too",
            "remove this name (rm), or choose another directory",
        )
    same = work_file.whole and work_file.size_bytes == size_bytes == status.st_size
    if not same:
        return WorkFile(path, size_bytes, fill=True)
    extents = survey(path)
    # Writes to a block that a snapshot has too go to a new one: laid out anew, the file has blocks of its own again.
    return WorkFile(path, size_bytes, fill=not extents.whole or (writes and extents.shared_bytes > 0))


def _shared_notes(files: tuple[WorkFile, ...]) -> tuple[str, ...]:
    """What a run that writes does with blocks that snapshots and reflinked copies have too."""
    shared = {file.path: _shared_bytes(file.path) for file in files if file.fill}
    return tuple(
        f"{path} shares {shared_bytes / _MIB:,.1f} MiB with a snapshot or a reflinked copy: it is laid out anew, in "
        "blocks of its own; the snapshot keeps its blocks"
        for path, shared_bytes in shared.items()
        if shared_bytes
    )


def _shared_bytes(path: str) -> int:
    return survey(path).shared_bytes if os.path.exists(path) else 0


def _not_ours(path: str) -> TargetError:
    status = os.lstat(path)
    # Whose it is cannot be seen: an iocast of that user may have made it.
    if stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK | os.W_OK):
        return TargetError(
            f"{path} belongs to {_user(status.st_uid)}, and may not be read and written by this user",
            "run as that user, or choose another directory",
        )
    if is_changed_by_others(path):
        return TargetError(
            f"{path} {WRITTEN_BY_OTHERS}",
            "remove it (rm) if what is in it may be lost, or choose another directory",
        )
    return TargetError(
        f"{path} exists and was not created by iocast",
        "move it away, or choose another directory: iocast writes only to files that it created",
    )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _foreign(target: Target) -> Layout:
    extents = survey(target.path)
    if not extents.whole:
        missing = extents.hole_bytes + extents.unwritten_bytes
        raise TargetError(
            f"{target.path} has holes: {missing:,} of its {extents.size_bytes:,} bytes were never written",
            "reads of a hole never reach the device: give a fully written copy (cp --sparse=never), or a directory",
        )
    notes: tuple[str, ...] = (f"{target.path} was not created by iocast: it is only read",)
    if extents.method != "FIEMAP":
        notes += (f"hole check by {extents.method}: {extents.why_not}",)
    return Layout((WorkFile(target.path, extents.size_bytes, fill=False),), own=False, notes=notes)


def _check_writable(directory: str) -> None:
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
        read_only = os.statvfs(directory).f_flag & os.ST_RDONLY
        number = errno.EROFS if read_only else errno.EACCES
        raise refusal("cannot lay out work files in", directory, OSError(number, os.strerror(number)))


def _check_files_writable(layout: Layout) -> None:
    """An old work file may be another user's."""
    for file in layout.files:
        if os.path.exists(file.path) and not os.access(file.path, os.W_OK, effective_ids=True):
            raise refusal("cannot write to", file.path, OSError(errno.EACCES, os.strerror(errno.EACCES)))


def _check_room(target: Target, layout: Layout) -> None:
    """Refuses work files that would not leave the reserve free. Some memory file systems have no limit (0)."""
    if target.free_bytes is None or not target.total_bytes:
        return
    reserve = _reserve(target.total_bytes)
    room = max(0, target.free_bytes - reserve)
    allocated = [_own_blocks(file) for file in layout.files]
    if sum(file.size_bytes for file in layout.files) - sum(allocated) <= room:
        return
    count = len(layout.files)
    most = _round_down((room + sum(allocated)) // count)
    less = f"reduce the size (--size {most // _MIB}MiB)" if most else "free some space"
    sizes = [file.size_bytes for file in layout.files]
    large = _mib(sizes[0]) if len({*sizes}) == 1 else f"{_mib(sum(sizes))} in all"
    files = f"{count} work files" if count > 1 else "a work file"
    raise TargetError(
        f"{target.path}: {files} of {large} {'do' if count > 1 else 'does'} not fit: "
        f"{_mib(target.free_bytes)} are free, of which {_mib(reserve)} must stay free",
        f"{less}, or give another path",
    )


def _reserve(total_bytes: int) -> int:
    return min(int(total_bytes * RESERVE_SHARE), RESERVE_MOST_BYTES)


def size_that_fits(target: Target, count: int, size_bytes: int) -> int:
    """The size itself where `count` work files of it fit, else the largest power of two that does: files of later runs
    have the same size, though others need a little more room by then. 0 where not even one of 64 MiB fits."""
    if target.kind != "directory" or target.free_bytes is None or not target.total_bytes:
        return size_bytes
    allocated = sum(min(_allocated(path), size_bytes) for path in work_paths(target, count) if own_file(path))
    room = max(0, target.free_bytes - _reserve(target.total_bytes) + allocated) // count
    if size_bytes <= room:
        return size_bytes
    fits = 1 << room.bit_length() - 1 if room else 0
    return fits if fits >= LEAST_BYTES else 0


def _own_blocks(file: WorkFile) -> int:
    """What the file needs no new room for: shared blocks stay with the snapshot when it is laid out anew."""
    allocated = min(_allocated(file.path), file.size_bytes)
    return max(0, allocated - _shared_bytes(file.path)) if file.fill else allocated


def _round_down(size_bytes: int) -> int:
    """To whole MiB, from 1 GiB on to 64 MiB; 0 when there is not even one MiB."""
    step = 64 * _MIB if size_bytes >= 1024 * _MIB else _MIB
    return max(0, size_bytes) // step * step


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:,.0f} MiB"


def _allocated(path: str) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0
