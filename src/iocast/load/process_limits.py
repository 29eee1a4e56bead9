"""What this process may have, checked before the first row: open files, address space and memory."""

from __future__ import annotations

import contextlib
import resource

from iocast.errors import LoadError
from iocast.load.work_files import Layout
from iocast.model.plan import Phase, Plan
from iocast.model.tree import totals

_OTHER_FILES = 64  # of the observers, the run folder and the database, at most at the same time
_TREE_FILES = 512  # for directories of a tree, at least, and what is kept for others meanwhile
_OTHER_BYTES = 1 << 30  # address space of Python, the core and the database with its threads [M: 0.88 GiB in use]
_USER_BYTES = 1 << 20  # its thread's stack, its ring, its counters
_MIB = 1 << 20
# Memory in use, not only reserved, from above [M: 256 and 512 users, one operation and two, both engines: 360 to
# 400 KiB a user; the tables and the report of a short run: 126 MiB]:
_WORKER_BYTES = 300 << 10  # touched of its stack, its ring, its rest
_CLASS_BYTES = 2 * 70 << 10  # the histograms of an operation of a size: response and service
_REPORT_BYTES = 200 << 20
_SERIES_BYTES = 160 << 20  # of intervals, at most: 64 MiB, and what they are made into; what is more waits on disk
_INTERVAL_BYTES = 4 << 10  # of one operation of one size of one user: 170 buckets [J]


def check_limits(plan: Plan, layout: Layout) -> None:
    """Raises the soft limit of open files as far as allowed. Raises LoadError where a limit is too low for the plan."""
    if plan.target.kind != "sim":
        _refuse_open_files(plan, len(layout.files))
    _refuse_address_space(plan)


def check_memory(plan: Plan, left_bytes: int, limited_by: str) -> None:
    """Raises LoadError where a group of the plan needs more memory than there is."""
    group = max(plan.groups, key=lambda group: memory_need_bytes(group, plan), default=())
    need = memory_need_bytes(group, plan)
    if not group or need <= left_bytes:
        return
    name = " and ".join(phase.name for phase in group)
    raise LoadError(
        f"{name} needs {need // _MIB:,} MiB of memory; {limited_by} has {left_bytes // _MIB:,} MiB left",
        "use fewer users, a smaller queue depth or a smaller I/O size",
    )


def memory_need_bytes(group: tuple[Phase, ...], plan: Plan) -> int:
    """The memory of phases that run at once: I/O buffers, histograms, the series, and the report afterwards."""
    held = sum(_buffer_bytes(phase, plan) + _counter_bytes(phase, plan) for phase in group)
    series = min(_SERIES_BYTES, sum(_interval_bytes(phase, plan) for phase in group))
    return held + series + _REPORT_BYTES


def _counter_bytes(phase: Phase, plan: Plan) -> int:
    return _threads(phase, plan) * (_WORKER_BYTES + len(phase.workload.mix) * _CLASS_BYTES)


def _interval_bytes(phase: Phase, plan: Plan) -> int:
    if phase.length.seconds is None:
        return _SERIES_BYTES
    intervals = round(phase.length.seconds * 1e9) // plan.interval_ns + 1
    return intervals * _threads(phase, plan) * len(phase.workload.mix) * _INTERVAL_BYTES


def _threads(phase: Phase, plan: Plan) -> int:
    """All users of a simulated device are one thread."""
    return 1 if plan.target.kind == "sim" else _workers(phase, plan)


def _refuse_open_files(plan: Plan, files: int) -> None:
    need = _OTHER_FILES + max((_open_files(group, plan, files) for group in plan.groups), default=0)
    if plan.trees:
        # As many directories as may be are held open; the others are opened when they are needed.
        directories = sum(totals(tree, plan.most_users).directories for tree in plan.trees)
        _raise_open_files(need + _TREE_FILES + directories)
        need += _TREE_FILES
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < need:
        with contextlib.suppress(ValueError, OSError):  # the limit of the whole machine may be lower
            resource.setrlimit(resource.RLIMIT_NOFILE, (need if most == resource.RLIM_INFINITY else most, most))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft != resource.RLIM_INFINITY and soft < need:
        raise LoadError(
            f"{plan.name} needs {need} open files; the limit of this process is {soft}",
            f"raise the limit (ulimit -n {need}), or use fewer users or files",
        )


def _raise_open_files(wanted: int) -> None:
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, most) if most >= 0 else wanted, most))


def _open_files(group: tuple[Phase, ...], plan: Plan, files: int) -> int:
    return sum(_workers(phase, plan) * (files + 1) for phase in group)


def _workers(phase: Phase, plan: Plan) -> int:
    """Each opens its files itself: a thread for each user, and for each outstanding I/O where I/Os block."""
    load = phase.workload
    blocks = (phase.engine or plan.engine) == "sync" or plan.tree_of(phase) is not None
    return load.asked_depth if blocks else load.users


def _refuse_address_space(plan: Plan) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return
    need = _OTHER_BYTES + max((sum(_bytes_of(phase, plan) for phase in group) for group in plan.groups), default=0)
    if most < need:
        raise LoadError(
            f"{plan.name} needs {need // _MIB} MiB of address space; the limit of this process is {most // _MIB} MiB",
            f"raise the limit (ulimit -v {need // 1024}), or use fewer users",
        )


def _bytes_of(phase: Phase, plan: Plan) -> int:
    return _workers(phase, plan) * _USER_BYTES + _buffer_bytes(phase, plan)


def _buffer_bytes(phase: Phase, plan: Plan) -> int:
    """Simulated devices move no data."""
    load = phase.workload
    return load.asked_depth * max(item.size_bytes for item in load.mix) if plan.target.kind != "sim" else 0
