"""The rows of a calibration in JSON documents: the limit, the maxima, the curve, its knees and its fit, refusals."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.codes import CalibrationRefusalCode, KneeCode, MaximumCode, RepeatsCode
from iocast.model.finding import Grade

Number = int | float


class AskedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What was asked. `quantile` null: the limit is one of the mean. `each_per_s`: the most IOPS over the disks."""

    limit_ns: Number
    quantile: Number | None = None
    block_bytes: Number
    disks: int | None = None
    each_per_s: Number | None = None
    one_by_one_per_s: Number | None = None  # of so many disks, each as fast as the idle target


class MaximumRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A maximum, its 95% interval within the run, and the response times of the row that it was measured in."""

    code: MaximumCode
    phase: str | None = None
    users: int | None = None
    depth: int | None = None
    rate_per_s: Number | None = None
    rate_low_per_s: Number | None = None
    rate_high_per_s: Number | None = None
    throughput_bytes_per_s: Number | None = None
    throughput_low_bytes_per_s: Number | None = None
    throughput_high_bytes_per_s: Number | None = None
    reached: bool | None = None  # false: no usable rate broke the limit, so that the rate is a lower bound
    met: bool  # whether its response times are within the limit
    response_mean_ns: Number | None = None
    response_p50_ns: Number | None = None
    response_p95_ns: Number | None = None
    response_p99_ns: Number | None = None
    response_p99_9_ns: Number | None = None
    latency_shares: list[Number] | None = None


class CurveRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A row of random reads against the limit. `statistic_ns` is the percentile, or the mean, that is limited."""

    phase: str
    closed: bool  # a load of so many outstanding I/Os; else a rate of random arrivals
    users: int
    depth: int
    rate_per_s: Number
    asked_rate_per_s: Number | None = None
    statistic_ns: Number
    statistic_low_ns: Number | None = None
    statistic_high_ns: Number | None = None
    verdict: Literal["held", "broken", "unsure", "refused"]
    response_mean_ns: Number | None = None
    response_p50_ns: Number | None = None
    response_p95_ns: Number | None = None
    response_p99_ns: Number | None = None
    response_p99_9_ns: Number | None = None
    latency_shares: list[Number] | None = None
    trust: Grade


class KneeRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """One answer to where more load stops paying: outstanding I/Os, a rate, or both."""

    code: KneeCode
    load: Number | None = None
    rate_per_s: Number | None = None


class FitRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The mean response over the rate: idle + rise u^growth / (1 - u), u the rate over the IOPS limit."""

    idle_ns: Number
    rise_ns: Number
    growth: Number
    limit_rate_per_s: Number
    limit_rate_low_per_s: Number
    limit_rate_high_per_s: Number
    misfit: Number


class RefusalRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a calibration does not say, and why."""

    code: CalibrationRefusalCode
    says: str
    remedy: str


class RefusedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A row that is used for nothing, and why."""

    phase: str
    reason: str


class RepeatedMaximumRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A maximum in several calibrations: I/Os or bytes a second in the order of the runs. `bounds`: runs in which it
    is a lower bound; `intervals_held`: runs whose own interval holds the median.
    """

    code: MaximumCode
    verdict: RepeatsCode
    values: list[Number]
    unknown: int = 0
    bounds: int = 0
    scatter_share: Number | None = None
    intervals_held: int
    intervals: int


CALIBRATION_TABLES: dict[str, type[Struct]] = {
    "asked": AskedRow,
    "maxima": MaximumRow,
    "curve": CurveRow,
    "knees": KneeRow,
    "fit": FitRow,
    "refusals": RefusalRow,
    "refused": RefusedRow,
}
