"""SIGINT, SIGTERM, SIGHUP and SIGQUIT as a question that the work asks: was I told to stop?"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While it is entered, the first SIGINT, SIGTERM, SIGHUP or SIGQUIT only makes `stopped` true; the next one kills.

    A signal that was ignored before (nohup, a shell's background job) stays so.
    """

    def __init__(self) -> None:
        self._received: int | None = None
        self._before: dict[int, Any] = {}

    def stopped(self) -> bool:
        """True once a signal came."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command ended by that signal; 0 when none came."""
        return 128 + self._received if self._received else 0

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self._received = number
        for each in self._before:
            # The kernel's own way, not Python's: it also ends a process that is stuck in a system call.
            signal.signal(each, signal.SIG_DFL)

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
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
