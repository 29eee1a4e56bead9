"""Who listens on a Unix socket or a port of this machine: the server behind a connection, to be followed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from iocast.observe.limits import read_or_empty

_LISTENING = "0A"  # of /proc/net/tcp
_ACCEPTS = 0x10000  # of /proc/net/unix


def server_pid(sockets: Iterable[str] = (), ports: Iterable[int] = (), root: str = "/") -> int | None:
    """The process that listens on one of them, the first of several; None where nobody does, or it cannot be seen."""
    inodes = {*_of_sockets(set(sockets), root), *_of_ports(set(ports), root)}
    if not inodes:
        return None
    wanted = {f"socket:[{inode}]" for inode in inodes}
    pids = sorted(int(name) for name in os.listdir(os.path.join(root, "proc")) if name.isdigit())
    return next((pid for pid in pids if wanted & set(_descriptors(pid, root))), None)


def _of_sockets(paths: set[str], root: str) -> Iterator[str]:
    """Num RefCount Protocol Flags Type St Inode Path"""
    for line in read_or_empty(os.path.join(root, "proc/net/unix")).splitlines()[1:]:
        words = line.split(None, 7)
        if len(words) == 8 and words[7] in paths and int(words[3], 16) & _ACCEPTS:
            yield words[6]


def _of_ports(ports: set[int], root: str) -> Iterator[str]:
    """sl local_address rem_address st ... inode"""
    if not ports:
        return
    for name in ("tcp", "tcp6"):
        for line in read_or_empty(os.path.join(root, "proc/net", name)).splitlines()[1:]:
            words = line.split()
            port = re.fullmatch(r"[0-9A-F]+:([0-9A-F]{4})", words[1]) if len(words) > 9 else None
            if port and words[3] == _LISTENING and int(port[1], 16) in ports:
                yield words[9]


def _descriptors(pid: int, root: str) -> Iterator[str]:
    place = os.path.join(root, "proc", str(pid), "fd")
    try:
        names = os.listdir(place)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(os.path.join(place, name))
        except OSError:
            continue
