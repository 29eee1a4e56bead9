"""Charts: what each tells and how it is drawn, one file a chart, listed here in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose.excluded_rows import named
from iocast.model.finding import Examination
from iocast.model.measurement import Course
from iocast.model.report import Chart, Section
from iocast.model.run import Run
from iocast.report.charts import (
    calibration_curve,
    copy_rates,
    device,
    distribution,
    forecast_curve,
    forecast_utilisation,
    heat,
    latency_bands,
    latency_by_load,
    live_latency,
    load_curve,
    miss_ratio,
    overview,
    percentiles,
    ratios,
    repeats,
    replay_lateness,
    replay_rates,
    report_card,
    scaling,
    side_percentiles,
    sides,
    size_distribution,
    sizing_bars,
    throughput,
    throughput_by_size,
    time_latency,
    time_offset,
    trend,
    use_share,
)
from iocast.report.charts.families import Family, families, pooled
from iocast.report.charts.place import Place, Stand
from iocast.report.charts.subjects import ExaminedRun
from iocast.report.plot.marks import Plot
from iocast.report.plot.theme import Theme
from iocast.report.wording import section


class ChartModule(Protocol):
    """A module that tells something in charts, and draws them."""

    PLACE: Place

    def tell(self, subject: Any, /) -> Iterator[Chart]:
        """Makes the charts of what its place gives it, none where there is nothing to tell."""
        ...

    def draw(self, chart: Any, theme: Theme, width: int, /) -> Plot:
        """Draws one of them, as typed marks."""
        ...


NARROW, WIDE = 500, 984  # pixels of the plot itself, without its axes: in a column of a page, and across it
CHARTS: dict[str, ChartModule] = {
    "overview": overview,
    "report_card": report_card,
    "latency_by_load": latency_by_load,
    "latency_bands": latency_bands,
    "scaling": scaling,
    "throughput": throughput,
    "throughput_by_size": throughput_by_size,
    "load_curve": load_curve,
    "distribution": distribution,
    "percentiles": percentiles,
    "heat": heat,
    "device": device,
    "ratios": ratios,
    "sides": sides,
    "side_percentiles": side_percentiles,
    "repeats": repeats,
    "trend": trend,
    "sizing_bars": sizing_bars,
    "forecast_curve": forecast_curve,
    "forecast_utilisation": forecast_utilisation,
    "calibration_curve": calibration_curve,
    "replay_rates": replay_rates,
    "replay_lateness": replay_lateness,
    "size_distribution": size_distribution,
    "time_offset": time_offset,
    "time_latency": time_latency,
    "miss_ratio": miss_ratio,
    "use_share": use_share,
    "live_latency": live_latency,
    "copy_rates": copy_rates,
}


def place_of(chart: Chart) -> Place:
    """Where a chart stands and how it is shown."""
    return CHARTS[chart.kind].PLACE


def plot_of(chart: Chart, theme: Theme) -> Plot:
    """What a chart looks like."""
    return CHARTS[chart.kind].draw(chart, theme, WIDE if place_of(chart).wide else NARROW)


def charts_at(stand: Stand, subject: object) -> tuple[Chart, ...]:
    """The charts that stand at one place, told of a subject of the kind that this place has."""
    return tuple(chart for each in CHARTS.values() if each.PLACE.stand == stand for chart in each.tell(subject))


def chart_sections(run: Run | Facts, examination: Examination, courses: dict[int, Course]) -> tuple[Section, ...]:
    """A section for each ladder of loads, one for all other rows, one for ladders of sizes, one for the device."""
    facts = facts_of(run)
    every_family = families(facts, examination, courses)
    shown_families = _shown(every_family)
    sections = [
        Section("family", family.title, paragraphs=_excluded(family, examination), charts=charts_at("family", family))
        for family in shown_families
    ]
    sections.append(section("sizes_view", charts=charts_at("sizes", every_family)))
    sections.append(section("device_view", charts=charts_at("device", ExaminedRun(facts, examination))))
    return tuple(section for section in sections if section.charts)


def _excluded(family: Family, examination: Examination) -> tuple[str, ...]:
    """Which of the rows that are drawn are no measure for the others: a knee, or a fall, may be theirs."""
    names = {each.record.phase.name: family.name(each) for each in family.members}
    out = named(names, examination.excluded)
    return (f"Drawn with rows that are left out of comparisons: {out}.",) if out else ()


def _shown(every_family: tuple[Family, ...]) -> tuple[Family, ...]:
    ladders = [family for family in every_family if len(family.ladder) > 1]
    rest = pooled(
        (family for family in every_family if len(family.ladder) < 2), "Other rows" if ladders else "All rows"
    )
    return (*ladders, *([rest] if rest else []))
