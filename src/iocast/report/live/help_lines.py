"""The keys of `iocast top`."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.report.live.styled_lines import Line, Piece, line

_KEYS = (
    ("space", "pause, or follow the newest interval again"),
    ("← →", "one interval back or forward; with Shift: ten"),
    ("End", "to the newest interval"),
    ("+ -", "longer or shorter intervals"),
    ("o", "overview: devices, layers, sessions"),
    ("h", "heat maps: how often each latency came, and how long was waited in it"),
    ("Tab", "the next histogram of the heat map"),
    ("n", "notes: what could not be seen, and why"),
    ("d", "dark or light"),
    ("q", "quit"),
)


def help_lines() -> Iterator[Line]:
    """One line a key, and what the columns mean."""
    yield line("Keys", "head")
    for key, does in _KEYS:
        yield (Piece(f"  {key:<8}", "strong"), Piece(does))
    yield ()
    yield line("Layers", "head")
    yield line("  call         a system call of a process, from entry to exit; one served by the page cache is in it")
    yield line("  block layer  from the arrival of a bio, below limits of control groups, to its end")
    yield line("  request      from the making of a request to its end: the await of iostat")
    yield line("  device       from the hand-over to the driver to the end")
    yield line("  Counts stand below the upper bound of their column.")
