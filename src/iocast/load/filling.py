"""Makes work files: marked, allocated, filled to the last byte with unique data, and checked for holes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from iocast.archive.writing.asides import making_room, put_back_left
from iocast.archive.writing.held_directories import directory_of, held_directory, held_path, holding
from iocast.archive.writing.whole_files import NameTaken
from iocast.errors import TargetError
from iocast.load.extents import shared_bytes, survey
from iocast.load.marks import (
    MAKER,
    Mark,
    held,
    is_anothers,
    leave,
    made_here,
    mark_of,
    read_mark,
    require_ours,
    take_up,
    unlink_mark,
    unlink_work_file,
    write_mark,
)
from iocast.load.os_refusals import refusal, way_out
from iocast.load.signs_of_work import LAYOUT_BYTES, in_whole_writes, touching
from iocast.load.work_files import Layout, WorkFile
from iocast.model.measurement import Measurement
from iocast.model.plan import Length, Phase
from iocast.model.workload import MixItem, Sequential, Workload
from iocast.text import capacity

DEPTH = 8
# Without O_DIRECT the page cache would take it all, and one fsync at the end could not be interrupted.
BUFFERED_FSYNC_EVERY = 32


@contextmanager
def claimed(layout: Layout, writing: bool = True) -> Iterator[None]:
    """While entered, the work files of a layout belong to this process; what is only read stays as its mark says that
    it was left. Raises TargetError.

    Marks that came to nothing are taken away at the end.
    """
    with ExitStack() as stack:
        for file in layout.files if layout.own else ():
            stack.enter_context(claimed_file(file, writing or file.fill))
        yield


@contextmanager
def claimed_file(file: WorkFile, writing: bool = True, *, touched: bool = True) -> Iterator[None]:
    """While entered, one work file belongs to this process. `touched` is False where the kernel still writes to it when
    the process has ended. Raises TargetError, LoadError.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(holding(directory_of(file.path)))
            if read_mark(file.path) is None:
                with suppress(NameTaken):  # by another iocast, which holds it
                    write_mark(file.path, Mark(MAKER, file.size_bytes, whole=False))
            mark = stack.enter_context(held(file.path))
            take_up(file.path, writing, touched)
            if writing and touched and not is_anothers(file.path):
                stack.enter_context(touching(mark))
        except OSError as error:
            raise refusal("cannot lay out", file.path, error) from error
        stack.callback(_let_go, file.path, writing)
        yield


def _let_go(path: str, writing: bool) -> None:
    """Takes away a mark whose file was never made, or was removed."""
    with suppress(OSError, TargetError):
        if os.path.lexists(held_path(path)):
            leave(path, writing)
        elif read_mark(path) is not None:
            unlink_mark(path)


def create(file: WorkFile, *, touched: bool = True) -> None:
    """Makes, or takes back, one work file of the right size, allocated, not yet filled; `touched` as it is claimed.
    Raises TargetError.
    """
    try:
        if not os.path.lexists(held_path(file.path)):
            put_back_left(directory_of(file.path))
        if not os.path.lexists(held_path(file.path)):
            _make(file, touched)
        descriptor = os.open(held_path(file.path), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            require_ours(file.path, descriptor)
            write_mark(file.path, mark_of(descriptor, file.size_bytes, touched=touched))
            if shared_bytes(descriptor):
                os.ftruncate(descriptor, 0)  # overwritten where it stands it would be as scattered as its snapshot
            os.ftruncate(descriptor, file.size_bytes)
            _allocate(descriptor, file.size_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise refusal("cannot lay out", file.path, error) from error


def _make(file: WorkFile, touched: bool) -> None:
    """Makes an empty file. Its mark comes first, and names that very file: a kill between the two leaves a mark without
    a file, never the reverse. Where the file system makes no files without a name, it has one where nobody else comes.
    """
    try:
        directory = held_directory(directory_of(file.path))
        descriptor = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            raise
        _make_with_name(file, touched)
        return
    try:
        write_mark(file.path, mark_of(descriptor, file.size_bytes, touched=touched))
        names = os.open("/proc/self/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.link(str(descriptor), held_path(file.path), src_dir_fd=names)
        finally:
            os.close(names)
    finally:
        os.close(descriptor)


def _make_with_name(file: WorkFile, touched: bool) -> None:
    name = os.path.basename(file.path)
    with making_room(directory_of(file.path)) as room:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=room.folder.descriptor)
        try:
            write_mark(file.path, mark_of(descriptor, file.size_bytes, touched=touched))
        finally:
            os.close(descriptor)
        room.give_name(name)


def _allocate(descriptor: int, size_bytes: int) -> None:
    """fallocate(2). Where the file system has none the fill allocates; libc's posix_fallocate would write there."""
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).fallocate
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    while call(descriptor, 0, 0, size_bytes):
        number = ctypes.get_errno()
        if number in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
            return
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number))


def fill_phase(file: WorkFile, direct: bool) -> Phase:
    """The phase that writes one work file from end to end, in whole blocks: `finish` cuts what is over."""
    return Phase(
        name=f"lay out {Path(file.path).name}",
        test="layout",
        role="fill",
        workload=Workload(
            mix=(MixItem("write", LAYOUT_BYTES),),
            locality=Sequential(),
            depth=DEPTH,
            direct=direct,
            fsync_every=0 if direct else BUFFERED_FSYNC_EVERY,
        ),
        length=Length(bytes=in_blocks(file).size_bytes),
    )


def in_blocks(file: WorkFile) -> WorkFile:
    """The file as large as whole blocks make it."""
    return replace(file, size_bytes=in_whole_writes(file.size_bytes))


def check_filled(measurement: Measurement, path: str) -> None:
    """Raises TargetError when writes failed while the file was laid out."""
    if not measurement.error_count:
        return
    error = measurement.errors[0]
    at = f", the first at byte {error.first[0].offset_bytes:,}" if error.first else ""
    raise TargetError(
        f"{path}: {error.count} writes failed with {error.name} during layout{at}",
        way_out(getattr(errno, error.name, 0)),
    )


def finish(file: WorkFile) -> None:
    """After the fill: the right size, all on the device and out of the cache, no hole left, marked whole.

    Raises TargetError when the file system still shows holes or unwritten extents.
    """
    try:
        descriptor = os.open(held_path(file.path), os.O_RDWR | os.O_NOFOLLOW)
        try:
            require_ours(file.path, descriptor)
            written_bytes = os.fstat(descriptor).st_size
            os.ftruncate(descriptor, file.size_bytes)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            mark = mark_of(descriptor, file.size_bytes, whole=True, touched=True)
        finally:
            os.close(descriptor)
        extents = survey(held_path(file.path))
        if not extents.whole and written_bytes < file.size_bytes:
            raise TargetError(
                f"{file.path} shrank to {capacity(written_bytes)} of {capacity(file.size_bytes)} while it was laid out",
                "keep other programs away from the work files, then start again",
            )
        if not extents.whole:
            raise TargetError(
                f"{file.path}: {extents.hole_bytes + extents.unwritten_bytes:,} bytes are still holes or unwritten "
                "after the whole file was written",
                "this file system discards data: choose another path",
            )
        write_mark(file.path, mark)
    except OSError as error:
        raise refusal("cannot lay out", file.path, error) from error


def spoil(file: WorkFile) -> None:
    """Notes that the file will not hold unique data any more: the next run lays it out anew."""
    mark = made_here(file.path)
    if mark is not None and mark.whole:
        write_mark(file.path, replace(mark, whole=False))


def cut(files: tuple[WorkFile, ...]) -> None:
    """Cuts work files of ours to nothing, so that writes make them longer. Raises TargetError."""
    for file in files:
        try:
            descriptor = os.open(held_path(file.path), os.O_RDWR | os.O_NOFOLLOW)
            try:
                require_ours(file.path, descriptor)
                spoil(file)
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise refusal("cannot truncate", file.path, error) from error


@contextmanager
def trial_file(directory: str) -> Iterator[str]:
    """A marked file of one MiB that is there while entered, to try things on. Raises TargetError."""
    file = WorkFile(str(Path(directory) / "iocast-work.trial.dat"), LAYOUT_BYTES, fill=True)
    with claimed_file(file):
        create(file)
        try:
            yield file.path
        finally:
            try:
                unlink_work_file(file.path)
            except OSError as error:
                raise refusal("cannot remove", file.path, error) from error
