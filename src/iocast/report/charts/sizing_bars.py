"""How many devices each part of a need takes: a bar for each, the binding one marked, a line at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import SizedNeed
from iocast.report.plot.axes import Axis, Scale, rows_axis
from iocast.report.plot.axis_labels import whole
from iocast.report.plot.marks import Bars, Plot, Range, Uprights, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("sizing")
BAR, STEP = 16, 30  # pixels


class NeededDevices(Struct, frozen=True):
    """The devices that a part of a need takes."""

    need: Annotated[str, shown("for")]
    devices: Annotated[int, shown("devices", "count")]
    binds: Annotated[str, shown("limiting factor")]


class TotalDevices(Struct, frozen=True):
    """The devices in the end; `noun` is what is counted."""

    need: str
    devices: int
    noun: str


class SizingBars(Chart, frozen=True, kw_only=True):
    """All parts of a need."""

    kind: str = "sizing_bars"
    needs: tuple[NeededDevices, ...]
    total: tuple[TotalDevices]


def tell(subject: SizedNeed) -> Iterator[SizingBars]:
    """The chart of a sizing that has more than one part."""
    if len(subject.counts) > 1:
        yield SizingBars(
            key="sizing",
            title=f"{subject.device}: {subject.noun}s for each need",
            summary=text.sentence(f"{subject.why}: {text.counted(subject.devices, subject.noun)}"),
            notes=("Line: the count in the end, whole pairs or groups.",),
            needs=tuple(
                NeededDevices(need, count, "limits" if need == subject.binding else "")
                for need, count in subject.counts
            ),
            total=(TotalDevices("in the end", subject.devices, subject.noun),),
        )


def draw(chart: SizingBars, theme: Theme, width: int) -> Plot:
    """Bars from 0, their counts beside them."""
    needs, (total,) = chart.needs, chart.total
    marks = (
        Bars(
            [Range(0, need.devices, at) for at, need in enumerate(needs)],
            BAR,
            colours=[theme.lost if need.binds else theme.faster for need in needs],
            tips=[tip(need, "need") for need in needs],
        ),
        Uprights([total.devices], 1.5, (4, 3), colour=theme.ink),
        Words(
            [Word(need.devices, at, f"{need.devices:,}") for at, need in enumerate(needs)],
            "left",
            "middle",
            dx=5,
            rim=theme.ground,
        ),
    )
    scale = Scale(0, 1.12 * max(1.0, total.devices, *(need.devices for need in needs)))
    x = Axis(scale, f"{total.noun}s", whole, count=6, least_step=1)
    return Plot(width, STEP * len(needs) + 8, x, rows_axis([need.need for need in needs]), marks)
