"""Ranks: the processes of one run, a host each, kept together by MPI.

Between phases they wait asleep, look how far their clocks are apart, and agree on the instant of the next start; while
load runs not one call of MPI is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from iocast._core import unix_ns
from iocast.errors import LoadError
from iocast.hosts.launched_ranks import EXTRA
from iocast.load import Layout, Loader, MeasuredPhase, OnTick, PlannedGroup, WorkFile
from iocast.model.plan import Phase, PhasePlan

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Request

ROUND_TRIPS = 24  # for the distance between two clocks
_NAP_S = 0.0005
_MARGIN_NS = 20_000_000  # from the agreement to the start: all have heard of it by then


class Offset(NamedTuple):
    """How far the clock of the first rank is ahead of this one, and how well that is known."""

    ahead_ns: int
    error_ns: int  # half of the shortest round trip


class Left(LoadError):
    """This rank goes no further, because it was told to stop while it waited."""


class Ranks:
    """This rank among all of them."""

    def __init__(self, comm: Intracomm, stopped: Callable[[], bool] = lambda: False) -> None:
        self._comm = comm
        self.stopped = stopped  # asked while it waits
        self.number: int = comm.rank
        self.size: int = comm.size
        self.offset = Offset(0, 0)

    @classmethod
    def of_this_launch(cls) -> Ranks:
        """All that were launched with this process. Raises LoadError where MPI is not there."""
        try:
            import mpi4py

            mpi4py.rc.threads = False
            mpi4py.rc.finalize = False  # it waits for all, some of which may have died
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:
            raise LoadError(f"MPI for Python cannot be used: {error}", EXTRA) from error
        return cls(MPI.COMM_WORLD)

    def gathered(self, data: bytes) -> list[bytes]:
        """What every rank gives, in their order, on all of them. Raises Left."""
        own, sizes = _array(1), _array(self.size)
        own[0] = len(data)
        self._wait(self._comm.Iallgather(_numbers(own), _numbers(sizes)))
        return [self._broadcast(data if each == self.number else None, sizes[each], each) for each in range(self.size)]

    def shared(self, data: bytes | None) -> bytes:
        """What the first rank gives, on all of them. Raises Left."""
        size = _array(1)
        size[0] = len(data or b"")
        self._wait(self._comm.Ibcast(_numbers(size), root=0))
        return self._broadcast(data, size[0], 0)

    def _broadcast(self, data: bytes | None, size: int, root: int) -> bytes:
        from mpi4py import MPI

        buffer = bytearray(size) if data is None else bytearray(data)
        self._wait(self._comm.Ibcast([buffer, MPI.BYTE], root=root))
        return bytes(buffer)

    def first(self, count: int) -> Ranks:
        """The first `count` ranks, of which this is one. Raises LoadError where the others cannot be reached."""
        if count >= self.size:
            return self
        group = self._comm.Get_group().Incl(range(count))
        fewer = Ranks(self._comm.Create_group(group, tag=count))
        fewer.stopped = self.stopped
        return fewer

    def together(self) -> None:
        """Waits for all, and for the instant of a common start.

        Raises Left, also where another rank goes no further.
        """
        if not all(self._votes(1)):
            raise Left("another host went no further")
        self.offset = self._measured_offset()
        agreed = b"%d" % (time.monotonic_ns() + _MARGIN_NS) if self.number == 0 else None
        own_ns = int(self.shared(agreed)) - self.offset.ahead_ns
        while (left_ns := own_ns - time.monotonic_ns()) > 0:
            time.sleep(min(left_ns / 1e9, 0.1))

    def leave(self) -> None:
        """Goes no further, and waits until all others do not either: those that wait for a start are told. After it
        what all have is gathered."""
        self.stopped = lambda: False
        while any(self._votes(0)):
            pass

    def end(self) -> None:
        """Nothing more of MPI, on any rank: a launcher takes a process that ends without it for a failure."""
        from mpi4py import MPI

        MPI.Finalize()

    def _votes(self, own: int) -> list[int]:
        """What each rank wants: 1 to go on, 0 to end."""
        vote, votes = _array(1), _array(self.size)
        vote[0] = own
        self._wait(self._comm.Iallgather(_numbers(vote), _numbers(votes)))
        return list(votes)

    def _measured_offset(self) -> Offset:
        """One rank after the other: the shortest of many round trips says most."""
        if self.number == 0:
            for other in range(1, self.size):
                for _ in range(ROUND_TRIPS):
                    self._receive(other)
                    self._send(other, time.monotonic_ns())
            return Offset(0, 0)
        best: Offset | None = None
        for trip in range(ROUND_TRIPS):
            before_ns = time.monotonic_ns()
            self._send(0, 0)
            theirs_ns = self._receive(0, 0 if trip else _NAP_S)  # the first answer comes when those before are done
            trip_ns = time.monotonic_ns() - before_ns
            if best is None or trip_ns // 2 < best.error_ns:
                best = Offset(theirs_ns - before_ns - trip_ns // 2, trip_ns // 2)
        assert best is not None
        return best

    def _send(self, other: int, value: int) -> None:
        number = _array(1)
        number[0] = value
        self._wait(self._comm.Isend(_numbers(number), dest=other), 0)

    def _receive(self, other: int, nap_s: float = 0) -> int:
        number = _array(1)
        self._wait(self._comm.Irecv(_numbers(number), source=other), nap_s)
        received: int = number[0]
        return received

    def _wait(self, request: Request, nap_s: float = _NAP_S) -> None:
        """Asleep, not spinning: the processors belong to the load of the others. Raises Left."""
        while not request.Test():
            if self.stopped():
                raise Left("stopped while waiting for the other hosts")
            if nap_s:
                time.sleep(nap_s)


class Instant(Struct, frozen=True):
    """When the first phase of a group began."""

    started_ns: int  # on the clock of the first rank
    clock_error_ns: int


class Together:
    """A loader that begins what is measured at the same instant as those of all other ranks."""

    def __init__(self, loader: Loader, ranks: Ranks) -> None:
        self.real_time, self.step_ns = loader.real_time, loader.step_ns
        self._loader, self._ranks = loader, ranks
        self._groups = {ranks.size: ranks}
        self.count = ranks.size  # of the first ranks, which make the next group
        self.last = Instant(0, 0)

    def lay_out(self) -> Layout:
        """As the loader of one host."""
        return self._loader.lay_out()

    def check(self, layout: Layout) -> None:
        """As the loader of one host."""
        self._loader.check(layout)

    def phase_plan(self, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
        """As the loader of one host."""
        return self._loader.phase_plan(phase, files, seed)

    def measure(self, group: PlannedGroup, on_tick: OnTick) -> tuple[MeasuredPhase, ...]:
        """Waits for all others before anything that is no preparation. Raises LoadError."""
        if group.plans[0].role in ("fill", "verify"):
            return self._loader.measure(group, on_tick)
        if self.count not in self._groups:
            self._groups[self.count] = self._ranks.first(self.count)
        ranks = self._groups[self.count]
        ranks.together()
        ahead_ns, error_ns = ranks.offset
        wall_ahead_ns = unix_ns() - time.monotonic_ns()
        measured = self._loader.measure(group, on_tick)
        started_ns = measured[0].measurement.started_unix_ns - wall_ahead_ns + ahead_ns
        self.last = Instant(started_ns, error_ns)
        return measured


def _array(size: int) -> Any:
    import array

    return array.array("q", bytes(8 * size))


def _numbers(values: Any) -> list[Any]:
    """An array of 64-bit numbers, as MPI for Python takes it."""
    from mpi4py import MPI

    return [values, MPI.INT64_T]
