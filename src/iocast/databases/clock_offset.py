"""How far the clock of a server is from ours: its time, asked for between two readings of our own."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from iocast._core import unix_ns
from iocast.databases.database import Server

TRIES = 5


class ClockOffset(Struct, frozen=True):
    """Its clock minus ours, and half the round trip: the truth is that much off at most."""

    offset_ns: int
    uncertainty_ns: int

    @classmethod
    def measured(cls, ask: Callable[[], int], local: Callable[[], int] = unix_ns) -> ClockOffset:
        """The quickest of a few round trips: it leaves the least open."""
        found = []
        for _ in range(TRIES):
            before_ns = local()
            remote_ns = ask()
            after_ns = local()
            found.append(cls(remote_ns - (before_ns + after_ns) // 2, (after_ns - before_ns + 1) // 2))
        return min(found, key=lambda each: each.uncertainty_ns)

    def of(self, server: Server) -> Server:
        """A server with its clock."""
        return replace(server, clock_offset_ns=self.offset_ns, clock_uncertainty_ns=self.uncertainty_ns)
