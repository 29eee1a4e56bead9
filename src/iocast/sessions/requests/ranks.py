"""What is asked of the ranks of a run on many hosts, as it is sent to them."""

from __future__ import annotations

from msgspec import Struct

from iocast import __version__
from iocast.hosts.node_sets import HostPlace
from iocast.model.hosts import Share
from iocast.model.job import Job


class RankRequest(Struct, frozen=True, kw_only=True, tag="run"):
    """A job that was read and changed as asked, for every host."""

    job: Job
    places: tuple[HostPlace, ...]  # of the ranks, in their order
    share: Share = "own"
    ramp: tuple[int, ...] = ()  # all rows by so many of the first hosts, one count after the other; (): by all
    seed: int = 1
    destroy: str = ""
    price: float | None = None
    version: str = __version__


class CheckRequest(Struct, frozen=True, kw_only=True, tag="check"):
    """What each host is and has is asked for, and nothing is measured."""

    places: tuple[HostPlace, ...]
    version: str = __version__
