"""The report of a comparison: the tables of the virtualisation study to the digit, and its gate."""

from __future__ import annotations

import io

import pytest
from makers import card_runs
from makers.compared_runs import side_of, twice
from msgspec.structs import replace

from iocast.diagnose.comparable import Side
from iocast.model.histogram import Histogram
from iocast.model.report import Report, Table
from iocast.model.results.comparison import Comparison, Repeated
from iocast.model.run import MARKS, OpSeries, PhaseRecord, Series
from iocast.report.cells import cell_text
from iocast.report.comparison_report import compare, repeats
from iocast.report.renderers import html, terminal

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


def _configuration(label: str, values: tuple[int, ...], times: int = 3) -> Side:
    cells = [_cell(name, value, rate=at >= 3) for at, (name, value) in enumerate(zip(CELLS, values, strict=True))]
    return side_of(label, *[card_runs.run(*cells)] * times)


def _study(times: int = 3) -> Report:
    return compare(
        [_configuration("bare", BARE, times), *(_configuration(name, VIRTUAL[name][0], times) for name in VIRTUAL)]
    )


def _table(report: Report, key: str) -> Table:
    return next(table for section in report.sections for table in section.tables if table.key == key)


def _result(report: Report) -> Comparison:
    assert isinstance(report.result, Comparison)
    return report.result


def _shown(report: Report, *, colour: bool = False) -> str:
    out = io.StringIO()
    terminal.render(report, out, colour=colour, width=200)
    return out.getvalue()


def test_the_virtualisation_study_is_printed_to_the_digit() -> None:
    report = _study()
    table, result = _table(report, "relative"), _result(report)
    assert [column.title for column in table.columns] == ["row", "metric", "bare", *VIRTUAL, "repeats"]
    lines = [line for line in _shown(report).split("Relative to bare")[1].splitlines() if "%" in line]
    for at, name in enumerate(CELLS):
        what = "throughput" if at >= 3 else "mean"
        (kept,) = [each for each in result.relative if (each.phase, each.statistic) == (name, what)]
        want = [VIRTUAL[side][1][at] for side in VIRTUAL]
        assert [f"{each:.1%}" for each in kept.relative if each is not None] == want
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
    assert {row.cells["repeats"] for row in rows if not row.part} == {says}
    assert {row.cells["repeats"] for row in rows if row.part} == {""}


def test_a_configuration_without_a_row_leaves_its_cell_blank() -> None:
    short = side_of("short", *[card_runs.run(_cell(CELLS[0], 380, rate=False))] * 3)
    report = compare([_configuration("bare", BARE), _configuration("whole", BARE), short])
    kept = next(each for each in _result(report).relative if each.phase == CELLS[1])
    assert kept.relative == (pytest.approx(1), None)


def test_the_published_pairs_of_trials_and_the_gate() -> None:
    """Vector V10: two of the pairs may be published, the third is inconclusive."""
    names = ("first", "second", "third")
    pairs = ((158, 146), (193, 169), (103, 195))
    runs = [
        card_runs.run(*(_cell(name, 1000 * pair[trial], rate=True) for name, pair in zip(names, pairs, strict=True)))
        for trial in (0, 1)
    ]
    report = repeats(side_of("trials", *runs))
    assert isinstance(report.result, Repeated)
    rows = report.result.repeats
    assert [cell_text("tenth_share", row.apart_share) for row in rows] == ["7.6%", "12.4%", "-89.3%"]
    assert [cell_text("tenth_share", row.symmetric_share) for row in rows] == ["7.9%", "13.3%", "61.7%"]
    assert [row.verdict for row in rows] == ["incomplete", "incomplete", "inconclusive"]
    assert "incomplete: 2 of 3 repeats" in " ".join(_shown(report).split())
    assert "third" in report.verdict
    assert "first" not in report.verdict


def test_the_terminal_needs_no_charts() -> None:
    assert compare([twice("old", 200), twice("new", 400)]).charts == ()


def test_one_run_does_not_repeat() -> None:
    report = repeats(side_of("alone", card_runs.run(_cell("first", 500, rate=True))))
    assert report.verdict == "Repeatability needs at least two runs."
    twice = repeats(side_of("twice", *[card_runs.run(_cell("first", 500, rate=True))] * 2))
    assert twice.verdict.startswith("The row repeats over 2 runs: the coefficient of variation is at most ")


def test_a_run_beside_itself_has_not_moved() -> None:
    verdict = compare([_configuration("a", BARE), _configuration("b", BARE)]).verdict
    assert "figures of throughput and p99" in verdict
    assert "Most of all" not in verdict


@pytest.mark.parametrize(
    ("us", "said"),
    [
        (150, "p99 of disk randread, 50% higher (worse)"),
        (70, "p99 of disk randread, 30% lower (better)"),
        (25_000, "p99 of disk randread, 250 times as high (worse)"),
        (2, "p99 of disk randread, down to 1/50.0 (better)"),
    ],
)
def test_what_moved_far_is_said_in_times(us: int, said: str) -> None:
    def one(label: str, each_us: int) -> Side:
        times = card_runs.histogram((each_us * 1000, 5000))
        return side_of(label, card_runs.run(card_runs.reads("disk randread", times=times, elapsed_ns=SECOND_NS)))

    assert said in compare([one("a", 100), one("b", us)]).verdict


def test_a_gross_ratio_of_single_runs_has_a_guarded_verdict() -> None:
    def one(label: str, per_s: int, times: Histogram) -> Side:
        record = card_runs.reads("rd", times=times)
        ios = (per_s, per_s - 1, per_s + 1)
        spent = tuple(round(each * times.mean_ns) for each in ios)
        up_to = tuple(tuple(round(q * each) for each in ios) for q in MARKS)
        reads = OpSeries(op="read", ios=ios, response_ns=spent, up_to=up_to)
        series = Series(interval_ns=SECOND_NS, ios=ios, bytes=ios, response_ns=spent, ops=(reads,))
        return side_of(label, card_runs.run(replace(record, series=series)))

    fast, slow = (
        one("fast", 5000, card_runs.lognormal(15_000, 100_000, 0.3)),
        one("slow", 40, card_runs.lognormal(120, 119_500_000, 0.3)),
    )
    figures = {row.statistic: row for row in _result(compare([fast, slow])).pairs[0].rows}
    assert {each.verdict for each in figures.values()} == {"different_here"}
    assert figures["p50"].ratio_low is None, "nobody knows whether it repeats"
    assert "it may not repeat" in " ".join(_shown(compare([fast, slow])).split())
    back = {row.statistic: row for row in _result(compare([slow, fast])).pairs[0].rows}
    assert cell_text("relative", back["p50"].relative).endswith("x"), "no 119,500 %"


def test_the_verdicts_of_repeats_are_explained_and_figures_have_their_units() -> None:
    """Runs that are the same to the bucket have no scatter: their p is small, and not 0."""

    def side(label: str, each_us: int) -> Side:
        records = [card_runs.reads("rd", times=card_runs.histogram((each_us * 1000, n))) for n in (5000, 5001, 5002)]
        return side_of(label, *(card_runs.run(record) for record in records))

    report = compare([side("a", 100), side("b", 108)])
    p_values = {cell_text("p_value", row.p_value) for row in _result(report).pairs[0].percentiles}
    assert p_values == {"< 1e-15"}
    shown = " ".join(_shown(report).split())
    assert "small difference" in shown
    assert "Small difference: it leaves out 1.00, but not all of that range." in shown
    rates = [row.cells["first"] for row in _table(report, "rows").rows if row.cells["statistic"] == "throughput"]
    assert rates
    assert all(str(each).endswith(" IOPS") for each in rates)


def test_two_rows_are_both() -> None:
    run = card_runs.run(_cell("first", 1000, rate=True), _cell("second", 1000, rate=True))
    assert repeats(side_of("twice", run, run)).verdict.startswith("Both rows repeat over 2 runs: ")


def test_the_sentence_about_repeats_says_what_agrees() -> None:
    runs = [card_runs.run(_cell("first", value, rate=True)) for value in (1000, 1010, 1119, 1000, 1005)]
    verdict = repeats(side_of("five", *runs)).verdict
    assert verdict == (
        "The row repeats over 5 runs: the coefficient of variation is at most 5%, and no run is more than 12%"
        " from the first. Its throughput is accurate to ±6.2% and p99 to ±0.1%."
    )
