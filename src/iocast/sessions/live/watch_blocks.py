"""watch blk: requests of block devices are watched, interval by interval."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.block_times import BlockTimes
from iocast.observe.block import watch
from iocast.observe.target.whole_disk import find_device, name_of
from iocast.sessions.events import WatchBegun
from iocast.sessions.listener import Listener
from iocast.sessions.requests.blk import BlkRequest


def watch_blocks(request: BlkRequest, listener: Listener) -> Iterator[tuple[BlockTimes, int]]:
    """What was seen in each interval, and when it ended (ns since 1970). Raises IocastError."""
    devices = dict(find_device(each) for each in request.devices)
    options = {"ops": request.ops, "size_bytes": request.size_bytes, "slow_ns": request.slow_ns}
    with watch(tuple(devices), options) as watching, listener.working() as stopping:
        listener.tell(WatchBegun(tuple(devices.values()), request.interval_ns, watching.notes))
        yield from watching.every(request.interval_ns, request.count, stopping, name_of)
