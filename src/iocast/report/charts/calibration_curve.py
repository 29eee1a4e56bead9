"""The limited response time against IOPS: closed loads, rates with their intervals, the limit, and what it allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.forecast.calibration import Calibration
from iocast.forecast.calibration import CurvePoint as MeasuredPoint
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, known, padded_times, time_axis
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.marks import (
    Box,
    Boxes,
    Dots,
    Levels,
    Lines,
    Mark,
    Plot,
    Point,
    Rings,
    Rules,
    Uprights,
    Word,
    Words,
)
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("calibration", wide=True)
HEIGHT = 320


class CurvePoint(Struct, frozen=True):
    """The limited response time of a row, with its 95% interval."""

    name: Annotated[str, shown("row")]
    rate_per_s: Annotated[float, shown("IOPS", "rate")]
    time_ns: Annotated[float | None, shown("response time", "duration")]
    low_ns: Annotated[float | None, shown("lower end", "duration")]
    high_ns: Annotated[float | None, shown("upper end", "duration")]
    verdict: Annotated[str, shown("limit", "code")]
    series: Annotated[Literal["closed", "open"], shown("load", "code")]

    @property
    def used(self) -> bool:
        """False of a row that is refused."""
        return self.verdict != "refused"

    @property
    def at(self) -> Point:
        """Its place."""
        return Point(self.rate_per_s, self.time_ns)


class CurveMarks(Struct, frozen=True):
    """The limit, the IOPS within it, with their interval, and the most IOPS."""

    limit_ns: float
    rate_per_s: float | None
    low_per_s: float | None
    high_per_s: float | None
    most_per_s: float | None


class CalibrationCurve(Chart, frozen=True, kw_only=True):
    """All rows of random reads of a search."""

    kind: str = "calibration_curve"
    points: tuple[CurvePoint, ...]
    marks: tuple[CurveMarks]


def tell(calibration: Calibration) -> Iterator[CalibrationCurve]:
    """The chart of a search with at least two rows of random reads."""
    if len(calibration.closed) + len(calibration.at_rates) < 2:
        return
    within = calibration.within
    marks = CurveMarks(
        calibration.request.max_latency_ns,
        within.rate_per_s if within else None,
        within.low_per_s if within else None,
        within.high_per_s if within else None,
        calibration.most.value if calibration.most else None,
    )
    name = text.statistic(calibration.request.quantile)
    yield CalibrationCurve(
        key="calibration-load-curve",
        title=f"{name} against IOPS",
        summary=_summary(calibration, name),
        notes=("Filled: closed loads. Rings: random arrivals at a rate, with 95% intervals. Grey: refused rows.",),
        points=(*_points(calibration.closed, "closed"), *_points(calibration.at_rates, "open")),
        marks=(marks,),
    )


def _points(points: Sequence[MeasuredPoint], series: Literal["closed", "open"]) -> Iterator[CurvePoint]:
    for each in points:
        yield CurvePoint(
            each.row.name,
            each.row.measurement.rate_per_s,
            each.at.value_ns,
            each.at.low_ns,
            each.at.high_ns,
            "refused" if each.why_not else each.held,
            series,
        )


def _summary(calibration: Calibration, name: str) -> str:
    limit = text.brief_time(calibration.request.max_latency_ns)
    if calibration.idle is not None and not calibration.idle.at.within(calibration.request.max_latency_ns):
        return f"No rate is within a {name} of {limit}: the idle storage takes longer."
    if calibration.within is None or calibration.within.rate_per_s is None:
        return f"The IOPS within a {name} of {limit} are unknown."
    rate = text.rate(calibration.within.rate_per_s)
    if not calibration.within.reached:
        return f"The {name} stays within {limit} up to {rate} IOPS, the highest usable rate."
    return f"The {name} reaches the limit of {limit} at {rate} IOPS."


def draw(chart: CalibrationCurve, theme: Theme, width: int) -> Plot:
    """Both curves on a logarithmic time, the limit across, the allowed rate with its interval upright."""
    points, (mark,) = chart.points, chart.marks
    low, high = padded_times([*known(each.time_ns for each in points), mark.limit_ns], 0.10)
    closed, rates = ([each for each in points if each.used and each.series == of] for of in ("closed", "open"))
    limit = Word(0, mark.limit_ns, f"limit {text.brief_time(mark.limit_ns)}")
    refused = [each.at for each in points if not each.used]
    marks: list[Mark] = [
        *_allowed(mark, theme),
        Levels([mark.limit_ns], 2, colour=theme.warn),
        Lines([[each.at for each in closed]], colour=theme.muted),
        Lines([[each.at for each in sorted(rates, key=lambda each: each.rate_per_s)]], colour=theme.accent),
        Rules([_interval(each, low, high) for each in rates if each.low_ns is not None], colour=theme.accent),
        Dots([each.at for each in closed], 46, colour=theme.muted, opacity=1),
        Rings([each.at for each in rates], 46, colour=theme.accent),
        Rings(refused, 46, 1, colour=theme.muted, opacity=0.6),
        Dots([each.at for each in points], 300, tips=[tip(each, "name", ("series",)) for each in points], opacity=0),
        Words([limit], "left", "bottom", dx=4, dy=-3, size=11, colour=theme.warn, rim=theme.ground),
    ]
    if mark.rate_per_s is not None:
        words = Word(mark.rate_per_s, high, f"{text.rate(mark.rate_per_s)} IOPS")
        marks.append(Words([words], "right", "top", dx=-5, dy=3, size=11, colour=theme.ink, rim=theme.ground))
    right = 1.08 * max([*(each.rate_per_s for each in points), mark.most_per_s or 0.0])
    x = Axis(Scale(0, right), "IOPS", prefixed, count=8, grid=False)
    return Plot(width, HEIGHT, x, time_axis(low, high, room=LABEL_ROOM), marks)


def _interval(point: CurvePoint, low: float, high: float) -> Box:
    """Ends that are unknown or outside stop at the edge."""
    x, least, most = point.rate_per_s, point.low_ns or low, high if point.high_ns is None else point.high_ns
    return Box(x, max(low, least), x, min(high, most))


def _allowed(marks: CurveMarks, theme: Theme) -> Iterator[Mark]:
    """The interval of the allowed rate, and the rate itself."""
    if marks.low_per_s is not None and marks.high_per_s is not None:
        band = Box(marks.low_per_s, 0, marks.high_per_s, HEIGHT)
        yield Boxes([band], y_in_px=True, colour=theme.accent, opacity=0.12)
    if marks.rate_per_s is not None:
        yield Uprights([marks.rate_per_s], dash=(4, 3), colour=theme.accent)
