"""Charts of a run: what each tells, one file a kind; how they look is decided in report/vega."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from iocast.analyse.facts import Facts, facts_of
from iocast.model.finding import Examination, Trust
from iocast.model.intervals import Course
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
WITHOUT_COURSE: tuple[Callable[[Family], Chart | None], ...] = (
    latency_by_load,
    scaling,
    throughput,
    load_curve,
    distribution,
    percentiles,
)
OF_A_FAMILY = (*WITHOUT_COURSE, heat)


def at_a_glance(facts: Facts, examination: Examination) -> tuple[Chart, ...]:
    """The charts that stand beside the table of results."""
    return _there((overview(facts, examination),))


def early(run: Run) -> Iterator[Chart]:
    """Charts that the card will have whatever an examination finds, unless it declares a row void."""
    unexamined = Examination(trust={record.phase.name: Trust("A", ()) for record in run.measured})
    for family in _shown(Facts(run), unexamined, {}):
        yield from _there(make(family) for make in WITHOUT_COURSE)


def chart_sections(run: Run | Facts, examination: Examination, courses: dict[int, Course]) -> tuple[Section, ...]:
    """A section for each ladder of loads, one for all other rows together, one for the device."""
    facts = facts_of(run)
    sections = [
        Section(family.title, charts=_there(make(family) for make in OF_A_FAMILY))
        for family in _shown(facts, examination, courses)
    ]
    sections.append(Section("What the device saw", charts=_there((request_sizes(facts), queues(facts)))))
    return tuple(section for section in sections if section.charts)


def _shown(facts: Facts, examination: Examination, courses: dict[int, Course]) -> tuple[Family, ...]:
    found = families(facts, examination, courses)
    ladders = [family for family in found if len(family.ladder) > 1]
    rest = pooled((family for family in found if len(family.ladder) < 2), "Other rows" if ladders else "All rows")
    return (*ladders, *([rest] if rest else []))


def _there(charts: Iterable[Chart | None]) -> tuple[Chart, ...]:
    return tuple(chart for chart in charts if chart is not None)
