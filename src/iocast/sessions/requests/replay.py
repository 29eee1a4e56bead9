"""What is asked of `iocast replay`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from iocast.model.grading import GradeRequest
from iocast.model.plan import Remap
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import Page, RunOptions


class ReplayRequest(Struct, frozen=True, kw_only=True):
    """A trace (or its event table) on a path, or its targets on those of `mapped`. `depth` None: from the trace."""

    trace: Annotated[str, argument("A trace of any format that iocast reads, or its event table.")]
    path: Annotated[str, argument("A directory, a file, a block device, or a simulated device.")] = "."
    mode: Annotated[
        Literal["timed", "dependent", "fast"],
        option(
            "timed: at the times of the trace. dependent: each I/O a pause after the end of the one that its process "
            "waited for. fast: in order, as fast as the storage answers."
        ),
    ] = "timed"
    speed: Annotated[float, option("2: twice as fast.", "FACTOR")] = 1.0
    remap: Annotated[
        Remap,
        option("Offsets outside PATH: refuse them, wrap them round, or scale all offsets to the size of PATH."),
    ] = "refuse"
    targets: Annotated[
        tuple[str, ...], option("Only this target of the trace; repeatable.", "NAME", spelt="--target")
    ] = ()
    mapped: Annotated[
        tuple[str, ...],
        option(
            "Replay target OLD of the trace on the file or device NEW; repeatable, instead of PATH.",
            "OLD=NEW",
            spelt="--map",
        ),
    ] = ()
    reads_only: Annotated[bool, option("Leave out writes, syncs and trims.")] = False
    buffered: Annotated[bool, option("Through the page cache; without it direct I/O, rounded to blocks.")] = False
    users: Annotated[int, option("Threads that issue I/Os."), Meta(ge=1, le=256)] = 1
    depth: Annotated[int | None, option("Outstanding I/Os of each; chosen from the trace."), Meta(ge=1, le=4096)] = None
    format_of_trace: Annotated[
        str | None, option("The format of TRACE, where its first lines do not show it.", "NAME")
    ] = None
    block_size: Annotated[str | None, option("Oracle traces: the database block size, e.g. 8k.", "SIZE")] = None
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy", "out")] = RunOptions()
    page: Page = False
    grade_request: GradeRequest = GradeRequest()
