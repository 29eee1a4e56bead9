"""Questions to the kernel that a dead server, or a device that hangs, may never answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

_Answer = TypeVar("_Answer")


def within(seconds: float, ask: Callable[[], _Answer]) -> _Answer | None:
    """What `ask` returns; None when it has not answered in time, and is left behind in a thread of its own."""
    answers: list[_Answer] = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else None
