"""watch blk: requests of block devices are watched, interval by interval."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.block_times import BlockTimes
from iocast.sessions.events import WatchBegun
from iocast.sessions.listener import Listener
from iocast.sessions.requests import option_value
from iocast.units import parse_duration, parse_size

SHORTEST_NS = 10_000_000


class WatchRequest(Struct, frozen=True, kw_only=True):
    """Which requests, and how often; no devices: all, no count: until it is stopped."""

    devices: tuple[str, ...] = ()
    interval_ns: int = 1_000_000_000
    count: int | None = None
    ops: tuple[str, ...] = ()
    size_bytes: int | None = None
    slow_ns: int | None = None


def interval_of(text: str, option: str = "--interval") -> int:
    """What is given as the length of an interval, in nanoseconds. Raises SpecError, which names the option."""
    interval_ns = option_value(option, text, parse_duration)
    if interval_ns < SHORTEST_NS:
        raise SpecError(f"{option} {text} is too short", "give 10ms or more")
    return interval_ns


def watch_request(
    *,
    devices: tuple[str, ...],
    interval: str,
    count: int | None,
    ops: tuple[str, ...],
    size: str | None,
    slow: str | None,
) -> WatchRequest:
    """The request of options as they are written on a command line. Raises SpecError, which names the option."""
    return WatchRequest(
        devices=devices,
        interval_ns=interval_of(interval),
        count=count,
        ops=ops,
        size_bytes=option_value("--size", size, parse_size) if size else None,
        slow_ns=option_value("--slow", slow, parse_duration) if slow else None,
    )


def watch_blocks(request: WatchRequest, listener: Listener) -> Iterator[tuple[BlockTimes, int]]:
    """What was seen in each interval, and when it ended (ns since 1970). Raises IocastError."""
    from iocast.observe.block import watch
    from iocast.observe.target.whole_disk import find_device, name_of

    found = dict(find_device(each) for each in request.devices)
    options = {"ops": request.ops, "size_bytes": request.size_bytes, "slow_ns": request.slow_ns}
    with watch(tuple(found), options) as watching, listener.working() as stopping:
        listener.tell(WatchBegun(tuple(found.values()), request.interval_ns, watching.notes))
        yield from watching.every(request.interval_ns, request.count, stopping, name_of)
