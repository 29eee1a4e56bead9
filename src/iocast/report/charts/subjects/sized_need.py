"""What a chart of a sizing is made of: the devices that each part of a need takes."""

from __future__ import annotations

from msgspec import Struct


class SizedNeed(Struct, frozen=True):
    """(words, devices) of each part, which of them binds, how many devices there are in the end, and why so many."""

    device: str
    counts: tuple[tuple[str, int], ...]
    binding: str
    devices: int
    why: str
    noun: str = "device"
