"""The report of several calibrations of one storage: do their maxima repeat, and do the rows that they share?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from iocast import text
from iocast.analyse.facts import Facts
from iocast.diagnose.comparable import REPEATS, Side
from iocast.diagnose.examination import examine
from iocast.forecast.repeated_maxima import repeated_maxima
from iocast.model.calibration_request import OPEN, CalibrationRequest
from iocast.model.codes import MaximumCode
from iocast.model.report import Report, Table
from iocast.model.results.calibration import RepeatedMaximumRow
from iocast.model.results.comparison import Repeated
from iocast.report.comparison_report import repeats
from iocast.report.forecast.calibration_tables import BY_BYTES
from iocast.report.result_tables import result_table
from iocast.report.wording import REPEATS as REPEATS_WORDS
from iocast.report.wording import section, words
from iocast.results.calibration import calibrated, repeated_rows
from iocast.results.comparison import SCATTER

Words = dict[str, Callable[[RepeatedMaximumRow], str]]


def calibration_repeats(side: Side, *, charts: bool = False) -> Report:
    """Several calibrations with one limit. Rows at rates are not compared: each run chose its own."""
    calibrations = [calibrated(facts, examine(facts)) for facts in map(Facts, side.runs)]
    requests = [run.plan.calibration for run in side.runs if run.plan.calibration]
    unlike = frozenset(_unlike(requests))
    maxima = repeated_rows([each for each in repeated_maxima(calibrations) if each.code not in unlike])
    alike = [replace(run, phases=tuple(each for each in run.phases if each.phase.test != OPEN)) for run in side.runs]
    rows = repeats(replace(side, runs=tuple(alike)), charts=charts)
    assert isinstance(rows.result, Repeated)
    return replace(
        rows,
        title=f"Calibrations · {side.label}",
        verdict=_verdict(maxima, requests[0], len(side.runs)),
        sections=(section("calibration", tables=(_table(maxima, unlike),)), *rows.sections),
        result=replace(rows.result, maxima=maxima),
    )


def _unlike(requests: Sequence[CalibrationRequest]) -> Iterator[MaximumCode]:
    """The maxima that not all of the runs searched: those of a folder into which several limits or sizes were put."""
    if len({(each.max_latency_ns, each.quantile, each.block_bytes) for each in requests}) > 1:
        yield "within_limit"
    if len({each.block_bytes for each in requests}) > 1:
        yield "most_iops"


def _table(maxima: tuple[RepeatedMaximumRow, ...], unlike: frozenset[MaximumCode]) -> Table:
    words: Words = {
        "median_per_s": lambda each: _value_text(each, each.median_per_s),
        "lowest_per_s": lambda each: _value_text(each, each.lowest_per_s),
        "highest_per_s": lambda each: _value_text(each, each.highest_per_s),
        "intervals_held": lambda each: f"{each.intervals_held} of {each.intervals}" if each.intervals else "",
        "verdict": _agrees,
    }
    notes = tuple(_notes(maxima, unlike))
    return result_table(RepeatedMaximumRow, maxima, key="maxima_repeats", words=words, notes=notes)


def _value_text(each: RepeatedMaximumRow, value: float) -> str:
    return text.brief_throughput(value) if each.code in BY_BYTES else f"{text.rate(value)} IOPS"


def _agrees(each: RepeatedMaximumRow) -> str:
    missing = f": {each.runs} of {REPEATS} repeats" if each.verdict == "incomplete" else ""
    return f"{REPEATS_WORDS[each.verdict]}{missing}"


def _notes(maxima: tuple[RepeatedMaximumRow, ...], unlike: frozenset[MaximumCode]) -> Iterator[str]:
    if unlike:
        yield "The runs do not search the same: limits, percentiles or sizes differ; what depends on them is left out."
    for each in maxima:
        name = words(each.code)
        if each.unknown:
            yield f"{text.sentence(name)[:-1]}: unknown in {text.counted(each.unknown, 'run')}."
        if each.bounds:
            yield f"{text.sentence(name)[:-1]}: a lower bound in {text.counted(each.bounds, 'run')}."
    yield "Runs one after the other share an hour and a state of the storage: repeat on another day, too."


def _verdict(maxima: tuple[RepeatedMaximumRow, ...], request: CalibrationRequest, runs: int) -> str:
    if runs < 2:
        return "Repeatability needs at least two runs."
    within = f"IOPS within a {text.statistic(request.quantile)} of {text.brief_time(request.max_latency_ns)}"
    said = {each.code: each for each in maxima if each.code in ("within_limit", "most_iops")}
    sentences = [_sentence(each, within if code == "within_limit" else "most IOPS") for code, each in said.items()]
    sentences = sentences or ["Nothing is said of IOPS: they are unknown, or the runs do not search the same."]
    bad = [words(each.code) for each in maxima if each.verdict == "inconclusive"]
    if bad:
        sentences.append(f"More than {SCATTER:.0%} from run to run: find the cause before you rely on one calibration.")
    return " ".join(sentences)


def _sentence(each: RepeatedMaximumRow, name: str) -> str:
    runs = text.counted(each.runs, "run")
    if each.runs < 2:
        return f"{text.sentence(name)[:-1]}: known in one run only, {_value_text(each, each.median_per_s)}."
    repeat = {"repeats": "repeat", "inconclusive": "do not repeat", "incomplete": "differ little so far"}[each.verdict]
    ends = f"{text.rate(each.lowest_per_s)} to {text.rate(each.highest_per_s)}"
    least = f" ({each.bounds} of them a lower bound)" if each.bounds else ""
    scatter = f"a coefficient of variation of {each.scatter_share:.1%}"
    return f"{text.sentence(name)[:-1]} {repeat}: {ends} over {runs}{least}, {scatter}."
