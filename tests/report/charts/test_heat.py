"""The heat map holds all I/Os, and marks what happened where it happened."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, courses_of
from makers.card_runs import SECOND_NS, lognormal, reads
from msgspec.structs import replace

from iocast import text
from iocast.diagnose.examination import examine
from iocast.model.finding import Examination, Finding, Span
from iocast.model.histogram import Histogram
from iocast.model.measurement import Interval, SlowIo
from iocast.model.report import Chart
from iocast.model.run import Run
from iocast.report.charts import chart_sections, heat, specification
from iocast.report.charts.drawing.theme import PAGE
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
    (chart,) = (
        each for section in chart_sections(run, examine(run), courses) for each in section.charts if each.kind == "heat"
    )
    marks = chart.table("marks")
    assert marks is not None
    assert [(row.cells["kind"], row.cells["at"], row.cells["says"]) for row in marks.rows] == [
        ("finding", 6 * SECOND_NS, "randread 8k: stalls. I/O stalled: 1 stall of 2 s, at t=6 s."),
        ("slow", 8 * SECOND_NS, "randread 8k: one read took 2 s"),
        ("change", 20 * SECOND_NS, "randread 8k: IOPS fell by 50% from here on"),
    ]


def _heat(run: Run, examination: Examination, levels: list[Histogram]) -> Chart:
    courses = {0: tuple(Interval(at * SECOND_NS, "read", 8192, 0, 0, times) for at, times in enumerate(levels))}
    charts = [each for section in chart_sections(run, examination, courses) for each in section.charts]
    return next(each for each in charts if each.kind == "heat")


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
    marks = chart.table("marks")
    assert marks is not None
    keys = ("kind", "name", "at", "end", "says")
    assert [tuple(row.cells[key] for key in keys) for row in marks.rows] == [
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
    layers = [layer for layer in specification(chart, PAGE)["layers"] if layer["mark"]["type"] == "text"]
    places = [(round(row["x"]), row["dy"]) for row in layers[-1]["rows"]]
    assert len(set(places)) == len(places) == 3, "three lines have room at one place; the other bars tell by their tips"


def test_all_ios_of_the_series_are_in_the_heat_map() -> None:
    run = card_runs.run(reads(), reads("randread 8k 8x1", users=8))
    chart = chart_of(run, heat)
    cells, moments = chart.table("cells"), chart.table("moments")
    assert cells is not None
    assert moments is not None
    for cell, moment in zip(cells.rows, moments.rows, strict=True):
        counts = cell.cells["counts"]
        assert isinstance(counts, tuple)
        assert sum(each for each in counts if isinstance(each, float)) == moment.cells["ios"]
    intervals = sum(len(course) for course in courses_of(run).values())
    assert len(moments.rows) == intervals


def test_a_long_series_is_drawn_together_without_losing_an_io() -> None:
    run = card_runs.run(reads(times=lognormal(100, 1e6, 0.1)))
    chart = next(
        each
        for section in chart_sections(run, examine(run), courses_of(run, 2000))
        for each in section.charts
        if each.kind == "heat"
    )
    rows = chart.tables[0].rows
    assert len(rows) <= heat.MAX_COLUMNS == 240
    assert sum(row.cells["ios"] for row in rows if isinstance(row.cells["ios"], int)) == 100 * 2000


def test_what_was_only_waited_for_is_shown_in_the_last_second() -> None:
    did = reads(times=lognormal(30_000, 1e6, 0.1))
    assert round(did.measurement.issuing_ns / SECOND_NS) == 30
    run = card_runs.run(did)
    chart = next(
        each
        for section in chart_sections(run, examine(run), courses_of(run, 31))
        for each in section.charts
        if each.kind == "heat"
    )
    rows = chart.tables[0].rows
    assert [row.cells["at"] for row in rows] == [at * SECOND_NS for at in range(30)]
    assert rows[-1].cells["ios"] == 60_000


def test_a_legend_says_what_the_colours_count() -> None:
    run = card_runs.quick_card()
    drawing = specification(chart_of(run, heat), PAGE)
    said = [row["t"] for layer in drawing["layers"] for row in layer["rows"] if "t" in row]
    cells = chart_of(run, heat).table("cells")
    assert cells is not None
    most = max(float(str(count)) for row in cells.rows for count in row.cells["counts"] or ())  # type: ignore[union-attr]
    assert "I/Os in a cell: 1" in said
    assert text.whole(most) in said
