"""The tables of a calibration: what was asked, the maxima with their response times, the curve, its knees, its fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iocast import text
from iocast.analyse.facts import RowFacts
from iocast.forecast.calibration import Calibration, CurvePoint
from iocast.model.calibration_request import CalibrationRequest
from iocast.model.codes import KneeCode
from iocast.model.report import Table
from iocast.model.results.calibration import CurveRow, FitRow, KneeRow, MaximumRow, RequestedRow
from iocast.report.card.results_table import STRIP_NOTE
from iocast.report.result_tables import result_table

BY_BYTES = ("most_throughput", "single_process")
DISKS = ("disks", "each_per_s", "one_by_one_per_s")
AT = ("users", "rate_per_s", "throughput_bytes_per_s", "interval", "met")
TIMES = (
    "response_mean_ns",
    "response_p50_ns",
    "response_p95_ns",
    "response_p99_ns",
    "response_p99_9_ns",
    "latency_shares",
)

KNEE_WORDS: dict[KneeCode, str] = {
    "limit": "the highest rate within the limit: the one to act on",
    "least_load": "N*: keeps the storage busy if nothing ever queued; the least load that can reach the most IOPS",
    "max_power": "the best ratio of IOPS to response time",
    "planning_cap": "70% of the most IOPS: the rest is for failures, growth and bursts",
    "latency_multiple": "the mean is 2.5 times that of an idle storage: 60% utilisation, were it one queue",
    "saturation": "from here on twice the load gains less than 10%",
    "chord": "farthest from a straight line through the curve: moves with the loads that were measured",
}


def asked_table(rows: tuple[RequestedRow, ...], calibration: Calibration) -> Table:
    """The limit and what was read, and the check against a number of disks where somebody gave one."""
    words: dict[str, Callable[[RequestedRow], str]] = {"quantile": lambda each: text.statistic(each.quantile)}
    return result_table(RequestedRow, rows, key="asked", words=words, leave=() if calibration.disks else DISKS)


def maxima_tables(rows: tuple[MaximumRow, ...], calibration: Calibration) -> tuple[Table, ...]:
    """Every maximum, and the response times of the row that it was measured in."""
    if not rows:
        return ()
    name = text.statistic(calibration.request.quantile)
    words: dict[str, Callable[[MaximumRow], str]] = {"interval": _interval, "met": lambda each: _met(each, name)}
    timed = tuple(each for each in rows if each.latency_shares is not None)
    headings, notes = {"code": "at the maximum"}, (*_notes_on_times(calibration), STRIP_NOTE)
    return (
        result_table(MaximumRow, rows, key="maxima", words=words, notes=tuple(_notes(calibration)), leave=TIMES),
        result_table(MaximumRow, timed, key="maxima_times", headings=headings, words=words, notes=notes, leave=AT),
    )


def _interval(each: MaximumRow) -> str:
    if each.code in BY_BYTES:
        low, high = each.throughput_low_bytes_per_s, each.throughput_high_bytes_per_s
        return between(low, high, text.megabytes_per_s)
    return between(each.rate_low_per_s, each.rate_high_per_s, text.rate)


def _met(each: MaximumRow, name: str) -> str:
    match each.code:
        case "within_limit":
            return f"{name} kept"
        case "within_limit_mean":
            return "mean kept"
        case _:
            return "kept" if each.met else "limit not met"


def between(low: float | None, high: float | None, shown: Callable[[float], str]) -> str:
    """An interval whose ends may be unknown."""
    if low is None or high is None:
        if low is not None:
            return f"at least {shown(low)}"
        return "unknown" if high is None else f"at most {shown(high)}"
    return f"{shown(low)} to {shown(high)}"


def _notes(calibration: Calibration) -> Iterator[str]:
    if calibration.within is not None:
        name, limit = text.statistic(calibration.request.quantile), text.brief_time(calibration.request.max_latency_ns)
        yield f"Within the limit: reads that arrive at random at that rate have a {name} of {limit}."
    yield (
        "The interval of a rate within the limit ends at rates that rows asked for: the highest that surely kept it"
        " before any row was beyond it, and the lowest that surely did not after the last row that kept it."
    )
    yield "Intervals hold within this run; whether it repeats is not judged."


def _notes_on_times(calibration: Calibration) -> Iterator[str]:
    row = calibration.within_row
    if row is None:
        return
    which = "the highest rate measured that kept it"
    if any(_kept_above(each, row, calibration.request) for each in calibration.at_rates):
        which = "the highest rate below the first row beyond the limit"
    rate = text.rate(row.measurement.rate_per_s)
    yield f"Those within the limit were measured at {rate} IOPS ({row.name}), {which}."


def _kept_above(each: CurvePoint, row: RowFacts, request: CalibrationRequest) -> bool:
    """Whether a usable row at a higher rate has a figure within the limit, too."""
    higher = each.at.rate_per_s > (row.measurement.asked_rate_per_s or 0.0)
    return higher and not each.why_not and each.at.enough and each.at.within(request.max_latency_ns)


def curve_table(rows: tuple[CurveRow, ...]) -> Table:
    """All random reads: closed loads, then rates."""
    words: dict[str, Callable[[CurveRow], str]] = {
        "interval": lambda each: between(each.statistic_low_ns, each.statistic_high_ns, text.brief_time)
    }
    note = "Closed loads keep this many I/Os outstanding; rates are of random arrivals, and waiting counts."
    return result_table(CurveRow, rows, key="curve", words=words, notes=(note,))


def knees_table(rows: tuple[KneeRow, ...]) -> Table:
    """Where more load stops paying, by every definition."""
    words: dict[str, Callable[[KneeRow], str]] = {"says": lambda each: KNEE_WORDS[each.code]}
    return result_table(KneeRow, rows, key="knees", headings={"says": "what it is"}, words=words)


def fit_table(rows: tuple[FitRow, ...]) -> Table:
    """The fitted curve of the mean response over the rate."""
    words: dict[str, Callable[[FitRow], str]] = {
        "interval": lambda each: between(each.limit_rate_low_per_s, each.limit_rate_high_per_s, text.rate)
    }
    note = "Mean response over the rate: idle + rise x u^growth / (1 - u), where u is the rate over the IOPS limit."
    return result_table(FitRow, rows, key="fit", title="Fitted curve", words=words, notes=(note,))
