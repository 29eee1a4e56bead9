"""What is asked of `iocast repeat` and `iocast ab`: a job that is run several times, on one target or on two."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.model.job import Job
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import RunOptions


class RepeatRequest(Struct, frozen=True, kw_only=True):
    """A job, where, how often."""

    times: Annotated[int, argument(metavar="N"), Meta(ge=1, le=1000)]
    job: Annotated[Job | str, argument()]
    path: Annotated[str, argument()] = "."
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy", "price", "out")] = RunOptions()


class AbRequest(Struct, frozen=True, kw_only=True):
    """A job on two targets in turns; `destroy` has the identities of those that may be overwritten."""

    job: Annotated[Job | str, argument()]
    target_a: Annotated[str, argument()]
    target_b: Annotated[str, argument()]
    rounds: Annotated[
        int, option("Measurements of each target: at least 3 for a verdict, 5 for p99."), Meta(ge=1, le=1000)
    ] = 5
    until_sure: Annotated[
        int,
        option(
            "After --rounds, go on until throughput and p99 of every row are decided, at most so many rounds.",
            "ROUNDS",
            quiet=True,
        ),
        Meta(ge=0, le=1000),
    ] = 0
    destroy: Annotated[
        tuple[str, ...],
        option("Allow this block device to be overwritten; repeat the option for both targets.", "IDENTITY"),
    ] = ()
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "out")] = RunOptions()
