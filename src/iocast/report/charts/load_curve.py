"""Response time against the IOPS achieved, in the order of the loads, with the knee."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from iocast import text
from iocast.analyse.ladder import one_for_each
from iocast.analyse.statistics import published
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.model.workload import Closed
from iocast.report.charts.families import Family, Member, curve_of
from iocast.report.charts.loads import AtLoad
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, known, padded_times, time_axis
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.marks import Dots, Lines, Mark, Plot, Point, Uprights, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("family")
HEIGHT = 240
NEAR = 0.06  # of the width and the height: names of points this near would lie on each other
NOTE = (
    "Knee: the load with the best ratio of IOPS to response time. The grade uses the load from which the storage is"
    " full, which may be another."
)


class Knee(AtLoad, frozen=True):
    """The load of the knee."""

    rate_per_s: float
    p50_ns: float


class LoadPoint(AtLoad, frozen=True):
    """What a load achieved."""

    rate_per_s: Annotated[float, shown("IOPS", "rate")]
    p50_ns: Annotated[float, shown("p50", "duration")]
    mean_ns: Annotated[float, shown("mean", "duration")]
    p99_ns: Annotated[float | None, shown("p99", "duration")]


class LoadCurve(Chart, frozen=True, kw_only=True):
    """The loads of a ladder in their order, and its knee where it has one."""

    kind: str = "load_curve"
    loads: tuple[LoadPoint, ...]
    knees: tuple[Knee, ...]


def tell(family: Family) -> Iterator[LoadCurve]:
    """The chart of a ladder of at least three loads: two points are no curve."""
    ladder = _ladder(family)
    if len(ladder) < 3:
        return
    knee = _knee(ladder)
    yield LoadCurve(
        key=f"{family.key}-load-curve",
        title=f"{family.title}: response time against IOPS",
        summary=_summary(ladder, knee),
        notes=(NOTE,) if knee else (),
        loads=tuple(map(_point, ladder)),
        knees=(Knee(*knee.load, knee.rate_per_s, knee.times.quantile_ns(0.5)),) if knee else (),
    )


def _ladder(family: Family) -> tuple[Member, ...]:
    """Loads of a closed loop ascend by what was kept in flight, those of an open loop by what was asked for."""
    if all(isinstance(member.record.phase.workload.arrival, Closed) for member in family.members):
        return family.ladder
    return one_for_each(family.members, lambda member: member.record.measurement.asked_rate_per_s or 0.0)


def _point(member: Member) -> LoadPoint:
    times = member.times
    return LoadPoint(*member.load, member.rate_per_s, times.quantile_ns(0.5), times.mean_ns, published(times, 0.99))


def _knee(ladder: tuple[Member, ...]) -> Member | None:
    if not all(isinstance(member.record.phase.workload.arrival, Closed) for member in ladder):
        return None
    knee = curve_of(ladder).knee
    if knee is None or not knee.saturated:
        return None
    return next(member for member in ladder if member.at_once == knee.max_power_load)


def _summary(ladder: tuple[Member, ...], knee: Member | None) -> str:
    most = max(ladder, key=lambda member: member.rate_per_s)
    words = f"{most.load_text} reaches {text.rate(most.rate_per_s)} IOPS"
    if knee is None:
        return f"{words}; the ladder shows no knee."
    if knee is ladder[0]:
        return f"{words}; the knee is at {knee.load_text}, the first load: more load mostly adds waiting."
    half = text.brief_time(knee.times.quantile_ns(0.5))
    if knee is most:
        return f"{words} at the knee, with a p50 of {half}."
    rate = text.rate(knee.rate_per_s)
    return f"{words}; the knee is at {knee.load_text}: {rate} IOPS, p50 {half}."


def draw(chart: LoadCurve, theme: Theme, width: int) -> Plot:
    """p50 and p99 against the rate, joined in the order of the loads: past saturation the curve folds back."""
    loads = chart.loads
    most = max(load.rate_per_s for load in loads)
    low, high = padded_times(known(each for load in loads for each in (load.p50_ns, load.p99_ns)), 0.12)
    marks, ends, tones = list[Mark](), list[Word](), list[str]()
    for knee in chart.knees:
        marks.append(Uprights([knee.rate_per_s], dash=(4, 3), colour=theme.warn))
        word = Word(knee.rate_per_s, high, "knee")
        marks.append(Words([word], "right", "top", dx=-5, size=11, colour=theme.warn))
    curves = {
        "p99": (theme.tail, [(load, load.p99_ns) for load in loads if load.p99_ns is not None]),
        "p50": (theme.accent, [(load, load.p50_ns) for load in loads]),
    }
    for name, (tone, curve_points) in curves.items():
        if not curve_points:
            continue
        points = [Point(load.rate_per_s, time) for load, time in curve_points]
        marks.append(Lines([points], colour=tone))
        marks.append(Dots(points, 40, colour=tone, opacity=1))
        marks.append(Dots(points, 500, tips=[tip(load, "users") for load, _ in curve_points], opacity=0))
        ends.append(Word(most, points[-1].y, name))  # to the right of where it folds back
        tones.append(tone)
    names = _load_names(loads, most, math.log10(high / low))
    marks.append(Words(names, "center", "top", dy=7, size=11, colour=theme.muted, rim=theme.ground))
    marks.append(Words(ends, "left", "middle", dx=8, size=11, weight=600, colours=tones, rim=theme.ground))
    x = Axis(Scale(0, 1.1 * most), "IOPS", prefixed, count=5, grid=False)
    return Plot(width, HEIGHT, x, time_axis(low, high, room=LABEL_ROOM), marks)


def _load_names(loads: tuple[LoadPoint, ...], most: float, decades: float) -> list[Word]:
    """The load below each point; points that lie on each other share a name."""
    groups = list[list[LoadPoint]]()
    for load in loads:
        on = (group for group in groups if abs(group[0].rate_per_s - load.rate_per_s) < NEAR * most)
        half = load.p50_ns or 1.0
        same = next((g for g in on if abs(math.log10((g[0].p50_ns or 1.0) / half)) < NEAR * decades), None)
        if same is not None:
            same.append(load)
        else:
            groups.append([load])
    return [
        Word(group[0].rate_per_s, group[0].p50_ns or 1.0, ", ".join(load.label for load in group)) for group in groups
    ]
