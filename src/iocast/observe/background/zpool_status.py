"""Pools of ZFS at work, from `zpool status`: scrubs, resilvers, removals and expansions of devices."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import metrics
from iocast.model.run import Maintenance
from iocast.model.target import Target
from iocast.observe.background.command_output import Ask

POOL = re.compile(r"\s*pool: (\S+)")
# "  scan: scrub in progress since Sun Nov  8 00:24:01 2026", "remove: Evacuation of mirror-1 in progress since ..."
WORK = re.compile(r"\s*(?:scan: (scrub|resilver)|(remove|expand): [^\n]{1,200}) in progress")
DONE = re.compile(r"(\d{1,3}(?:\.\d+)?)% done")


def pool_work(target: Target, root: str, ask: Ask) -> Iterator[Maintenance]:
    """Every pool that works for itself at this moment; nothing is asked where there is no pool."""
    if not os.path.isdir(os.path.join(root, "proc/spl/kstat/zfs")):
        return
    output = ask("zpool", "status")
    if output is None:
        raise ValueError("ZFS scrubs and resilvers: zpool cannot be asked")
    own = (target.mount_source or "").split("/")[0] if target.filesystem == "zfs" else ""
    for each in works_of(output):
        yield replace(each, below_target=each.subject == own)


def works_of(text: str) -> Iterator[Maintenance]:
    """The works that a status tells of, with the share that is done where it stands within the next lines."""
    pool, work = "", None
    for line in text.splitlines():
        if match := POOL.match(line):
            pool = match[1]
        if match := WORK.match(line):
            if work is not None:
                yield work
            work = Maintenance(task=f"{metrics.ZFS}_{match[1] or match[2]}", subject=pool)
        elif work is not None and (match := DONE.search(line)):
            yield replace(work, done=float(match[1]) / 100)
            work = None
        elif work is not None and line.startswith("config:"):
            yield work
            work = None
    if work is not None:
        yield work
