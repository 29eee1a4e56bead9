"""Brings a Job and a Target together: a Plan that fits, or a refusal that says what does not."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.jobs.toml.verify_rules import refuse_unverifiable
from iocast.jobs.tree_phases import check_trees
from iocast.model.job import Job
from iocast.model.permission import Permission, permission
from iocast.model.plan import Phase, Plan, WorkFiles
from iocast.model.target import Target
from iocast.model.workload import Sequential
from iocast.units import size_text

_MIB = 1 << 20
_HOW_LARGE = {
    "toml": 'add [files] with size = "2GiB", or size = "2xRAM"',
    "fio": "add size=2g to its sections or to [global], or give --size 2GiB",
    "vdbench": "add size=2g to its storage definitions (sd=), or give --size 2GiB",
}
_DIRECT = {
    "toml": ("direct = true", "direct = false"),
    "fio": ("direct=1", "direct=0"),
    "vdbench": ("openflags=o_direct", "no openflags=o_direct"),
}


def plan(
    job: Job,
    target: Target,
    *,
    seed: int,
    memory_bytes: int,
    allowed: Permission | None = None,
) -> tuple[Plan, list[str]]:
    """The Plan of `job` on `target`, and the names of the phases left out because the target is only read.

    Only a job that fits itself to its target leaves any out. `memory_bytes` is what "2xRAM" multiplies. Without
    `allowed` a file that has a size is taken for one of others. Raises TargetError for what would be destroyed
    or does not fit, SpecError for what the job does not say.
    """
    allowed = allowed or permission(target, own_file=target.size_bytes is None)
    read_only = job.fits_target and not allowed.may_write
    job = _on_one_range(job, target)
    kept = [phase for phase in job.phases if not (read_only and phase.workload.writes)]
    omitted = [phase.name for phase in job.phases if read_only and phase.workload.writes]
    if not any(phase.role == "measure" for phase in kept):
        why = "all its phases write, and this target is read-only here" if omitted else "every phase only warms"
        raise SpecError(f'job "{job.name}" has nothing to measure: {why}')
    refuse_unverifiable(kept, target)
    _refuse_destruction(kept, target, allowed)
    _check_polling(job, kept)
    check_trees(job, kept, target)
    files = WorkFiles(count=1, size_bytes=0) if job.tree else _files(job, target, memory_bytes)
    for phase in () if job.tree else kept:
        _check_fit(phase, target, files)
        _check_stripe(phase, files)
        _check_blocks(phase, target, *_DIRECT[job.language])
    planned = Plan(
        name=job.name,
        target=target,
        phases=tuple(kept),
        files=files,
        engine="sim" if target.kind == "sim" else job.engine,
        polling="none" if target.kind == "sim" else job.polling,
        seed=seed,
        interval_ns=job.interval_ns,
        job=job.text,
        experiment=job.experiment,
        calibration=job.calibration,
        tree=job.tree,
    )
    return planned, omitted


def _on_one_range(job: Job, target: Target) -> Job:
    """A fio job with files of its own on a target that has none for each: all of its sections use all of the target."""
    count = len(target.members) or (job.file_count if target.kind == "directory" else 1)
    if job.language != "fio" or job.file_count == count:
        return job
    phases = tuple(replace(phase, on_files=()) for phase in job.phases)
    return replace(job, phases=phases, file_sizes=(), file_names=())


def _check_polling(job: Job, phases: Iterable[Phase]) -> None:
    """What polls is io_uring; what polls for completions reads and writes directly, and nothing else."""
    if job.polling != "none" and job.engine == "sync":
        raise SpecError(f'polling = "{job.polling}" requires io_uring', 'engine = "uring", or no polling')
    if job.polling != "iopoll":
        return
    for phase in phases:
        load = phase.workload
        if not load.direct:
            raise SpecError(
                f'phase "{phase.name}": polling needs direct I/O; the page cache has no queue',
                "direct I/O, or no polling",
            )
        if load.fsync_every or any(item.op not in ("read", "write") for item in load.mix):
            raise SpecError(f'phase "{phase.name}": fsync cannot be polled', 'sync = "dsync", or no polling')


def _refuse_destruction(phases: Iterable[Phase], target: Target, allowed: Permission) -> None:
    """Nothing that iocast did not make is written to, but for a device that was given up by its identity."""
    writing = [phase.name for phase in phases if phase.workload.writes]
    if not writing or allowed.may_write:
        return
    more = f" and {len(writing) - 1} more" if len(writing) > 1 else ""
    if allowed.code == "read_only":
        raise TargetError(
            f'{target.path} is {allowed.reason}: phase "{writing[0]}"{more} cannot write',
            "run only the phases that read, or choose a path on a file system that is mounted read-write",
        )
    raise TargetError(
        f'{target.path} is {allowed.reason}: phase "{writing[0]}"{more} would overwrite it',
        "run only the phases that read, or give a directory, where iocast lays out its own files",
    )


def _files(job: Job, target: Target, memory_bytes: int) -> WorkFiles:
    """The files to lay out in a directory; elsewhere the one file or device that is there."""
    if target.members:
        least = min(member.size_bytes or 0 for member in target.members)
        return WorkFiles(count=len(target.members), size_bytes=least, stripe_bytes=job.stripe_bytes)
    if target.kind != "directory" and target.size_bytes is not None:
        return WorkFiles(count=1, size_bytes=target.size_bytes)
    size = job.file_size
    if size is None:
        raise SpecError(
            f'job "{job.name}" does not set the size of the work files in {target.path}',
            _HOW_LARGE[job.language],
        )
    size_bytes = size.size_bytes
    if size_bytes is None:
        size_bytes = max(int(memory_bytes * (size.memory_multiple or 0)) // _MIB, 1) * _MIB
    if target.kind != "directory":
        return WorkFiles(count=1, size_bytes=size_bytes)
    return WorkFiles(
        count=job.file_count,
        size_bytes=size_bytes,
        stripe_bytes=job.stripe_bytes,
        sizes=job.file_sizes,
        names=job.file_names,
    )


def _check_fit(phase: Phase, target: Target, files: WorkFiles) -> None:
    """The region lies inside, and an I/O of every user fits in its part."""
    start, size = phase.region_start_bytes, phase.region_size_bytes
    if max(phase.on_files, default=0) >= files.count:
        raise TargetError(
            f'phase "{phase.name}" works on a part of {max(phase.on_files) + 1} or more work files',
            "give a directory, or as many devices",
        )
    count = len(phase.on_files) or files.count
    each = "each work file" if target.kind == "directory" else target.path
    least = min(files.each_bytes[number] for number in phase.on_files or range(files.count))
    end = start + (size or 0)
    edge = f"ends at {_amount(end)}" if size else f"starts at {_amount(start)}"
    if end > least or 0 < least <= start:
        raise TargetError(
            f'phase "{phase.name}": its region {edge}, but {each} holds {_amount(least)}',
            "make the region smaller, or the files larger",
        )
    room = (least - start if size is None else size) * count
    largest = max(item.size_bytes for item in phase.workload.mix)
    own_part = isinstance(phase.workload.locality, Sequential) and phase.workload.locality.start == "own_region"
    parts = phase.workload.users if own_part else count
    if room // parts < largest:
        whose = f"the share of each of {parts} users" if own_part and parts > 1 else each
        raise TargetError(
            f'phase "{phase.name}": {whose} is {_amount(room // parts)}, too small for an I/O of {_amount(largest)}',
            "make the I/Os smaller, or the files larger",
        )


def _check_stripe(phase: Phase, files: WorkFiles) -> None:
    """No I/O is on two files."""
    stripe = files.stripe_bytes
    for item in phase.workload.mix if stripe else ():
        if item.size_bytes and stripe % item.size_bytes:
            raise SpecError(
                f'phase "{phase.name}": {_amount(item.size_bytes)} does not divide the stripe of {_amount(stripe)}: '
                "an I/O would span two files",
                "make the stripe a multiple of every I/O size, or use a striped volume (LVM, md) as the target",
            )


def _check_blocks(phase: Phase, target: Target, direct: str, buffered: str) -> None:
    """With O_DIRECT a device takes whole logical blocks only; `direct` and `buffered` are the job file's words."""
    block_bytes = (target.device.logical_block_bytes if target.device else None) or 1
    if not phase.workload.direct or target.kind == "sim":
        return
    for size_bytes in (*(item.size_bytes for item in phase.workload.mix), phase.region_start_bytes):
        if size_bytes % block_bytes:
            raise TargetError(
                f'phase "{phase.name}": {_amount(size_bytes)} is not a multiple of {_amount(block_bytes)}, '
                f"the logical block size of {target.path}, required by {direct}",
                f"use multiples of {_amount(block_bytes)}, or {buffered}",
            )


def _amount(size_bytes: int) -> str:
    """A size in a message: "8k", or "3573 bytes" where no unit divides it."""
    text = size_text(size_bytes)
    return text if not text.isdigit() else f"{text} byte{'s' if size_bytes != 1 else ''}"
