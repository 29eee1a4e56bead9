"""The drawing engine: vl-convert draws specifications in a process of its own, on several processors at the same time.

It takes a moment until it is warm. Whoever knows early that there will be charts calls `get_ready`, and `begin` with
each as soon as it is there: they are drawn while Python makes the next.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future

import msgspec
from msgspec import Struct

from iocast.errors import DrawingError
from iocast.report.charts.drawing import drawing_process
from iocast.report.charts.drawing.drawing_process import HEAD
from iocast.report.charts.drawing.parts import Spec

VEGA_LITE = "6.4"  # the newest that vl-convert brings along
PNG_SCALE = 2.0  # for screens of today
MOST = 4  # more workers bring nothing more for as many charts as a card has [J]
MISSING = "Charts need vl-convert-python, which is not installed"
REMEDY = 'pip install "iocast[charts]"'
IDLE_S = 60.0  # then the process ends, and its memory is free
# A little of all that charts are made of: a worker that has drawn it has compiled most of what it will need.
EVERYTHING: Spec = {
    "data": {"values": [{"x": 1, "y": 2}, {"x": 9, "y": 5}]},
    "encoding": {
        "x": {"field": "x", "type": "quantitative", "scale": {"type": "log"}},
        "y": {"field": "y", "type": "quantitative"},
    },
    "layer": [
        *({"mark": mark} for mark in ("area", "line", "bar", "rule", "point")),
        {"mark": "text", "encoding": {"text": {"field": "y", "format": ".2s"}, "color": {"field": "x"}}},
    ],
}


class _Request(Struct):
    number: int
    form: str
    spec: str
    options: dict[str, str | float]


def installed() -> bool:
    """True when there is something that draws: it is an extra, and all else works without it."""
    return importlib.util.find_spec("vl_convert") is not None


def what_is_missing() -> str:
    """What to tell people where nothing draws, "" where something does."""
    return _drawing.died if installed() else f"{MISSING}: {REMEDY}"


def has_died() -> bool:
    """True when a process that draws died with drawings undone since `get_ready`."""
    return bool(_drawing.died)


def get_ready() -> None:
    """Lets every worker warm up; waits for none, and for nothing that it draws."""
    _drawing.died = ""
    for _ in range(_workers() if installed() else 0):
        begin(text(EVERYTHING))


def begin(spec: str) -> Future[bytes]:
    """Draws a specification as SVG while others do something else. Its result raises DrawingError."""
    return _drawing.ask("vegalite_to_svg", spec)


def to_svg(spec: str) -> str:
    """A specification as SVG. Raises DrawingError."""
    return _drawing.ask("vegalite_to_svg", spec).result().decode()


def to_png(spec: str) -> bytes:
    """A specification as PNG. Raises DrawingError."""
    return _drawing.ask("vegalite_to_png", spec, scale=PNG_SCALE).result()


def text(spec: Spec) -> str:
    """A specification as the engine reads it."""
    return msgspec.json.encode(spec).decode()


@functools.cache
def _workers() -> int:
    # One processor makes the charts meanwhile: on two, a second worker took half a second of CPU time more, and no time
    # less.
    return max(1, min(len(os.sched_getaffinity(0)) - 1, MOST))


class _Drawing:
    """Who is asked for drawings: a process that is started when it is first needed, and again where it has ended."""

    def __init__(self) -> None:
        self.died = ""  # how one did since `get_ready`, in a sentence
        self._lock = threading.Lock()
        self._process: _Process | None = None

    def ask(self, form: str, spec: str, **options: float) -> Future[bytes]:
        """A drawing that is on its way."""
        answer: Future[bytes] = Future()
        if not installed():
            answer.set_exception(DrawingError(MISSING, REMEDY))
            return answer
        with self._lock:
            try:
                if self._process is None or self._process.over:
                    self._process = None
                    self._process = _Process(self._lock, self._mourn)
                self._process.ask(answer, form, spec, {"vl_version": VEGA_LITE, **options})
            except OSError as error:
                started = self._process
                how = _how(started.child.wait()) if started else f"cannot be started: {error.strerror}"
                self._mourn(how, [answer])
        return answer

    def _mourn(self, how: str, undone: list[Future[bytes]]) -> None:
        self.died = f"Charts could not be drawn: the drawing engine {how}"
        for waiting in undone:
            waiting.set_exception(_failure(self.died))

    def end(self) -> None:
        """Ends the process, at the end of this one."""
        if self._process is not None:
            self._process.bury()


class _Process:
    """One process that draws, and what it was asked for. `lock` is held by who asks."""

    def __init__(self, lock: threading.Lock, mourn: Callable[[str, list[Future[bytes]]], None]) -> None:
        self.over = False  # it takes no more requests
        self._lock, self._mourn = lock, mourn
        self._asked: dict[int, Future[bytes]] = {}
        # -P: what stands beside the script is no module of its own. A group of its own: Ctrl-C is not meant for it.
        command = [sys.executable, "-P", drawing_process.__file__, str(_workers())]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, process_group=0)
        threading.Thread(target=self._listen, name="drawing", daemon=True).start()

    def ask(self, answer: Future[bytes], form: str, spec: str, options: dict[str, str | float]) -> None:
        """Hands over a request. Raises OSError where the process is gone."""
        number = max(self._asked, default=0) + 1
        assert self.child.stdin is not None
        self.child.stdin.write(msgspec.json.encode(_Request(number, form, spec, options)) + b"\n")
        self.child.stdin.flush()
        self._asked[number] = answer

    def _listen(self) -> None:
        """Hands out the answers until it ends, or was idle for long."""
        assert self.child.stdout is not None
        answers = self.child.stdout.fileno()
        while not self._idle(answers) and (head := _read(answers, HEAD.size)):
            number, fine, size = HEAD.unpack(head)
            data = _read(answers, size)
            if data is None:
                break
            with self._lock:
                waiting = self._asked.pop(number)
            if fine:
                waiting.set_result(data)
            else:
                waiting.set_exception(_failure(f"drawing failed: {data.decode(errors='replace')}"))
        with self._lock:
            self.over = True
        self.bury()
        with self._lock:
            undone = [*self._asked.values()]
            if undone:
                self._mourn(_how(self.child.returncode), undone)

    def _idle(self, answers: int) -> bool:
        waiting = select.poll()
        waiting.register(answers, select.POLLIN)
        while not waiting.poll(IDLE_S * 1000):
            with self._lock:
                if not self._asked:
                    self.over = True
                    return True
        return False

    def bury(self) -> None:
        """Waits for its end, which comes when nobody can ask any more."""
        if self.child.stdin is not None:
            with contextlib.suppress(OSError):
                self.child.stdin.close()
        self.child.wait()


def _read(descriptor: int, size: int) -> bytes | None:
    """So many bytes; None where they end before."""
    parts: list[bytes] = []
    while size and (part := os.read(descriptor, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return None if size else b"".join(parts)


def _how(code: int) -> str:
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended with exit code {code}"


def _failure(message: str) -> DrawingError:
    return DrawingError(message, "write the report as text: -o card.txt")


_drawing = _Drawing()
atexit.register(_drawing.end)
