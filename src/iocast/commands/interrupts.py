"""SIGINT and SIGTERM as a question that the work asks: was I told to stop?"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType


class Interrupts:
    """While it is entered, the first SIGINT or SIGTERM only sets `received`; a second one is Python's own."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before: dict[int, object] = {}

    def stopped(self) -> bool:
        """True once a signal came."""
        return self.received is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command ended by that signal; 0 when none came."""
        return 128 + self.received if self.received else 0

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.received = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before.clear()

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()
