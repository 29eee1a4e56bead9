"""Forecasts become results: the figures with their intervals, headroom, what if, and the rows that they stand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.arithmetic import Arithmetic
from iocast.forecast.load_forecast import Figure
from iocast.forecast.measured_ladder import Level, MeasuredLadder
from iocast.forecast.open_rows import MeasuredFigure, OpenRow, inside, touches
from iocast.forecast.response_law import GRID
from iocast.forecast.what_if import WhatIf
from iocast.model.finding import Grade
from iocast.model.results.forecast import (
    ArithmeticLevel,
    ArithmeticState,
    ForecastFigure,
    ForecastResult,
    ForecastSummary,
    HeadroomRow,
    LadderRow,
    OpenLoopRow,
    WhatIfRow,
)

NS = 1e9


def forecast_result(
    of: Answer,
    trust: Mapping[str, Grade],
    what_if: tuple[WhatIfRow, ...] = (),
    remarks: Sequence[str] = (),
    steps: Arithmetic | None = None,
) -> ForecastResult:
    """The result of an answer. `remarks` say of each open-loop row, in words, what keeps it from being compared."""
    return ForecastResult(
        forecast=_summary(of),
        figures=tuple(forecast_figure(of, each) for each in of.forecast.figures) if of.forecast else (),
        headroom=tuple(_headroom(of)),
        what_if=what_if,
        ladder=tuple(_level(each, trust) for each in of.ladder.levels) if isinstance(of.ladder, MeasuredLadder) else (),
        open_rows=tuple(each for row, says in zip(of.rows, remarks, strict=True) for each in _open_row(row, says)),
        arithmetic_ladder=tuple(_arithmetic_ladder(of)) if steps else (),
        arithmetic_states=tuple(_arithmetic_states(steps)) if steps else (),
    )


def _summary(of: Answer) -> ForecastSummary:
    question, by = of.question, of.forecaster
    busy = of.forecast.utilisation if of.forecast else None
    return ForecastSummary(
        verdict=of.verdict,
        reason=of.reason,
        rate_per_s=question.rate_per_s,
        peak_per_s=question.peak_per_s,
        size_bytes=question.load.size_bytes,
        read_share=question.load.read_share,
        arrival_cv2=question.arrival_cv2,
        slo_statistic=text.statistic(question.q),
        slo_ns=question.limit_s * NS,
        utilisation=busy.base if busy else None,
        utilisation_low=busy.low if busy else None,
        utilisation_high=busy.high if busy else None,
        demonstrated_per_s=by.demonstrated_per_s if by else None,
    )


def forecast_figure(of: Answer, figure: Figure) -> ForecastFigure:
    """A figure of the response at the peak."""
    known, step = figure.known, figure.step if figure.known else None
    return ForecastFigure(
        statistic=text.statistic(figure.q),
        expected_ns=figure.base_s * NS if known and not figure.stepped else None,
        low_ns=_low_ns(figure) if known else None,
        high_ns=figure.high_s * NS if known else None,
        slo_ns=of.question.limit_s * NS if figure.q == of.question.q else None,
        stepped=figure.stepped,
        faster_ns=step.faster_s * NS if step else None,
        slower_ns=step.slower_s * NS if step else None,
        faster_share=step.faster if step else None,
        sampling=figure.sampling if known else None,
    )


def _low_ns(figure: Figure) -> float | None:
    """The lower end, where one says anything."""
    return None if figure.told_low_s is None else figure.told_low_s * NS


def _headroom(of: Answer) -> Iterator[HeadroomRow]:
    """Where open-loop rows contradict the forecast, only what they measured."""
    room, peak = of.headroom, of.question.peak_per_s
    if of.replayed is not None:
        if of.replayed.kept is not None:
            rate = of.replayed.kept.rate_per_s
            yield HeadroomRow(code="measured", rate_per_s=rate, peak_ratio=rate / peak)
    elif room is not None:
        yield HeadroomRow(code="surely", rate_per_s=room.surely_per_s, peak_ratio=room.surely_per_s / peak)
        yield HeadroomRow(code="expected", rate_per_s=room.expected_per_s, peak_ratio=room.expected_per_s / peak)
        yield HeadroomRow(code="at_best", rate_per_s=room.at_best_per_s, peak_ratio=room.at_best_per_s / peak)
        yield HeadroomRow(code="ok", rate_per_s=room.ok_per_s, peak_ratio=room.ok_per_s / peak)


def what_if_row(of: Answer, what_if: WhatIf, says: str) -> WhatIfRow:
    """A change and what came of it; `says` is the rest, in words."""
    limit, given = what_if.limit, what_if.answer
    if limit is not None:
        return WhatIfRow(
            change=what_if.says,
            verdict="unknown" if limit.allows else "not_ok",
            rate_per_s=of.question.peak_per_s,
            utilisation=of.question.peak_per_s / limit.iops,
            says=says,
        )
    if given is None:
        return WhatIfRow(change=what_if.says, verdict="unknown", says=says)
    figure = given.slo_figure if given.slo_figure and given.slo_figure.known else None
    return WhatIfRow(
        change=what_if.says,
        verdict=given.verdict,
        rate_per_s=given.question.peak_per_s,
        utilisation=given.forecast.utilisation.base if given.forecast and figure else None,
        expected_ns=figure.base_s * NS if figure and not figure.stepped else None,
        low_ns=_low_ns(figure) if figure else None,
        high_ns=figure.high_s * NS if figure else None,
        ok_rate_per_s=given.headroom.ok_per_s if given.headroom else None,
        says=says or None,
    )


def _level(level: Level, trust: Mapping[str, Grade]) -> LadderRow:
    p50, p95, p99 = (level.times_s[GRID.index(q)] * NS for q in (0.5, 0.95, 0.99))
    return LadderRow(
        row=" + ".join(level.names),
        outstanding=round(level.users),
        rate_per_s=level.rate_per_s,
        mean_ns=level.response_s * NS,
        p50_ns=p50,
        p95_ns=p95,
        p99_ns=p99,
        error_share=level.mean_error,
        trust=max((trust[name] for name in level.names if name in trust), default=None),
    )


def _open_row(row: OpenRow, says: str) -> Iterator[OpenLoopRow]:
    """Its figures; the last of them says what is to be said of the row."""
    forecast = {figure.q: figure for figure in row.figures if figure.known}
    measured = [has for has in row.measured if has.enough]
    for has in measured:
        figure = forecast.get(has.q)
        yield OpenLoopRow(
            row=row.name,
            rate_per_s=row.rate_per_s,
            statistic=text.statistic(has.q),
            measured_ns=has.value_s * NS,
            low_ns=_low_ns(figure) if figure else None,
            high_ns=figure.high_s * NS if figure else None,
            held=_held(has, figure) if figure and row.kept_up else None,
            says=(says or None) if has is measured[-1] else None,
        )


def _held(has: MeasuredFigure, figure: Figure) -> Literal["yes", "within error", "no"]:
    return "yes" if inside(has, figure) else "within error" if touches(has, figure) else "no"


def _arithmetic_ladder(of: Answer) -> Iterator[ArithmeticLevel]:
    by = of.forecaster
    assert by is not None
    for level, response_s in zip(by.measured.levels, by.ladder.response_s, strict=True):
        yield ArithmeticLevel(outstanding=level.users, rate_per_s=level.rate_per_s, response_ns=response_s * NS)


def _arithmetic_states(steps: Arithmetic) -> Iterator[ArithmeticState]:
    for line in steps.lines:
        yield ArithmeticState(
            in_system=line.in_system,
            factor=line.factor if line.in_system else None,
            weight=line.weight,
            chance_share=line.chance,
            response_ns=line.response_s * NS,
            within_share=line.within,
        )
