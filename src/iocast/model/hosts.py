"""HostPart: what each of several hosts did in a run that all of them made at once."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Share = Literal["own", "slices", "same"]  # what of the storage each host works on


class HostRow(Struct, frozen=True, kw_only=True):
    """What one host did in one row, from its own first I/O to its own last."""

    phase: str
    ios: int
    bytes: int
    ios_per_s: float
    bytes_per_s: float
    started_ns: int  # after the first host, on the clock of the first one
    elapsed_ns: int
    mean_ns: float | None = None
    p50_ns: float | None = None
    p99_ns: float | None = None
    errors: int = 0
    outside_ios: int = 0  # before the last host began or after the first one ended: no part of the sum
    trust: str = ""  # the letter of the row on this host alone; "" where it was not judged
    reason: str = ""  # of that letter


class HostPart(Struct, frozen=True, kw_only=True):
    """One host of a run: who it is, where it worked, its rows, and why it went no further."""

    name: str
    path: str
    run_id: str = ""  # of its own run folder, which is in `hosts/NAME`
    machine: str = ""  # the same for two names of one machine; it changes when that starts again
    clock_error_ns: int = 0  # half of the shortest round trip: how well its clock is known
    rows: tuple[HostRow, ...] = ()
    lost: str = ""  # why it did not go on to the end; "" where it did

    def row(self, phase: str) -> HostRow | None:
        """What it did in a row; None where it was lost before."""
        return next((row for row in self.rows if row.phase == phase), None)
