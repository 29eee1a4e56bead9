"""Programs that trim, scrub or defragment file systems, by the processes that run."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from iocast.model.run import Maintenance
from iocast.model.target import Target

PROGRAMS = frozenset({"fstrim", "xfs_scrub", "xfs_fsr", "e4defrag"})
ALL = frozenset({"-a", "--all", "-A", "--fstab", "-I", "--listed-in"})  # of fstrim


def program_work(target: Target, root: str) -> Iterator[Maintenance]:
    """Each of these programs that runs at this moment, with what it works on."""
    own = {target.mount_point, *(f"/dev/{layer.name}" for layer in target.layers), target.mount_source}
    for path in sorted(glob.glob(os.path.join(root, "proc/[0-9]*/comm"))):
        name = _read(path).strip()
        if name not in PROGRAMS:
            continue
        words = _read(os.path.join(os.path.dirname(path), "cmdline")).split("\0")[1:]
        places = [word for word in words if word.startswith("/")]
        everywhere = bool(ALL & set(words)) or not places
        yield Maintenance(
            task=name,
            subject="all file systems" if everywhere else " ".join(places),
            below_target=everywhere or bool(own & set(places)),
        )


def _read(path: str) -> str:
    """ "" when the process has just ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
