"""The bars of the cost of more load have the colours of the rule."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, drawn
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.model.finding import Excluded
from iocast.model.run import PhaseRecord
from iocast.report.charts import chart_sections, plot_of, scaling
from iocast.report.plot.marks import Boxes
from iocast.report.plot.theme import CLASSIC
from iocast.report.result_tables import chart_table


def test_scaling_bars_have_the_colours_of_the_rule() -> None:
    """The slides' 1M reads lose throughput from 1 to 8 users; 8k random reads first become faster."""
    assert _bars([(1, 10.89, 91.763), (8, 156.16, 50.784), (16, 296.29, 52.895)]) == [CLASSIC.lost, CLASSIC.slower]
    assert _bars([(1, 44.37, 0.176), (8, 22.558, 2.763), (16, 37.708, 3.284)]) == [CLASSIC.faster, CLASSIC.slower]


def test_the_table_has_figures_that_say_something() -> None:
    """2^(10 ratio) had 16 digits, and 103 us after 103 us was a rise."""
    loads = [(1, 0.1030), (8, 0.1032), (16, 0.5)]
    chart = chart_of(card_runs.run(*_rows(loads)), scaling)
    heads = ["from load", "to load", "response time growth / load growth", "verdict"]
    assert [column.title for column in chart_table(chart).columns] == heads
    assert [step.verdict for step in chart.steps] == ["response time stayed the same", "throughput fell"]


def test_a_fall_that_does_not_go_on_is_told_to_where() -> None:
    """It said "throughput falls from 8x1 on" of 65, 62 and then 63 thousand I/Os a second."""
    assert _summary([(1, 0.1), (8, 0.12), (32, 0.51), (64, 1.01)]).endswith("; throughput falls from 8x1 to 32x1.")
    assert _summary([(1, 0.1), (8, 0.12), (32, 0.51), (64, 1.1)]).endswith("; throughput falls from 8x1 on.")


def test_rows_that_are_left_out_of_comparisons_are_named_above_their_charts() -> None:
    run = card_runs.run(*_rows([(1, 0.1), (8, 0.12)]))
    out = {"read 8x1": Excluded("other I/O", "others were at work")}
    (section, *_) = chart_sections(run, replace(examine(run), excluded=out), {})
    assert section.paragraphs == ("Drawn with rows that are left out of comparisons: 8x1 (other I/O).",)
    assert chart_sections(run, replace(examine(run), excluded={}), {})[0].paragraphs == ()


def _rows(loads: list[tuple[int, float]]) -> list[PhaseRecord]:
    return [
        card_runs.reads(
            f"read {n}x1", users=n, times=card_runs.histogram((ms * 1e6, 1000)), elapsed_ns=round(1e9 * ms / n)
        )
        for n, ms in loads
    ]


def _summary(loads: list[tuple[int, float]]) -> str:
    return chart_of(card_runs.run(*_rows(loads)), scaling).summary


def _bars(table: list[tuple[int, float, float]]) -> list[str]:
    rows = []
    for users, ms, mb in table:
        times = card_runs.histogram((ms * 1e6, 1000))
        elapsed_ns = round(1000 * 8192 / (mb * 2**20) * 1e9)
        rows.append(card_runs.reads(f"read {users}x1", users=users, times=times, elapsed_ns=elapsed_ns))
    (bars,) = drawn(plot_of(chart_of(card_runs.run(*rows), scaling), CLASSIC), Boxes)
    return [*bars.colours]
