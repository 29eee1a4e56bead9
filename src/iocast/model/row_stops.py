"""A measured row during which the storage stood still: how often, how long, and how much of what was outstanding."""

from __future__ import annotations

from msgspec import Struct


class RowStops(Struct, frozen=True):
    """`share`: of the outstanding I/Os stood still, the others went on; 1 where that is not known."""

    name: str
    seconds: tuple[float, ...]  # of each stop
    share: float = 1.0
