"""Whether the process that makes a run still lives: a dead run is told from one that is under way."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from iocast.archive.under_way_file import load_under_way
from iocast.model.summary import Owner

_ZOMBIE = "ZXx"  # states of a process that is gone and only waits to be buried


def this_process(root: Path = Path("/proc"), host: str | None = None) -> Owner | None:
    """This process as the owner of a run that calls its machine `host`; None where the kernel does not say."""
    return process_of(os.getpid(), root, host)


def process_of(pid: int, root: Path = Path("/proc"), host: str | None = None) -> Owner | None:
    """The process that has a number now; None where there is none, or the kernel does not say."""
    ticks = _started_ticks(pid, root)
    if ticks is None:
        return None
    return Owner(
        host=socket.gethostname() if host is None else host,
        boot_id=boot_id(root),
        pid_namespace=_pid_namespace(root),
        pid=pid,
        started_ticks=ticks,
    )


def owner_alive(folder: str, root: Path = Path("/proc")) -> bool | None:
    """True while the process that makes the run lives, False when it is gone, None when that cannot be known here.

    It cannot be known of a run that has ended or is of an older iocast, and on another machine or in another
    container than the one that makes the run.
    """
    under_way = load_under_way(folder)
    owner = under_way.owner if under_way else None
    return None if owner is None else lives(owner, root)


def lives(owner: Owner, root: Path = Path("/proc")) -> bool | None:
    """True while this process lives, False when it is gone, None where that cannot be known."""
    if owner.boot_id != boot_id(root):
        return False if owner.host == socket.gethostname() else None
    if owner.pid_namespace != _pid_namespace(root):
        return None
    ticks = _started_ticks(owner.pid, root)
    return ticks is not None and abs(ticks - owner.started_ticks) <= 1  # offsets of a time namespace are no whole ticks


def boot_id(root: Path = Path("/proc")) -> str:
    """The same for all processes of one machine until it starts again; "" where the kernel does not say."""
    return _text(root / "sys/kernel/random/boot_id").strip()


def _pid_namespace(root: Path) -> str:
    try:
        return os.readlink(root / "self/ns/pid")
    except OSError:
        return ""


def _started_ticks(pid: int, root: Path) -> int | None:
    """The start of a process in ticks since the start of the machine; None when there is none.

    In a time namespace the kernel adds an offset for whoever reads: without it the ticks are the same everywhere.
    """
    fields = _text(root / str(pid) / "stat").rpartition(")")[2].split()  # the name before it may hold anything
    return int(fields[19]) - _offset_ticks(root) if len(fields) > 19 and fields[0] not in _ZOMBIE else None


def _offset_ticks(root: Path) -> int:
    for line in _text(root / "self/timens_offsets").splitlines():
        name, *offset = line.split()
        if name == "boottime" and len(offset) == 2:
            seconds, ns = map(int, offset)
            return (seconds * 10**9 + ns) * os.sysconf("SC_CLK_TCK") // 10**9
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
