"""The JSON of a comparison: sides, pairs of rows, shifts and repeats, field by field."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.codes import ComparisonCode, DifferenceCode, RepeatsCode, StatisticCode
from iocast.report.renderers.document_values import Number


class DifferenceRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What differs between two sides besides the results."""

    code: DifferenceCode
    first: str
    other: str


class ComparedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """One figure of a row on both sides: I/Os a second, or a time."""

    phase: str
    statistic: StatisticCode | None = None  # null: the row is not compared
    verdict: ComparisonCode
    why_not: str | None = None
    first_per_s: Number | None = None
    other_per_s: Number | None = None
    first_ns: Number | None = None
    other_ns: Number | None = None
    ratio: Number | None = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    relative: Number | None = None
    within_tenth: bool | None = None
    first_repeats: int | None = None
    other_repeats: int | None = None
    paired: bool | None = None  # judged by the ratios of runs that belong together, not by Welch's t


class SideLatencyRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The response times of a row on one side, all repeats together."""

    phase: str
    side: str
    latency_shares: list[Number] | None = None
    response_p50_ns: Number | None = None
    response_p99_ns: Number | None = None
    distance: Number | None = None  # the largest of the two cumulative curves, with the second side


class ShiftRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How a percentile moved."""

    phase: str
    quantile: Number
    first_ns: Number | None = None
    other_ns: Number | None = None
    ratio: Number | None = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    p_value: Number | None = None


class RelativeRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How much of the first side's performance each other side keeps, in the order of the sides."""

    phase: str
    statistic: StatisticCode
    first_per_s: Number | None = None
    first_ns: Number | None = None
    relative: list[Number | None]
    repeats: int


class RepeatsRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How well a row repeats itself."""

    side: str
    phase: str
    runs: int
    verdict: RepeatsCode
    median_per_s: Number | None = None
    apart_share: Number | None = None  # of the first run
    symmetric_share: Number | None = None  # the same two runs: their difference over their mean
    scatter_share: Number | None = None
    scatter_p99_share: Number | None = None


class OverallDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """The geometric mean of the throughput ratios of all compared rows, and how many figures moved which way."""

    ratio: Number | None = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    better: int
    worse: int
    same: int
    undecided: int


class PairDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """One side against the first."""

    first: str
    other: str
    overall: OverallDocument
    rows: list[ComparedRow]
    differences: list[DifferenceRow] = []
    latency: list[SideLatencyRow] = []
    percentiles: list[ShiftRow] = []
