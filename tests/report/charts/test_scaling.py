"""The bars of the cost of more load have the colours of the rule."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import scaling, specification
from iocast.report.charts.drawing.theme import CLASSIC


def test_scaling_bars_have_the_colours_of_the_rule() -> None:
    """The slides' 1M reads lose throughput from 1 to 8 users; 8k random reads first become faster."""
    assert _bars([(1, 10.89, 91.763), (8, 156.16, 50.784), (16, 296.29, 52.895)]) == [CLASSIC.lost, CLASSIC.slower]
    assert _bars([(1, 44.37, 0.176), (8, 22.558, 2.763), (16, 37.708, 3.284)]) == [CLASSIC.faster, CLASSIC.slower]


def test_the_table_has_figures_that_say_something() -> None:
    """2^(10 ratio) had 16 digits, and 103 us after 103 us was a rise."""
    loads = [(1, 0.1030), (8, 0.1032), (16, 0.5)]
    rows = [
        card_runs.reads(
            f"read {n}x1", users=n, times=card_runs.histogram((ms * 1e6, 1000)), elapsed_ns=round(1e9 * ms / n)
        )
        for n, ms in loads
    ]
    (steps,) = chart_of(card_runs.run(*rows), scaling).tables
    assert [column.key for column in steps.columns] == ["before", "after", "ratio", "verdict"]
    verdicts = [row.cells["verdict"] for row in steps.rows]
    assert verdicts == ["response time stayed the same", "throughput fell"]


def _bars(table: list[tuple[int, float, float]]) -> list[str]:
    rows = []
    for users, ms, mb in table:
        times = card_runs.histogram((ms * 1e6, 1000))
        elapsed_ns = round(1000 * 8192 / (mb * 2**20) * 1e9)
        rows.append(card_runs.reads(f"read {users}x1", users=users, times=times, elapsed_ns=elapsed_ns))
    chart = chart_of(card_runs.run(*rows), scaling)
    (bars,) = (layer for layer in specification(chart, CLASSIC)["layer"] if layer["mark"]["type"] == "rect")
    return [row["c"] for row in bars["data"]["values"]]
