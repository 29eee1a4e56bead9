"""Starts a command in a control group that may hold few processes and threads, as TasksMax= of systemd has it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest


def groups() -> Path | None:
    """Where groups that limit processes are made; None where this user cannot make one."""
    for place in (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")):
        limits = place / "cgroup.subtree_control"
        if os.access(place, os.W_OK) and (place.name == "pids" or (limits.exists() and "pids" in limits.read_text())):
            return place
    return None


def before(most: int) -> tuple[str, ...]:
    """What starts a command so. Skips the test where that cannot be done."""
    if groups() is None:
        pytest.skip("needs root and a control group with pids.max")
    return (sys.executable, str(Path(__file__)), str(most))


def main(most: str, command: list[str]) -> int:
    """Its exit code, as a shell says it."""
    place = groups()
    assert place is not None
    group = place / f"iocast-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "pids.max").write_text(most)
        child = os.fork()
        if not child:
            (group / "cgroup.procs").write_text(str(os.getpid()))
            os.execvp(command[0], command)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        for _ in range(100):  # the kernel takes a moment to let go of threads
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.02)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
