"""The result of a calibration: the limit, the maxima, the curve, its knees and its fit, and what it does not say."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.codes import CalibrationRefusalCode, KneeCode, MaximumCode, RepeatsCode
from iocast.model.finding import Grade
from iocast.model.results.shown import Number, shown

Mean = Annotated[Number | None, shown("mean", "duration")]
P50 = Annotated[Number | None, shown("p50", "duration", spare=2)]
P95 = Annotated[Number | None, shown("p95", "duration", spare=4)]
P99 = Annotated[Number | None, shown("p99", "duration")]
P99_9 = Annotated[Number | None, shown("p99.9", "duration", spare=5)]


class RequestedRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was asked. `quantile` null: the limit is one of the mean."""

    limit_ns: Annotated[Number, shown("limit", "duration")]
    quantile: Annotated[Number | None, shown("statistic")] = None
    block_bytes: Annotated[Number, shown("reads", "bytes")]
    disks: Annotated[int | None, shown("disks", "count")] = None
    each_per_s: Annotated[Number | None, shown("IOPS\na disk", "rate", explain="the most IOPS over the disks")] = None
    one_by_one_per_s: Annotated[
        Number | None, shown("one at\na time", "rate", explain="IOPS of so many disks, each as fast as the idle target")
    ] = None


class MaximumRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A maximum, its 95% interval within the run, and the response times of the row that it was measured in."""

    code: Annotated[MaximumCode, shown("maximum", "code")]
    phase: str | None = None
    users: Annotated[int | None, shown("load", "load", explain="users x queue depth", spare=1, pair="depth")] = None
    depth: int | None = None
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s", explain="decimal megabytes")] = None
    rate_low_per_s: Annotated[
        Number | None,
        shown("95% interval", column="interval", explain="of the figure that is the maximum, within this run"),
    ] = None
    rate_high_per_s: Number | None = None
    throughput_low_bytes_per_s: Number | None = None
    throughput_high_bytes_per_s: Number | None = None
    reached: bool | None = None  # false: no usable rate broke the limit, so that the rate is a lower bound
    met: Annotated[bool, shown("limit")]  # whether its response times are within the limit
    response_mean_ns: Mean = None
    response_p50_ns: P50 = None
    response_p95_ns: P95 = None
    response_p99_ns: P99 = None
    response_p99_9_ns: P99_9 = None
    latency_shares: Annotated[tuple[Number, ...] | None, shown("histogram", "strip", spare=3)] = None


class CurveRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of random reads against the limit. `statistic_ns` is the percentile, or the mean, that is limited."""

    phase: Annotated[str, shown("row")]
    closed: bool  # a load of so many outstanding I/Os; else a rate of random arrivals
    users: Annotated[
        int,
        shown(
            "load",
            "load",
            explain="users x queue depth; of a rate: as many as may be outstanding",
            spare=3,
            pair="depth",
        ),
    ]
    depth: int
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    asked_rate_per_s: Number | None = None
    most_share: Annotated[Number | None, shown("of most", "share", explain="of the most IOPS", spare=2)] = None
    response_mean_ns: Mean = None
    response_p50_ns: P50 = None
    response_p95_ns: P95 = None
    response_p99_ns: P99 = None
    response_p99_9_ns: P99_9 = None
    statistic_ns: Number
    statistic_low_ns: Annotated[
        Number | None, shown("95% interval", column="interval", explain="of the figure that is limited", spare=1)
    ] = None
    statistic_high_ns: Number | None = None
    verdict: Annotated[Literal["held", "broken", "unsure", "refused"], shown("limit", "code")]
    latency_shares: tuple[Number, ...] | None = None
    trust: Annotated[Grade, shown("trust", "grade")]


class KneeRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer to where more load stops paying: outstanding I/Os, a rate, or both."""

    code: Annotated[KneeCode, shown("knee", "code")]
    load: Annotated[Number | None, shown("outstanding\nI/Os", "decimal")] = None
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None


class FitRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean response over the rate: idle + rise u^growth / (1 - u), u the rate over the IOPS limit."""

    idle_ns: Annotated[Number, shown("idle", "duration")]
    rise_ns: Number
    limit_rate_per_s: Annotated[Number, shown("IOPS limit", "rate")]
    limit_rate_low_per_s: Annotated[Number, shown("95% interval", column="interval")]
    limit_rate_high_per_s: Number
    growth: Annotated[
        Number, shown("growth", "decimal", explain="near 1: single queues; above 2: servers that share a queue")
    ]
    misfit: Annotated[Number, shown("misfit", "decimal", explain="chi squared per degree of freedom")]


class RefusalRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a calibration does not say, and why."""

    code: Annotated[CalibrationRefusalCode, shown("what", "code")]
    says: Annotated[str, shown("why")]
    remedy: Annotated[str, shown("way out")]


class RefusedRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row that is used for nothing, and why."""

    phase: Annotated[str, shown("row")]
    reason: Annotated[str, shown("reason")]


class CalibrationResult(Struct, frozen=True, kw_only=True):
    """The highest load within a latency limit, the most IOPS and MB/s, the whole curve, and what is refused."""

    requested: tuple[RequestedRow, ...]
    maxima: tuple[MaximumRow, ...]
    curve: tuple[CurveRow, ...]
    knees: tuple[KneeRow, ...] = ()
    fit: tuple[FitRow, ...] = ()
    refusals: tuple[RefusalRow, ...] = ()
    refused: tuple[RefusedRow, ...] = ()


class RepeatedMaximumRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A maximum in several calibrations, in I/Os or, of `most_throughput` and `single_process`, in bytes a second.

    `values` are in the order of the runs. `bounds`: runs in which it is a lower bound; `intervals_held`: runs whose own
    interval holds the median.
    """

    code: Annotated[MaximumCode, shown("maximum", "code")]
    runs: Annotated[int, shown("runs", "count")]  # that say it
    median_per_s: Annotated[Number, shown("median")]
    lowest_per_s: Annotated[Number, shown("lowest")]
    highest_per_s: Annotated[Number, shown("highest")]
    scatter_share: Annotated[
        Number | None,
        shown(
            "CV",
            "tenth_share",
            explain="coefficient of variation from run to run: standard deviation over mean",
        ),
    ] = None
    intervals_held: Annotated[int, shown("own intervals\nhold the median", spare=1)]
    intervals: int
    verdict: Annotated[RepeatsCode, shown("verdict")]
    values: tuple[Number, ...]
    unknown: int = 0
    bounds: int = 0
