"""One process of `iocast-lab`: where it is built, how it is started before all others, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BUILDS = [TARGET / profile / "iocast-lab" for profile in ("release", "quick")]  # by `make lab`, by `make test`
PROGRAM = max(BUILDS, key=lambda build: build.stat().st_mtime if build.exists() else 0)


class NoLab(Exception):
    """No lab device can be made here; says why."""


def why_no_lab() -> str:
    """Why no lab device can be made on this machine; "" when one can."""
    if os.geteuid():
        return "a lab device needs root, to mount"
    if not os.path.exists("/dev/fuse"):
        return "a lab device needs /dev/fuse"
    return "" if PROGRAM.exists() else "iocast-lab is not built: cargo build --locked --release -p iocast-lab"


@contextmanager
def lab_process(path: Path, size_bytes: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    """While entered, `path` is a lab device of that size with these options; afterwards it is gone."""
    if why := why_no_lab():
        raise NoLab(why)
    words = [str(PROGRAM), str(path), f"size={size_bytes}", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_first)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        if not process.stdout.readline().startswith("ready "):
            said = process.stderr.read().strip()
            if "cannot mount" in said:
                raise NoLab(said)
            raise AssertionError(said)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def _first() -> None:
    """In the child: before all others, because the device's times are the truth of the test."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(4))
    except OSError:
        os.nice(-20)
