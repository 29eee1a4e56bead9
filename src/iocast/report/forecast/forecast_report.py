"""A forecast as a report: verdict, figures with intervals, headroom, what if, and the rows that it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.forecast.replayed import Replayed, figure_of
from iocast.forecast.what_if import WhatIf
from iocast.model.finding import Grade
from iocast.model.report import Chart, Figure, Report, Section, Subject
from iocast.model.results.forecast import ForecastFigure, ForecastResult, ForecastSummary, HeadroomRow, WhatIfRow
from iocast.report.charts import charts_at
from iocast.report.forecast import arithmetic_section, basis_section
from iocast.report.forecast.forecast_sentences import (
    NS,
    VERDICTS,
    asked_text,
    between,
    changes,
    demonstrated,
    iops,
    measured_room,
    on_a_step,
    reservations,
    tests,
    time,
    verdict_sentence,
)
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.results.forecast import forecast_result, what_if_row

HEADROOM = {
    "surely": "surely (upper end of the interval)",
    "expected": "as expected",
    "at_best": "at best (lower end)",
    "ok": "with an OK (utilisation of 70% at most, too)",
    "measured": "as measured (open-loop rows)",
}
IDLE = "not even when idle"


def forecast_report(
    of: Answer,
    about: Sequence[Subject],
    trust: Mapping[str, Grade],
    *,
    what_ifs: Sequence[WhatIf] = (),
    options: str = "",
    caution: str = "",
    explain: bool = False,
    charts: bool = False,
) -> Report:
    """Everything that is told of an answer. `options` are those of the command line that ask
    for it again; `caution` is what the figures do not show."""
    question = of.question
    steps = arithmetic_section.steps_of(of) if explain else None
    changed = tuple(what_if_row(of, each, _what_if_says(of, each)) for each in what_ifs)
    result = forecast_result(of, trust, changed, tuple(map(basis_section.remark, of.rows)), steps)
    parts = [_forecast(of, result, charts=charts), _headroom(of, result.headroom), _profile(of)]
    parts += [_what_if(what_ifs, result.what_if)]
    parts += [basis_section.basis(of, result.ladder), basis_section.open_rows(of, result.open_rows)]
    parts += [arithmetic_section.section_of(of, steps, result) if steps else None]
    remarks = tuple(reservations(of))
    if remarks:
        parts.append(section("remarks", paragraphs=remarks))
    target, folder = (about[0].target, about[0].folder) if about else ("", "RUN")
    return Report(
        title=f"Forecast · {asked_text(question.load)} at {iops(question.peak_per_s)} on {target}",
        verdict=f"{verdict_sentence(of)} {'' if of.reason == 'stalled' else caution}".rstrip(),
        sections=tuple(each for each in parts if each is not None),
        next_steps=tuple(tests(of, target, folder, options)),
        figures=tuple(_heads(of)),
        kind="forecast",
        subjects=tuple(about),
        result=result,
    )


def _heads(of: Answer) -> Iterator[Figure]:
    """The figures in large print at the head of a page."""
    figure = of.slo_figure
    if of.replayed is not None:
        yield from _measured_heads(of, of.replayed)
        return
    if of.forecast is None or figure is None or not figure.known:
        return
    name = text.statistic(of.question.q)
    yield Figure(name, figure.base_s * NS, "duration", between(figure))
    yield Figure("SLO", of.question.limit_s * NS, "duration", f"for the {name}")
    busy = of.forecast.utilisation
    span = f"{text.percent(busy.low)} to {text.percent(busy.high)}"
    yield Figure("utilisation", busy.base, "share", f"{span} of the {demonstrated(of)} throughput")
    if of.headroom is not None:
        yield Figure("OK up to", of.headroom.ok_per_s, "rate", "IOPS")


def _measured_heads(of: Answer, replayed: Replayed) -> Iterator[Figure]:
    """The same where open-loop rows contradict the forecast."""
    name, decides = text.statistic(of.question.q), replayed.at(of.question.peak_per_s)
    has = figure_of(decides[0], of.question.q) if decides is not None else None
    if decides is not None and has is not None:
        yield Figure(name, has.value_s * NS, "duration", f"measured at {iops(decides[0].rate_per_s)}")
    yield Figure("SLO", of.question.limit_s * NS, "duration", f"for the {name}")
    if replayed.kept is not None:
        yield Figure("kept up to", replayed.kept.rate_per_s, "rate", "IOPS, as measured")


def _forecast(of: Answer, result: ForecastResult, *, charts: bool) -> Section | None:
    forecast, headings = of.forecast, {"demonstrated_per_s": f"IOPS\n{demonstrated(of)}"}
    load = result_table(ForecastSummary, (result.forecast,), key="load", headings=headings)
    if forecast is None:
        return section("forecast", tables=(load,), charts=_charts(of) if charts else ())
    notes = ["From, to: a 95% interval for the response to arrivals at random."]
    if any(each.stepped for each in forecast.figures):
        notes.append(
            "No expected value: the percentile lies on a step between two groups of response times, and a few more or"
            " fewer I/Os in the faster one move it to the other side. The interval spans both."
        )
    if any(not each.known for each in forecast.figures):
        notes.append("Blank: too few independent I/Os.")
    if any(each.known and each.held for each in forecast.figures):
        notes.append(
            "Blank from: one outstanding I/O may have waited for a cap all the time; how quick I/Os below it are was"
            " not measured."
        )
    words: dict[str, Callable[[ForecastFigure], str]] = {
        "": lambda each: "" if each.faster_ns is None else on_a_step(each)
    }
    table = result_table(ForecastFigure, result.figures, key="figures", words=words, notes=tuple(notes))
    says = (_utilisation_says(of), *changes(of))
    return section("forecast", paragraphs=says, tables=(load, table), charts=_charts(of) if charts else ())


def _charts(of: Answer) -> tuple[Chart, ...]:
    return charts_at("forecast", of)


def _utilisation_says(of: Answer) -> str:
    forecast = of.forecast
    assert forecast is not None
    busy, most = forecast.utilisation, forecast.rate_per_s / forecast.utilisation.base
    ends = text.percent(busy.low), text.percent(busy.high)
    span = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
    return f"Utilisation: {text.percent(busy.base)}{span} of the {iops(most)} {demonstrated(of)}."


def _headroom(of: Answer, rows: tuple[HeadroomRow, ...]) -> Section | None:
    words: dict[str, Callable[[HeadroomRow], str]] = {
        "code": lambda each: HEADROOM[each.code],
        "": lambda each: "" if each.rate_per_s else IDLE,
    }
    if of.replayed is not None:
        tables = (result_table(HeadroomRow, rows, key="headroom", words=words),) if rows else ()
        return section("headroom", tuple(measured_room(of)), tables)
    if of.headroom is None:
        return None
    most = "what the next larger size did" if demonstrated(of) == "interpolated" else "measured throughput"
    notes = (f"No forecast above 95% of {most}.",) if of.headroom.ends_there else ()
    return section("headroom", tables=(result_table(HeadroomRow, rows, key="headroom", words=words, notes=notes),))


def _profile(of: Answer) -> Section | None:
    profile, question = of.question.profile, of.question
    if profile is None:
        return None
    name = text.statistic(question.q)
    ends = f"on average {iops(profile.mean_per_s)}, at the peak {iops(profile.peak_per_s)}"
    says = [f"The profile: {profile.says}; {ends}."]
    base = of.base_forecast
    if base is not None and base.figure(question.q).known:
        says.append(f"Between the peaks ({iops(base.rate_per_s)}) the {name} is {between(base.figure(question.q))}.")
    if of.over_time is not None and of.over_time.known:
        says.append(f"Over all I/Os of the profile the {name} is {between(of.over_time)}; the verdict is on the peak.")
    if of.overload is not None:
        overload = of.overload
        drain = "never drains" if overload.lasting else "drains before the next one"
        says.append(
            f"Above {iops(overload.capacity_per_s)} I/Os wait: up to"
            f" {text.counted(overload.backlog_ios, 'I/O')}, the last of"
            f" which waits {time(overload.delay_s)}; the backlog {drain}."
            f" {text.percent(overload.affected)} of all I/Os wait"
            " in or behind it."
        )
    return section("profile", paragraphs=tuple(says))


def _what_if(changes: Sequence[WhatIf], rows: tuple[WhatIfRow, ...]) -> Section | None:
    if not changes:
        return None
    notes = []
    if any(each.answer is not None and each.answer.forecaster and "cache" in each.says for each in changes):
        notes.append(
            "cache: hits are taken to be independent of each other, and the measured rows to have had none; on what is"
            " taken so a verdict is MARGINAL at best."
        )
    words: dict[str, Callable[[WhatIfRow], str]] = {"verdict": lambda each: VERDICTS[each.verdict]}
    return section("what_if", tables=(result_table(WhatIfRow, rows, key="what_if", words=words, notes=tuple(notes)),))


def _what_if_says(of: Answer, what_if: WhatIf) -> str:
    """What the figures of a change do not say."""
    if what_if.limit is not None:
        limit = what_if.limit
        most = f"{limit.kind} allows {iops(limit.iops)} of this size at most ({limit.binds}, {limit.checked})"
        return f"{most}: its response time is unknown until it is measured." if limit.allows else f"{most}."
    given = what_if.answer
    if given is None:
        return "no ladder" if of.replayed is None else "the model does not fit this storage"
    shown = given.forecast is None or (isinstance(given.ladder, MeasuredLadder) and given.verdict == "unknown")
    return verdict_sentence(given) if shown else ""
