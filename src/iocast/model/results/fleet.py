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
    rows: Annotated[int, shown("rows", "count", spare=4, explain="that other hosts have, too")]
    speed: Annotated[
        Number | None,
        shown(
            "speed", interval=SPEED, explain="against the typical host of each row, the mean over rows; 95% interval"
        ),
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
    """A row of a host that took longer than it does on quiet hosts: `slow` where its load does not explain it."""

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
    """A host that stands out, by the row in which it does so most."""

    host: Annotated[str | None, shown("host")] = None
    target: Annotated[str | None, shown("target", spare=3)] = None
    standing: Annotated[StandingCode, shown("standing", "code")]
    rows: Annotated[int, shown("rows")]  # that stand so
    judged_rows: int
    phase: Annotated[str, shown("worst row")]
    response_mean_ns: Annotated[Number, shown("mean\nresponse", "duration")]
    expected_ns: Annotated[
        Number, shown("expected", "duration", explain="of the other hosts with disks of this model, at its load")
    ]
    bound_ns: Annotated[Number | None, shown("bound", "duration", spare=1)] = None
    times: Annotated[Number, shown("times\nas long", "ratio", explain="mean response over what is expected")]
    busy_per_s: Annotated[
        Number | None, shown("load\nIOPS", "rate", spare=2, explain="of others, and the rate of an open loop")
    ] = None
    runs_over: Annotated[int | None, shown("runs over\nbound")] = None
    runs: int


class FleetDifference(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What most slow hosts have and most others with disks of the same model do not."""

    code: Annotated[DifferenceCode, shown("what", "code")]
    value: Annotated[str, shown("value")]
    slow: Annotated[int, shown("slow hosts")]
    slow_known: int
    others: Annotated[int, shown("other hosts")]
    others_known: int


class Fleet(Struct, frozen=True, kw_only=True):
    """The hosts that ran one job, the fastest first; `rows` are all that are slow or busy, `slow` one for each host."""

    compared_job: str
    runs: int
    hosts: tuple[FleetHost, ...]
    slow: tuple[SlowHost, ...] = ()
    rows: tuple[FleetRow, ...] = ()
    differences: tuple[FleetDifference, ...] = ()
