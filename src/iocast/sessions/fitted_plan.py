"""A job is fitted to its target: the plan, and what in it differs from the job."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from iocast import jobs
from iocast.errors import TargetError
from iocast.jobs.shared_starts import shared_starts
from iocast.load.work_files import permission_of, work_paths
from iocast.model.job import Job
from iocast.model.plan import Plan
from iocast.model.target import Target
from iocast.sessions.target_finding import with_direct_tried

_OTHER_TARGET = "give a larger file, or a directory, where iocast lays out its own work files"


class Fitted(Struct, frozen=True):
    """A plan. `notes` say how it differs from the job and what in it misleads, `left_out` names the rows that write,
    where they may not."""

    plan: Plan
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def make_plan(job: Job, target: Target, seed: int, *, dry: bool = False) -> Fitted:
    """The plan of a job on a target. With `dry` nothing at all is tried on the target. Raises IocastError."""
    from iocast.observe.host import describe_host

    said: list[str] = []
    if job.database:
        from iocast.sessions.database.database_job import on_data_set

        job, said = on_data_set(job, target, dry=dry)
    allowed = permission_of(target)
    writing = [phase.name for phase in job.phases if phase.workload.writes]
    if target.kind == "block" and writing and (allowed.may_write or not job.fits_target):
        from iocast.observe.target.overwriting import refuse_overwriting

        refuse_overwriting(target, writing)
    job, target, notes = _with_access(job, target if dry else with_direct_tried(target))
    if target.size_bytes == 0:
        raise TargetError(f"{target.path} is empty: nothing to read", _OTHER_TARGET)
    memory_bytes = describe_host().memory_bytes
    try:
        plan, left_out = jobs.plan(job, target, seed=seed, memory_bytes=memory_bytes, allowed=allowed)
    except TargetError as error:
        if job.fits_target and not allowed.may_write:
            raise TargetError(error.message, _OTHER_TARGET) from None
        raise
    writing = [phase.name for phase in plan.phases if phase.workload.writes]
    if target.kind in ("directory", "file") and writing and allowed.may_write:
        # Before anything is announced; the runner looks again.
        from iocast.observe.target.overwriting import refuse_used_files

        refuse_used_files(work_paths(target, plan.files.count), writing)
    return Fitted(plan, (*job.notes, *said, *notes, *shared_starts(plan)), tuple(left_out))


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
