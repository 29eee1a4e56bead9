"""A job is read, changed as asked, and fitted to its target: the plan, and what in it differs from the job."""

from __future__ import annotations

import os
import shlex

from msgspec import Struct
from msgspec.structs import replace

from iocast import jobs
from iocast.errors import SpecError, TargetError
from iocast.jobs.library import is_job, load_job
from iocast.jobs.shared_starts import shared_starts
from iocast.load.database.servers import connect
from iocast.load.work_files import permission_of, size_that_fits, work_paths
from iocast.model.database.database_load import CommitRamp, DatabaseRamp
from iocast.model.job import FileSize, Job
from iocast.model.plan import Phase, Plan
from iocast.model.target import Target
from iocast.observe.host import describe_host
from iocast.observe.target.overwriting import refuse_overwriting, refuse_used_files
from iocast.sessions.database.database_guards import refuse_disturbing
from iocast.sessions.database.database_rows import rows_of
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import with_direct_tried
from iocast.text import capacity

_ON_PATH = "iocast run JOB PATH"
_OTHER_TARGET = "give a larger file, or a directory, where iocast lays out its own work files"


class Fitted(Struct, frozen=True):
    """A plan. `notes` say how it differs from the job and what in it misleads, `excluded` names the rows that write,
    where they may not."""

    plan: Plan
    notes: tuple[str, ...]
    excluded: tuple[str, ...] = ()


def asked_job(job: Job | str, options: RunOptions, path: str = "") -> Job:
    """The job with the size of its work files and the time of its rows changed. Raises SpecError, which says so where
    the job was given as the `path`."""
    job = _load(job, options, path) if isinstance(job, str) else job
    if options.size_bytes is not None:
        job = replace(job, file_size=FileSize(size_bytes=options.size_bytes), file_sizes=())
    if options.duration_ns is not None:
        seconds = options.duration_ns / 1e9
        phases = tuple(_with_time(phase, seconds) for phase in job.phases)
        job = replace(job, phases=phases, database=tuple(_with_length(ramp, seconds) for ramp in job.database))
    return job


def _load(job: str, options: RunOptions, path: str) -> Job:
    try:
        return load_job(job, options.size_bytes)
    except SpecError as error:
        if is_job(path) and not is_job(job):
            raise SpecError(error.message, f"the job comes before the path: {shlex.join((path, job))}") from None
        raise


def where(job: Job, path: str) -> tuple[Job, str]:
    """Where a job runs: on the path that is given, else in the directory that it names itself, else in the current one.
    The job says which of them it is, where it names one. Raises TargetError for a directory that cannot be used."""
    directory = job.directory
    if not directory:
        return job, path or "."
    if path:
        other = [] if os.path.realpath(path) == os.path.realpath(directory) else [f"not in {directory}, which it names"]
        return replace(job, notes=(*job.notes, *(f"it runs on {path}, {each}" for each in other))), path
    if not os.path.isdir(directory):
        raise TargetError(f"directory={directory} does not exist", f"create it, or give PATH: {_ON_PATH}")
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=True):
        raise TargetError(f"directory={directory} may not be written to", f"run as its owner, or give PATH: {_ON_PATH}")
    return replace(job, notes=(*job.notes, f"it runs in {directory}, the directory that it names")), directory


def _with_length(ramp: DatabaseRamp, seconds: float) -> DatabaseRamp:
    if isinstance(ramp, CommitRamp):
        return replace(ramp, seconds=seconds)
    return replace(ramp, seconds=seconds, until_steady=False)


def _with_time(phase: Phase, seconds: float) -> Phase:
    if phase.length.seconds is None:
        return phase
    return replace(phase, length=replace(phase.length, seconds=seconds), until=None)


def make_plan(job: Job, target: Target, seed: int, *, dry: bool = False) -> Fitted:
    """The plan of a job on a target. With `dry` nothing at all is tried on the target. Raises IocastError."""
    said: list[str] = []
    if job.database:
        job, said = on_data_set(job, target, dry=dry)
    allowed = permission_of(target)
    writing = [phase.name for phase in job.phases if phase.workload.writes]
    if target.kind == "block" and writing and (allowed.may_write or not job.fits_target):
        refuse_overwriting(target, writing)
    job, target, notes = _with_access(job, target if dry else with_direct_tried(target))
    if target.size_bytes == 0:
        raise TargetError(f"{target.path} is empty: nothing to read", _OTHER_TARGET)
    memory_bytes = describe_host().memory_bytes
    job, smaller = _with_room(job, target)
    try:
        plan, excluded = jobs.plan(job, target, seed=seed, memory_bytes=memory_bytes, allowed=allowed)
    except TargetError as error:
        if job.fits_target and not allowed.may_write:
            raise TargetError(error.message, _OTHER_TARGET) from None
        raise
    writing = [phase.name for phase in plan.phases if phase.workload.writes]
    if target.kind in ("directory", "file") and writing and allowed.may_write:
        # Before anything is announced; the runner looks again.
        refuse_used_files(work_paths(target, plan.files.count), writing)
    return Fitted(plan, (*job.notes, *said, *notes, *smaller, *shared_starts(plan)), tuple(excluded))


def _with_access(job: Job, target: Target) -> tuple[Job, Target, tuple[str, ...]]:
    """A job that fits its target goes through the page cache where O_DIRECT is refused, and says so."""
    direct = [phase.name for phase in job.phases if phase.workload.direct]
    if target.direct is not False or not direct:
        return job, target, ()
    why = f"{target.path} does not support direct I/O: {target.direct_why_not or 'O_DIRECT is refused'}"
    if not job.fits_target:
        raise TargetError(
            f'{why}; phase "{direct[0]}" requires it',
            "set direct = false in the job file; the results then include the page cache",
        )
    phases = tuple(replace(phase, workload=replace(phase.workload, direct=False)) for phase in job.phases)
    note = f"{why}. All rows used buffered I/O: they measure memory wherever the page cache held the data"
    return replace(job, phases=phases), replace(target, notes=(*target.notes, note)), (note,)


def _with_room(job: Job, target: Target) -> tuple[Job, tuple[str, ...]]:
    """A preset with smaller work files where those of its own do not fit, and the note that says so."""
    size = job.file_size
    if size is None or not size.at_most or size.size_bytes is None or job.file_sizes:
        return job, ()
    fits = size_that_fits(target, job.file_count, size.size_bytes)
    if fits in (0, size.size_bytes) or any(phase.region_start_bytes or phase.region_size_bytes for phase in job.phases):
        return job, ()
    note = (
        f"work files of {capacity(fits)} instead of {capacity(size.size_bytes)}: {target.path} has room for no more;"
        " a cache holds a small file more easily"
    )
    return replace(job, file_size=replace(size, size_bytes=fits)), (note,)


def on_data_set(job: Job, target: Target, *, dry: bool) -> tuple[Job, list[str]]:
    """The job with the rows of its loads on the data set of a target, and what is to be said of the server; with `dry`
    others who work there are not looked for. Raises TargetError, SpecError."""
    if target.database is None:
        raise TargetError(
            f'{target.path} is not a database, which job "{job.name}" loads',
            "give the URL of one, such as postgresql://loader@db1/shop or mariadb://loader@db1/",
        )
    try:
        rows = rows_of(job.database, target.database)
    except SpecError as error:
        raise SpecError(f"{job.source}: {error.message}", error.hint) from None
    said = ["the size of work files does nothing here: `iocast load-db build` sets that of the data set"]
    said = said if job.file_size else []
    if not dry:
        server = connect(target.path)
        try:
            beside_others = any(ramp.beside_others for ramp in job.database)
            said += refuse_disturbing(
                server, beside_others=beside_others, way_out="set beside_others = true in [[database]]"
            )
        finally:
            server.close()
    return replace(job, phases=rows, database=(), file_size=None), said
