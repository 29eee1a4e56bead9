"""The result of setting the hosts of many runs beside each other: who is slow, who is busy, who is like whom."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import DifferenceCode, StandingCode
from iocast.model.results.shown import Number, shown

SPEED = ("speed_low", "speed_high")


class FleetHost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A target of a host. Null: unknown, or not of this host; no group where no host has two runs, no rank without a
    row that another host has."""

    rank: Annotated[int | None, shown("rank", "count")] = None
    group: Annotated[int | None, shown("group", explain="hosts of one group cannot be told apart")] = None
    host: Annotated[str | None, shown("host")] = None
    target: Annotated[str | None, shown("target", spare=2)] = None
    model: Annotated[str | None, shown("model", spare=3)] = None
    runs: Annotated[int, shown("runs", "count")]
    rows: Annotated[int, shown("rows", "count", spare=4, explain="rows that other hosts have too")]
    speed: Annotated[
        Number | None,
        shown("speed", interval=SPEED, explain="relative to the median host, averaged over rows; 95% interval"),
    ] = None
    speed_low: Number | None = None
    speed_high: Number | None = None
    standing: Annotated[StandingCode, shown("standing", "code")]
    slow_rows: int | None = None
    busy_rows: int | None = None
    judged_rows: int
    run: Annotated[str, shown("last run", spare=5)]
    folder: str


class FleetRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row that took longer than on quiet hosts: `slow` if its load does not explain that, else `busy`."""

    host: str | None = None
    target: str | None = None
    model: str | None = None
    phase: str
    standing: StandingCode
    response_mean_ns: Number
    expected_ns: Number
    bound_ns: Number | None = None  # null: too few hosts to give one
    times: Number
    busy_per_s: Number | None = None
    response_p99_ns: Number | None = None
    runs: int
    runs_over: int | None = None


class SlowHost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A slow or busy host, with its worst row."""

    host: Annotated[str | None, shown("host")] = None
    target: Annotated[str | None, shown("target", spare=3)] = None
    standing: Annotated[StandingCode, shown("standing", "code")]
    rows: Annotated[int, shown("rows")]  # that stand so
    judged_rows: int
    phase: Annotated[str, shown("worst row")]
    response_mean_ns: Annotated[Number, shown("mean\nresponse", "duration")]
    expected_ns: Annotated[
        Number, shown("expected", "duration", explain="for this disk model at this load, from the other hosts")
    ]
    bound_ns: Annotated[Number | None, shown("bound", "duration", spare=1)] = None
    times: Annotated[Number, shown("slowdown", "ratio", explain="mean response over expected")]
    busy_per_s: Annotated[
        Number | None, shown("load\nIOPS", "rate", spare=2, explain="other I/O on the device, plus the open-loop rate")
    ] = None
    runs_over: Annotated[int | None, shown("runs over\nbound")] = None
    runs: int


class FleetDifference(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A setting that most slow hosts share and most other hosts with the same disk model do not."""

    code: Annotated[DifferenceCode, shown("what", "code")]
    value: Annotated[str, shown("value")]
    slow: Annotated[int, shown("slow hosts")]
    slow_known: int
    others: Annotated[int, shown("other hosts")]
    others_known: int


class Fleet(Struct, frozen=True, kw_only=True):
    """The hosts that ran one job, fastest first. `slow` has one entry per slow or busy host, `rows` all their rows."""

    compared_job: str
    runs: int
    hosts: tuple[FleetHost, ...]
    slow: tuple[SlowHost, ...] = ()
    rows: tuple[FleetRow, ...] = ()
    differences: tuple[FleetDifference, ...] = ()
