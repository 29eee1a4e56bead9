"""Whether this machine is quiet: how busy its processors and the disks under a target are before a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from msgspec import Struct

from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.model.view import views
from iocast.observe import cpu, diskstats
from iocast.observe.observer import BlindError, Observer

LOOK_S = 3.0
QUIET_CPU = 0.1  # of all processor time [J]
QUIET_DISK = 0.05  # of the time, of the busiest layer [J]


class BusyShares(Struct, frozen=True):
    """Busy shares of CPU and disk over a few seconds, 0 to 1; None where unknown."""

    cpu: float | None
    disk: float | None

    @property
    def known(self) -> bool:
        """Whether anything could be seen."""
        return self.cpu is not None or self.disk is not None

    @property
    def quiet(self) -> bool:
        """Whether what is known of it is little."""
        return self.known and (self.cpu or 0.0) < QUIET_CPU and (self.disk or 0.0) < QUIET_DISK


def busy_shares(target: Target, sleep: Callable[[float], None] = time.sleep) -> BusyShares:
    """How busy processors and disks are over the next seconds."""
    samples: list[Sample] = []
    with ExitStack() as entered, suppress(BlindError):
        observers: list[Observer] = []
        for module in (cpu, diskstats):
            with suppress(BlindError):
                observers.append(entered.enter_context(module.Observer(target, ())))
        for wait_s in (LOOK_S, 0):
            samples += [sample for observer in observers for sample in observer.sample()]
            sleep(wait_s)
    machine = views(samples, cpu.NAME).get("")
    idle = machine.idle_share if machine else None
    disks = [view.utilisation for view in views(samples, diskstats.NAME).values()]
    return BusyShares(
        cpu=None if idle is None else 1 - idle, disk=max((each for each in disks if each is not None), default=None)
    )


def until_quiet(
    target: Target,
    most_ns: int,
    look: Callable[[Target], BusyShares] = busy_shares,
    clock: Callable[[], int] = time.monotonic_ns,
) -> tuple[BusyShares, int]:
    """Looks until it is quiet, at most so long; what was seen last, and how long that took. Where nothing can be seen
    there is nothing to wait for. It looks once at least, and not again where that would last too long."""
    begun_ns, waited_ns = clock(), 0
    while True:
        shares = look(target)
        before_ns, waited_ns = waited_ns, clock() - begun_ns
        if shares.quiet or not shares.known or 2 * waited_ns - before_ns > most_ns:
            return shares, waited_ns
