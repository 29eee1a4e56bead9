"""What is asked of `iocast repeat`, `ab` and `gate`: a job that is run several times, on one target or on two."""

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
    until_sure: Annotated[
        int,
        option(
            "After N runs, go on until throughput and p99 of every row are known to 10%, at most so many runs.",
            "RUNS",
            quiet=True,
        ),
        Meta(ge=0, le=1000),
    ] = 0
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


def _limit(text: str, _name: str) -> float:
    """A loss in percent, as a share. Raises ValueError."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0.01 <= share <= 0.5:
        raise ValueError(f'"{text}" is not a loss from 1% to 50%')
    return share


class GateRequest(Struct, frozen=True, kw_only=True):
    """A baseline, and what is held against it. `job`: the baseline is a path that is measured, too."""

    baseline: Annotated[str, argument()]
    path: Annotated[str, argument()] = ""
    job: Annotated[str, option("Job to run on BASELINE and PATH in turn: both are then paths.", "JOB")] = ""
    rounds: Annotated[
        int | None,
        option("At most so many rounds; default: 20, or as many as BASELINE has runs.", "NUMBER"),
        Meta(ge=3, le=1000),
    ] = None
    limit: Annotated[
        float, option("The loss that must not pass: less is shown to be kept.", "PERCENT", read=_limit, usual="10%")
    ] = 0.10
    destroy: Annotated[
        tuple[str, ...],
        option("Allow this block device to be overwritten; with --job repeat the option for both.", "IDENTITY"),
    ] = ()
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "out")] = RunOptions()
