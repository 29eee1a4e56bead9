"""Calibrations become results: the study of a run's rows, its maxima and its curve; how well several repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import bucket_shares, published
from iocast.diagnose.stalled_rows import stalled_rows
from iocast.forecast.calibration import Calibration, CurvePoint, Peak, calibration
from iocast.forecast.limit_search import Crossing
from iocast.forecast.repeated_maxima import RepeatedMaximum
from iocast.model.calibration_request import CLOSED, CalibrationRequest
from iocast.model.codes import MaximumCode
from iocast.model.finding import Examination, Trust
from iocast.model.report import LATENCY_EDGES_NS
from iocast.model.results.calibration import (
    CalibrationResult,
    CurveRow,
    FitRow,
    KneeRow,
    MaximumRow,
    RefusalRow,
    RefusedRow,
    RepeatedMaximumRow,
    RequestedRow,
)
from iocast.results.comparison import agree

REFUSED = ("D", "F")  # trust that no answer can rest on


def calibrated(facts: Facts, examination: Examination) -> Calibration | None:
    """What a calibration comes to, without rows that trust refuses or that stalled; None for any other run, and for
    one without a row.
    """
    request = facts.run.plan.calibration
    if request is None or not facts.run.measured:
        return None
    trusted = {row.name: trust_of(request, examination.trust[row.name]) for row in facts.rows}
    refused = {
        name: trust.reason or f"Its trust is {trust.grade}."
        for name, trust in trusted.items()
        if trust.grade in REFUSED or trust.void
    } | stalled_rows(examination)
    fitted: Calibration = facts.keep(
        ("calibration", tuple(sorted(refused))), lambda: calibration(request, facts.rows, refused)
    )
    return fitted


def trust_of(request: CalibrationRequest, trust: Trust) -> Trust:
    """The trust that counts: a limit on the mean does not depend on how well percentiles are known."""
    return trust if request.quantile is not None else trust.without("precision")


def calibration_result(
    fitted: Calibration, trust: Mapping[str, Trust], refusals: tuple[RefusalRow, ...]
) -> CalibrationResult:
    """The result of a calibration; `refusals` are what it does not say, in words."""
    return CalibrationResult(
        requested=(_requested(fitted),),
        maxima=tuple(maxima_of(fitted)),
        curve=tuple(_curve(fitted, trust)),
        knees=tuple(KneeRow(code=each.code, load=each.load, rate_per_s=each.rate_per_s) for each in fitted.knees),
        fit=tuple(_fit(fitted)) if fitted.knees else (),
        refusals=refusals,
        refused=tuple(RefusedRow(phase=name, reason=reason) for name, reason in fitted.refused.items()),
    )


def _requested(fitted: Calibration) -> RequestedRow:
    request, disks = fitted.request, fitted.disks
    return RequestedRow(
        limit_ns=request.max_latency_ns,
        quantile=request.quantile,
        block_bytes=request.block_bytes,
        disks=request.disks,
        each_per_s=disks.each_per_s if disks else None,
        one_by_one_per_s=disks.one_by_one_per_s if disks else None,
    )


def maxima_of(fitted: Calibration) -> Iterator[MaximumRow]:
    """Every maximum that is known."""
    if fitted.within is not None and fitted.within.rate_per_s is not None:
        yield _within("within_limit", fitted.within, fitted.within_row, fitted.request)
    if (
        fitted.request.quantile is not None
        and fitted.within_mean is not None
        and fitted.within_mean.rate_per_s is not None
    ):
        yield _within("within_limit_mean", fitted.within_mean, None, fitted.request)
    if fitted.closed_within is not None:
        yield _peak("closed_within_limit", fitted.closed_within)
    if fitted.most is not None:
        yield _peak("most_iops", fitted.most)
    if fitted.throughput is not None:
        yield _peak("most_throughput", fitted.throughput, by_bytes=True)
    if fitted.single is not None:
        yield _peak("single_process", fitted.single, by_bytes=True)


def _within(code: MaximumCode, at: Crossing, row: RowFacts | None, request: CalibrationRequest) -> MaximumRow:
    rate = at.rate_per_s or 0.0
    return MaximumRow(
        code=code,
        phase=row.name if row else None,
        rate_per_s=rate,
        throughput_bytes_per_s=rate * request.block_bytes,
        rate_low_per_s=at.low_per_s,
        rate_high_per_s=at.high_per_s,
        reached=at.reached,
        met=True,
        **(_times(row) if row else {}),
    )


def _peak(code: MaximumCode, peak: Peak, *, by_bytes: bool = False) -> MaximumRow:
    row = peak.row
    return MaximumRow(
        code=code,
        phase=row.name,
        users=row.record.plan.users,
        depth=row.record.plan.depth,
        rate_per_s=row.measurement.rate_per_s,
        throughput_bytes_per_s=row.measurement.bytes_per_s,
        rate_low_per_s=None if by_bytes else peak.low,
        rate_high_per_s=None if by_bytes else peak.high,
        throughput_low_bytes_per_s=peak.low if by_bytes else None,
        throughput_high_bytes_per_s=peak.high if by_bytes else None,
        met=peak.meets,
        **_times(row),
    )


class Times(TypedDict, total=False):
    """The response times of a row."""

    response_mean_ns: float
    response_p50_ns: float | None
    response_p95_ns: float | None
    response_p99_ns: float | None
    response_p99_9_ns: float | None
    latency_shares: tuple[float, ...]


def _times(row: RowFacts) -> Times:
    """A percentile is unknown where too few I/Os lie beyond it."""
    histogram = row.response("read")
    return {
        "response_mean_ns": histogram.mean_ns,
        "response_p50_ns": published(histogram, 0.5),
        "response_p95_ns": published(histogram, 0.95),
        "response_p99_ns": published(histogram, 0.99),
        "response_p99_9_ns": published(histogram, 0.999),
        "latency_shares": bucket_shares(histogram, LATENCY_EDGES_NS),
    }


def _curve(fitted: Calibration, trust: Mapping[str, Trust]) -> Iterator[CurveRow]:
    """All random reads: closed loads, then rates."""
    most = max((each.row.measurement.rate_per_s for each in fitted.closed), default=None)
    for each in (*fitted.closed, *fitted.at_rates):
        yield _curve_row(each, most, trust[each.row.name])


def _curve_row(each: CurvePoint, most: float | None, trust: Trust) -> CurveRow:
    row, at = each.row, each.at
    return CurveRow(
        phase=row.name,
        closed=row.record.phase.test == CLOSED,
        users=row.record.plan.users,
        depth=row.record.plan.depth,
        rate_per_s=row.measurement.rate_per_s,
        asked_rate_per_s=row.measurement.asked_rate_per_s,
        most_share=row.measurement.rate_per_s / most if most else None,
        statistic_ns=at.value_ns,
        statistic_low_ns=at.low_ns,
        statistic_high_ns=at.high_ns,
        verdict="refused" if each.why_not else each.held,
        trust=trust.grade,
        **_times(row),
    )


def _fit(fitted: Calibration) -> Iterator[FitRow]:
    """The fitted curve of the mean response over the rate, where one can be given."""
    curve = fitted.fit.curve
    if curve is None:
        return
    yield FitRow(
        idle_ns=curve.idle_s * 1e9,
        rise_ns=curve.rise_s * 1e9,
        limit_rate_per_s=curve.limit_per_s,
        limit_rate_low_per_s=curve.limit_low_per_s,
        limit_rate_high_per_s=curve.limit_high_per_s,
        growth=curve.growth,
        misfit=curve.misfit,
    )


def repeated_rows(maxima: Sequence[RepeatedMaximum]) -> tuple[RepeatedMaximumRow, ...]:
    """How well each maximum of several calibrations repeats."""
    return tuple(
        RepeatedMaximumRow(
            code=each.code,
            runs=len(each.values),
            median_per_s=each.median,
            lowest_per_s=min(each.values),
            highest_per_s=max(each.values),
            scatter_share=each.scatter,
            intervals_held=each.held,
            intervals=each.intervals,
            verdict=agree(each.scatter or 0.0, len(each.values)),
            values=each.values,
            unknown=each.unknown,
            bounds=each.bounds,
        )
        for each in maxima
    )
