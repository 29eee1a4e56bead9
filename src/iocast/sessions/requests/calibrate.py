"""What is asked of `iocast calibrate`, as people write it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import Page, RunOptions


class CalibrateRequest(Struct, frozen=True, kw_only=True):
    """The limit that is searched for, where, and what is changed about it."""

    path: Annotated[str, argument("A directory, a file, a block device, or a simulated device such as sim:hdd.")] = "."
    max_latency: Annotated[str, option("The limit of the response time, e.g. 10ms; required.", "TIME")] = ""
    percentile: Annotated[
        float | str,
        option(
            "The limit is one of this percentile, 50 to 99.9; `mean`: of the mean, as CALIBRATE_IO has it.", "NUMBER"
        ),
    ] = 99
    disks: Annotated[int | None, option("Disks below PATH: adds IOPS per disk and a check."), Meta(ge=1, le=10_000)] = (
        None
    )
    block: Annotated[str, option("Size of a random read.", "SIZE")] = "8k"
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "price", "out", "wait_quiet_ns")] = (
        RunOptions()
    )
    page: Page = False
