"""Oracle's wait events for I/O: which operation each waits for, and whether one wait is one I/O."""

from __future__ import annotations

from typing import Final

from iocast.model.workload import Op

EVENTS: Final[dict[str, Op]] = {
    "db file sequential read": "read",
    "db file scattered read": "read",
    "db file parallel read": "read",
    "direct path read": "read",
    "direct path read temp": "read",
    "control file sequential read": "read",
    "log file sequential read": "read",
    "cell single block physical read": "read",
    "cell multiblock physical read": "read",
    "Disk file I/O Calibration": "read",
    "db file parallel write": "write",
    "db file single write": "write",
    "direct path write": "write",
    "direct path write temp": "write",
    "control file parallel write": "write",
    "control file single write": "write",
    "log file parallel write": "write",
    "log file single write": "write",
}
WAITS_NOTE = (
    "Rows count waits, as Oracle does: a parallel or direct path wait may be for several I/Os, or for less than one,"
    " so its time is not that of an I/O, and its row has no IOPS."
)


def waits_are_ios(event: str) -> bool:
    """False where one wait is for several I/Os, or for less than one."""
    return not event.startswith(("direct path", "Disk file I/O Calibration")) and " parallel " not in event
