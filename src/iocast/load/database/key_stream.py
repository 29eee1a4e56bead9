"""What statement number i of a session is and where it goes, from its seed and its number alone.

The loops on the servers do the same in SQL; a test holds one against the other.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from iocast.model.database.database_load import DatabaseLoad

Kind = Literal["read", "update", "scan"]
KINDS: tuple[Kind, ...] = ("read", "update", "scan")

_MASK = 2**32 - 1
STEP, MIX_1, MIX_2 = 2654435769, 569420461, 1935289751
DRAWS = 4  # of each statement: its place, its pause, its distance, its choice of another place
PLACE, PAUSE, GAP = 0, 1, 2


def drawn(stream: int, number: int, draw: int) -> int:
    """32 random bits: draw number `draw` of statement `number`. Any of them can be had without those before it."""
    z = (stream + (number * DRAWS + draw) * STEP) & _MASK
    z = ((z ^ (z >> 16)) * MIX_1) & _MASK
    z = ((z ^ (z >> 15)) * MIX_2) & _MASK
    return z ^ (z >> 15)


def stream_of(seed: int, session: int) -> int:
    """Where the stream of a session begins: 32 bits."""
    mixed = (seed * 0x9E3779B97F4A7C15 + (session + 1) * 0xD1B54A32D192ED03) % 2**64
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    return (mixed ^ (mixed >> 31)) & _MASK


def kind_of(load: DatabaseLoad, number: int) -> Kind:
    """Updates have exactly their share of all statements, scans of all others: none of it is drawn by chance."""
    if (number * load.update_pct) % 100 >= 100 - load.update_pct:
        return "update"
    others = number - number * load.update_pct // 100
    return "scan" if (others * load.scan_pct) % 100 >= 100 - load.scan_pct else "read"


def next_due_ns(stream: int, number: int, due_ns: float, gap_ns: float, *, even: bool) -> float:
    """When the statement `number` is due, from the time at which the one before it was."""
    if even:
        return due_ns + gap_ns
    return due_ns - math.log((drawn(stream, number, GAP) + 0.5) / 4294967296.0) * gap_ns


def due_before(stream: int, number: int, due_ns: float, gap_ns: float, till_ns: int, *, even: bool) -> int:
    """How many statements from `number` on, which is due at `due_ns`, are due before a moment."""
    count = 0
    while due_ns < till_ns:
        count += 1
        due_ns = next_due_ns(stream, number + count, due_ns, gap_ns, even=even)
    return count


class Places(NamedTuple):
    """The keys of a table and of its hot spot, in rows: from 1 to `rows`."""

    rows: int
    hot_first: int = 1
    hot_rows: int = 0
    hot_every: int = 0
    theta: float = 0.0  # 0: every key is equally likely


def places_of(load: DatabaseLoad, rows: int, block_bytes: int) -> Places:
    """Where the statements of a load may go in a table of so many rows."""
    hot = load.hot
    return Places(
        rows=rows,
        hot_first=1 + hot.offset_bytes // block_bytes if hot else 1,
        hot_rows=max(1, hot.size_bytes // block_bytes) if hot else 0,
        hot_every=hot.every if hot else 0,
        theta=load.zipf_theta or 0.0,
    )


def place_of(places: Places, stream: int, number: int, blocks: int) -> int:
    """The first key (of a scan: the first block, from 1) of a statement that touches so many."""
    bits = drawn(stream, number, PLACE)
    first, room = 1, places.rows
    if places.hot_every and number % places.hot_every == places.hot_every - 1:
        first, room = places.hot_first, places.hot_rows
    room = max(1, room - blocks + 1)
    if places.theta and first == 1 and room > 1:
        return first + min(room - 1, zipf_rank(bits, room, places.theta))
    return first + (bits * room >> 32)


def zipf_rank(bits: int, rows: int, theta: float) -> int:
    """The rank, from 0, of a value whose probability falls with rank ** -theta: by inversion of the continuous law."""
    u = (bits + 0.5) / 4294967296.0
    if abs(theta - 1.0) < 1e-6:
        return int(math.pow(rows + 1.0, u)) - 1
    power = 1.0 - theta
    return int(math.pow((math.pow(rows + 1.0, power) - 1.0) * u + 1.0, 1.0 / power)) - 1
