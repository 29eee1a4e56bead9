"""Whom a live watch follows: processes and what they start, commands of a name, or everybody."""

from __future__ import annotations

import os

from msgspec import Struct

from iocast.observe.limits import read_or_empty


class Watched(Struct, frozen=True, kw_only=True):
    """Neither pids nor commands: everybody. `scheduler`: each wait for a processor too, which costs more. `windows`:
    above a budget layers are watched a part of the time only.
    """

    pids: tuple[int, ...] = ()
    commands: tuple[str, ...] = ()  # as /proc/PID/comm has them: at most 15 characters
    scheduler: bool = False
    windows: bool = False


EVERYBODY = Watched()


def processes(watched: Watched, root: str = "/") -> list[tuple[int, str]]:
    """(pid, command) of all that are followed now, in order; threads of the kernel are left out."""
    by_pid: dict[int, tuple[int, str]] = {}
    for entry in os.listdir(os.path.join(root, "proc")):
        if entry.isdigit() and (stat := read_or_empty(os.path.join(root, "proc", entry, "stat"))):
            # The name stands in brackets, and may hold brackets and blanks itself.
            name, _, rest = stat.partition("(")[2].rpartition(")")
            words = rest.split()
            if len(words) > 1 and not _is_kernel_thread(int(entry), int(words[1])):
                by_pid[int(entry)] = (int(words[1]), name)
    return [(pid, name) for pid, (_, name) in sorted(by_pid.items()) if _follows(watched, pid, name, by_pid)]


def _is_kernel_thread(pid: int, parent: int) -> bool:
    return 2 in (pid, parent)  # kthreadd


def _follows(watched: Watched, pid: int, name: str, all_of_them: dict[int, tuple[int, str]]) -> bool:
    if watched.pids:
        above = pid
        while above in all_of_them and above not in watched.pids:
            above = all_of_them[above][0]
        return above in watched.pids
    return not watched.commands or name in {command[:15] for command in watched.commands}
