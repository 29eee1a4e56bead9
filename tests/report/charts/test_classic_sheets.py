"""The classic layout as one picture: the slides' table (V3) gives the bars and colours that they had (V4)."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from makers import card_runs
from makers.card_pages import drawn, report_of

from iocast.model.report import Report
from iocast.report.charts import plot_of
from iocast.report.plot.axes import Axis
from iocast.report.plot.marks import Boxes, Dots, Words
from iocast.report.plot.theme import CLASSIC
from iocast.report.renderers.pictures import classic_sheets, write_pictures

# Vector V3: users, ms, MB/s; vector V4: s of each step, and its colour.
RED, DARK, BLUE = CLASSIC.slower, CLASSIC.lost, CLASSIC.faster
V4 = {
    "read 1M": (
        (
            (1, 10.890, 91.763),
            (8, 156.160, 50.784),
            (16, 296.290, 52.895),
            (32, 551.610, 55.120),
            (64, 1051.970, 58.072),
        ),
        ((1.7925, DARK), (0.9487, RED), (0.9309, RED), (0.9535, RED)),
    ),
    "randread 8k": (
        ((1, 44.370, 0.176), (8, 22.558, 2.763), (16, 37.708, 3.284), (32, 73.070, 3.393), (64, 131.950, 3.734)),
        ((0.0636, BLUE), (0.8358, RED), (0.9689, RED), (0.9029, RED)),
    ),
    "write 1k": (((1, 0.373, 2.588), (4, 0.581, 6.684), (16, 1.711, 7.939)), ((0.3894, RED), (0.7362, RED))),
    "write 8k": (((1, 0.289, 26.713), (4, 2.003, 15.513), (16, 12.177, 10.235)), ((1.7327, DARK), (1.5198, DARK))),
    "write 128k": (((1, 10.451, 11.952), (4, 14.647, 34.005), (16, 150.080, 13.212)), ((0.3504, RED), (2.5616, DARK))),
}


def _report(loads: tuple[tuple[int, float, float], ...]) -> Report:
    rows = []
    for users, ms, mb in loads:
        times = card_runs.histogram((ms * 1e6, 1000))
        elapsed_ns = round(1000 * 8192 / (mb * 2**20) * 1e9)
        rows.append(card_runs.reads(f"read {users}x1", users=users, times=times, elapsed_ns=elapsed_ns))
    return report_of(card_runs.run(*rows))


def _charts(loads: tuple[tuple[int, float, float], ...]) -> tuple[Any, ...]:
    ((_, charts),) = classic_sheets(_report(loads).charts)
    return charts


@pytest.mark.parametrize("test", V4)
def test_the_slides_table_gives_their_bars(test: str) -> None:
    loads, want = V4[test]
    charts = _charts(loads)
    latency, bands, steps, rates = (plot_of(chart, CLASSIC) for chart in charts)
    told = next(chart for chart in charts if chart.kind == "scaling").steps
    assert [step.ratio for step in told] == pytest.approx([ratio for ratio, _ in want], abs=6e-5)
    assert [part.height / latency.height for part in (steps, rates)] == pytest.approx([3 / 7] * 2)
    assert bands.height < steps.height
    (bars,) = drawn(steps, Boxes)
    assert bars.colours == [colour for _, colour in want]
    assert isinstance(steps.y, Axis)
    assert (steps.y.scale.low, steps.y.scale.log) == (0, False)
    above = drawn(steps, Words)[-1].words
    for bar, word, (ratio, _) in zip(bars.boxes, above, want, strict=True):
        assert float(word.text) == pytest.approx(ratio, abs=0.006), "it is written above"
        assert (bar.y, bar.y2) == (0, pytest.approx(ratio, abs=6e-5)), "it is to scale"
    means = drawn(latency, Dots)[0].dots
    assert [dot.y / 1e6 for dot in means if dot.y] == pytest.approx([ms for _, ms, _ in loads], rel=1e-6)


def test_no_name_of_a_line_lies_on_another_at_the_top() -> None:
    """At 64 users mean, p95, p99 and maximum of the slides' 1M reads are all at the end of the axis."""
    latency = plot_of(_charts(V4["read 1M"][0])[0], CLASSIC)
    words = [word for mark in drawn(latency, Words) for word in mark.words]
    named = [word for word in words if word.text in ("max", "p99", "p95", "mean", "p50")]
    assert isinstance(latency.y, Axis)
    low, high = latency.y.scale.low, latency.y.scale.high
    places = sorted(math.log((word.y or 0) / low) / math.log(high / low) for word in named)
    assert places[-1] < 1
    assert all(other - one > 0.05 for one, other in pairwise(places))


@pytest.mark.long
def test_each_ladder_gets_one_picture_beside_its_charts(tmp_path: Path) -> None:
    report = _report(V4["write 1k"][0])
    for suffix, head in ((".svg", b"<svg"), (".png", b"\x89PNG")):
        written = write_pictures(report, tmp_path / f"card{suffix}", CLASSIC)
        (classic,) = (file for file in written if file.stem.endswith("-classic"))
        assert classic.read_bytes().startswith(head)
        assert len(written) == len(report.charts) + 1


def test_without_a_ladder_there_is_no_sheet() -> None:
    assert classic_sheets(report_of(card_runs.run(card_runs.reads())).charts) == []
