"""What is asked of a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.model.grading import GradeAsked
from iocast.model.plan import Remap, ReplayMode
from iocast.sessions.requests import RunOptions

if TYPE_CHECKING:
    from iocast.tools.traces import TraceOptions


class ReplayRequest(Struct, frozen=True, kw_only=True):
    """A trace (or its event table) on a path, or its targets on those of `mapped`. `depth` None: from the trace."""

    trace: str
    path: str
    mode: ReplayMode = "timed"
    speed: float = 1.0
    remap: Remap = "refuse"
    targets: tuple[str, ...] = ()
    mapped: tuple[str, ...] = ()  # "sda=/dev/sdx": a target of the trace, and the file or device instead of it
    reads_only: bool = False
    buffered: bool = False
    users: int = 1
    depth: int | None = None
    options: RunOptions = RunOptions()
    reading: TraceOptions | None = None
    asked: GradeAsked = GradeAsked()
    page: bool = False
