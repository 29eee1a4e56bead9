"""The three standard streams where somebody has closed them, or leaves while iocast works."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_CANNOT_PRINT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EAGAIN, errno.EBADF)
_HUSHED: list[TextIO] = []  # stderr as it was, where messages are dropped


def open_all() -> None:
    """Opens what the caller closed: a work file must never get the number that messages are written to."""
    try:
        descriptor = os.open(os.devnull, os.O_RDWR)
    except OSError as error:  # a root directory without devices
        os.write(2, f"error: {os.devnull}: {error.strerror}\n\nhint: mount /dev in this root directory\n".encode())
        os._exit(2)
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    messages = open(2, "w", closefd=False) if sys.stderr is None else sys.stderr  # noqa: SIM115
    sys.stderr = cast(TextIO, Messages(messages))


class Messages:
    """stderr, whose reader may leave: what cannot be written any more is dropped, and the work goes on."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        """Writes it, or drops it."""
        try:
            return self._out.write(text)
        except OSError:
            _discard(2)
            return len(text)

    def flush(self) -> None:
        """Nothing waits any more, written or dropped."""
        try:
            self._out.flush()
        except OSError:
            _discard(2)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


@contextmanager
def hushed() -> Iterator[None]:
    """While entered, messages for a person are dropped; `asking` lets a question through."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        said, sys.stderr = sys.stderr, nowhere
        _HUSHED.append(said)
        try:
            yield
        finally:
            sys.stderr = _HUSHED.pop()


@contextmanager
def asking() -> Iterator[None]:
    """A question is seen, also where messages are dropped."""
    dropped = sys.stderr
    sys.stderr = _HUSHED[0] if _HUSHED else dropped
    try:
        yield
    finally:
        sys.stderr = dropped


def ask_secret(question: str) -> str:
    """What a person types, which is not shown."""
    import rich_click as click

    with asking():
        return str(click.prompt(question, hide_input=True, err=True))


def reader_left(error: OSError) -> bool:
    """True when whoever read stdout has gone, or the terminal was closed."""
    return error.filename is None and (isinstance(error, BrokenPipeError) or (error.errno == errno.EIO and not _tty()))


def cannot_print(error: OSError) -> bool:
    """True when stdout does not take what is written, whatever the reason; of a file, an error names it."""
    return error.filename is None and (reader_left(error) or error.errno in _CANNOT_PRINT)


@contextmanager
def work_goes_on(folder: str = "") -> Iterator[None]:
    """What was measured is safe in its folder: a stdout that is full, or whose reader left, ends nothing.

    A reader who left needs no word; what is not printed for another reason is said once, with its folder.
    """
    try:
        yield
        sys.stdout.flush()  # it can be read while the work goes on
    except OSError as error:
        if not cannot_print(error):
            raise
        discard_output()
        if not reader_left(error):
            again = f"; to see it: iocast report {folder}" if folder else ""
            print(f"note: not printed: {error.strerror}{again}", file=sys.stderr, flush=True)


def discard_output() -> None:
    """From now on stdout goes nowhere; Python does not try, and complain, once more at exit."""
    _discard(1)


def _tty() -> bool:
    """False for a terminal that was closed, too."""
    return os.isatty(1)


def _discard(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
