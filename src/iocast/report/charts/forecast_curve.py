"""The response over the rate of arrivals: measured points, forecast with its interval, SLO and the load asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.forecast.response_law import GRID
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.forecast.forecast_sentences import between
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, padded_times, time_axis
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.marks import Areas, Band, Dots, Levels, Lines, Plot, Point, Rings, Uprights, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("forecast", wide=True)
HEIGHT = 300
STEPS = 24
NS = 1e9


class ForecastPoint(Struct, frozen=True):
    """The response that is forecast for a rate, with its 95% interval."""

    rate_per_s: Annotated[float, shown("IOPS", "rate")]
    low_ns: Annotated[float, shown("from", "duration")]
    expected_ns: Annotated[float, shown("expected", "duration")]
    high_ns: Annotated[float, shown("to", "duration")]


class MeasuredPoint(Struct, frozen=True):
    """The response that was measured at a rate."""

    row: Annotated[str, shown("row")]
    kind: Annotated[Literal["open loop", "ladder"], shown("kind")]
    rate_per_s: Annotated[float, shown("IOPS", "rate")]
    value_ns: Annotated[float, shown("response", "duration")]


class RequestedLoad(Struct, frozen=True):
    """The rate that is asked for, its SLO, and the forecast for it where there is one."""

    rate_per_s: float
    slo_ns: float
    low_ns: float | None
    high_ns: float | None


class StickPoint(Struct, frozen=True):
    """The response at a rate by the hockey stick that fits the ladder."""

    rate_per_s: float
    value_ns: float


class ForecastCurve(Chart, frozen=True, kw_only=True):
    """What is forecast, and what was measured."""

    kind: str = "forecast_curve"
    forecast: tuple[ForecastPoint, ...]
    measured: tuple[MeasuredPoint, ...]
    requested: tuple[RequestedLoad]
    hockey_stick: tuple[StickPoint, ...]


def tell(of: Answer) -> Iterator[ForecastCurve]:
    """The chart of a forecast from a ladder."""
    by, question, figure = of.forecaster, of.question, of.slo_figure
    if by is None or not isinstance(of.ladder, MeasuredLadder):
        return
    name = text.statistic(question.q)
    rates = [by.limit_per_s * at / STEPS for at in range(1, STEPS + 1)]
    ends = (figure.low_s * NS, figure.high_s * NS) if figure is not None and figure.known else (None, None)
    yield ForecastCurve(
        key="forecast-curve",
        title=f"Response ({name}) over IOPS",
        summary=_summary(of, name),
        notes=(
            "Line: expected. Band: 95% interval. Dots: open-loop rows. Rings: rows of the ladder at the IOPS that they"
            " reached; past saturation they stand above each other.",
        ),
        forecast=tuple(
            ForecastPoint(rate, each.low_s * NS, each.base_s * NS, each.high_s * NS)
            for rate, each in zip(rates, by.curve(question.q, rates), strict=True)
            if each.known
        ),
        measured=tuple(_measured(of, by)),
        requested=(RequestedLoad(question.peak_per_s, question.limit_s * NS, *ends),),
        hockey_stick=tuple(_stick(of)),
    )


def _measured(of: Answer, by: Forecaster) -> Iterator[MeasuredPoint]:
    """What was measured: open-loop rows, and those of the ladder."""
    q = of.question.q
    for row in of.rows:
        has = next((each for each in row.measured if each.q == q and each.enough), None)
        if has is not None:
            yield MeasuredPoint(row.name, "open loop", row.done_per_s, has.value_s * NS)
    for level in by.measured.levels:
        value = (
            level.response_s if q is None else level.times_s[min(range(len(GRID)), key=lambda at: abs(GRID[at] - q))]
        )
        yield MeasuredPoint(" + ".join(level.names), "ladder", level.rate_per_s, value * NS)


def _stick(of: Answer) -> Iterator[StickPoint]:
    curve = None if of.fit is None else of.fit.curve
    if curve is None:
        return
    for at in range(1, STEPS + 1):
        rate = curve.largest_per_s * at / STEPS
        yield StickPoint(rate, curve.response_s(rate) * NS)


def _summary(of: Answer, name: str) -> str:
    question, figure = of.question, of.slo_figure
    peak_text = f"{text.number(question.peak_per_s)} IOPS"
    limit = text.duration(question.limit_s * NS)
    if figure is None or not figure.known:
        return f"No forecast at {peak_text}; SLO {limit}."
    return f"At {peak_text} the {name} will be {between(figure)}; SLO {limit}."


def draw(chart: ForecastCurve, theme: Theme, width: int) -> Plot:
    """A band with its line, the SLO across, the load asked for upright."""
    forecast, measured, (load_asked,) = chart.forecast, chart.measured, chart.requested
    times = [time for each in forecast for time in (each.low_ns, each.high_ns)]
    low, high = padded_times([*times, load_asked.slo_ns, *(each.value_ns for each in measured)], 0.06)
    rates = [*(each.rate_per_s for each in forecast), load_asked.rate_per_s, *(each.rate_per_s for each in measured)]
    line = [Point(each.rate_per_s, each.expected_ns) for each in forecast]
    dots = [Point(each.rate_per_s, each.value_ns) for each in measured]
    opened, ladder = (
        [dot for dot, each in zip(dots, measured, strict=True) if each.kind == kind] for kind in ("open loop", "ladder")
    )
    tips = [*(tip(each, "row") for each in measured), *(tip(each, "rate_per_s") for each in forecast)]
    slo = [Word(0, load_asked.slo_ns, "SLO")]
    load = [Word(load_asked.rate_per_s, high, f"asked: {text.rate(load_asked.rate_per_s)} IOPS")]
    marks = (
        Areas(
            [[Band(each.rate_per_s, each.low_ns, each.high_ns) for each in forecast]],
            colour=theme.accent,
            opacity=0.18,
        ),
        Lines([[Point(each.rate_per_s, each.value_ns) for each in chart.hockey_stick]], 1.6, (2, 3), colour=theme.tail),
        Lines([line], colour=theme.accent),
        Levels([load_asked.slo_ns], 1.4, (6, 4), colour=theme.peak),
        Uprights([load_asked.rate_per_s], 1.2, (3, 3), colour=theme.ink),
        Rings(ladder, 44, colour=theme.muted),
        Dots(opened, 60, colour=theme.tail, opacity=1),
        Words(slo, "left", "bottom", dx=5, dy=-3, size=11, weight=600, colour=theme.peak, rim=theme.ground),
        Words(load, "right", "top", dx=-5, dy=2, size=11, weight=600, colour=theme.ink, rim=theme.ground),
        Dots([*dots, *line], 260, tips=tips, opacity=0),
    )
    x = Axis(Scale(0, 1.06 * max(rates)), "IOPS", prefixed, count=8, grid=False)
    return Plot(width, HEIGHT, x, time_axis(low, high, room=LABEL_ROOM), marks)
