"""Other processes that use a file or device while something is tried on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def other_process(program: str, *words: object, before: tuple[str, ...] = ()) -> Iterator[int]:
    """The pid of a Python program that has done its work and waits until the end; `before` is what starts it."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", f"{program}\nprint(flush=True)\ninput()", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process.pid
    finally:
        process.communicate("\n")
