"""The classic chart of Kyle Hailey's fio.r: response time against load, with a histogram at every load.

Mean, p95, p99 and maximum as lines, and at each load a histogram of sixteen buckets on its side. The shares that fio.r
draws behind them are a chart of their own: they have another axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Annotated

from msgspec.structs import replace

from iocast import text
from iocast.analyse.statistics import bucket_shares, published
from iocast.model.report import Chart
from iocast.model.results.shown import shown, shown_below
from iocast.report.charts.families import Family, Member
from iocast.report.charts.latency_buckets import Bucket, bucket_colour, bucket_legend, buckets_of
from iocast.report.charts.loads import AtLoad, loads_axis
from iocast.report.charts.place import Place
from iocast.report.plot.axes import LABEL_ROOM, known, time_axis
from iocast.report.plot.marks import Areas, Band, Box, Boxes, Dots, Levels, Lines, Mark, Plot, Point, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.plot.words import apart
from iocast.report.result_tables import tip

PLACE = Place("family", classic=True, legends=(bucket_legend,))
GOOD_NS = 10_000_000  # where fio.r draws its line
SHARE_EDGES_NS = (1_000_000, GOOD_NS)
HEIGHT = 308  # in fio.r's proportions, with those of its other two: 7 : 3 : 3
HISTOGRAM = 0.62  # how far a histogram reaches, in steps
LOWEST_NS, HIGHEST_NS = 1e5, 1e9  # fio.r's axis; it is widened where something lies outside
LABEL_GAP = 0.055  # of the height, between labels at the edge


class LoadTimes(AtLoad, frozen=True):
    """The response times at a load."""

    mean_ns: Annotated[float, shown("mean", "duration")]
    p50_ns: Annotated[float, shown("p50", "duration")]
    p95_ns: Annotated[float, shown("p95", "duration")]
    p99_ns: Annotated[float, shown("p99", "duration")]
    max_ns: Annotated[float, shown("max", "duration")]
    fast_share: Annotated[float, shown("up to 1 ms", "share")]
    middling_share: Annotated[float, shown("1 to 10 ms", "share")]
    slow_share: Annotated[float, shown("above 10 ms", "share")]
    note: Annotated[str, shown_below()]


class LatencyByLoad(Chart, frozen=True, kw_only=True):
    """The loads of a ladder, and the histogram of each."""

    kind: str = "latency_by_load"
    loads: tuple[LoadTimes, ...]
    buckets: tuple[Bucket, ...]


def tell(family: Family) -> Iterator[LatencyByLoad]:
    """The chart of a ladder of at least two loads."""
    ladder = family.ladder
    if len(ladder) < 2:
        return
    yield LatencyByLoad(
        key=f"{family.key}-latency",
        family=family.key,
        title=f"{family.title}: response time by load",
        summary=_summary(ladder),
        loads=tuple(map(_times, ladder)),
        buckets=buckets_of(ladder),
    )


def _times(member: Member) -> LoadTimes:
    times = member.times
    fast, middling, slow = bucket_shares(times, SHARE_EDGES_NS)
    return LoadTimes(
        *member.load,
        mean_ns=times.mean_ns,
        p50_ns=times.quantile_ns(0.5),
        p95_ns=times.quantile_ns(0.95),
        p99_ns=times.quantile_ns(0.99),
        max_ns=times.max_ns,
        fast_share=fast,
        middling_share=middling,
        slow_share=slow,
        note="" if published(times, 0.99) is not None else "too few I/Os for p99",
    )


def _summary(ladder: tuple[Member, ...]) -> str:
    first, last = ladder[0], ladder[-1]
    said = []
    for member in (first, last):
        slow = 1 - member.times.count_up_to(GOOD_NS) / member.times.total
        half = text.brief_time(member.times.quantile_ns(0.5))
        tail = published(member.times, 0.95)
        most = "" if tail is None else f", p95 {text.brief_time(tail)}"
        beyond = f", {text.percent(slow)} above 10 ms" if slow else ""
        said.append(f"{member.load_text}: p50 {half}{most}{beyond}")
    return ". ".join(said) + "."


def draw(chart: LatencyByLoad, theme: Theme, width: int) -> Plot:
    """Mean, p95, p99, maximum; a histogram on its side at each load."""
    loads = chart.loads
    least = min(known(each for load in loads for each in (load.p50_ns, load.mean_ns)))
    low = min(LOWEST_NS, 10 ** math.floor(math.log10(max(1.0, least))))
    high = max(HIGHEST_NS, *known(load.max_ns for load in loads))
    y = time_axis(low, high, room=LABEL_ROOM)
    means = [Point(at, load.mean_ns) for at, load in enumerate(loads)]
    written = [Word(x, y, text.duration(y)) for x, y in means]
    marks = (
        _band(chart, theme, 0.34, lambda load: (load.mean_ns, load.p95_ns)),
        _band(chart, theme, 0.2, lambda load: (load.p95_ns, load.p99_ns)),
        _histograms(chart, theme, low, high),
        Levels([float(GOOD_NS)], 1.2, (6, 4), colour=theme.warn),
        Lines([[Point(at, load.max_ns) for at, load in enumerate(loads)]], 1.4, (5, 4), clip=True, colour=theme.peak),
        Lines([[Point(at, load.p50_ns) for at, load in enumerate(loads)]], 1.6, (2, 2), clip=True, colour=theme.accent),
        Lines([means], clip=True, colour=theme.ink),
        Dots(means, 34, colour=theme.ink, opacity=1),
        Words(written, "right", "bottom", dx=-5, dy=-4, size=11, weight=600, rim=theme.ground),
        _line_names(loads, theme, low, high),
        Dots(means, 500, tips=[tip(load, "users") for load in loads], opacity=0),
    )
    decades = [tick for tick in y.ticks or () if abs(math.log10(tick) % 1) < 1e-6 or math.log10(tick) % 1 > 1 - 1e-6]
    return Plot(width, HEIGHT, loads_axis([load.label for load in loads]), replace(y, ticks=decades), marks)


def _band(
    chart: LatencyByLoad, theme: Theme, opacity: float, ends: Callable[[LoadTimes], tuple[float, float]]
) -> Areas:
    """Between two percentiles."""
    band = [Band(at, *both) for at, load in enumerate(chart.loads) if len(known(both := ends(load))) == 2]
    return Areas([band], clip=True, colour=theme.shade, opacity=opacity)


def _histograms(chart: LatencyByLoad, theme: Theme, low: float, high: float) -> Boxes:
    most = max((each.share for each in chart.buckets), default=1.0)
    places = {(load.users, load.depth): at for at, load in enumerate(chart.loads)}
    buckets = [each for each in chart.buckets if each.high_ns > low and each.low_ns < high]
    boxes, tips = list[Box](), list[str]()
    for each in buckets:
        at = places[each.users, each.depth]
        boxes.append(Box(at, max(each.low_ns, low), at + HISTOGRAM * each.share / most, min(each.high_ns, high)))
        tips.append(f"{chart.loads[at].label}: {each.says}")
    return Boxes(boxes, colours=[bucket_colour(each.low_ns, theme) for each in buckets], tips=tips)


def _line_names(loads: tuple[LoadTimes, ...], theme: Theme, low: float, high: float) -> Mark:
    """The lines are named where they end, so that no legend is needed."""
    last, wide = loads[-1], math.log10(high / low)
    ends = {"max": last.max_ns, "p99": last.p99_ns, "p95": last.p95_ns, "mean": last.mean_ns, "p50": last.p50_ns}
    names = [(name, value) for name, value in ends.items() if value and not math.isnan(value)]
    places = apart([math.log10(max(low, value) / low) / wide for _, value in names], LABEL_GAP)
    # None is pushed out at the top: there they are put below each other, the slowest first.
    for rank, at in enumerate(sorted(range(len(places)), key=places.__getitem__, reverse=True)):
        places[at] = min(places[at], 0.98 - rank * LABEL_GAP)
    colours = {"max": theme.peak, "p50": theme.accent, "mean": theme.ink}
    words = [
        Word(len(loads) - 1 + 1.08, low * 10 ** (place * wide), name)
        for (name, _), place in zip(names, places, strict=True)
    ]
    tones = [colours.get(name, theme.muted) for name, _ in names]
    return Words(words, "right", "middle", size=11, colours=tones, rim=theme.ground)
