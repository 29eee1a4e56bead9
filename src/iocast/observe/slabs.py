"""Slabs of names and inodes: the kernel's memory for dentries and inodes.

What it is: objects in use and bytes of the slab caches dentry and *inode*, from /proc/slabinfo; only while a run works
in a tree of files.

Why it matters: a name that is remembered is looked up without the storage; millions of them take gigabytes, which
databases miss.

Needs: /proc/slabinfo, readable by root.

Overhead: one read of /proc/slabinfo a sample.

What it cannot see: whose names they are: the caches are those of the whole machine.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.observer import BlindError

NAME = metrics.SLABS
NEEDS = "/proc/slabinfo, readable by root"
OVERHEAD = "one read of /proc/slabinfo a sample: 0.8 ms of CPU (measured)"
_LEAST_WORDS = 15


class Observer:
    """Reads the caches of names and inodes; `root` lets a test bring its own /proc."""

    unseen: tuple[str, ...] = ()

    def __init__(self, target: Target, files: tuple[str, ...] = (), root: Path = Path("/")) -> None:
        self._file = root / "proc/slabinfo"

    def __enter__(self) -> Observer:
        if not os.access(self._file, os.R_OK):
            raise BlindError(f"{self._file} is not readable: run as root")
        return self

    def sample(self) -> list[Sample]:
        """Objects in use, and bytes of the pages of each cache."""
        now = unix_ns()
        samples = []
        for line in self._file.read_text().splitlines():
            words = line.split()
            if len(words) < _LEAST_WORDS or not (words[0] == "dentry" or "inode" in words[0]):
                continue
            # name, active, objects, bytes each, objects a slab, pages a slab : tunables … : slabdata active, slabs
            in_use, pages, slabs = int(words[1]), int(words[5]), int(words[14])
            size_bytes = slabs * pages * os.sysconf("SC_PAGE_SIZE")
            samples.append(Sample(now, NAME, words[0], metrics.OBJECTS, float(in_use)))
            samples.append(Sample(now, NAME, words[0], metrics.SIZE_BYTES, float(size_bytes)))
        return samples

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
