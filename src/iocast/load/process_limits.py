"""What this process may have, checked before the first row: open files and address space."""

from __future__ import annotations

import contextlib
import resource

from iocast.errors import LoadError
from iocast.load.work_files import Layout
from iocast.model.plan import Phase, Plan

_OTHER_FILES = 64  # of the observers, the run folder and the database, at most at the same time
_OTHER_BYTES = 1 << 30  # address space of Python, the core and the database with its threads [M: 0.88 GiB in use]
_USER_BYTES = 1 << 20  # its thread's stack, its ring, its counters
_MIB = 1 << 20


def check_limits(plan: Plan, layout: Layout) -> None:
    """Raises the soft limit of open files as far as allowed. Raises LoadError where a limit is too low for the plan."""
    if plan.target.kind != "sim":
        _refuse_open_files(plan, len(layout.files))
    _refuse_address_space(plan)


def _refuse_open_files(plan: Plan, files: int) -> None:
    need = _OTHER_FILES + max((_open_files(group, plan, files) for group in plan.groups), default=0)
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


def _open_files(group: tuple[Phase, ...], plan: Plan, files: int) -> int:
    return sum(_workers(phase, plan) * (files + 1) for phase in group)


def _workers(phase: Phase, plan: Plan) -> int:
    """Each opens its files itself: a thread for each user, and for each outstanding I/O where I/Os block."""
    load = phase.workload
    return load.asked_depth if (phase.engine or plan.engine) == "sync" else load.users


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
    load = phase.workload
    buffers = load.asked_depth * max(item.size_bytes for item in load.mix) if plan.target.kind != "sim" else 0
    return _workers(phase, plan) * _USER_BYTES + buffers
