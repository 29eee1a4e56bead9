"""A process that reads and syncs so many times when told to, and ends when told to: somebody to be followed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAM = """
import mmap, os, random, sys
path, reads, syncs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
file = os.open(path, os.O_RDWR | os.O_DIRECT)
blocks = os.lseek(file, 0, os.SEEK_END) // 8192
room = mmap.mmap(-1, 8192)
print("ready", flush=True)
sys.stdin.readline()
draw = random.Random(7)
for _ in range(reads):
    os.preadv(file, [room], draw.randrange(blocks) * 8192)
for number in range(syncs):
    os.pwritev(file, [room], number * 8192)
    os.fdatasync(file)
print("done", flush=True)
sys.stdin.readline()
"""


class Child:
    """The process; it has opened its file, and waits."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def work(self) -> None:
        """Does all its I/O; it is there afterwards."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def child(path: str | Path, reads: int, syncs: int = 0) -> Iterator[Child]:
    """While entered, a process that can do so many direct reads of 8 KiB, and writes that are synced each."""
    command = [sys.executable, "-c", _PROGRAM, str(path), str(reads), str(syncs)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise OSError(f"{path}: direct I/O is refused")
        yield Child(process)
    finally:
        process.kill()
        process.communicate()
