"""The chart of copies: a bar for each way that copied data, a dot for each round, nothing of a reflink."""

from __future__ import annotations

from makers.card_pages import drawn
from makers.copied_files import SIZE, copies, copy

from iocast.report.charts import copy_rates
from iocast.report.plot.marks import Bars, Dots, Rules
from iocast.report.plot.theme import LIGHT


def test_each_way_has_a_bar_and_its_rounds() -> None:
    plain = [copy("read_write_block", real_s, number) for number, real_s in enumerate((2.0, 4.0, 2.5), 1)]
    quick = [copy("splice", 1.0, number) for number in (1, 2, 3)]
    linked = copy("copy_file_range", 0.001, shared_bytes=SIZE)
    (chart,) = copy_rates.tell(copies(*plain, *quick, linked))
    assert chart.summary == "Fastest until durable: splice, 1 GB/s."
    assert "Left out, because it copies no data: copy_file_range." in chart.notes
    synced = {rate.method: rate.rate_synced_bytes_per_s for rate in chart.rates}
    assert synced == {"read_write_block": 400e6, "splice": 1e9}
    assert len(chart.rounds) == 6
    plot = copy_rates.draw(chart, LIGHT, 900)
    (bars,), (lines,), (dots,) = drawn(plot, Bars), drawn(plot, Rules), drawn(plot, Dots)
    assert [bar.x2 for bar in bars.bars] == [400.0, 1000.0]
    assert [line.x for line in lines.rules] == [400.0, 1000.0]
    assert len(dots.dots) == 6


def test_one_way_alone_has_none() -> None:
    assert list(copy_rates.tell(copies(copy("splice", 1.0)))) == []
