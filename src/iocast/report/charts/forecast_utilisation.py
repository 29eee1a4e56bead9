"""How much of the storage the load takes: the rates of each verdict side by side, and the rate that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.forecast.answer import Answer
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.marks import Box, Boxes, Plot, Uprights, Word, Words
from iocast.report.plot.theme import Theme

PLACE = Place("forecast", wide=True)
HEIGHT = 84


class Zone(Struct, frozen=True):
    """The rates of a verdict."""

    zone: Annotated[str, shown("verdict")]
    start_per_s: Annotated[float, shown("from IOPS", "rate")]
    end_per_s: Annotated[float, shown("to IOPS", "rate")]


class RequestedRate(Struct, frozen=True):
    """A rate that is asked for, and what it takes of all that was demonstrated."""

    what: str
    rate_per_s: float
    share: float


class ForecastUtilisation(Chart, frozen=True, kw_only=True):
    """The verdicts from rest to all that was demonstrated."""

    kind: str = "forecast_utilisation"
    zones: tuple[Zone, ...]
    requested: tuple[RequestedRate, ...]


def tell(of: Answer) -> Iterator[ForecastUtilisation]:
    """The chart of a forecast that knows its headroom."""
    by, room, question = of.forecaster, of.headroom, of.question
    if by is None or room is None:
        return
    most = by.demonstrated_per_s
    ends = [("OK", room.ok_per_s), ("MARGINAL", room.marginal_per_s), ("AT RISK", by.limit_per_s), ("NOT OK", most)]
    if of.forecast is not None and not of.firm:
        ends[0:2] = [("MARGINAL", max(room.ok_per_s, room.marginal_per_s))]
    zones, start = list[Zone](), 0.0
    for name, end in ends:
        if end > start:
            zones.append(Zone(name, start, end))
            start = end
    loads = [("asked" if question.profile is None else "peak", question.peak_per_s)]
    if question.profile is not None:
        loads.append(("average", question.profile.mean_per_s))
    taken = text.share_of(question.peak_per_s / most)
    yield ForecastUtilisation(
        key="forecast-utilisation",
        title="Utilisation",
        summary=f"{text.number(question.peak_per_s)} IOPS are {taken} the {text.number(most)} measured.",
        zones=tuple(zones),
        requested=tuple(RequestedRate(what, rate, rate / most) for what, rate in loads),
    )


def draw(chart: ForecastUtilisation, theme: Theme, width: int) -> Plot:
    """A bar of verdicts from 0 to what was demonstrated, and the loads upright."""
    zones, rates = chart.zones, chart.requested
    colours = {"OK": theme.fast, "MARGINAL": theme.middling, "AT RISK": theme.slow, "NOT OK": theme.slower}
    wide = max(*(zone.end_per_s for zone in zones), *(1.03 * each.rate_per_s for each in rates))
    named = [zone for zone in zones if zone.end_per_s - zone.start_per_s > 0.09 * wide]
    loads = [Word(each.rate_per_s, 0.78, f"{each.what}: {text.percent(each.share)}") for each in rates]
    marks = (
        Boxes(
            [Box(zone.start_per_s, 0.12, zone.end_per_s, 0.62) for zone in zones],
            colours=[colours[zone.zone] for zone in zones],
            tips=[f"{zone.zone}: up to {text.rate(zone.end_per_s)} IOPS" for zone in zones],
        ),
        Words(
            [Word(zone.start_per_s, 0.37, zone.zone) for zone in named],
            "left",
            "middle",
            dx=6,
            size=11,
            colour=theme.ink,
            rim=theme.ground,
        ),
        Uprights([each.rate_per_s for each in rates], 2, colour=theme.ink),
        Words(loads, "left", "middle", dx=6, size=11, weight=600, colour=theme.ink, rim=theme.ground),
    )
    x = Axis(Scale(0, wide), "IOPS", prefixed, count=8, grid=False)
    return Plot(width, HEIGHT, x, Scale(0, 1), marks)
