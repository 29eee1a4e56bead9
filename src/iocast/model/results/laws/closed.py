"""Laws of closed queues."""

from __future__ import annotations

from typing import Annotated

from iocast.model.results.laws.law import Law, LawRow, ms, num, pct
from iocast.model.results.shown import Number, shown


class UsersServed(LawRow, frozen=True, kw_only=True):
    """What a number of users gets. `at_stations`: how many wait or are served at each."""

    users: Annotated[int, num("users")]
    rate_per_s: Annotated[Number, num("I/Os\na second")]
    response_ns: Annotated[Number, ms("response")]
    busiest_share: Annotated[Number, pct("busiest")]
    at_stations: Annotated[tuple[Number, ...], shown("at each\nstation", "names")]


class MvaLaw(Law, frozen=True, kw_only=True, tag="mva"):
    """Mean value analysis of stations."""

    demands_ns: tuple[Number, ...]
    servers: tuple[int, ...]
    think_ns: Number
    approximate: bool
    users: tuple[UsersServed, ...]


class BoundsAt(LawRow, frozen=True, kw_only=True):
    """Between what the throughput of a number of users lies."""

    users: Annotated[int, num("users")]
    low_per_s: Annotated[Number, num("least")]
    balanced_low_per_s: Annotated[Number, num("least,\nbalanced")]
    balanced_high_per_s: Annotated[Number, num("most,\nbalanced")]
    high_per_s: Annotated[Number, num("most")]
    response_low_ns: Annotated[Number, ms("response\nat least")]


class BoundsLaw(Law, frozen=True, kw_only=True, tag="bounds"):
    """Bounds of closed queues. From `saturation_users` on the slowest station limits, to `most_per_s`."""

    demands_ns: tuple[Number, ...]
    think_ns: Number
    saturation_users: Number
    most_per_s: Number
    users: tuple[BoundsAt, ...]


class UslParameters(LawRow, frozen=True, kw_only=True):
    """The universal scalability law. No peak: throughput never falls."""

    single_per_s: Annotated[Number, num("one user\n(gamma)")]
    contention: Annotated[Number, num("contention\n(alpha)")]
    crosstalk: Annotated[Number, num("crosstalk\n(beta)")]
    crosstalk_low: Number | None = None  # the 95% interval of a law that was fitted
    crosstalk_high: Number | None = None
    peak_load: Annotated[Number | None, num("peak at")] = None
    peak_per_s: Annotated[Number | None, num("peak")] = None


class UslLoad(LawRow, frozen=True, kw_only=True):
    """What the law says of a load."""

    load: Annotated[Number, num("load")]
    rate_per_s: Annotated[Number, num("I/Os\na second")]
    measured_per_s: Annotated[Number | None, num("measured")] = None
    apart_share: Annotated[Number | None, pct("apart")] = None
    efficiency_share: Annotated[Number, pct("of linear")]


class UslLaw(Law, frozen=True, kw_only=True, tag="usl"):
    """The universal scalability law, given or `fitted`."""

    fitted: bool
    parameters: UslParameters
    loads: tuple[UslLoad, ...]
