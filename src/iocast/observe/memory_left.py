"""How much memory this process may still take: of the machine, or of a control group that allows less."""

from __future__ import annotations

import os
from typing import NamedTuple

from iocast.observe.limits import groups_of, read_or_empty

_NO_LIMIT = 1 << 60  # version 1 writes the largest multiple of a page, version 2 "max"
_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
# The page cache of a group is given back before anything is killed.
_CACHED = ("inactive_file", "active_file", "total_inactive_file", "total_active_file")


class MemoryLeft(NamedTuple):
    """Bytes that can be had without swapping, and what sets that limit."""

    size_bytes: int
    limited_by: str


def memory_left(root: str = "/") -> MemoryLeft | None:
    """The least of machine and control groups; None where the kernel says nothing of it."""
    known = [
        left for left in (_of_machine(root), *map(_of_group, groups_of("self", root, "memory"))) if left is not None
    ]
    return min(known, default=None)


def memory_limit_bytes(root: str = "/", process: str = "self") -> int | None:
    """The least that a control group of a process allows it, page cache included; None where none sets a limit."""
    folders = groups_of(process, root, "memory")
    limits = (_limit_of(folder, limit_file) for folder in folders for limit_file, _ in _FILES)
    return min((limit for limit in limits if limit is not None), default=None)


def _limit_of(folder: str, limit_file: str) -> int | None:
    limit = read_or_empty(f"{folder}/{limit_file}").strip()
    return int(limit) if limit.isdigit() and int(limit) < _NO_LIMIT else None


def _of_machine(root: str) -> MemoryLeft | None:
    for line in read_or_empty(os.path.join(root, "proc/meminfo")).splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return MemoryLeft(int(rest.split()[0]) * 1024, "this machine")
    return None


def _of_group(folder: str) -> MemoryLeft | None:
    for limit_file, used_file in _FILES:
        limit, used = _limit_of(folder, limit_file), read_or_empty(f"{folder}/{used_file}").strip()
        if limit is not None and used.isdigit():
            return MemoryLeft(max(0, limit - int(used) + _cached(folder)), f"its control group {folder}")
    return None


def _cached(folder: str) -> int:
    """Version 1 counts the groups below apart, and with them as "total_": these, where they are there."""
    pairs = dict(line.split() for line in read_or_empty(f"{folder}/memory.stat").splitlines() if line.count(" ") == 1)
    own, total = (sum(int(pairs.get(name, 0)) for name in names) for names in (_CACHED[:2], _CACHED[2:]))
    return max(own, total)
