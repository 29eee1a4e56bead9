"""The report of a calibration, and the head of the card of its run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import text
from iocast.analyse.facts import Facts
from iocast.diagnose.stalled_rows import stall_caution
from iocast.forecast.calibration import Calibration
from iocast.model.codes import CalibrationRefusalCode
from iocast.model.finding import Examination
from iocast.model.report import Figure, Report, Section, Table
from iocast.model.results.calibration import CalibrationResult, RefusalRow, RefusedRow
from iocast.report.card.headline import badges
from iocast.report.charts import charts_at
from iocast.report.forecast.calibration_tables import (
    asked_table,
    curve_table,
    fit_table,
    knees_table,
    maxima_tables,
)
from iocast.report.result_tables import result_table
from iocast.report.subjects import subject
from iocast.report.wording import section
from iocast.results.calibration import calibrated, calibration_result


def calibration_report(facts: Facts, examination: Examination, folder: str, *, charts: bool = False) -> Report:
    """The maxima, the curve with its knees, and what is refused."""
    calibration = calibrated(facts, examination)
    if calibration is None:
        raise ValueError("the run is not a calibration, or has no rows")
    run, result = facts.run, _result(calibration, examination)
    return Report(
        title=f"Calibration · {run.plan.target.path}",
        verdict=_verdict(calibration, examination),
        sections=_sections(calibration, result, charts=charts),
        next_steps=(f"To see its card with all figures: iocast report {shlex.quote(folder)}",) if folder else (),
        badges=badges(run, examination),
        figures=tuple(_figures(calibration)),
        kind="calibration",
        subjects=(subject(run, folder),),
        result=result,
    )


def with_calibration(report: Report, facts: Facts, examination: Examination) -> Report:
    """The card of a run, headed by what the calibration came to; others stay as they are."""
    calibration = calibrated(facts, examination)
    if calibration is None:
        return report
    result = _result(calibration, examination)
    return replace(
        report,
        verdict=_verdict(calibration, examination),
        sections=(*_sections(calibration, result, charts=False), *report.sections),
        figures=tuple(_figures(calibration)),
        result=replace(report.result, calibration=result) if report.result is not None else None,
    )


def with_calibration_charts(report: Report, facts: Facts, examination: Examination) -> Report:
    """The same card with the charts of the calibration; others stay as they are."""
    calibration = calibrated(facts, examination)
    if calibration is None:
        return report
    drawn = charts_at("calibration", calibration)
    own = (replace(each, charts=drawn) if each.code == "calibration_curve" else each for each in report.sections)
    return replace(report, sections=tuple(own))


def _result(calibration: Calibration, examination: Examination) -> CalibrationResult:
    return calibration_result(calibration, examination.trust, tuple(map(_refusal, calibration.refusals)))


def _sections(calibration: Calibration, result: CalibrationResult, *, charts: bool) -> tuple[Section, ...]:
    drawn = charts_at("calibration", calibration) if charts else ()
    refusals = tuple(_refusals(result))
    maxima = (asked_table(result.requested, calibration), *maxima_tables(result.maxima, calibration))
    knees = (knees_table(result.knees), *([fit_table(result.fit)] if result.fit else ()))
    sections = [
        section("calibration", paragraphs=tuple(_disks(calibration)), tables=maxima),
        section("calibration_curve", tables=(curve_table(result.curve),), charts=drawn),
        section("calibration_knees", paragraphs=tuple(_no_fit(calibration)), tables=knees) if result.knees else None,
        section("calibration_refusals", tables=refusals) if refusals else None,
    ]
    return tuple(each for each in sections if each is not None)


def _verdict(calibration: Calibration, examination: Examination) -> str:
    sentences = (
        _limit_sentence(calibration),
        _most_sentence(calibration),
        _throughput_sentence(calibration),
        _refused_sentence(calibration),
        stall_caution(examination),
    )
    return " ".join(filter(None, sentences))


def _limit_sentence(calibration: Calibration) -> str:
    name, limit = text.statistic(calibration.request.quantile), text.brief_time(calibration.request.max_latency_ns)
    if calibration.idle is None and calibration.within is None:
        return f"IOPS within a {name} of {limit} are unknown, because the idle latency could not be measured."
    if calibration.idle is not None and not calibration.idle.at.within(calibration.request.max_latency_ns):
        idle = text.brief_time(calibration.idle.at.value_ns)
        return f"Limit not met at any load: with one outstanding I/O the {name} is {idle}, the limit {limit}."
    if calibration.within is None or calibration.within.rate_per_s is None:
        return f"IOPS within a {name} of {limit} are unknown: no row at a rate can be used."
    rate = text.rate(calibration.within.rate_per_s)
    if not calibration.within.reached:
        return f"At least {rate} IOPS with a {name} within {limit}: no usable row at a higher rate broke the limit."
    low, high = calibration.within.low_per_s, calibration.within.high_per_s
    if low is not None and high is not None:
        sure = f"95% interval {text.rate(low)} to {text.rate(high)}"
    else:
        sure = "its interval is unknown" if low is None and high is None else "one end of its interval is unknown"
    return f"{rate} IOPS with a {name} within {limit} ({sure})."


def _most_sentence(calibration: Calibration) -> str:
    if calibration.most is None:
        return ""
    did = calibration.most.row
    at = text.load(did.record.plan.users, did.record.plan.depth)
    rate, mean = text.rate(calibration.most.value), text.brief_time(did.mean_ns)
    met = "" if calibration.most.meets else ", limit not met"
    more = "" if calibration.saturated else "; more load may bring more: the storage was not saturated"
    more = "; rows with more IOPS are refused" if calibration.faster_refused else more
    return f"Most: {rate} IOPS at {at}, mean {mean}{met}{more}."


def _throughput_sentence(calibration: Calibration) -> str:
    if calibration.throughput is None or calibration.single is None:
        return "" if "no_streams" in calibration.refusals else "MB/s are unknown: their rows are refused."
    most, single = text.brief_throughput(calibration.throughput.value), text.brief_throughput(calibration.single.value)
    if calibration.throughput.row is calibration.single.row:
        return f"{most}, reached by a single process."
    return f"{most}; {single} from a single process."


def _refused_sentence(calibration: Calibration) -> str:
    """Said where it is much: a machine that was not quiet gives no calibration."""
    count = len(calibration.refused)
    return f"{count} of {calibration.rows} rows are refused and not used." if 2 * count > calibration.rows else ""


def _figures(calibration: Calibration) -> Iterator[Figure]:
    name, limit = text.statistic(calibration.request.quantile), text.brief_time(calibration.request.max_latency_ns)
    if calibration.within is not None and calibration.within.rate_per_s is not None:
        least = "" if calibration.within.reached else "at least"
        yield Figure(f"IOPS within {name} {limit}", calibration.within.rate_per_s, "rate", least)
    if calibration.most is not None:
        did = calibration.most.row
        yield Figure(
            "most IOPS", calibration.most.value, "rate", f"at {text.load(did.record.plan.users, did.record.plan.depth)}"
        )
    if calibration.throughput is not None:
        did = calibration.throughput.row
        at = f"at {text.load(did.record.plan.users, did.record.plan.depth)}"
        yield Figure("throughput", calibration.throughput.value, "bytes_per_s", at)
    if calibration.single is not None:
        yield Figure("one process", calibration.single.value, "bytes_per_s", "")


def _disks(calibration: Calibration) -> Iterator[str]:
    """The most IOPS beside what so many disks would do: more is a cache or flash, less an array that is not used."""
    if calibration.disks is None:
        return
    disks, each = calibration.disks.disks, text.rate(calibration.disks.each_per_s)
    alone = text.rate(calibration.disks.one_by_one_per_s)
    yield (
        f"{text.counted(disks, 'disk')}: {each} IOPS each. So many disks that answer one read at a time, as fast as the"
        f" idle storage did, do {alone} IOPS: the most IOPS are"
        f" {text.three_figures(calibration.disks.ratio)} times that."
    )


NO_FIT = {
    "few_rates": "fewer than six usable rates",
    "no_bend": "the response hardly rose with the rate",
    "limit_unknown": "the points do not tell where the response would rise without end",
    "light_load": "no rate came near to saturation",
    "misfit": "no single curve goes through the points",
}


def _no_fit(calibration: Calibration) -> Iterator[str]:
    if calibration.fit.refusal is not None:
        yield f"No fitted curve: {NO_FIT[calibration.fit.refusal]}."


def _refusals(result: CalibrationResult) -> Iterator[Table]:
    if result.refusals:
        yield result_table(RefusalRow, result.refusals, key="refusals")
    if result.refused:
        note = "Refused rows, of trust D or F or with stalls, are shown in the curve and used for nothing."
        yield result_table(RefusedRow, result.refused, key="refused", title="Refused rows", notes=(note,))


def _refusal(code: CalibrationRefusalCode) -> RefusalRow:
    says, remedy = REFUSAL_WORDS[code]
    return RefusalRow(code=code, says=says, remedy=remedy)


REFUSAL_WORDS: dict[CalibrationRefusalCode, tuple[str, str]] = {
    "idle_refused": (
        "The row with one outstanding I/O is refused: the response of the idle storage is unknown.",
        "Remove the cause that its trust names, and calibrate again.",
    ),
    "limit_below_idle": (
        "Even one outstanding I/O takes longer than the limit: no load can meet it.",
        "Give a higher --max-latency, or a lower --percentile.",
    ),
    "few_ios": (
        "Fewer than ten I/Os lie beyond the percentile in at least one row: such rows do not count.",
        "Give a longer --time, or a lower --percentile.",
    ),
    "not_saturated": (
        "The last doubling of the load that can be used gained 10% or more: the most IOPS are a lower bound.",
        "See the refused rows; give --disks for an array of many disks.",
    ),
    "no_rates": ("No row at a rate was measured.", "Let the calibration run to its end."),
    "limit_not_reached": (
        "No usable rate broke the limit: what is within it is a lower bound, near the most IOPS or below refused rows.",
        "Give --time for longer rows where rows were refused; else saturation, not the limit, is what counts.",
    ),
    "limit_unsure": (
        "On one side of the limit no row was long enough to be sure: that end of the interval is unknown.",
        "Give a longer --time.",
    ),
    "no_streams": ("No sequential row was measured.", "Let the calibration run to its end, on 1 MiB or more."),
    "rows_refused": (
        "Rows of trust D or F, or with stalls, are not used; they are listed below.",
        "See the reason of each.",
    ),
}
