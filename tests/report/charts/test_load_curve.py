"""The load curve is joined in the order of the loads, and names its knee."""

from __future__ import annotations

from makers import card_runs
from makers.card_pages import chart_of, drawn
from makers.card_runs import lognormal, reads

from iocast.report.charts import load_curve, plot_of
from iocast.report.plot.marks import Lines, Words
from iocast.report.plot.theme import LIGHT


def test_the_knee_is_where_a_saturated_ladder_bends() -> None:
    ladder = [(1, 1e6), (2, 1e6), (4, 1e6), (8, 2e6), (16, 4e6)]
    run = card_runs.run(
        *(reads(f"randread 8k {users}x1", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in ladder)
    )
    found = chart_of(run, load_curve)
    assert "the knee is at 4x1: 3.98k IOPS, p50 1 ms" in found.summary
    fallen = [*ladder[:3], (8, 3e6)]
    run = card_runs.run(
        *(reads(f"randread 8k {users}x1", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in fallen)
    )
    most = "4x1 reaches 3.98k IOPS at the knee, with a p50 of 1 ms."
    assert chart_of(run, load_curve).summary.endswith(most)
    short = card_runs.run(
        *(reads(f"randread 8k {users}x1", users=users, times=lognormal(20_000, ns, 0.1)) for users, ns in ladder[:3])
    )
    assert chart_of(short, load_curve).summary.endswith("the ladder shows no knee.")


def test_the_load_curve_is_joined_in_the_order_of_the_loads() -> None:
    run = card_runs.run(
        *(
            card_runs.reads(f"randread 8k {users}x1", users=users, times=card_runs.lognormal(5_000, took, 0.2))
            for users, took in ((1, 1e6), (4, 2e6), (16, 2e7))
        )
    )
    chart = chart_of(run, load_curve)
    lines = [line for mark in drawn(plot_of(chart, LIGHT), Lines) for line in mark.lines]
    assert len(lines) == 2
    for line in lines:
        rates = [point.x or 0 for point in line]
        assert rates[1] > rates[0] > rates[2], "past saturation the rate falls: the curve folds back"
        assert rates == [load.rate_per_s for load in chart.loads]


def test_loads_at_the_same_place_share_a_name() -> None:
    times = card_runs.lognormal(5_000, 1e6, 0.2)
    ladder = ((1, 5_000_000_000), (8, 700_000_000), (32, 690_000_000))
    rows = [card_runs.reads(f"r {n}x1", users=n, times=times, elapsed_ns=took) for n, took in ladder]
    chart = chart_of(card_runs.run(*rows), load_curve)
    written = [[word.text for word in mark.words] for mark in drawn(plot_of(chart, LIGHT), Words)]
    assert ["1x1", "8x1, 32x1"] in written
