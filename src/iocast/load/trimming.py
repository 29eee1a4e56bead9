"""Finds out before any load whether the target can trim: a hole is punched in a trial file, devices are asked."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from iocast.archive.writing.held_directories import held_path
from iocast.errors import TargetError
from iocast.load.filling import trial_file
from iocast.load.marks import require_ours
from iocast.load.os_refusals import refusal
from iocast.load.work_files import Layout
from iocast.model.plan import Plan

_PUNCH = 0x1 | 0x2  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
_TRIAL_BYTES = 1 << 16
SYSFS = Path("/sys/dev/block")


def refuse_without_trim(plan: Plan, layout: Layout) -> None:
    """Raises TargetError when the plan trims and the target cannot."""
    trims = [phase.name for phase in plan.phases if phase.workload.trims]
    if not trims:
        return
    if plan.target.kind == "block":
        why = device_refuses(plan.target.path)
    else:
        why = folder_refuses(os.path.dirname(layout.files[0].path))
    if why:
        raise TargetError(
            f'{plan.target.path} does not support trim: {why}; phase "{trims[0]}" requires it',
            "omit that phase, or choose storage that supports discard (lsblk -D lists such devices)",
        )


def folder_refuses(folder: str) -> str:
    """Why no hole can be punched in files of this folder, "" when it can. Raises TargetError."""
    with trial_file(folder) as path:
        descriptor = os.open(held_path(path), os.O_RDWR | os.O_NOFOLLOW)
        try:
            require_ours(path, descriptor)
            return _punch(descriptor)
        except OSError as error:
            raise refusal("cannot try a trim on", path, error) from error
        finally:
            os.close(descriptor)


def _punch(descriptor: int) -> str:
    os.pwrite(descriptor, b"\xff" * _TRIAL_BYTES, 0)
    os.fsync(descriptor)
    call = ctypes.CDLL(None, use_errno=True).fallocate
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
    if call(descriptor, _PUNCH, 0, _TRIAL_BYTES):
        return f"its file system cannot punch holes ({os.strerror(ctypes.get_errno())})"
    if any(os.pread(descriptor, _TRIAL_BYTES, 0)):
        return "its file system took the trim, but the data is still there"
    return ""


def device_refuses(path: str) -> str:
    """Why a block device cannot discard, "" when the kernel says that it can. A partition asks its disk."""
    try:
        number = os.stat(path).st_rdev
        place = SYSFS / f"{os.major(number)}:{os.minor(number)}"
        queue = place / "queue" if (place / "queue").exists() else place.resolve().parent / "queue"
        most = int((queue / "discard_max_bytes").read_text())
    except (OSError, ValueError) as error:
        return f"the kernel reports no discard support ({error})"
    return "" if most else "the device does not support discard (discard_max_bytes is 0)"
