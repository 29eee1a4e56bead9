"""The report of several calibrations of one storage: do their maxima repeat, and do the rows that they share?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from iocast import text
from iocast.analyse.facts import Facts
from iocast.diagnose.comparable import REPEATS, Side
from iocast.diagnose.examination import examine
from iocast.forecast.repeated_maxima import RepeatedMaximum, repeated_maxima
from iocast.model.codes import MaximumCode, RepeatsCode
from iocast.model.forecasting.calibration_asked import OPEN, CalibrationAsked
from iocast.model.report import Column, Report, Row, Table
from iocast.report.comparison.comparison_report import repeats
from iocast.report.forecast.calibrated import calibrated
from iocast.report.forecast.calibration_tables import statistic_name
from iocast.report.wording import REPEATS as REPEATS_WORDS
from iocast.report.wording import section, words
from iocast.results.comparison import SCATTER

COLUMNS = (
    Column("code", "maximum", "code"),
    Column("runs", "runs", "count"),
    Column("median", "median"),
    Column("lowest", "lowest"),
    Column("highest", "highest"),
    Column("scatter", "CV", "text", "coefficient of variation from run to run: standard deviation over mean"),
    Column("held", "own intervals\nhold the median", "text", spare=1),
    Column("agree", "verdict"),
)
BY_BYTES = ("most_throughput", "single_process")


def calibration_repeats(side: Side, *, charts: bool = False) -> Report:
    """Several calibrations with one limit. Rows at rates are not compared: each run chose its own."""
    found = [calibrated(facts, examine(facts)) for facts in map(Facts, side.runs)]
    asked = [run.plan.calibration for run in side.runs if run.plan.calibration]
    unlike = frozenset(_unlike(asked))
    maxima = tuple(each for each in repeated_maxima(found) if each.code not in unlike)
    alike = [replace(run, phases=tuple(each for each in run.phases if each.phase.test != OPEN)) for run in side.runs]
    rows = repeats(replace(side, runs=tuple(alike)), charts=charts)
    table = Table("", COLUMNS, tuple(map(_row, maxima)), key="maxima_repeats", notes=tuple(_notes(maxima, unlike)))
    return replace(
        rows,
        title=f"Calibrations · {side.label}",
        verdict=_verdict(maxima, asked[0], len(side.runs)),
        sections=(section("calibration", tables=(table,)), *rows.sections),
    )


def _unlike(asked: Sequence[CalibrationAsked]) -> Iterator[MaximumCode]:
    """The maxima that not all of the runs searched: those of a folder into which several limits or sizes were put."""
    if len({(each.max_latency_ns, each.quantile, each.block_bytes) for each in asked}) > 1:
        yield "within_limit"
    if len({each.block_bytes for each in asked}) > 1:
        yield "most_iops"


def _agrees(each: RepeatedMaximum) -> RepeatsCode:
    if each.scatter is not None and each.scatter > SCATTER:
        return "inconclusive"
    return "repeats" if len(each.values) >= REPEATS else "incomplete"


def _told(each: RepeatedMaximum, value: float) -> str:
    return text.brief_throughput(value) if each.code in BY_BYTES else f"{text.rate(value)} IOPS"


def _row(each: RepeatedMaximum) -> Row:
    agree, scatter = _agrees(each), each.scatter
    verdict = REPEATS_WORDS[agree]
    if agree == "incomplete":
        verdict += f": {len(each.values)} of {REPEATS} repeats"
    return Row(
        {
            "code": each.code,
            "runs": len(each.values),
            "median": _told(each, each.median),
            "lowest": _told(each, min(each.values)),
            "highest": _told(each, max(each.values)),
            "scatter": "" if scatter is None else f"{scatter:.1%}",
            "held": f"{each.held} of {each.intervals}" if each.intervals else "",
            "agree": verdict,
            "verdict": agree,
            "values": each.values,
            "unknown": each.unknown,
            "bounds": each.bounds,
            "scatter_share": scatter,
            "intervals_held": each.held,
            "intervals": each.intervals,
        }
    )


def _notes(maxima: tuple[RepeatedMaximum, ...], unlike: frozenset[MaximumCode]) -> Iterator[str]:
    if unlike:
        yield "The runs do not search the same: limits, percentiles or sizes differ; what depends on them is left out."
    for each in maxima:
        name = words(each.code)
        if each.unknown:
            yield f"{text.sentence(name)[:-1]}: unknown in {text.counted(each.unknown, 'run')}."
        if each.bounds:
            yield f"{text.sentence(name)[:-1]}: a lower bound in {text.counted(each.bounds, 'run')}."
    yield "Runs one after the other share an hour and a state of the storage: repeat on another day, too."


def _verdict(maxima: tuple[RepeatedMaximum, ...], asked: CalibrationAsked, runs: int) -> str:
    if runs < 2:
        return "Repeatability needs at least two runs."
    limit = text.brief_time(asked.max_latency_ns)
    said = {each.code: each for each in maxima if each.code in ("within_limit", "most_iops")}
    sentences = [
        _sentence(each, f"IOPS within a {statistic_name(asked)} of {limit}" if code == "within_limit" else "most IOPS")
        for code, each in said.items()
    ]
    sentences = sentences or ["Nothing is said of IOPS: they are unknown, or the runs do not search the same."]
    bad = [words(each.code) for each in maxima if _agrees(each) == "inconclusive"]
    if bad:
        sentences.append(f"More than {SCATTER:.0%} from run to run: find the cause before you rely on one calibration.")
    return " ".join(sentences)


def _sentence(each: RepeatedMaximum, name: str) -> str:
    runs = text.counted(len(each.values), "run")
    if len(each.values) < 2:
        return f"{text.sentence(name)[:-1]}: known in one run only, {_told(each, each.median)}."
    repeat = {"repeats": "repeat", "inconclusive": "do not repeat", "incomplete": "differ little so far"}[_agrees(each)]
    ends = f"{text.rate(min(each.values))} to {text.rate(max(each.values))}"
    least = f" ({each.bounds} of them a lower bound)" if each.bounds else ""
    scatter = f"a coefficient of variation of {each.scatter:.1%}"
    return f"{text.sentence(name)[:-1]} {repeat}: {ends} over {runs}{least}, {scatter}."
