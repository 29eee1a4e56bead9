"""What is asked of `iocast plan` and `iocast spec`, which do nothing but say what a job is."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import RunOptions


class PlanRequest(Struct, frozen=True, kw_only=True):
    """A job on a path."""

    job: Annotated[str, argument()] = ""
    path: Annotated[str, argument()] = ""
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy")] = RunOptions()


class SpecRequest(Struct, frozen=True, kw_only=True):
    """A job, and whose job file it is to become."""

    job: Annotated[str, argument()]
    to: Annotated[Literal["fio", "toml"], option("Format of the job file.")] = "toml"
    options: Annotated[RunOptions, part("size_bytes", "duration_ns")] = RunOptions()
