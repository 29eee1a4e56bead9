"""Zones of a disk: what tests in them say of the arm, and how much the outer tracks hold."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.errors import SpecError


class Zone(Struct, frozen=True):
    """Random reads of several processes at the same time, by how long all of them took."""

    reads: int  # of all processes
    processes: int
    elapsed_s: float
    slower: float  # than the first test: 0.522 is 52.2 %

    @property
    def per_read_s(self) -> float:
        """Elapsed time by all reads, as Kolk prints it: half of what a read takes where two are outstanding."""
        return self.elapsed_s / self.reads

    @property
    def response_s(self) -> float:
        """What a read takes: each process waits for its own."""
        return self.elapsed_s * self.processes / self.reads

    @property
    def iops(self) -> float:
        """Reads a second."""
        return self.reads / self.elapsed_s


def zones(reads_each: int, processes: int, elapsed_s: Sequence[float]) -> tuple[Zone, ...]:
    """Tests of the same reads in different places. Raises SpecError."""
    if reads_each < 1 or processes < 1 or not elapsed_s or min(elapsed_s) <= 0:
        raise SpecError("a test of no reads, or of no time, says nothing", "give reads, processes and seconds above 0")
    return tuple(Zone(reads_each * processes, processes, each, each / elapsed_s[0] - 1) for each in elapsed_s)


def outer_share(inner_over_outer: float, part: float = 1 / 3) -> float:
    """The share of the data on the outer part of the stroke, where tracks hold data as they are long.

    `inner_over_outer` is the radius, and so the speed, of the innermost track over that of the outermost: 0.71 gives
    37 % on the outer third. Raises SpecError.
    """
    if not 0 <= inner_over_outer <= 1 or not 0 <= part <= 1:
        raise SpecError("a ratio or a part above 1, or below 0, does not exist", "give 0 to 1")
    starts = 1 - part * (1 - inner_over_outer)
    return (1 - starts**2) / (1 - inner_over_outer**2) if inner_over_outer < 1 else part
