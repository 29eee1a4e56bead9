"""Scaling by the rule of fiop.r, on the example table of the slides (name, users, MB/s, ms)."""

from __future__ import annotations

import pytest

from iocast.analyse.latency_growth import LoadPoint, scaling_steps

# fmt: off
TABLE = {
    "read 1M": [
        (1, 91.763, 10.890),
        (8, 50.784, 156.160),
        (16, 52.895, 296.290),
        (32, 55.120, 551.610),
        (64, 58.072, 1051.970),
    ],
    "randread 8K": [
        (1, 0.176, 44.370),
        (8, 2.763, 22.558),
        (16, 3.284, 37.708),
        (32, 3.393, 73.070),
        (64, 3.734, 131.950),
    ],
    "write 1K": [(1, 2.588, 0.373), (4, 6.684, 0.581), (16, 7.939, 1.711)],
    "write 8K": [(1, 26.713, 0.289), (4, 15.513, 2.003), (16, 10.235, 12.177)],
    "write 128K": [(1, 11.952, 10.451), (4, 34.005, 14.647), (16, 13.212, 150.080)],
}
# fmt: on
# (ratio, bar or None where it is past the edge of the chart, verdict)
EXPECTED = {
    "read 1M": [
        (1.7925, None, "lost"),
        (0.9487, 0.7006, "slower"),
        (0.9309, 0.6193, "slower"),
        (0.9535, 0.7247, "slower"),
    ],
    "randread 8K": [
        (0.0636, None, "faster"),
        (0.8358, 0.3204, "slower"),
        (0.9689, 0.8060, "slower"),
        (0.9029, 0.5102, "slower"),
    ],
    "write 1K": [(0.3894, None, "slower"), (0.7362, None, "slower")],
    "write 8K": [(1.7327, None, "lost"), (1.5198, None, "lost")],
    "write 128K": [(0.3504, None, "slower"), (2.5616, None, "lost")],
}


@pytest.mark.parametrize("test", TABLE)
def test_the_slides_table(test: str) -> None:
    steps = scaling_steps([LoadPoint(users, ms * 1e6, mb * 2**20) for users, mb, ms in TABLE[test]])
    assert [step.verdict for step in steps] == [verdict for _, _, verdict in EXPECTED[test]]
    assert [step.ratio for step in steps] == pytest.approx([ratio for ratio, _, _ in EXPECTED[test]], abs=6e-5)
    for step, (_, bar, _) in zip(steps, EXPECTED[test], strict=True):
        assert bar is None or step.bar == pytest.approx(bar, abs=6e-5)


def test_a_load_that_gains_nothing_is_a_bar_of_one() -> None:
    (step,) = scaling_steps([LoadPoint(1, 1e6, 100.0), LoadPoint(8, 8e6, 100.0)])
    assert (step.ratio, step.bar, step.verdict) == (1.0, 1.0, "slower")


def test_a_collapse_has_a_bar_too() -> None:
    (step,) = scaling_steps([LoadPoint(1, 1e3, 100.0), LoadPoint(2, 1e9, 1.0)])
    assert step.verdict == "lost"
    assert step.bar > 1e200


def test_less_than_a_hundredth_of_the_throughput_is_no_fall() -> None:
    """66,300 and 66,295 I/Os a second are the same rate, and a chart said that throughput fell."""
    points = [LoadPoint(32, 482e3, 543.0e6), LoadPoint(64, 965e3, 542.9e6), LoadPoint(128, 1990e3, 530e6)]
    assert [step.verdict for step in scaling_steps(points)] == ["slower", "lost"]


def test_a_step_names_its_loads_and_one_from_nothing_is_none() -> None:
    nothing, one, four = LoadPoint(1, 0.0, 100.0), LoadPoint(2, 1e6, 100.0), LoadPoint(4, 1e6, 99.0)
    (step,) = scaling_steps([nothing, one, four])
    assert (step.before, step.after, step.ratio, step.verdict) == (2, 4, 0.5, "slower")  # 1 % less is no fall
    assert scaling_steps([LoadPoint(0, 1e6, 100.0), one]) == ()


def test_latency_that_falls_is_faster_unless_throughput_falls_too() -> None:
    assert [
        scaling_steps([LoadPoint(1, 1e6, 100.0), LoadPoint(2, 0.9e6, moved)])[0].verdict for moved in (100.0, 98.0)
    ] == ["faster", "lost"]


def test_a_bar_ends_where_a_float_does() -> None:
    (step,) = scaling_steps([LoadPoint(1, 1.0, 1.0), LoadPoint(2, 1e6, 1.0)])
    assert step.bar == 2.0**990
