"""What is asked of `iocast diagnose`: a path or a run, and what experiments may cost."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.job import Job
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import RunOptions


class DiagnoseRequest(Struct, frozen=True, kw_only=True):
    """A path that is measured first, or the folder of a run that was (one of them), and the budget of experiments."""

    path: Annotated[str | None, argument()] = None
    folder: Annotated[str | None, option("Diagnose this run instead of measuring PATH.", "RUN", spelt="--for")] = None
    job: Annotated[
        Job | str | None,
        option("Job to run first, unless --for is given. Default: survey; card-quick below 1 GiB."),
    ] = None
    budget: Annotated[str, option("Time limit for all experiments.", "TIME")] = "10min"
    most_bytes: Annotated[str, option("I/O limit for all experiments.", "SIZE", spelt="--bytes")] = "64GiB"
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "out")] = RunOptions()
