"""Signals as what they ask for: SIGINT and its like end the work well, whenever and how often they come."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from iocast.errors import LoadError
from iocast.starting import starting

SAME_WISH_S = 1.0  # a finger is nervous, and a group is told by its shell as well
_IMPORT = "<frozen importlib"
_SOON_S = 0.02


def raise_between_imports() -> None:
    """From now on SIGINT raises KeyboardInterrupt, but while a module is imported a little later.

    Within an import what is raised is lost, or becomes an ImportError, or ends the process where the module is of C.
    What is half made is removed meanwhile: a signal that comes again within a second does not end that.
    """
    raised_s = -SAME_WISH_S

    def interrupt(_number: int, frame: FrameType | None) -> None:
        nonlocal raised_s
        if time.monotonic() - raised_s < SAME_WISH_S:
            return
        if _is_import(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON_S)
            return
        raised_s = time.monotonic()
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.signal(signal.SIGINT, interrupt)


def _is_import(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORT):
            return True
        frame = frame.f_back
    return False


class Interrupts:
    """While it is entered, SIGINT, SIGTERM, SIGHUP or SIGQUIT only makes `stopped` true; one that comes more than a
    second after the first kills.

    A signal that was ignored before (nohup, a shell's background job) stays so.
    """

    def __init__(self) -> None:
        self._received: int | None = None
        self._before: dict[int, Any] = {}
        self._over = threading.Event()
        self._changing = threading.RLock()

    def stopped(self) -> bool:
        """True once a signal came."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command ended by that signal; 0 when none came."""
        return 128 + self._received if self._received else 0

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self._received is not None:
            return
        self._received = number
        try:
            with starting():
                threading.Thread(target=self._kill_from_now_on, args=(SAME_WISH_S,), daemon=True).start()
        except LoadError:
            self._kill_from_now_on(0)

    def _kill_from_now_on(self, in_s: float) -> None:
        """The kernel's own way, not Python's: it also ends a process that is stuck in a system call."""
        import ctypes

        kernel = ctypes.CDLL(None)
        self._over.wait(in_s)
        with self._changing:
            for each in () if self._over.is_set() else self._before:
                kernel.signal(each, None)  # Python lets the main thread only do this

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changing:
            self._over.set()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
