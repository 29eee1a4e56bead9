"""What a job file may say of the engine, for the whole job."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

JOB_WIDE = ("engine", "polling")  # fields of [defaults] that are the job's: a phase does not inherit them

JobEngine = Literal[
    "auto",
    "uring",
    "sync",
]
Engine = Annotated[
    JobEngine,
    Meta(
        description="What a short probe finds best for the target, io_uring, or threads that call pread and pwrite. "
        'Default "auto".',
        extra={"expects": "an engine", "unit": ""},
    ),
]
Polling = Annotated[
    Literal["none", "sqpoll", "iopoll"],
    Meta(
        description="A kernel thread that polls for submissions, or a worker that polls the device for completions: "
        'either keeps a CPU busy. Default "none".',
        extra={"expects": "a polling mode", "unit": ""},
    ),
]
