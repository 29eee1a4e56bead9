"""Calibration: the limit that a search for the highest load within it was given, and what its rows are called."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

# The tests of its rows, by which they are found again in a run folder.
CLOSED: Final = "randread"  # random reads of so many outstanding I/Os
OPEN: Final = "open"  # random reads at a rate
STREAM: Final = "stream"  # large sequential reads, of one user and of several in parallel

STREAM_BYTES: Final = 1 << 20
OPEN_SHARES: Final = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95)  # of the most IOPS: the rates that every search measures


class CalibrationRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limit, what it holds for, and what is read."""

    max_latency_ns: int
    quantile: float | None = 0.99  # of the response time; None: its mean
    block_bytes: int = 8192
    disks: int | None = None  # as far as somebody says
    row_seconds: float | None = None  # of every row; None: as long as each needs
