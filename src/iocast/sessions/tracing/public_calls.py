"""What the functions of `iocast` for traces do with what they are given."""

from __future__ import annotations

from typing import Any

from iocast.errors import LoadError
from iocast.sessions.card import Card
from iocast.sessions.listener import Listener, Quiet
from iocast.sessions.public import options
from iocast.sessions.tracing.capture_trace import CaptureRequest, capture
from iocast.sessions.tracing.replay_request import ReplayRequest
from iocast.sessions.tracing.replay_trace import replay
from iocast.tools.traces import TraceReport


def replayed(
    trace: str,
    path: str,
    targets: tuple[str, ...],
    how: dict[str, Any],
    changed: tuple[str | None, str | None, str, str],
    listener: Listener | None,
) -> Card:
    """The card of a replay; `changed`: size, time, destroy, out. Raises IocastError."""
    size, time, destroy, out = changed
    request = ReplayRequest(
        trace=trace, path=path, targets=targets, options=options(size, time, 1, out, destroy), **how
    )
    card = replay(request, listener or Quiet()).card
    if card is None:
        raise LoadError(f"{path}: nothing was measured", "the listener stopped it before the first I/O ended")
    return card


def captured(
    to: str,
    devices: tuple[str, ...],
    pids: tuple[int, ...],
    path: str,
    command: tuple[str, ...],
    seconds: float | None,
    listener: Listener | None,
) -> TraceReport:
    """What became of every record of a capture. Raises IocastError."""
    request = CaptureRequest(to=to, devices=devices, pids=pids, path=path, command=command, seconds=seconds)
    return capture(request, listener or Quiet())
