"""Starts of threads and processes: where their number is limited, an error with its way out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from iocast.errors import LoadError

NO_MORE = "this process may start no more threads and processes"
WAY_OUT = "raise the limit: TasksMax= of the systemd unit, pids.max of the control group, or ulimit -u"
_PR_SET_PDEATHSIG = 1
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


def ending_with_us(by: signal.Signals) -> Callable[[], None]:
    """What a child does before it becomes another program: the kernel is to end it when its parent is gone."""
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
        if os.getppid() != parent:  # it went before it was asked
            os.kill(os.getpid(), signal.SIGKILL)

    return ask
