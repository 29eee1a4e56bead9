"""Whether the launcher still hears this rank: the kernel counts how often it sends the same bytes in vain.

Without it a rank behind a cut cable would go on with its load: nobody can tell it to stop.
"""

from __future__ import annotations

import os
import re

MOST_IN_VAIN = 4  # retransmissions in a row: after 3 s, as the kernel doubles its patience from 0.2 s
_SOCKET = re.compile(r"socket:\[(\d+)\]")


class LauncherLink:
    """The connection of the proxy that started this process, which is its parent."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def is_cut(self) -> bool:
        """True when the parent has ended, or what it sends is not acknowledged; False where neither can be seen."""
        if os.getppid() != self._parent:
            return True
        own = _sockets(self._parent)
        return any(_in_vain(table, own) >= MOST_IN_VAIN for table in ("/proc/net/tcp", "/proc/net/tcp6"))


def _sockets(process: int) -> set[str]:
    """The inodes of the sockets of a process."""
    folder = f"/proc/{process}/fd"
    inodes = set()
    try:
        for name in os.listdir(folder):
            if match := _SOCKET.fullmatch(os.readlink(f"{folder}/{name}")):
                inodes.add(match[1])
    except OSError:
        return inodes
    return inodes


def _in_vain(table: str, sockets: set[str]) -> int:
    """How often the worst of those sockets has sent the same bytes again without an answer."""
    try:
        with open(table, encoding="ascii") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return 0
    fields = (line.split() for line in lines)
    return max((retransmissions(each[6]) for each in fields if len(each) > 9 and each[9] in sockets), default=0)


def retransmissions(digits: str) -> int:
    """The kernel's hexadecimal count; 0 for what is none."""
    return int(digits, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,8}", digits) else 0
