"""The drawing engine: vl-convert draws specifications in threads of its own, on several processors at the same time.

It takes a moment until it is warm. Whoever knows early that there will be charts calls `get_ready`, and `begin` with
each as soon as it is there: they are drawn while Python makes the next.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec

from iocast.errors import DrawingError
from iocast.report.charts.drawing.parts import Spec

VEGA_LITE = "6.4"  # the newest that vl-convert brings along
PNG_SCALE = 2.0  # for screens of today
MOST = 4  # more workers bring nothing more for as many charts as a card has [J]
REMARKS = ("vl_convert", "vl_convert_rs", "usvg", "resvg", "tiny_skia", "fontdb")  # the engine's parts that log
MISSING = "Charts need vl-convert-python, which is not installed"
REMEDY = 'pip install "iocast[charts]"'
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


def installed() -> bool:
    """True when there is something that draws: it is an extra, and all else works without it."""
    return importlib.util.find_spec("vl_convert") is not None


def what_is_missing() -> str:
    """What to tell people where nothing draws, "" where something does."""
    return "" if installed() else f"{MISSING}: {REMEDY}"


def get_ready() -> None:
    """Lets every worker warm up; waits for none, and for nothing that it draws."""
    for _ in range(_workers() if installed() else 0):
        begin(text(EVERYTHING))


def begin(spec: str) -> Future[str]:
    """Draws a specification as SVG while others do something else. Its result raises DrawingError."""
    return _pool().submit(to_svg, spec)


def to_svg(spec: str) -> str:
    """A specification as SVG. Raises DrawingError."""
    return str(_drawn("vegalite_to_svg", spec))


def to_png(spec: str) -> bytes:
    """A specification as PNG. Raises DrawingError."""
    return bytes(_drawn("vegalite_to_png", spec, scale=PNG_SCALE))


def text(spec: Spec) -> str:
    """A specification as the engine reads it."""
    return msgspec.json.encode(spec).decode()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    # Threads only wait, without Python's lock, until their drawings are done; one more than there are workers, so that
    # a worker has its next drawing at hand while others hold that lock.
    return ThreadPoolExecutor(_workers() + 1, "drawing")


@functools.cache
def _workers() -> int:
    # One processor makes the charts meanwhile: on two, a second worker took half a second of CPU time more, and no time
    # less.
    return max(1, min(len(os.sched_getaffinity(0)) - 1, MOST))


def _drawn(form: str, spec: str, **options: float) -> Any:
    try:
        return getattr(_engine(), form)(spec, vl_version=VEGA_LITE, **options)
    except (ValueError, OSError) as error:
        message = " ".join(str(error).split("\n")[:2])
        raise DrawingError(f"drawing failed: {message}", "write the report as text: -o card.txt") from error


_configuring = threading.Lock()


def _engine() -> Any:
    with _configuring:
        return _configured()


@functools.cache
def _configured() -> Any:
    import logging

    try:
        import vl_convert  # type: ignore[import-untyped]
    except ImportError as error:
        raise DrawingError(MISSING, REMEDY) from error
    # What it remarks on a drawing is for those who make charts, and no line on a user's terminal.
    for name in REMARKS:
        logging.getLogger(name).addHandler(logging.NullHandler())
    # Charts bring all of their data with them; nothing is fetched.
    vl_convert.configure(num_workers=_workers(), base_url=False, allowed_base_urls=[])
    return vl_convert
