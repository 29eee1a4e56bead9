"""Work files: made only where nothing is, marked, filled to the last byte, checked, found again, removed.

The mark of a work file is a small JSON file beside it, `<file>.iocast`. iocast writes only to files that
have one, and removes only files that have one.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from iocast.errors import IocastError, TargetError
from iocast.load.extents import Extents, survey
from iocast.model.plan import FileRegion, Length, Phase, Plan
from iocast.model.target import Target
from iocast.model.workload import MixItem, Sequential, Workload

MARK_SUFFIX = ".iocast"
WORK_NAME = "iocast-work"
LARGEST_FILL_BLOCK = 1 << 20
FILL_DEPTH = 8
# What must stay free on the file system: others live there too.
RESERVE_SHARE, RESERVE_MOST = 0.05, 2 << 30


class Mark(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file beside a work file says."""

    made_by: str
    size_bytes: int
    whole: bool  # filled to the end and checked


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

    @property
    def fill_bytes(self) -> int:
        """Bytes that laying out will write."""
        return sum(file.size_bytes for file in self.files if file.fill)


def mark_path(path: str) -> str:
    """The mark that belongs to a work file."""
    return path + MARK_SUFFIX


def read_mark(path: str) -> Mark | None:
    """The mark of a work file, None when it has none that can be read as one."""
    try:
        return msgspec.json.decode(Path(mark_path(path)).read_bytes(), type=Mark)
    except (OSError, msgspec.DecodeError):
        return None


def _write_mark(path: str, mark: Mark) -> None:
    fresh = mark_path(path) + ".new"
    Path(fresh).write_bytes(msgspec.json.encode(mark) + b"\n")
    os.replace(fresh, mark_path(path))


def work_paths(target: Target, count: int) -> tuple[str, ...]:
    """Where the work files of a target are or will be."""
    if target.kind != "directory":
        return (target.path,)
    return tuple(str(Path(target.path) / f"{WORK_NAME}.{number}.dat") for number in range(count))


def lay_out(plan: Plan) -> Layout:
    """What is there and what must be written. Writes nothing. Raises TargetError.

    A device and a file without a mark are taken as they are, to be read only.
    """
    target, wanted = plan.target, plan.files
    if target.kind in ("sim", "block"):
        size = target.size_bytes or 0
        return Layout((WorkFile(target.path, size, fill=False),), own=False)
    if target.kind == "file" and read_mark(target.path) is None and os.path.exists(target.path):
        return _foreign(target)
    files = tuple(_plan_file(path, wanted.size_bytes) for path in work_paths(target, wanted.count))
    layout = Layout(files, own=True)
    _check_room(target, layout)
    return layout


def _plan_file(path: str, size_bytes: int) -> WorkFile:
    mark = read_mark(path)
    if not os.path.lexists(path):
        return WorkFile(path, size_bytes, fill=True)
    if mark is None:
        raise TargetError(
            f"{path} exists and was not made by iocast",
            "move it away, or choose another directory: iocast writes only to files that it made",
        )
    same = mark.whole and mark.size_bytes == size_bytes == os.path.getsize(path)
    return WorkFile(path, size_bytes, fill=not (same and survey(path).whole))


def _foreign(target: Target) -> Layout:
    extents = survey(target.path)
    if not extents.whole:
        missing = extents.hole_bytes + extents.unwritten_bytes
        raise TargetError(
            f"{target.path} has holes: {missing:,} of its {extents.size_bytes:,} bytes were never written",
            "reads of a hole never reach the device; copy the file so that it is whole, or give a directory",
        )
    notes: tuple[str, ...] = (f"{target.path} belongs to someone else: it is only read",)
    if extents.method != "FIEMAP":
        notes += (f"holes checked by {extents.method}: {extents.why_not}",)
    return Layout((WorkFile(target.path, extents.size_bytes, fill=False),), own=False, notes=notes)


def _check_room(target: Target, layout: Layout) -> None:
    existing = sum(_allocated(file.path) for file in layout.files if file.fill)
    free, total = target.free_bytes, target.total_bytes
    if free is None or total is None:
        return
    reserve = min(int(total * RESERVE_SHARE), RESERVE_MOST)
    room = free - reserve + existing
    if layout.fill_bytes > room:
        raise TargetError(
            f"{target.path}: {layout.fill_bytes / 2**20:,.0f} MiB of work files do not fit: "
            f"{free / 2**20:,.0f} MiB are free, of which {reserve / 2**20:,.0f} MiB stay reserved",
            f"ask for less (--size {_size_that_fits(room, len(layout.files))}), or give another path",
        )


def _size_that_fits(room: int, count: int) -> str:
    mebibytes = max(0, room) // count // 2**20 // 64 * 64
    return f"{mebibytes}MiB" if mebibytes else "64MiB, once room is made"


def _allocated(path: str) -> int:
    try:
        return os.stat(path).st_blocks * 512
    except OSError:
        return 0


def create(file: WorkFile) -> None:
    """Makes (or takes back) one work file of the right size, allocated, not yet filled. Raises TargetError."""
    try:
        if not os.path.lexists(file.path):
            os.close(os.open(file.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _write_mark(file.path, Mark("iocast", file.size_bytes, whole=False))
        descriptor = os.open(file.path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, file.size_bytes)
            _allocate(descriptor, file.size_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise refusal(file.path, error) from error


def _allocate(descriptor: int, size_bytes: int) -> None:
    try:
        # posix_fallocate would write the file byte by byte where the file system cannot allocate; the
        # fill writes it anyway, so only a refusal for want of room matters here.
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise


def refusal(path: str, error: OSError) -> IocastError:
    """What the operating system said, as an error with a way out."""
    hints = {
        errno.ENOSPC: "make room, ask for less with --size, or give another path",
        errno.EDQUOT: "your quota is used up: ask for less with --size, or give another path",
        errno.EACCES: "you may not write here: choose a directory that you may write to, or run as its owner",
        errno.EPERM: "you may not write here: choose a directory that you may write to, or run as its owner",
        errno.EROFS: "the file system is mounted read-only: choose another path, or remount it",
        errno.EFBIG: "the file system cannot hold so large a file: ask for less with --size, or for more files",
    }
    return TargetError(f"{path}: {error.strerror}", hints.get(error.errno or 0, "choose another path"))


def fill_phase(file: WorkFile, direct: bool) -> Phase:
    """The phase that writes one work file from end to end."""
    block = LARGEST_FILL_BLOCK
    while file.size_bytes % block:
        block //= 2
    return Phase(
        name=f"lay out {Path(file.path).name}",
        test="layout",
        role="fill",
        workload=Workload(
            mix=(MixItem("write", block),),
            locality=Sequential(),
            depth=FILL_DEPTH,
            direct=direct and block >= 4096,
        ),
        length=Length(bytes=file.size_bytes),
    )


def fill_region(file: WorkFile) -> FileRegion:
    """The whole of one work file."""
    return FileRegion(file.path, 0, file.size_bytes)


def finish(file: WorkFile) -> Extents:
    """After the fill: everything to the device, out of the cache, no hole left, and marked whole.

    Raises TargetError when the file system still shows holes or unwritten extents.
    """
    descriptor = os.open(file.path, os.O_WRONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
    extents = survey(file.path)
    if not extents.whole:
        raise TargetError(
            f"{file.path}: {extents.hole_bytes + extents.unwritten_bytes:,} bytes are still not on the device "
            "after all were written",
            "this file system drops what is written to it (does it elide or compress?): choose another path",
        )
    _write_mark(file.path, Mark("iocast", file.size_bytes, whole=True))
    return extents


def remove(path: str) -> int:
    """Removes one work file and its mark; returns the bytes that were allocated. Refuses unmarked files."""
    if read_mark(path) is None:
        raise TargetError(f"{path} was not made by iocast", "remove it yourself if you are sure")
    freed = _allocated(path)
    for name in (path, mark_path(path)):
        if os.path.lexists(name):
            os.unlink(name)
    return freed


def clean(path: str, dry_run: bool = False) -> tuple[tuple[str, int], ...]:
    """Removes the work files at `path` (a directory, or a work file); returns (path, bytes freed) of each.

    With `dry_run` nothing is removed. Raises TargetError.
    """
    if os.path.isdir(path):
        marks = sorted(str(mark) for mark in Path(path).glob(f"*{MARK_SUFFIX}"))
        found = [mark[: -len(MARK_SUFFIX)] for mark in marks if read_mark(mark[: -len(MARK_SUFFIX)]) is not None]
    elif os.path.lexists(path) or os.path.lexists(mark_path(path)):
        if read_mark(path) is None:
            raise TargetError(f"{path} was not made by iocast", "remove it yourself if you are sure")
        found = [path]
    else:
        raise TargetError(f"{path} does not exist", "give the directory or the file that was tested")
    try:
        return tuple((name, _allocated(name) if dry_run else remove(name)) for name in found)
    except OSError as error:
        raise refusal(str(error.filename), error) from error
