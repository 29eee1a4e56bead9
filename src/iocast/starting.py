"""Starts of threads and processes: where their number is limited, an error with its way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from iocast.errors import LoadError

NO_MORE = "this process may start no more threads and processes"
WAY_OUT = "raise the limit: TasksMax= of the systemd unit, pids.max of the control group, or ulimit -u"
_OF_PYTHON = "can't start new thread"


def is_refused(error: BaseException) -> bool:
    """True when the kernel refused a thread or a process because there are too many."""
    if isinstance(error, BlockingIOError):
        return error.filename is None  # of fork
    return isinstance(error, RuntimeError) and str(error) == _OF_PYTHON


@contextmanager
def starting() -> Iterator[None]:
    """Around what starts a thread or a process. Raises LoadError where no more of them may be started."""
    try:
        yield
    except (RuntimeError, BlockingIOError) as error:
        if not is_refused(error):
            raise
        raise LoadError(NO_MORE, WAY_OUT) from error
