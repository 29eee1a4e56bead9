"""A forecast as a report: verdict, figures with intervals, headroom, what if, and the rows that it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.forecast.outlook import Verdict
from iocast.forecast.replayed import Replayed, figure_of
from iocast.forecast.what_if import WhatIf
from iocast.model.report import Cell, Chart, Column, Figure, Report, Row, Section, Subject, Table
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
    lower_end_ns,
    measured_room,
    on_a_step,
    reservations,
    statistic,
    tests,
    time,
    verdict_sentence,
)
from iocast.report.wording import section

FIGURES = (
    Column("statistic", "response", "text"),
    Column("expected", "expected", "duration"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
    Column("slo", "SLO", "duration"),
)
LOAD = (
    Column("peak", "peak IOPS", "rate"),
    Column("size", "size", "bytes"),
    Column("read_share", "reads", "share"),
    Column("slo_statistic", "SLO", "text"),
    Column("slo", "limit", "duration"),
    Column("utilisation", "utilisation", "share"),
    Column("demonstrated", "IOPS\ndemonstrated", "rate"),
)
HEADROOM = (
    Column("what", "the SLO is kept", "text"),
    Column("rate", "up to IOPS", "rate"),
    Column("factor", "of the peak", "ratio"),
)
IDLE = "not even when idle"
WHAT_IF = (
    Column("change", "what if", "text"),
    Column("verdict", "verdict", "text"),
    Column("rate", "IOPS", "rate"),
    Column("busy", "utilisation", "share"),
    Column("expected", "expected", "duration"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
    Column("ok_rate", "OK up to\nIOPS", "rate", spare=1),
)


def forecast_report(
    of: Answer,
    about: Sequence[Subject],
    trust: Mapping[str, str],
    *,
    what_ifs: Sequence[WhatIf] = (),
    path: str = "",
    options: str = "",
    caution: str = "",
    explain: bool = False,
    charts: bool = False,
) -> Report:
    """Everything that is told of an answer. `options` are those of the command line that ask
    for it again; `caution` is what the figures do not show."""
    question = of.question
    parts = [_forecast(of, charts=charts), _headroom(of), _profile(of), _what_if(of, what_ifs)]
    parts += [basis_section.basis(of, trust), basis_section.open_rows(of)]
    parts += [arithmetic_section.section_of(of) if explain else None]
    remarks = tuple(reservations(of))
    if remarks:
        parts.append(section("remarks", paragraphs=remarks))
    target = about[0].target if about else path
    return Report(
        title=f"Forecast · {asked_text(question.load)} at {iops(question.peak_per_s)} on {target}",
        verdict=f"{verdict_sentence(of)} {'' if of.reason == 'stalled' else caution}".rstrip(),
        sections=tuple(each for each in parts if each is not None),
        next_steps=tuple(tests(of, path, about[0].folder if about else "RUN", options)),
        figures=tuple(_heads(of)),
        kind="forecast",
        subjects=tuple(about),
    )


def _heads(of: Answer) -> Iterator[Figure]:
    """The figures in large print at the head of a page."""
    figure = of.slo_figure
    if of.replayed is not None:
        yield from _measured_heads(of, of.replayed)
        return
    if of.forecast is None or figure is None or not figure.known:
        return
    name = statistic(of.question.q)
    yield Figure(name, figure.base_s * NS, "duration", between(figure))
    yield Figure("SLO", of.question.limit_s * NS, "duration", f"for the {name}")
    busy = of.forecast.utilisation
    span = f"{text.percent(busy.low)} to {text.percent(busy.high)}"
    yield Figure("utilisation", busy.base, "share", f"{span} of the throughput {demonstrated(of)}")
    if of.headroom is not None:
        yield Figure("OK up to", of.headroom.ok_per_s, "rate", "IOPS")


def _measured_heads(of: Answer, found: Replayed) -> Iterator[Figure]:
    """The same where open-loop rows contradict the forecast."""
    name, decides = statistic(of.question.q), found.at(of.question.peak_per_s)
    has = figure_of(decides[0], of.question.q) if decides is not None else None
    if decides is not None and has is not None:
        yield Figure(name, has.value_s * NS, "duration", f"measured at {iops(decides[0].rate_per_s)}")
    yield Figure("SLO", of.question.limit_s * NS, "duration", f"for the {name}")
    if found.kept is not None:
        yield Figure("kept up to", found.kept.rate_per_s, "rate", "IOPS, as measured")


def _forecast(of: Answer, *, charts: bool) -> Section | None:
    question, found = of.question, of.forecast
    cells: dict[str, Cell] = {
        "verdict": of.verdict,
        "reason": of.reason,
        "rate": question.rate_per_s,
        "peak": question.peak_per_s,
        "size": question.load.size_bytes,
        "read_share": question.load.read_share,
        "slo_statistic": statistic(question.q),
        "slo": question.limit_s * NS,
        "arrival_cv2": question.arrival_cv2,
    }
    by = of.forecaster
    if by is not None:
        cells |= {"demonstrated": by.demonstrated_per_s}
    if found is not None:
        busy = found.utilisation
        cells |= {"utilisation": busy.base, "utilisation_low": busy.low, "utilisation_high": busy.high}
    title = f"IOPS\n{demonstrated(of)}"
    columns = tuple(Column(each.key, title, each.kind) if each.key == "demonstrated" else each for each in LOAD)
    load = Table("", columns, (Row(cells),), key="load")
    if found is None:
        return section("forecast", tables=(load,), charts=_charts(of) if charts else ())
    rows = tuple(_figure_row(of, each.q) for each in found.figures)
    notes = ["From, to: a 95% interval for the response to arrivals at random."]
    if any(each.stepped for each in found.figures):
        notes.append(
            "No expected value: the percentile lies on a step between two groups of response times, and a few more or"
            " fewer I/Os in the faster one move it to the other side. The interval spans both."
        )
    if any(not each.known for each in found.figures):
        notes.append("Blank: too few independent I/Os.")
    if any(each.known and each.held for each in found.figures):
        notes.append(
            "Blank from: one outstanding I/O may have waited for a cap all the time; how quick I/Os below it are was"
            " not measured."
        )
    table = Table("", FIGURES, rows, key="figures", notes=tuple(notes))
    says = (_utilisation_says(of), *changes(of))
    return section("forecast", paragraphs=says, tables=(load, table), charts=_charts(of) if charts else ())


def _charts(of: Answer) -> tuple[Chart, ...]:
    return charts_at("forecast", of)


def _utilisation_says(of: Answer) -> str:
    found = of.forecast
    assert found is not None
    busy, most = found.utilisation, found.rate_per_s / found.utilisation.base
    ends = text.percent(busy.low), text.percent(busy.high)
    span = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
    return f"Utilisation: {text.percent(busy.base)}{span} of the {iops(most)} {demonstrated(of)}."


def _figure_row(of: Answer, q: float | None) -> Row:
    assert of.forecast is not None
    figure = of.forecast.figure(q)
    known = figure.known
    cells: dict[str, Cell] = {
        "statistic": statistic(q),
        "expected": figure.base_s * NS if known and not figure.stepped else None,
        "low": lower_end_ns(figure) if known else None,
        "high": figure.high_s * NS if known else None,
        "slo": of.question.limit_s * NS if q == of.question.q else None,
        "stepped": figure.stepped,
        "sampling": figure.sampling if known else None,
    }
    if figure.step is None or not known:
        return Row(cells)
    step = figure.step
    cells |= {"faster": step.faster_s * NS, "slower": step.slower_s * NS, "faster_share": step.faster}
    return Row(cells, note=on_a_step(figure))


def _headroom(of: Answer) -> Section | None:
    room, peak = of.headroom, of.question.peak_per_s
    if of.replayed is not None:
        return _measured_headroom(of, of.replayed)
    if room is None:
        return None
    lines = (
        ("surely (upper end of the interval)", "surely", room.surely_per_s),
        ("as expected", "expected", room.expected_per_s),
        ("at best (lower end)", "at_best", room.at_best_per_s),
        ("with an OK (utilisation of 70% at most, too)", "ok", room.ok_per_s),
    )
    rows = tuple(
        Row({"what": says, "code": code, "rate": rate, "factor": rate / peak}, note="" if rate else IDLE)
        for says, code, rate in lines
    )
    most = "what the next larger size did" if demonstrated(of) == "interpolated" else "the throughput demonstrated"
    notes = (f"Nothing is foretold beyond 95% of {most}.",) if room.ends_there else ()
    return section("headroom", tables=(Table("", HEADROOM, rows, key="headroom", notes=notes),))


def _measured_headroom(of: Answer, found: Replayed) -> Section:
    rows: tuple[Row, ...] = ()
    if found.kept is not None:
        rate = found.kept.rate_per_s
        cells: dict[str, Cell] = {"what": "as measured (open-loop rows)", "code": "measured", "rate": rate}
        rows = (Row({**cells, "factor": rate / of.question.peak_per_s}),)
    tables = (Table("", HEADROOM, rows, key="headroom"),) if rows else ()
    return section("headroom", tuple(measured_room(of)), tables)


def _profile(of: Answer) -> Section | None:
    profile, question = of.question.profile, of.question
    if profile is None:
        return None
    name = statistic(question.q)
    ends = f"on average {iops(profile.mean_per_s)}, at the peak {iops(profile.peak_per_s)}"
    says = [f"The profile: {profile.says}; {ends}."]
    base = of.base_forecast
    if base is not None and base.figure(question.q).known:
        says.append(f"Between the peaks ({iops(base.rate_per_s)}) the {name} is {between(base.figure(question.q))}.")
    if of.over_time is not None and of.over_time.known:
        says.append(f"Over all I/Os of the profile the {name} is {between(of.over_time)}; the verdict is on the peak.")
    if of.overload is not None:
        found = of.overload
        drain = "never drains" if found.lasting else "drains before the next one"
        says.append(
            f"Above {iops(found.capacity_per_s)} I/Os wait: up to {text.counted(found.backlog_ios, 'I/O')}, the last of"
            f" which waits {time(found.delay_s)}; the backlog {drain}. {text.percent(found.affected)} of all I/Os wait"
            " in or behind it."
        )
    return section("profile", paragraphs=tuple(says))


def _what_if(of: Answer, found: Sequence[WhatIf]) -> Section | None:
    if not found:
        return None
    rows = tuple(_what_if_row(of, each) for each in found)
    notes = []
    if any(each.answer is not None and each.answer.forecaster and "cache" in each.says for each in found):
        notes.append(
            "cache: hits are taken to be independent of each other, and the measured rows to have had none; on what is"
            " taken so a verdict is MARGINAL at best."
        )
    return section("what_if", tables=(Table("", WHAT_IF, rows, key="what_if", notes=tuple(notes)),))


def _what_if_row(of: Answer, found: WhatIf) -> Row:
    if found.limit is not None:
        limit = found.limit
        most = f"{limit.kind} allows {iops(limit.iops)} of this size at most ({limit.binds}, {limit.checked})"
        over = f"{most}: its response time is unknown until it is measured." if limit.allows else f"{most}."
        code: Verdict = "unknown" if limit.allows else "not_ok"
        peak = of.question.peak_per_s
        cells: dict[str, Cell] = {"change": found.says, "verdict": VERDICTS[code], "code": code, "rate": peak}
        return Row({**cells, "busy": peak / limit.iops}, note=over)
    if found.answer is None:
        why = "no ladder" if of.replayed is None else "the model does not fit this storage"
        return Row({"change": found.says, "verdict": VERDICTS["unknown"], "code": "unknown"}, note=why)
    given = found.answer
    cells = {
        "change": found.says,
        "verdict": VERDICTS[given.verdict],
        "code": given.verdict,
        "rate": given.question.peak_per_s,
    }
    if given.forecast is not None and (figure := given.slo_figure) is not None and figure.known:
        cells |= {"busy": given.forecast.utilisation.base, "low": lower_end_ns(figure), "high": figure.high_s * NS}
        cells |= {"expected": None if figure.stepped else figure.base_s * NS}
    if given.headroom is not None:
        cells |= {"ok_rate": given.headroom.ok_per_s}
    shown = given.forecast is None or (isinstance(given.ladder, MeasuredLadder) and given.verdict == "unknown")
    return Row(cells, note=verdict_sentence(given) if shown else "")
