"""The report of a comparison: the tables of the virtualisation study to the digit, its gate, and the charts."""

from __future__ import annotations

import io
from typing import Any

import pytest
from makers import card_runs

from iocast.diagnose.comparable import Side
from iocast.model.histogram import Histogram
from iocast.model.report import Chart, Report, Table
from iocast.model.run import PhaseRecord, Run
from iocast.model.stated import Bucket, Coarse
from iocast.report.comparison.comparison_report import compare, repeats
from iocast.report.renderers import html, terminal
from iocast.report.vega import specification
from iocast.report.vega.theme import LIGHT

# Vector V11: 1 process x 4 at once; three latencies in us, two throughputs in kB/s; what each keeps, in per cent.
BARE = (370, 12_543, 1_270, 117_042, 75_959)
VIRTUAL = {
    "physical RDM": ((520, 12_912, 1_361, 116_721, 71_784), ("71.2%", "97.1%", "93.3%", "99.7%", "94.5%")),
    "indep. virtual RDM": ((521, 14_044, 1_320, 116_710, 62_708), ("71.0%", "89.3%", "96.2%", "99.7%", "82.6%")),
    "virtual RDM": ((518, 13_020, 1_265, 116_580, 70_380), ("71.4%", "96.3%", "100.4%", "99.6%", "92.7%")),
    "indep. VMFS": ((518, 13_442, 1_276, 116_628, 67_208), ("71.4%", "93.3%", "99.5%", "99.6%", "88.5%")),
    "snapshot VMFS": ((519, 13_537, 1_277, 116_673, 72_206), ("71.3%", "92.7%", "99.5%", "99.7%", "95.1%")),
}
CELLS = ("cached randread", "disk randread", "randwrite", "cached read", "write")
SECOND_NS = 1_000_000_000


def _cell(name: str, value: int, *, rate: bool) -> PhaseRecord:
    if rate:  # as many I/Os in a second
        return card_runs.reads(name, times=card_runs.histogram((400_000, value)), depth=4, elapsed_ns=SECOND_NS)
    return card_runs.reads(name, times=card_runs.histogram((value * 1000, 5000)), depth=4)


def _side(label: str, *runs: Run) -> Side:
    return Side(label, runs, {name: "A" for run in runs for name in (each.phase.name for each in run.measured)})


def _configuration(label: str, values: tuple[int, ...], times: int = 3) -> Side:
    cells = [_cell(name, value, rate=at >= 3) for at, (name, value) in enumerate(zip(CELLS, values, strict=True))]
    return _side(label, *[card_runs.run(*cells)] * times)


def _study(times: int = 3) -> Report:
    return compare(
        [_configuration("bare", BARE, times), *(_configuration(name, VIRTUAL[name][0], times) for name in VIRTUAL)]
    )


def _table(report: Report, key: str) -> Table:
    return next(table for section in report.sections for table in section.tables if table.key == key)


def _shown(report: Report, *, colour: bool = False) -> str:
    out = io.StringIO()
    terminal.render(report, out, colour=colour, width=200)
    return out.getvalue()


def test_the_virtualisation_study_is_printed_to_the_digit() -> None:
    report = _study()
    table = _table(report, "relative")
    assert [column.title for column in table.columns] == ["row", "what", "bare", *VIRTUAL, "repeats"]
    lines = [line for line in _shown(report).split("Relative to bare")[1].splitlines() if "%" in line]
    for at, name in enumerate(CELLS):
        what = "throughput" if at >= 3 else "mean latency"
        (row,) = [row for row in table.rows if row.cells["phase"] == name and row.cells["what"] == what]
        want = [VIRTUAL[side][1][at] for side in VIRTUAL]
        assert [f"{row.cells[f'side{number}']:.1%}" for number in range(1, 6)] == want
        assert any([word for word in line.split() if word.endswith("%")] == want for line in lines), name


def test_green_is_within_a_tenth_in_the_terminal_and_on_the_page() -> None:
    report = _study()
    shown, out = _shown(report, colour=True), io.StringIO()
    assert "\x1b[32m97.1%\x1b[0m" in shown
    assert "\x1b[32m71.2%" not in shown
    assert "\x1b[32m89.3%" not in shown
    html.render(report, out)
    cells = [cell for cell in out.getvalue().split("<td") if "97.1%</td>" in cell]
    assert cells
    assert all('class="figure good"' in cell for cell in cells)
    assert not any("good" in cell for cell in out.getvalue().split("<td") if "71.2%</td>" in cell)


@pytest.mark.parametrize(("times", "says"), [(1, "incomplete: 1 of 3"), (2, "incomplete: 2 of 3"), (3, "3")])
def test_a_cell_with_fewer_than_three_repeats_is_incomplete(times: int, says: str) -> None:
    rows = _table(_study(times), "relative").rows
    assert {row.cells["runs"] for row in rows if not row.part} == {says}


def test_a_configuration_without_a_row_leaves_its_cell_blank() -> None:
    short = _side("short", *[card_runs.run(_cell(CELLS[0], 380, rate=False))] * 3)
    report = compare([_configuration("bare", BARE), _configuration("whole", BARE), short])
    row = next(row for row in _table(report, "relative").rows if row.cells["phase"] == CELLS[1])
    assert row.cells["side1"] == pytest.approx(1)
    assert row.cells["side2"] is None


def test_the_published_pairs_of_trials_and_the_gate() -> None:
    """Vector V10: two of the pairs may be published, the third is inconclusive."""
    names = ("first", "second", "third")
    pairs = ((158, 146), (193, 169), (103, 195))
    runs = [
        card_runs.run(*(_cell(name, 1000 * pair[trial], rate=True) for name, pair in zip(names, pairs, strict=True)))
        for trial in (0, 1)
    ]
    report = repeats(_side("trials", *runs))
    rows = _table(report, "repeats").rows
    assert [row.cells["apart"] for row in rows] == ["7.6%", "12.4%", "-89.3%"]
    verdicts = [str(row.cells["agree"]).split(":")[0] for row in rows]
    assert verdicts == ["incomplete", "incomplete", "inconclusive"]
    assert "third" in report.verdict
    assert "first" not in report.verdict


def _charts(*sides: Side) -> dict[str, Chart]:
    return {chart.kind: chart for chart in compare(sides, charts=True).charts}


def _twice(label: str, *values: int) -> Side:
    spread = [card_runs.lognormal(20_000, value * 1000, 0.3) for value in values]
    return _side(label, *(card_runs.run(card_runs.reads("randread 8k", times=times)) for times in spread))


def _rows(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [row for layer in spec["layer"] if layer["mark"]["type"] == mark for row in layer["data"]["values"]]


def test_a_ratio_is_drawn_with_its_interval_and_its_colour() -> None:
    chart = _charts(_twice("old", 200, 202, 204), _twice("new", 400, 404, 402))["ratios"]
    p50 = next(row for row in chart.tables[0].rows if row.cells["what"] == "p50")
    assert p50.cells["side"] == "worse"
    spec = specification(chart, LIGHT)
    dots = {row["at"]: row for row in _rows(spec, "circle")}
    drawn = dots[p50.cells["ratio_value"]]
    assert drawn["c"] == LIGHT.lost
    line = next(row for row in _rows(spec, "rule") if row.get("at") == p50.cells["ratio_value"])
    assert (line["x"], line["x2"]) == (p50.cells["ratio_low"], p50.cells["ratio_high"])


def test_single_runs_have_dots_without_lines() -> None:
    chart = _charts(_twice("old", 200), _twice("new", 400))["ratios"]
    assert "nobody knows" in chart.summary
    lines = [row for row in _rows(specification(chart, LIGHT), "rule") if "at" in row]
    assert lines
    assert all(row["x"] == row["x2"] == row["at"] for row in lines)


def test_both_histograms_hold_the_same_area_on_one_axis() -> None:
    chart = _charts(_twice("old", 200), _twice("new", 400))["sides"]
    points = _rows(specification(chart, LIGHT), "area")
    above, below = ([row for row in points if row["c"] == tone] for tone in (LIGHT.accent, LIGHT.tail))
    assert all(row["y2"] <= row["y"] for row in above)
    assert all(row["y2"] >= row["y"] for row in below)
    held = [sum(abs(row["y2"] - row["y"]) for row in rows) for rows in (above, below)]
    assert held[0] == pytest.approx(held[1], rel=0.05)
    assert "200" in chart.summary
    assert "400" in chart.summary


def test_percentile_curves_of_both_have_the_colours_of_their_sides() -> None:
    chart = _charts(_twice("old", 200), _twice("new", 400))["side_percentiles"]
    tones = {(row["row"], row["c"]) for row in _rows(specification(chart, LIGHT), "line")}
    assert tones == {("old", LIGHT.accent), ("new", LIGHT.tail)}


def test_coarse_buckets_of_another_tool_have_no_percentile_curve() -> None:
    buckets = (Bucket(100_000, 250_000, 80.0), Bucket(250_000, 500_000, 20.0))
    times = Histogram.stated(Coarse(total=20_000, mean_ns=210_000.0, buckets=buckets, whole=100.0))
    coarse = _side("fio", card_runs.run(card_runs.reads("randread 8k", times=times)))
    kinds = _charts(_twice("own", 200), coarse)
    assert "side_percentiles" not in kinds
    assert "ratios" in kinds
    below = [row for row in kinds["sides"].tables[1].rows if row.cells["whose"] == "fio"]
    held = [row.cells["density"] for row in below if 1.1e5 < float(str(row.cells["time"])) < 2.4e5]
    assert len(set(held)) == 1, "nothing is read between the edges of another tool's buckets"


def test_each_repeat_is_a_dot_over_the_median_of_its_row() -> None:
    (chart,) = repeats(_twice("again", 200, 210, 300), charts=True).charts
    p99 = [row.cells["ratio"] for row in chart.tables[0].rows if row.cells["row"] == "randread 8k · p99"]
    assert p99 == pytest.approx([200 / 210, 1, 300 / 210], rel=0.01)
    assert chart.summary.startswith("Furthest from the others is run 3 of randread 8k · ")
    dots = _rows(specification(chart, LIGHT), "circle")
    assert len({(row["x"], row["y"]) for row in dots}) == 6
    assert repeats(_twice("once", 200), charts=True).charts == ()


def test_the_terminal_needs_no_charts() -> None:
    assert compare([_twice("old", 200), _twice("new", 400)]).charts == ()


def test_one_run_does_not_repeat() -> None:
    report = repeats(_side("alone", card_runs.run(_cell("first", 500, rate=True))))
    assert report.verdict == "One run cannot tell whether it repeats."
    twice = repeats(_side("twice", *[card_runs.run(_cell("first", 500, rate=True))] * 2))
    assert twice.verdict == "The only row repeats within 10% over 2 runs."


def test_a_run_beside_itself_has_not_moved() -> None:
    verdict = compare([_configuration("a", BARE), _configuration("b", BARE)]).verdict
    assert "figures of throughput and p99" in verdict
    assert "Most of all" not in verdict


@pytest.mark.parametrize(
    ("us", "said"),
    [
        (150, "the p99 of disk randread: 50% higher (worse)"),
        (70, "the p99 of disk randread: 30% lower (better)"),
        (25_000, "the p99 of disk randread: 250 times as high (worse)"),
        (2, "the p99 of disk randread: down to 1/50.0 (better)"),
    ],
)
def test_what_moved_far_is_said_in_times(us: int, said: str) -> None:
    def one(label: str, each_us: int) -> Side:
        times = card_runs.histogram((each_us * 1000, 5000))
        return _side(label, card_runs.run(card_runs.reads("disk randread", times=times, elapsed_ns=SECOND_NS)))

    assert said in compare([one("a", 100), one("b", us)]).verdict
