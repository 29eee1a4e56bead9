"""Draws many charts at the same time, in processes of their own: the drawing engine uses one processor only.

A drawer takes half a second until it is ready. Whoever knows early that there will be charts calls `get_ready`.
Where drawers cannot be started, or one of them ends, this process draws what is left.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from iocast.report.vega.parts import Spec

MOST = 4  # more processors bring nothing more for as many charts as a card has [J]
FEWEST = 4  # charts for which no drawer is started [J]

_waiting: list[subprocess.Popen[bytes]] = []
_waiting_lock = threading.Lock()


def get_ready() -> None:
    """Starts drawers for what will be drawn soon; does nothing where one processor has to do everything."""
    with _waiting_lock:
        if not _waiting:
            _waiting.extend(_fresh())


def drawn(specs: Sequence[Spec]) -> list[str]:
    """All specifications as SVG, in their order. Raises DrawingError."""
    from iocast.report.vega import spec_to_svg

    drawers = _crew(len(specs))
    found: list[str | None] = [None] * len(specs)
    left, lock = iter(range(len(specs))), threading.Lock()
    threads = [threading.Thread(target=_drive, args=(each, specs, left, lock, found)) for each in drawers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for drawer in drawers:
        _dismiss(drawer)
    return [svg if svg is not None else spec_to_svg(spec) for svg, spec in zip(found, specs, strict=True)]


def _useful() -> int:
    cpus = len(os.sched_getaffinity(0))
    return min(cpus, MOST) if cpus > 1 and sys.executable else 0


def _crew(charts: int) -> list[subprocess.Popen[bytes]]:
    """The drawers that wait, or fresh ones where that is worth it."""
    with _waiting_lock:
        waiting = _waiting[:]
        _waiting.clear()
    if waiting or charts < FEWEST:
        return waiting
    return _fresh()


def _fresh() -> list[subprocess.Popen[bytes]]:
    return [each for each in (_started() for _ in range(_useful())) if each is not None]


def _started() -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return None


def _command() -> list[str]:
    from iocast.report.vega import VEGA_LITE

    # -P: what lies beside the file is not imported.
    return [sys.executable, "-P", str(Path(__file__).with_name("drawer.py")), VEGA_LITE]


def _drive(
    drawer: subprocess.Popen[bytes],
    specs: Sequence[Spec],
    left: Iterator[int],
    lock: threading.Lock,
    found: list[str | None],
) -> None:
    """Hands specifications to a drawer until none is left, or it answers no more."""
    assert drawer.stdin is not None
    assert drawer.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while True:
            with lock:
                at = next(left, None)
            if at is None:
                return
            drawer.stdin.write(msgspec.json.encode(specs[at]) + b"\n")
            drawer.stdin.flush()
            length = int(drawer.stdout.readline())  # nothing is no number: the drawer is gone
            svg = drawer.stdout.read(length)
            if len(svg) < length:
                return
            found[at] = svg.decode()


def _dismiss(drawer: subprocess.Popen[bytes]) -> None:
    """Lets a drawer go: it ends when nothing can be handed to it any more."""
    for pipe in (drawer.stdin, drawer.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        drawer.wait(5)
    except subprocess.TimeoutExpired:
        drawer.kill()
        drawer.wait()
