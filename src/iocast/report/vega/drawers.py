"""Draws many charts at the same time, in processes of their own: the drawing engine uses one processor only.

A drawer takes half a second until it is ready. Whoever knows early that there will be charts calls `get_ready`, and
`begin` with each as soon as it is there; `finish` waits for all. Where drawers cannot be started, or one of them
ends, this process draws what is left.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue

import msgspec

from iocast.report.vega.parts import Spec

MOST = 4  # more processors bring nothing more for as many charts as a card has [J]
FEWEST = 4  # charts for which no drawer is started [J]


class Drawing:
    """A specification, and its SVG once a drawer has made it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.svg: str | None = None
        self.begun = False


class _Crew:
    """Drawers that draw what is handed in, in its order."""

    def __init__(self, drawers: list[subprocess.Popen[bytes]]) -> None:
        self._drawers = drawers
        self._work: SimpleQueue[Drawing | None] = SimpleQueue()
        # Nobody waits for them where what was to be drawn is not wanted any more.
        self._threads = [threading.Thread(target=_drive, args=(each, self._work), daemon=True) for each in drawers]
        for thread in self._threads:
            thread.start()

    def take(self, drawing: Drawing) -> None:
        """Has it drawn, once."""
        if not drawing.begun:
            drawing.begun = True
            self._work.put(drawing)

    def dismiss(self) -> None:
        """Waits until all is drawn that can be, and lets the drawers go."""
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()
        for drawer in self._drawers:
            _dismiss(drawer)


_waiting: list[_Crew] = []  # one, or none
_waiting_lock = threading.Lock()


def get_ready() -> None:
    """Starts drawers for what will be drawn soon; does nothing where one processor has to do everything."""
    with _waiting_lock:
        if not _waiting:
            _waiting.extend(_fresh())


def begin(spec: Spec) -> Drawing | None:
    """Begins to draw what `finish` will be asked for; None where no drawers wait."""
    with _waiting_lock:
        if not _waiting:
            return None
        drawing = Drawing(spec)
        _waiting[0].take(drawing)
        return drawing


def finish(drawings: Sequence[Drawing]) -> list[str]:
    """All of them as SVG, in their order. Raises DrawingError."""
    from iocast.report.vega import spec_to_svg

    with _waiting_lock:
        crews = _waiting[:]
        _waiting.clear()
    if not crews and len(drawings) >= FEWEST:
        crews = _fresh()
    for crew in crews:
        for drawing in drawings:
            crew.take(drawing)
        crew.dismiss()
    return [each.svg if each.svg is not None else spec_to_svg(each.spec) for each in drawings]


def _useful() -> int:
    # One processor makes the charts meanwhile: a second drawer on two of them took a second of CPU time more, and no
    # time less.
    others = len(os.sched_getaffinity(0)) - 1
    return min(others, MOST) if sys.executable else 0


def _fresh() -> list[_Crew]:
    drawers = [each for each in (_started() for _ in range(_useful())) if each is not None]
    return [_Crew(drawers)] if drawers else []


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


def _drive(drawer: subprocess.Popen[bytes], work: SimpleQueue[Drawing | None]) -> None:
    """Hands work to a drawer until there is no more, or it answers no more."""
    assert drawer.stdin is not None
    assert drawer.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while (drawing := work.get()) is not None:
            drawer.stdin.write(msgspec.json.encode(drawing.spec) + b"\n")
            drawer.stdin.flush()
            length = int(drawer.stdout.readline())  # nothing is no number: the drawer is gone
            svg = drawer.stdout.read(length)
            if len(svg) < length:
                return
            drawing.svg = svg.decode()


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
