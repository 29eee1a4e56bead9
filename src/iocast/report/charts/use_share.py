"""What share of all references the busiest blocks get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.profiling.use_shares import share_curve, share_of_busiest, thinned
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.plot.axes import Axis, Scale
from iocast.report.plot.axis_labels import percent
from iocast.report.plot.marks import Dots, Lines, Plot, Point
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("profile")
HEIGHT = 240


class BusiestBlocks(Struct, frozen=True):
    """So many of the blocks, the busiest, get so many of the references."""

    blocks_share: Annotated[float, shown("busiest", "share")]
    references_share: Annotated[float, shown("get", "share")]


class UseShare(Chart, frozen=True, kw_only=True):
    """From none of the blocks to all of them."""

    kind: str = "use_share"
    points: tuple[BusiestBlocks, ...]


def tell(profile: Profile) -> Iterator[UseShare]:
    """The chart of a trace with places."""
    footprint = profile.footprint
    if footprint is None or footprint.blocks < 2:
        return
    curve = share_curve(footprint)
    tenth = share_of_busiest(curve, 0.1)
    yield UseShare(
        key="profile-use-share",
        title="References by the busiest blocks",
        summary=f"The busiest tenth of the blocks gets {text.brief_percent(tenth)} of the references.",
        notes=("Grey: all blocks alike.",),
        points=tuple(BusiestBlocks(each.blocks_share, each.references_share) for each in thinned(curve)),
    )


def draw(chart: UseShare, theme: Theme, width: int) -> Plot:
    """The curve above the diagonal."""
    points = [Point(each.blocks_share, each.references_share) for each in chart.points]
    marks = (
        Lines([[Point(0, 0), Point(1, 1)]], dash=(4, 3), colour=theme.muted),
        Lines([points], colour=theme.accent),
        Dots(points, colour=theme.accent, tips=[tip(each) for each in chart.points], opacity=0),
    )
    x = Axis(Scale(0, 1), "busiest blocks", percent, count=5, grid=False)
    return Plot(width, HEIGHT, x, Axis(Scale(0, 1), "of references", percent), marks)
