"""Questions to the kernel that a dead server, or a device that hangs, may never answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from iocast.starting import starting

_Answer = TypeVar("_Answer")


def within(seconds: float, ask: Callable[[], _Answer]) -> _Answer | None:
    """What `ask` returns; None when it has not answered in time, and is left behind in a thread of its own.

    Raises LoadError where no thread may be started: to ask without one might never end, and not to ask hides a user.
    """
    answers: list[_Answer] = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    with starting():
        thread.start()
    thread.join(seconds)
    return answers[0] if answers else None
