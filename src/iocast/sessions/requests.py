"""What is asked of a session: a job, where it runs, and what is changed about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.model.database.database_load import CommitRamp, DatabaseRamp
from iocast.model.grading import GradeAsked, Letter, Scale
from iocast.model.job import FileSize, Job
from iocast.model.plan import Phase
from iocast.units import parse_duration, parse_size

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms as Pseudonyms
    from iocast.sessions.live.asked_sources import Asked

RUNS = "iocast-runs"  # where run folders go
MIB = 1 << 20


class RunOptions(Struct, frozen=True, kw_only=True):
    """What is changed about a job, and where its runs go. `destroy` names a block device that may be overwritten."""

    size_bytes: int | None = None  # of each work file
    duration_ns: int | None = None  # of every row
    seed: int = 1
    price: float | None = None  # of the target
    destroy: str = ""
    out: str = RUNS
    beside: Asked | None = None  # whose layers are recorded beside the load; None: no layers


class MeasureRequest(Struct, frozen=True, kw_only=True):
    """A job (a preset's name, the path of a job file, or a Job) on a path, and what is made of its run."""

    job: Job | str
    path: str
    options: RunOptions = RunOptions()
    asked: GradeAsked = GradeAsked()
    page: bool = False  # leave the card with charts in the run folder
    diagnosing: bool = False  # test what looks abnormal by experiment
    names: Pseudonyms | None = None  # what names become in the card and its page; None: they stay


def asked_job(job: Job | str, options: RunOptions) -> Job:
    """The job with the size of its work files and the time of its rows changed. Raises SpecError."""
    from iocast.jobs.library import load_job

    job = load_job(job) if isinstance(job, str) else job
    if options.size_bytes is not None:
        job = replace(job, file_size=FileSize(size_bytes=options.size_bytes))
    if options.duration_ns is not None:
        seconds = options.duration_ns / 1e9
        phases = tuple(_with_time(phase, seconds) for phase in job.phases)
        job = replace(job, phases=phases, database=tuple(_with_length(ramp, seconds) for ramp in job.database))
    return job


def _with_length(ramp: DatabaseRamp, seconds: float) -> DatabaseRamp:
    if isinstance(ramp, CommitRamp):
        return replace(ramp, seconds=seconds)
    return replace(ramp, seconds=seconds, until_steady=False)


def _with_time(phase: Phase, seconds: float) -> Phase:
    if phase.length.seconds is None:
        return phase
    return replace(phase, length=replace(phase.length, seconds=seconds), until=None)


def grade_asked(scale: Scale, slo: str | None, floor: Letter | None) -> GradeAsked:
    """How a run is to be graded. Raises SpecError for a service level that is none, or that the scale does not know."""
    if slo is None:
        return GradeAsked(scale=scale, floor=floor)
    if scale != "modern":
        raise SpecError(f"--slo does not work with --scale {scale}, which has no service levels", "omit one of them")
    from iocast.diagnose.grades.service_level import parse_slo

    return GradeAsked(scale=scale, level=parse_slo(slo), floor=floor)


def size_of_files(text: str, option: str = "--size") -> int:
    """What is given as the size of a work file, in whole MiB. Raises SpecError, which names the option."""
    size_bytes = option_value(option, text, parse_size)
    if size_bytes < MIB:
        raise SpecError(f"{option} {text}: work files need at least 1MiB", f"for example {option} 512MiB")
    return size_bytes // MIB * MIB


def time_of_rows(text: str, option: str = "--time") -> int:
    """What is given as the length of a row, in nanoseconds. Raises SpecError, which names the option."""
    duration_ns = option_value(option, text, parse_duration)
    if duration_ns <= 0:
        raise SpecError(f"{option} {text}: the duration must be above 0", f"for example {option} 10s")
    return duration_ns


def option_value(name: str, text: str, parse: Callable[[str], int]) -> int:
    """What `parse` makes of an option's value; its complaint names the option. Raises SpecError."""
    try:
        return parse(text)
    except SpecError as error:
        raise SpecError(f"{name}: {error.message}", error.hint) from None
