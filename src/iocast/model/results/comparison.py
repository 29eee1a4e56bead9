"""The result of a comparison: two or more sides, each against the first, and how well each repeats itself."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.codes import ComparisonCode, DifferenceCode, RepeatsCode, StatisticCode
from iocast.model.results.calibration import RepeatedMaximumRow
from iocast.model.results.shown import Number, shown, shown_below

INTERVAL = ("ratio_low", "ratio_high")
GateOutcome = Literal["passed", "regression", "undecided"]


class Unlike(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What differs between two sides besides the results."""

    code: Annotated[DifferenceCode, shown("difference", "code")]
    first: Annotated[str, shown("first")]
    other: Annotated[str, shown("other")]


class Overall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The geometric mean of the throughput ratios of all compared rows, and how many figures moved which way."""

    ratio: Annotated[Number | None, shown("overall throughput", interval=INTERVAL)] = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    better: Annotated[int, shown("better", "count")]
    worse: Annotated[int, shown("worse", "count")]
    same: Annotated[int, shown("same", "count")]
    undecided: Annotated[int, shown("undecided", "count")]


class Compared(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One figure of a row on both sides: I/Os a second, or a time."""

    phase: Annotated[str, shown("row", once=True)]
    statistic: Annotated[StatisticCode | None, shown("metric", "code")] = None  # null: the row is not compared
    first_per_s: Annotated[Number | None, shown("first", "rate", column="first")] = None
    first_ns: Annotated[Number | None, shown("first", "duration", column="first")] = None
    other_per_s: Annotated[Number | None, shown("other", "rate", column="other")] = None
    other_ns: Annotated[Number | None, shown("other", "duration", column="other")] = None
    ratio: Annotated[
        Number | None, shown("ratio", interval=INTERVAL, explain="the other over the first, with its 95% interval")
    ] = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    relative: Annotated[
        Number | None,
        shown(
            "relative",
            "relative",
            explain="performance relative to the first: 100% is equal, less is worse",
            spare=1,
        ),
    ] = None
    verdict: Annotated[ComparisonCode, shown("verdict", "code")]
    why_not: Annotated[str | None, shown_below()] = None
    within_tenth: bool | None = None
    first_repeats: int | None = None
    other_repeats: int | None = None
    paired: bool | None = None  # judged by the ratios of runs that belong together, not by Welch's t


class SideLatency(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The response times of a row on one side, all repeats together."""

    phase: Annotated[str, shown("row", once=True)]
    side: Annotated[str, shown("side")]
    latency_shares: Annotated[tuple[Number, ...] | None, shown("histogram", "strip")] = None
    response_p50_ns: Annotated[Number | None, shown("p50", "duration")] = None
    response_p99_ns: Annotated[Number | None, shown("p99", "duration")] = None
    # Of the second side, with the first.
    distance: Annotated[
        Number | None,
        shown(
            "KS distance",
            "whole_share",
            explain="Kolmogorov-Smirnov: the largest gap between the two cumulative distributions",
        ),
    ] = None


class Shift(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a percentile moved."""

    phase: Annotated[str, shown("row", once=True)]
    quantile: Annotated[Number, shown("percentile", "percentile")]
    first_ns: Annotated[Number | None, shown("first", "duration")] = None
    other_ns: Annotated[Number | None, shown("other", "duration")] = None
    ratio: Annotated[Number | None, shown("ratio", interval=INTERVAL)] = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    p_value: Annotated[Number | None, shown("p (Holm)", "p_value")] = None


class Relative(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the first side's performance each other side keeps, in the order of the sides."""

    phase: Annotated[str, shown("row", once=True)]
    statistic: Annotated[StatisticCode, shown("metric", "code")]
    first_per_s: Annotated[Number | None, shown("first", "rate", column="first")] = None
    first_ns: Annotated[Number | None, shown("first", "duration", column="first")] = None
    relative: Annotated[tuple[Number | None, ...], shown("relative", "relative")]
    repeats: Annotated[int, shown("repeats", once=True)]


class Repeats(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How well a row repeats itself."""

    side: Annotated[str, shown("side")]
    phase: Annotated[str, shown("row")]
    runs: Annotated[int, shown("runs", "count")]
    median_per_s: Annotated[Number | None, shown("median", "rate", column="median")] = None
    apart_share: Annotated[
        Number | None,
        shown("max\ndeviation", "tenth_share", explain="first run minus the run furthest from it, over the first"),
    ] = None
    symmetric_share: Annotated[
        Number | None,
        shown("symmetric\ndeviation", "tenth_share", explain="the same two runs: difference over their mean", spare=1),
    ] = None
    scatter_share: Annotated[
        Number | None,
        shown("CV of\nIOPS", "tenth_share", explain="coefficient of variation: standard deviation over mean"),
    ] = None
    scatter_p99_share: Annotated[
        Number | None, shown("CV of\np99", "tenth_share", explain="coefficient of variation of the p99")
    ] = None
    accuracy_share: Annotated[
        Number | None,
        shown(
            "IOPS\n±",
            "tenth_share",
            explain="how well the typical IOPS are known: half the 95% interval over runs",
        ),
    ] = None
    accuracy_p99_share: Annotated[
        Number | None, shown("p99\n±", "tenth_share", explain="how well the typical p99 is known")
    ] = None
    verdict: Annotated[RepeatsCode, shown("verdict", "code")]


class SidePrice(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a side costs, in the currency in which prices were given; null: no price, or nothing to set it against."""

    side: Annotated[str, shown("side")]
    price: Annotated[Number | None, shown("price", "ratio", explain="as it was given")] = None
    price_per_gb: Annotated[Number | None, shown("per GB", "ratio", explain="of the device, or of the file system")] = (
        None
    )
    price_per_iops: Annotated[
        Number | None, shown("per IOPS", "ratio", explain="of its fastest row of random direct I/O")
    ] = None


class ComparedPair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One side against the first."""

    first: str
    other: str
    overall: Overall
    rows: tuple[Compared, ...]
    differences: tuple[Unlike, ...] = ()
    latency: tuple[SideLatency, ...] = ()
    percentiles: tuple[Shift, ...] = ()


class Gate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a gate said, after how many rounds of at most how many, and which loss it looked for."""

    outcome: GateOutcome
    rounds: int
    most_rounds: int
    limit_share: Number


class Comparison(Struct, frozen=True, kw_only=True):
    """All sides against the first."""

    pairs: tuple[ComparedPair, ...]
    relative: tuple[Relative, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    prices: tuple[SidePrice, ...] = ()  # where any side has one
    gate: Gate | None = None  # of `iocast gate`


class Repeated(Struct, frozen=True, kw_only=True):
    """Several runs of one job on one target. `maxima`: of calibrations, which share no rows at rates."""

    repeats: tuple[Repeats, ...]
    maxima: tuple[RepeatedMaximumRow, ...] = ()
