"""The result of a forecast: what was asked, the verdict, figures with their intervals, and what they stand on."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.finding import Grade
from iocast.model.results.shown import Number, shown, shown_below

Given = Literal["ok", "marginal", "at_risk", "not_ok", "unknown"]


class ForecastSummary(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was asked, and the verdict with the line of the table that decided. The utilisation is of the throughput
    demonstrated; null where nothing is foretold.
    """

    verdict: Given
    reason: str
    rate_per_s: Number
    peak_per_s: Annotated[Number, shown("peak IOPS", "rate")]
    size_bytes: Annotated[int, shown("size", "bytes")]
    read_share: Annotated[Number, shown("reads", "share")]
    arrival_cv2: Number
    slo_statistic: Annotated[str, shown("SLO")]
    slo_ns: Annotated[Number, shown("limit", "duration")]
    utilisation: Annotated[Number | None, shown("utilisation", "share")] = None
    utilisation_low: Number | None = None
    utilisation_high: Number | None = None
    demonstrated_per_s: Annotated[Number | None, shown("IOPS\nmeasured", "rate")] = None


class ForecastFigure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mean or percentile of the response with its 95% interval; null: too few I/Os, or, of `low_ns` alone, one user
    may have waited for a cap all the time, so that no lower end is known. Without an expected value it lies between two
    groups of response times (`stepped`): about `faster_ns` or about `slower_ns`, as `faster_share` of the I/Os are
    expected in the faster group. `sampling` is the part of the interval that is chance in the rows: half an interval of
    the logarithm. `slo_ns` is the limit of the one that has a limit.
    """

    statistic: Annotated[str, shown("response")]
    expected_ns: Annotated[Number | None, shown("expected", "duration")] = None
    low_ns: Annotated[Number | None, shown("from", "duration")] = None
    high_ns: Annotated[Number | None, shown("to", "duration")] = None
    slo_ns: Annotated[Number | None, shown("SLO", "duration")] = None
    stepped: bool = False
    faster_ns: Number | None = None
    slower_ns: Number | None = None
    faster_share: Number | None = None
    sampling: Number | None = None


class HeadroomRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Up to which rate the SLO is kept, by the upper end of the interval, as expected, by its lower end; and up to
    which the verdict is OK. `measured`: where open-loop rows contradict the forecast, up to which they kept it.
    """

    code: Annotated[Literal["surely", "expected", "at_best", "ok", "measured"], shown("the SLO is kept")]
    rate_per_s: Annotated[Number, shown("up to IOPS", "rate")]
    peak_ratio: Annotated[Number, shown("of the peak", "ratio")]


class WhatIfRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The verdict after a change."""

    change: Annotated[str, shown("what if")]
    verdict: Annotated[Given, shown("verdict")]
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None
    utilisation: Annotated[Number | None, shown("utilisation", "share")] = None
    expected_ns: Annotated[Number | None, shown("expected", "duration")] = None
    low_ns: Annotated[Number | None, shown("from", "duration")] = None
    high_ns: Annotated[Number | None, shown("to", "duration")] = None
    ok_rate_per_s: Annotated[Number | None, shown("OK up to\nIOPS", "rate", spare=1)] = None
    says: Annotated[str | None, shown_below()] = None


class LadderRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measured row that the forecast stands on."""

    row: Annotated[str, shown("row")]
    outstanding: Annotated[int, shown("outstanding\nI/Os", "count")]
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    mean_ns: Annotated[Number, shown("mean", "duration")]
    p50_ns: Annotated[Number, shown("p50", "duration", spare=2)]
    p95_ns: Annotated[Number, shown("p95", "duration", spare=1)]
    p99_ns: Annotated[Number, shown("p99", "duration")]
    error_share: Annotated[Number, shown("known to", "share", explain="half the 95% interval of the mean", spare=3)]
    trust: Annotated[Grade | None, shown("trust", "grade")] = None


class OpenLoopRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of an open-loop row beside its forecast. `held`: "yes", "within error" of the measurement, "no"; null
    where the row did not keep up, as `says` tells of the last figure of a row.
    """

    row: Annotated[str, shown("row")]
    rate_per_s: Annotated[Number, shown("IOPS", "rate")]
    statistic: Annotated[str, shown("response")]
    measured_ns: Annotated[Number, shown("measured", "duration")]
    low_ns: Annotated[Number | None, shown("forecast\nfrom", "duration")] = None
    high_ns: Annotated[Number | None, shown("to", "duration")] = None
    held: Annotated[Literal["yes", "within error", "no"] | None, shown("inside")] = None
    says: Annotated[str | None, shown_below()] = None


class ArithmeticLevel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A load of the ladder as the arithmetic takes it: `response_ns` never falls."""

    outstanding: Annotated[Number, shown("n: outstanding")]
    rate_per_s: Annotated[Number, shown("X: IOPS")]
    response_ns: Annotated[Number, shown("R = n / X, ms")]


class ArithmeticState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many I/Os an arrival finds, how likely that is, and how long it then takes."""

    in_system: Annotated[int, shown("n found")]
    factor: Annotated[Number | None, shown("x rate R(n) / n")] = None  # over the weight before; null of none
    weight: Annotated[Number, shown("weight")]
    chance_share: Annotated[Number, shown("chance")]
    response_ns: Annotated[Number, shown("R(n + 1), ms")]
    within_share: Annotated[Number | None, shown("share within")] = None


class ForecastResult(Struct, frozen=True, kw_only=True):
    """What a load will come to on the storage of a run; the arithmetic only where it is asked for."""

    forecast: ForecastSummary
    figures: tuple[ForecastFigure, ...] = ()
    headroom: tuple[HeadroomRow, ...] = ()
    what_if: tuple[WhatIfRow, ...] = ()
    ladder: tuple[LadderRow, ...] = ()
    open_rows: tuple[OpenLoopRow, ...] = ()
    arithmetic_ladder: tuple[ArithmeticLevel, ...] = ()
    arithmetic_states: tuple[ArithmeticState, ...] = ()
