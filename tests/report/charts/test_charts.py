"""What charts say: families of rows, the sentences, the marks."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import courses_of, report_of
from makers.card_runs import SECOND_NS, histogram, lognormal, reads
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.model.finding import Examination, Finding, Span
from iocast.model.histogram import Histogram
from iocast.model.intervals import Interval
from iocast.model.measurement import SlowIo
from iocast.model.report import Chart
from iocast.model.run import Run
from iocast.report.charts import chart_sections
from iocast.report.charts.families import families, pooled
from iocast.report.vega import specification, to_svgs
from iocast.report.vega.theme import PAGE


def chart(run: Run, kind: str) -> Chart:
    """The first chart of a kind."""
    return next(each for each in report_of(run).charts if each.kind == kind)


def test_rows_of_a_test_and_size_are_a_family_in_the_order_of_their_loads() -> None:
    rows = [reads(f"randread 8k x{users}", users=users) for users in (8, 1, 4)]
    run = card_runs.run(*rows, reads("read 128k", size_bytes=1 << 17), card_runs.mixed())
    found = families(run, examine(run), {})
    assert [(family.key, [member.at_once for member in family.members]) for family in found] == [
        ("randread-8k", [1, 4, 8]),
        ("read-128k", [1]),
        ("mixed-8k-reads", [64]),
        ("mixed-8k-writes", [64]),
        ("mixed-fsyncs", [64]),
    ]
    rest = pooled(found[1:], "Other rows")
    assert rest is not None
    assert rest.ladder == ()
    assert rest.name(rest.members[0]) == "read 128k"


def test_tests_whose_names_differ_in_signs_only_have_charts_of_their_own() -> None:
    run = card_runs.run(*(reads(f"{test} 8k") for test in ("a+b", "a-b", "a.b")))
    assert [family.key for family in families(run, examine(run), {})] == ["a-b-8k", "a-b-8k-2", "a-b-8k-3"]


def test_void_rows_are_in_no_chart() -> None:
    run = card_runs.troubled_card()
    report = report_of(run)
    assert "randread 8k" not in [row.cells["row"] for row in chart(run, "overview").tables[0].rows]
    assert chart(run, "overview").notes[1:] == ("1 of 5 rows is void and not drawn.",)
    assert not [each for each in report.charts if each.kind == "scaling"], "one load that is left is no ladder"


def test_the_modes_are_named() -> None:
    cached = histogram((300_000, 64_000), *((4.6e6 * (0.5 + at / 100), 360) for at in range(100)))
    run = card_runs.run(reads(times=cached))
    found = chart(run, "distribution")
    assert found.summary.startswith("On randread 8k there are 2 peaks: 64% around 302 µs, 36% around ")
    modes = found.table("modes")
    assert modes is not None
    assert [row.cells["share"] for row in modes.rows] == [pytest.approx(0.64, abs=0.01), pytest.approx(0.36, abs=0.01)]


def test_percentiles_end_at_the_maximum_and_say_where_they_are_sure() -> None:
    curve = chart(card_runs.run(reads(times=lognormal(10_000, 1e6, 0.3))), "percentiles").table("curves")
    assert curve is not None
    last = curve.rows[-1].cells
    assert last["beyond"] == pytest.approx(1e-4)
    assert last["sure"] == 0
    sure = [row.cells["beyond"] for row in curve.rows if row.cells["sure"]]
    assert min(each for each in sure if isinstance(each, float)) == pytest.approx(1e-3)
    times = [row.cells["time"] for row in curve.rows]
    assert times == sorted(times, key=lambda each: each if isinstance(each, float) else 0.0)


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
    (heat,) = (
        each for section in chart_sections(run, examine(run), courses) for each in section.charts if each.kind == "heat"
    )
    marks = heat.table("marks")
    assert marks is not None
    assert [(row.cells["kind"], row.cells["at"], row.cells["says"]) for row in marks.rows] == [
        ("finding", 6 * SECOND_NS, "randread 8k: stalls. I/Os stood still: 1 stall of 2.0 s, at t=6.0 s."),
        ("slow", 8 * SECOND_NS, "randread 8k: one read took 2 s"),
        ("change", 20 * SECOND_NS, "randread 8k: 50% fewer I/Os a second from here on"),
    ]


def _heat(run: Run, examination: Examination, levels: list[Histogram]) -> Chart:
    courses = {0: tuple(Interval(at * SECOND_NS, "read", 8192, 0, 0, times) for at, times in enumerate(levels))}
    charts = [each for section in chart_sections(run, examination, courses) for each in section.charts]
    return next(each for each in charts if each.kind == "heat")


def test_findings_are_marked_by_name_where_they_were_seen() -> None:
    run = card_runs.run(reads())
    found = [
        Finding(
            name="stalls", severity="warn", phase="randread 8k", says="A second.", spans=(Span(SECOND_NS, SECOND_NS),)
        ),
        Finding(
            name="burst credits",
            severity="severe",
            phase="randread 8k",
            says="It fell.",
            state="suggested",
            spans=(Span(20 * SECOND_NS, 99 * SECOND_NS),),
        ),
        Finding(name="throttle", severity="warn", phase="randread 8k", says="All of it."),
        Finding(
            name="maintenance", severity="warn", phase="randread 8k", says="No.", state="rejected", spans=(Span(0, 1),)
        ),
        Finding(name="hung", severity="warn", phase="another row", says="Not here.", spans=(Span(0, 1),)),
    ]
    examination = replace(examine(run), findings=tuple(found))
    whole, half = lognormal(2000, 240_000, 0.3), lognormal(1000, 240_000, 0.3)
    heat = _heat(run, examination, [whole] * 20 + [half] * 20)
    marks = heat.table("marks")
    assert marks is not None
    keys = ("kind", "name", "at", "end", "says")
    assert [tuple(row.cells[key] for key in keys) for row in marks.rows] == [
        ("finding", "stalls", SECOND_NS, SECOND_NS, "randread 8k: stalls. A second."),
        ("finding", "burst credits?", 20 * SECOND_NS, 40 * SECOND_NS, "randread 8k: perhaps burst credits. It fell."),
    ], "what ends with the row ends there, and the fall is not marked twice"
    assert heat.summary.endswith("Found and marked: stalls, perhaps burst credits.")
    assert [note.partition(":")[0] for note in heat.notes] == ["Bars at the top"]
    svg = to_svgs([heat], PAGE)[0]
    assert ">stalls</text>" in svg
    assert ">burst credits?</text>" in svg
    assert svg.count("randread 8k: perhaps burst credits. It fell.") == 1


def test_names_of_findings_do_not_lie_on_each_other() -> None:
    run = card_runs.run(reads())
    found = tuple(
        Finding(name=f"finding {at}", severity="warn", phase="randread 8k", says="Seen.", spans=(Span(at * 10**7, at),))
        for at in range(9)
    )
    heat = _heat(run, replace(examine(run), findings=found), [lognormal(1000, 240_000, 0.3)] * 40)
    layers = [layer for layer in specification(heat, PAGE)["layer"] if layer["mark"]["type"] == "text"]
    places = [(round(row["x"]), row["dy"]) for row in layers[-1]["data"]["values"]]
    assert len(set(places)) == len(places) == 3, "three lines have room at one place; the other bars tell by their tips"


def test_all_ios_of_the_series_are_in_the_heat_map() -> None:
    run = card_runs.run(reads(), reads("randread 8k x8", users=8))
    heat = chart(run, "heat")
    cells, moments = heat.table("cells"), heat.table("moments")
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
    heat = next(
        each
        for section in chart_sections(run, examine(run), courses_of(run, 2000))
        for each in section.charts
        if each.kind == "heat"
    )
    rows = heat.tables[0].rows
    assert len(rows) <= 240
    assert sum(row.cells["ios"] for row in rows if isinstance(row.cells["ios"], int)) == 100 * 2000


def test_the_knee_is_where_a_saturated_ladder_bends() -> None:
    ladder = [(1, 1e6), (2, 1e6), (4, 1e6), (8, 2e6), (16, 4e6)]
    run = card_runs.run(
        *(reads(f"randread 8k x{users}", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in ladder)
    )
    found = chart(run, "load_curve")
    assert "it bends at 4, with 3.98k a second, half of them within 1 ms" in found.summary
    fallen = [*ladder[:3], (8, 3e6)]
    run = card_runs.run(
        *(reads(f"randread 8k x{users}", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in fallen)
    )
    most = "with 4 at once, where it bends: half of them take up to 1 ms there."
    assert chart(run, "load_curve").summary.endswith(most)
    short = card_runs.run(
        *(reads(f"randread 8k x{users}", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in ladder[:3])
    )
    assert chart(short, "load_curve").summary.endswith("the ladder ends before it bends.")


def test_the_device_chart_names_rows_where_it_saw_something_else() -> None:
    found = [each for each in report_of(card_runs.quick_card()).charts if each.kind == "device"]
    assert [each.key for each in found] == ["device-sizes", "device-queue"]
    assert found[0].summary.startswith("On all ")
    troubled = chart(card_runs.troubled_card(), "device")
    assert "the device saw something else" in troubled.summary or troubled.summary.startswith("On all ")


def test_what_was_only_waited_for_is_shown_in_the_last_second() -> None:
    did = reads(times=lognormal(30_000, 1e6, 0.1))
    assert round(did.measurement.issuing_ns / SECOND_NS) == 30
    run = card_runs.run(did)
    heat = next(
        each
        for section in chart_sections(run, examine(run), courses_of(run, 31))
        for each in section.charts
        if each.kind == "heat"
    )
    rows = heat.tables[0].rows
    assert [row.cells["at"] for row in rows] == [at * SECOND_NS for at in range(30)]
    assert rows[-1].cells["ios"] == 60_000


def test_reads_and_writes_of_one_row_are_two_curves() -> None:
    """Among other rows they had one name, and their points were drawn as one curve that saws between both."""
    run = card_runs.run(card_runs.mixed(), card_runs.reads("scan 128k x1"))
    charts = {chart.kind: chart for chart in report_of(run).charts}
    for kind, key in (("percentiles", "curves"), ("distribution", "curves")):
        table = charts[kind].table(key)
        assert table is not None
        names = dict.fromkeys(row.cells["row"] for row in table.rows)
        assert list(names) == ["mixed 8k, reads", "mixed 8k, writes", "mixed 8k, fsyncs", "scan 128k x1"]
