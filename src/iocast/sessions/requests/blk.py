"""What is asked of `iocast watch blk`: which requests of block devices, and how often."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from iocast.sessions.requests.option import argument, option
from iocast.sessions.requests.run_options import interval_of, option_value
from iocast.units import parse_duration, parse_size

BlockOp = Literal["read", "write", "trim", "flush", "other"]


def _size(text: str, name: str) -> int | None:
    return option_value(name, text, parse_size) if text else None


def _time(text: str, name: str) -> int | None:
    return option_value(name, text, parse_duration) if text else None


class BlkRequest(Struct, frozen=True, kw_only=True):
    """Which requests, and how often; no devices: all, no count: until it is stopped."""

    devices: Annotated[tuple[str, ...], argument(metavar="[DEVICE]...")] = ()
    interval_ns: Annotated[
        int, option("Time between reports.", "TIME", spelt="--interval", read=interval_of, usual="1s")
    ] = 1_000_000_000
    count: Annotated[int | None, option("Stop after N intervals.", "N"), Meta(ge=1)] = None
    ops: Annotated[tuple[BlockOp, ...], option("Show only this operation; may be repeated.", spelt="--op")] = ()
    size_bytes: Annotated[
        int | None, option("Show only requests of exactly this size, e.g. 8KiB.", "SIZE", spelt="--size", read=_size)
    ] = None
    slow_ns: Annotated[
        int | None, option("List each request that took longer, e.g. 500ms.", "TIME", spelt="--slow", read=_time)
    ] = None
