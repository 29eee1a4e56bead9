"""The heat map holds all I/Os, and marks what happened where it happened."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, courses_of, drawn
from makers.card_runs import SECOND_NS, lognormal, reads
from msgspec.structs import replace

from iocast import text
from iocast.diagnose.examination import examine
from iocast.model.finding import Examination, Finding, Span
from iocast.model.histogram import Histogram
from iocast.model.measurement import Course, Interval, SlowIo
from iocast.model.run import Run
from iocast.report.charts import chart_sections, heat, plot_of
from iocast.report.charts.heat import Heat
from iocast.report.charts.time_grid import MAX_COLUMNS
from iocast.report.plot.marks import Words
from iocast.report.plot.theme import PAGE
from iocast.report.renderers.page.plots import drawing_html


def test_a_slow_io_and_another_level_are_marked_where_they_were() -> None:
    slow = SlowIo(6 * SECOND_NS, "read", 0, 0, 8192, 2 * SECOND_NS, 2 * SECOND_NS)
    run = card_runs.run(reads(slow=(slow,)))
    half = lognormal(1000, 240_000, 0.3)
    whole = lognormal(2000, 240_000, 0.3)
    courses = {
        0: tuple(
            Interval(at * SECOND_NS, "read", 8192, 0, 0, times) for at, times in enumerate([whole] * 20 + [half] * 20)
        )
    }
    (chart,) = _heats(run, examine(run), courses)
    assert [(mark.kind, mark.at_ns, mark.says) for mark in chart.marks] == [
        ("finding", 6 * SECOND_NS, "randread 8k: stalls. I/O stalled: 1 stall of 2 s, at t=6 s."),
        ("slow", 8 * SECOND_NS, "randread 8k: one read took 2 s"),
        ("change", 20 * SECOND_NS, "randread 8k: IOPS fell by 50% from here on"),
    ]


def _heats(run: Run, examination: Examination, courses: dict[int, Course]) -> list[Heat]:
    charts = (each for section in chart_sections(run, examination, courses) for each in section.charts)
    return [each for each in charts if isinstance(each, Heat)]


def _heat(run: Run, examination: Examination, levels: list[Histogram]) -> Heat:
    courses = {0: tuple(Interval(at * SECOND_NS, "read", 8192, 0, 0, times) for at, times in enumerate(levels))}
    return _heats(run, examination, courses)[0]


def test_findings_are_marked_by_name_where_they_were_seen() -> None:
    run = card_runs.run(reads())
    found = [
        Finding(
            code="stalls", severity="warn", phase="randread 8k", says="A second.", spans=(Span(SECOND_NS, SECOND_NS),)
        ),
        Finding(
            code="burst_credits",
            severity="severe",
            phase="randread 8k",
            says="It fell.",
            state="suggested",
            spans=(Span(20 * SECOND_NS, 99 * SECOND_NS),),
        ),
        Finding(code="throttle", severity="warn", phase="randread 8k", says="All of it."),
        Finding(
            code="maintenance", severity="warn", phase="randread 8k", says="No.", state="rejected", spans=(Span(0, 1),)
        ),
        Finding(code="hung", severity="warn", phase="another row", says="Not here.", spans=(Span(0, 1),)),
    ]
    examination = replace(examine(run), findings=tuple(found))
    whole, half = lognormal(2000, 240_000, 0.3), lognormal(1000, 240_000, 0.3)
    chart = _heat(run, examination, [whole] * 20 + [half] * 20)
    assert [(mark.kind, mark.name, mark.at_ns, mark.end_ns, mark.says) for mark in chart.marks] == [
        ("finding", "stalls", SECOND_NS, SECOND_NS, "randread 8k: stalls. A second."),
        ("finding", "burst credits?", 20 * SECOND_NS, 40 * SECOND_NS, "randread 8k: suspected burst credits. It fell."),
    ], "what ends with the row ends there, and the fall is not marked twice"
    assert chart.summary.endswith("Findings: stalls, suspected burst credits.")
    assert [note.partition(":")[0] for note in chart.notes] == ["Bars at the top"]
    svg = drawing_html(chart)
    assert ">stalls</text>" in svg
    assert ">burst credits?</text>" in svg
    assert svg.count("randread 8k: suspected burst credits. It fell.") == 1


def test_names_of_findings_do_not_lie_on_each_other() -> None:
    run = card_runs.run(reads())
    found = tuple(
        Finding(code=f"finding {at}", severity="warn", phase="randread 8k", says="Seen.", spans=(Span(at * 10**7, at),))
        for at in range(9)
    )
    chart = _heat(run, replace(examine(run), findings=found), [lognormal(1000, 240_000, 0.3)] * 40)
    places = [(round(word.x or 0), word.dy) for word in drawn(plot_of(chart, PAGE), Words)[-1].words]
    assert len(set(places)) == len(places) == 3, "three lines have room at one place; the other bars tell by their tips"


def test_all_ios_of_the_series_are_in_the_heat_map() -> None:
    run = card_runs.run(reads(), reads("randread 8k 8x1", users=8))
    chart = chart_of(run, heat)
    for cells, moment in zip(chart.cells, chart.moments, strict=True):
        assert sum(cells.counts) == moment.ios
    intervals = sum(len(course) for course in courses_of(run).values())
    assert len(chart.moments) == intervals


def test_a_long_series_is_drawn_together_without_losing_an_io() -> None:
    run = card_runs.run(reads(times=lognormal(100, 1e6, 0.1)))
    (chart,) = _heats(run, examine(run), courses_of(run, 2000))
    assert len(chart.moments) <= MAX_COLUMNS == 240
    assert sum(moment.ios for moment in chart.moments) == 100 * 2000


def test_what_was_only_waited_for_is_shown_in_the_last_second() -> None:
    did = reads(times=lognormal(30_000, 1e6, 0.1))
    assert round(did.measurement.issuing_ns / SECOND_NS) == 30
    run = card_runs.run(did)
    (chart,) = _heats(run, examine(run), courses_of(run, 31))
    assert [moment.at_ns for moment in chart.moments] == [at * SECOND_NS for at in range(30)]
    assert chart.moments[-1].ios == 60_000


def test_a_legend_says_what_the_colours_count() -> None:
    run = card_runs.quick_card()
    chart = chart_of(run, heat)
    said = [word.text for mark in drawn(plot_of(chart, PAGE), Words) for word in mark.words]
    most = max(count for cells in chart.cells for count in cells.counts)
    assert "I/Os in a cell: 1" in said
    assert text.whole(most) in said
