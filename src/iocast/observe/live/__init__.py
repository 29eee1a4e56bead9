"""Observers of a live watch: they follow processes, and cost more than a measured row may pay; no card has them."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from msgspec import Struct

from iocast.observe.live import kernel_layers, network, nfs_client, processes, throttling
from iocast.observe.live.watched import Watched
from iocast.observe.observer import ObserverFactory


class LiveModule(Protocol):
    """As an observer of a load, but `Observer(target, files, watched)` is told whom to follow."""

    NAME: str
    NEEDS: str
    OVERHEAD: str

    @property
    def Observer(self) -> Any:
        """Builds the observer of a target, of work files, and of those who are followed."""


LIVE_OBSERVERS: tuple[LiveModule, ...] = (
    kernel_layers,
    processes,
    throttling,
    nfs_client,
    network,
)


class Following(Struct):
    """A live observer that knows whom to follow: from here on one as any other, for `observe.Watch`."""

    NAME: str
    NEEDS: str
    OVERHEAD: str
    Observer: ObserverFactory


def live_observers(watched: Watched, without: frozenset[str] = frozenset()) -> tuple[Following, ...]:
    """All of them, following these; `without` some, by name."""
    return tuple(
        Following(each.NAME, each.NEEDS, each.OVERHEAD, partial(each.Observer, watched=watched))
        for each in LIVE_OBSERVERS
        if each.NAME not in without
    )
