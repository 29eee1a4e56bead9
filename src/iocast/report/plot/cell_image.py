"""A PNG of coloured cells: a heat map as one image instead of ten thousand rectangles."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise

# From nothing to most: dark to light, told apart in grey and without red and green.
RAMP = (
    (0.0, (14, 17, 24)),
    (0.04, (33, 20, 67)),
    (0.25, (92, 18, 110)),
    (0.5, (173, 45, 92)),
    (0.75, (236, 104, 38)),
    (0.92, (251, 186, 31)),
    (1.0, (252, 253, 191)),
)
STEPS = 64


def colour(level: float) -> tuple[int, int, int]:
    """The colour of a level from 0 (nothing) to 1 (most)."""
    at = min(1.0, max(0.0, level))
    for (low, one), (high, other) in pairwise(RAMP):
        if at <= high:
            part = (at - low) / (high - low)
            mixed = [round(a + (b - a) * part) for a, b in zip(one, other, strict=True)]
            return mixed[0], mixed[1], mixed[2]
    return RAMP[-1][1]


def levels(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Counts as levels: a single one can still be seen, and the most is 1."""
    most = max((count for column in columns for count in column), default=0.0)
    full = math.log1p(most)
    return [[0.12 + 0.88 * math.log1p(count) / full if count else 0.0 for count in column] for column in columns]


def data_url(columns: Sequence[Sequence[float]]) -> str:
    """The image as a data: address; `columns` from left to right, each from bottom to top, of levels 0 to 1."""
    return "data:image/png;base64," + base64.b64encode(png(columns)).decode()


def png(columns: Sequence[Sequence[float]]) -> bytes:
    """The image with a palette, one pixel a cell."""
    width, height = len(columns), len(columns[0])
    palette = b"".join(bytes(colour(step / (STEPS - 1))) for step in range(STEPS))
    lines = [
        b"\0" + bytes(round(column[line] * (STEPS - 1)) for column in columns) for line in range(height - 1, -1, -1)
    ]
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, parts))


def _chunk(part: tuple[bytes, bytes]) -> bytes:
    name, data = part
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
