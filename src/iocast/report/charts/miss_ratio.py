"""The share of references that miss in a cache, by its size: all, reads, and writes that reach the storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Struct

from iocast import text
from iocast.model.profiling.characteristics import MissCurve
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.axis_labels import binary_size, percent
from iocast.report.plot.marks import Areas, Band, Dots, Lines, Mark, Plot, Point, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

Curve = Literal["all", "reads", "write_back"]
PLACE = Place("profile", wide=True)
HEIGHT = 260
WORDS: dict[Curve, str] = {"all": "all misses", "reads": "read misses", "write_back": "writes that reach storage"}


class Misses(Struct, frozen=True):
    """The share that misses in a cache of a size, with its 95% interval."""

    cache_bytes: Annotated[int, shown("cache of", "bytes")]
    curve: Annotated[Curve, shown("of")]
    ratio_share: Annotated[float, shown("misses", "share")]
    low_share: Annotated[float, shown("from", "share")]
    high_share: Annotated[float, shown("to", "share")]


class MissRatio(Chart, frozen=True, kw_only=True):
    """The curves of a trace, one after the other."""

    kind: str = "miss_ratio"
    points: tuple[Misses, ...]


def tell(profile: Profile) -> Iterator[MissRatio]:
    """The chart of a trace in which blocks come again."""
    references, block = profile.order.references, profile.reference_bytes
    if references.all is None or block is None or references.all.ratios[0] == references.all.ratios[-1]:
        return
    curves: dict[Curve, MissCurve | None] = {
        "all": references.all,
        "reads": references.reads,
        "write_back": references.write_back,
    }
    least = references.all.first_share
    how = "exact" if references.exact else "sampled; band: 95% interval"
    yield MissRatio(
        key="profile-miss-ratio",
        title="Misses by size of a cache",
        summary=f"A cache that drops the least recently used block misses {text.brief_percent(least)} at least.",
        notes=(f"LRU over {text.size(block)} blocks, {how}.",),
        points=tuple(each for name, curve in curves.items() if curve for each in _misses(name, curve, block)),
    )


def _misses(name: Curve, curve: MissCurve, block: int) -> Iterator[Misses]:
    for blocks, *shares in zip(curve.cache_blocks, curve.ratios, curve.low, curve.high, strict=True):
        yield Misses(blocks * block, name, *shares)


def draw(chart: MissRatio, theme: Theme, width: int) -> Plot:
    """A line for each curve over a logarithmic size, with its band."""
    sizes = [each.cache_bytes for each in chart.points]
    marks, names = list[Mark](), list[Word]()
    tones: dict[Curve, str] = {"all": theme.ink, "reads": theme.faster, "write_back": theme.tail}
    for number, (name, tone) in enumerate(tones.items()):
        curve = [each for each in chart.points if each.curve == name]
        if not curve:
            continue
        points = [Point(each.cache_bytes, each.ratio_share) for each in curve]
        band = [Band(each.cache_bytes, each.low_share, each.high_share) for each in curve]
        marks.append(Areas([band], colour=tone, opacity=0.2))
        marks.append(Lines([points], dash=() if name == "all" else (5, 3), colour=tone))
        tips = [tip(each, "cache_bytes", ("curve",)) for each in curve]
        marks.append(Dots(points, colour=tone, tips=tips, opacity=0))
        names.append(Word(*points[len(points) * (1 + 2 * number) // 6], WORDS[name]))  # apart, each at its line
    marks.append(Words(names, "left", "bottom", dx=4, dy=-3, size=11, colour=theme.ink, rim=theme.ground))
    low, high = min(sizes), max(sizes)
    ticks = [float(1 << power) for power in range(70) if low <= 1 << power <= high]
    scale = Scale(low, max(high, 2 * low), log=True)
    x = Axis(scale, "cache", binary_size, ticks[:: -(-len(ticks) // 9) or 1], grid=False)
    return Plot(width, HEIGHT, x, Axis(Scale(0, 1), "misses", percent), marks)
