"""How many reads and writes of each size a trace has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.model.profiling.characteristics import READ, WRITE
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import Axis, Scale, names_axis
from iocast.report.plot.axis_labels import prefixed
from iocast.report.plot.axis_ticks import rounded_out
from iocast.report.plot.marks import Box, Boxes, Plot
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("profile")
HEIGHT = 240
READS, WRITES, ALONE = (
    (-0.38, 0.36),
    (0.02, 0.36),
    (-0.3, 0.6),
)  # from the middle to the left end of a bar, and its width
MOST, TICKS = 14, 5


class SizeClass(Struct, frozen=True):
    """The I/Os above half a size and up to it."""

    size_bytes: Annotated[int, shown("up to", "bytes")]
    reads: Annotated[int, shown("reads", "count")]
    writes: Annotated[int, shown("writes", "count")]


class SizeDistribution(Chart, frozen=True, kw_only=True):
    """All sizes of a trace, by powers of two."""

    kind: str = "size_distribution"
    sizes: tuple[SizeClass, ...]


def tell(profile: Profile) -> Iterator[SizeDistribution]:
    """The chart of a trace with sizes: by powers of two, each the upper end of its class."""
    counts: dict[int, list[int]] = {}
    for each in profile.sizes:
        if each.op in (READ, WRITE) and each.size:
            counts.setdefault(1 << (each.size - 1).bit_length(), [0, 0])[each.op] += each.events
    if not counts:
        return
    sizes = tuple(SizeClass(size, both[READ], both[WRITE]) for size, both in sorted(counts.items()))
    most = max(counts, key=lambda size: sum(counts[size]))
    share = sum(counts[most]) / sum(map(sum, counts.values()))
    exact = not any(each.op in (READ, WRITE) and most // 2 < (each.size or 0) < most for each in profile.sizes)
    only = [name for name, at in (("reads", READ), ("writes", WRITE)) if any(both[at] for both in counts.values())]
    yield SizeDistribution(
        key="profile-sizes",
        title="Sizes of reads and writes",
        summary=f"{text.brief_percent(share)} of the I/Os are {_class(most, exact=exact)}.",
        notes=("Blue: reads. Orange: writes. Sizes by powers of two." if len(only) > 1 else f"All are {only[0]}.",),
        sizes=sizes[:MOST],
    )


def _class(most: int, *, exact: bool) -> str:
    """The sizes of a class: one, or all above the half of it."""
    return text.size(most) if exact else f"above {text.size(most // 2)} and up to {text.size(most)}"


def draw(chart: SizeDistribution, theme: Theme, width: int) -> Plot:
    """Two bars for each class of sizes; one in the middle where all I/Os are reads, or writes."""
    sizes = chart.sizes
    labels = [text.size(float(each.size_bytes)) for each in sizes]
    both = (READS, [each.reads for each in sizes], theme.faster), (WRITES, [each.writes for each in sizes], theme.tail)
    parts = [each for each in both if any(each[1])]
    if len(parts) == 1:
        parts = [(ALONE, *parts[0][1:])]
    boxes, colours, tips = list[Box](), list[str](), list[str]()
    for at, size in enumerate(sizes):
        for (left, wide), counts, colour in parts:
            boxes.append(Box(at + left, 0, at + left + wide, counts[at]))
            colours.append(colour)
            tips.append(tip(size, "size_bytes"))
    x = names_axis(labels, -0.5, len(labels) - 0.5, "size")
    scale = Scale(*rounded_out(0.0, max(count for _, counts, _ in parts for count in counts), TICKS))
    y = Axis(scale, "I/Os", prefixed, count=TICKS)
    return Plot(width, HEIGHT, x, y, (Boxes(boxes, colours=colours, tips=tips),))
