"""One copy: the page cache is brought into the state that is asked for, the file is copied, and the copy is proven."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from iocast._core import CoreError, copy_file, file_content
from iocast.archive.writing.named_outputs import Output, growing_output
from iocast.errors import LoadError, TargetError
from iocast.load.copy_places import Source, open_source
from iocast.load.extents import shared_bytes
from iocast.load.os_refusals import refusal, way_out
from iocast.model.copy_trials import CopyCell, CopyFigures, CopyPlan, CopyTrial

CachedBytes = Callable[[int], int | None]  # of an open file: what the page cache has of it; None: unknown
Tick = Callable[[int], bool]  # is told the bytes copied about ten times a second; False stops


class _Content(msgspec.Struct):
    digest: str
    bytes: int


def source_digest(source: Source, tick: Tick) -> str:
    """The digest of the source, whose pages that wait to be written are written first: dirty ones cannot be dropped.

    "" where it was stopped. Raises TargetError, LoadError.
    """
    with _opened(source) as descriptor:
        with suppress(OSError):  # a file system that is mounted read-only has none
            os.fdatasync(descriptor)
        return _content(descriptor, source.path, tick).digest


def one_copy(
    source: Source, to: Path, plan: CopyPlan, cell: CopyCell, digest: str, cached: CachedBytes, tick: Tick
) -> CopyTrial | None:
    """Makes a copy beside `to`, proves it, and removes it. None where it was stopped. Raises TargetError, LoadError."""
    with _opened(source) as descriptor, growing_output(to, "DESTINATION") as file:
        if not _prepare(descriptor, source, cell, tick):
            return None
        there = cached(descriptor)
        figures = _copied(descriptor, file.descriptor, plan, cell, tick)
        if figures.stopped:
            return None
        _refuse_failed(figures, to)
        trial = CopyTrial(cell=cell, figures=figures, cached_bytes=there)
        return trial if figures.refused else _proven(trial, file, digest, source, tick)


def keep_copy(source: Source, to: Path, plan: CopyPlan, cell: CopyCell, digest: str, tick: Tick) -> bool:
    """Makes one more copy that gets the name `to`; False where it was stopped. Raises IocastError."""
    with _opened(source) as descriptor, growing_output(to, "DESTINATION", fresh=True) as file:
        figures = _copied(descriptor, file.descriptor, plan, cell, tick)
        if figures.stopped:
            return False
        _refuse_failed(figures, to)
        trial = _proven(CopyTrial(cell=cell, figures=figures), file, digest, source, tick)
        if trial is None:
            return False
        if not trial.whole:
            raise LoadError(f"the copy of {source.path} is not what it holds", way_out(errno.EIO))
        file.finish()
        return True


@contextmanager
def _opened(source: Source) -> Iterator[int]:
    descriptor = open_source(source)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _prepare(descriptor: int, source: Source, cell: CopyCell, tick: Tick) -> bool:
    """The source's own pages are dropped, or all of them read; False where it was stopped."""
    if cell.cache == "cold":
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return True
    return bool(_content(descriptor, source.path, tick).digest)


def _copied(descriptor: int, to: int, plan: CopyPlan, cell: CopyCell, tick: Tick) -> CopyFigures:
    order = {"method": cell.method, "size_bytes": plan.size_bytes, "block_bytes": plan.block_bytes}
    with _core_errors():
        text = copy_file(descriptor, to, msgspec.json.encode(order).decode(), tick)
    return msgspec.json.decode(text, type=CopyFigures)


def _refuse_failed(figures: CopyFigures, to: Path) -> None:
    """Raises for what is no property of a way of copying, such as a full disk."""
    refused = figures.refused
    if refused is None or refused.unsupported:
        return
    if not refused.errno:
        raise TargetError("SOURCE became shorter while it was copied", "copy a file that nobody writes to")
    why = OSError(refused.errno, os.strerror(refused.errno))
    raise refusal(f"{refused.call} failed after {refused.at_bytes:,} bytes of a copy to", str(to.parent), why)


def _proven(trial: CopyTrial, file: Output, digest: str, source: Source, tick: Tick) -> CopyTrial | None:
    """Reads the copy back past what the page cache has of it; None where it was stopped."""
    # Through a descriptor without O_DIRECT, which the way may have set.
    back = os.open(file.place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        shared = shared_bytes(back)
        os.posix_fadvise(back, 0, 0, os.POSIX_FADV_DONTNEED)
        bytes_read = _content(back, f"the copy of {source.path}", tick)
    finally:
        os.close(back)
    if not bytes_read.digest:
        return None
    same = bytes_read.digest == digest and bytes_read.bytes == source.size_bytes
    return msgspec.structs.replace(trial, shared_bytes=shared, same=same)


def _content(descriptor: int, path: str, tick: Tick) -> _Content:
    """Digest and length of an open file, from its beginning; its position does not move."""
    with _core_errors(path):
        return msgspec.json.decode(file_content(descriptor, tick), type=_Content)


@contextmanager
def _core_errors(path: str = "") -> Iterator[None]:
    try:
        yield
    except CoreError as error:
        message, hint, *_ = _said(error)
        raise LoadError(f"{path}: {message}" if path else message, hint) from error


def _said(error: CoreError) -> tuple[Any, ...]:
    return error.args
