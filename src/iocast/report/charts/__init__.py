"""Charts of a run: what each tells, one file a kind; how they look is decided in report/vega."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iocast.model.course import Course
from iocast.model.finding import Examination
from iocast.model.report import Chart, Section
from iocast.model.run import Run
from iocast.report.charts.device import queues, request_sizes
from iocast.report.charts.distribution import distribution
from iocast.report.charts.families import Family, families, pooled
from iocast.report.charts.heat import heat
from iocast.report.charts.latency_by_load import latency_by_load
from iocast.report.charts.load_curve import load_curve
from iocast.report.charts.overview import overview
from iocast.report.charts.percentiles import percentiles
from iocast.report.charts.scaling import scaling
from iocast.report.charts.throughput import throughput

# In the order in which they are shown; each makes a chart of a family, or None where there is nothing to show.
OF_A_FAMILY: tuple[Callable[[Family], Chart | None], ...] = (
    latency_by_load,
    scaling,
    throughput,
    load_curve,
    distribution,
    percentiles,
    heat,
)


Told = Callable[[Chart], None]  # who hears of each chart as soon as it is made


def at_a_glance(run: Run, examination: Examination, told: Told | None = None) -> tuple[Chart, ...]:
    """The charts that stand beside the table of results."""
    return _made((overview(run, examination),), told)


def chart_sections(
    run: Run, examination: Examination, courses: dict[int, Course], told: Told | None = None
) -> tuple[Section, ...]:
    """A section for each ladder of loads, one for all other rows together, one for the device."""
    found = families(run, examination, courses)
    ladders = [family for family in found if len(family.ladder) > 1]
    rest = pooled((family for family in found if len(family.ladder) < 2), "Other rows" if ladders else "All rows")
    sections = [
        Section(family.title, charts=_made((make(family) for make in OF_A_FAMILY), told))
        for family in (*ladders, *([rest] if rest else []))
    ]
    sections.append(Section("What the device saw", charts=_made((request_sizes(run), queues(run)), told)))
    return tuple(section for section in sections if section.charts)


def _made(charts: Iterable[Chart | None], told: Told | None) -> tuple[Chart, ...]:
    found = []
    for chart in charts:
        if chart is not None:
            found.append(chart)
            if told is not None:
                told(chart)
    return tuple(found)
