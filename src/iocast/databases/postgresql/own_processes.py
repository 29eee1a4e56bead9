"""The servers that work in a data directory that is held by its descriptor: found by that very inode, ours are ended.

PostgreSQL goes where its data are. A process is looked at while a descriptor of it is held, and it is signalled by that
descriptor: neither a path nor a number can be another's by then. Ours is the one that the mark names.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from iocast.archive.ownership import lives
from iocast.archive.writing.held_folder import HeldFolder
from iocast.model.summary import Owner

PID_FILE: Final = "postmaster.pid"
_WAIT_S: Final = 20.0
_CHILDREN_S: Final = 5.0
_LARGEST_PID_FILE: Final = 4096  # bytes
_SAFELY: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def small_file(folder: HeldFolder, name: str, most: int) -> tuple[os.stat_result, bytes]:
    """What a plain file of a held folder is and says; a link, a FIFO or a larger one raises OSError."""
    _refuse_unfit(os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False), most)
    with open(os.open(name, _SAFELY, dir_fd=folder.descriptor), "rb") as file:
        status = os.fstat(file.fileno())
        _refuse_unfit(status, most)
        return status, file.read(most)


def _refuse_unfit(status: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        raise OSError(errno.EINVAL, "it is no plain file, or too large")


def pid_file(data: HeldFolder) -> list[str]:
    """The lines of the pid file of a server; none where there is no such file."""
    with contextlib.suppress(OSError):
        return small_file(data, PID_FILE, _LARGEST_PID_FILE)[1].decode(errors="replace").splitlines()
    return []


def servers_in(data: HeldFolder) -> list[int]:
    """The processes of PostgreSQL that work in the directory."""
    return [pid for pid, _ in _processes(data)]


def left_in(data: HeldFolder) -> list[int]:
    """The processes that still work in the directory, after a while in which the children of a server end, too."""
    deadline = time.monotonic() + _CHILDREN_S
    while (left := servers_in(data)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def end_server(data: HeldFolder, server: Owner | None) -> None:
    """Ends the server that iocast started in the directory: first as PostgreSQL ends without a checkpoint, then by
    force. Its children end with it.
    """
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for pid, descriptor in _processes(data):
            if server is None or pid != server.pid or not lives(server):
                continue
            with contextlib.suppress(OSError):  # it ended, or is not ours to end
                signal.pidfd_send_signal(descriptor, number)
                select.select([descriptor], [], [], _WAIT_S)


def _processes(data: HeldFolder) -> Iterator[tuple[int, int]]:
    """The servers, each with a descriptor of it that is held as long as the caller looks at it."""
    place = os.fstat(data.descriptor)
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            descriptor = os.pidfd_open(int(name))
        except OSError:
            continue
        try:
            # Asked while the descriptor is held: the number cannot be another's meanwhile.
            if _works_in(name, place):
                yield int(name), descriptor
        finally:
            os.close(descriptor)


def _works_in(pid: str, place: os.stat_result) -> bool:
    try:
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix(" (deleted)")
        return program == "postgres" and os.path.samestat(os.stat(f"/proc/{pid}/cwd"), place)
    except OSError:
        return False


def remove_shared_memory(data: HeldFolder) -> None:
    """The segment of System V that a killed server leaves: the one that its pid file names, and nobody has attached."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        key, number = (int(word) for word in pid_file(data)[6].split())
        owner = os.fstat(data.descriptor).st_uid
        for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
            cells = line.split()  # key shmid perms size cpid lpid nattch uid ...
            if (int(cells[0]), int(cells[1])) == (key, number) and int(cells[6]) == 0 and int(cells[7]) == owner:
                ctypes.CDLL(None, use_errno=True).shmctl(number, 0, None)  # IPC_RMID
