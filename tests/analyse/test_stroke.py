"""The arm's law: Gary Little's three SATA and SAS working sets give the constants that were fitted to them."""

from __future__ import annotations

import pytest

from iocast.analyse.stroke import fit_stroke

MS = 1_000_000
# Half a turn, and 8 KiB at the rate that the constants were fitted with.
TURN_MS = {"sata": 60_000 / 7200 / 2 + 8.192 / 115, "sas": 60_000 / 10_000 / 2 + 8.192 / 150}
SETS = {"sata": (5.5, 7.5, 12.5), "sas": (4.0, 4.5, 7.0)}
FRACTIONS = (0.001, 0.1, 1.0)


@pytest.mark.parametrize(
    ("disk", "base_ms", "span_ms", "within_ms"), [("sata", 1.0075, 13.58, 0.04), ("sas", 0.674, 6.00, 0.25)]
)
def test_published_working_sets(disk: str, base_ms: float, span_ms: float, within_ms: float) -> None:
    fit = fit_stroke([(f, ms * MS) for f, ms in zip(FRACTIONS, SETS[disk], strict=True)])
    assert fit is not None
    assert fit.base_ns / MS - TURN_MS[disk] == pytest.approx(base_ms, abs=0.001)
    assert fit.span_ns / MS == pytest.approx(span_ms, rel=0.002)
    assert fit.worst_ns / MS < within_ms


def test_one_place_is_no_curve() -> None:
    assert fit_stroke([(0.5, 5e6)]) is None
    assert fit_stroke([(0.5, 5e6), (0.5, 6e6)]) is None


def test_a_flat_device_has_no_span() -> None:
    fit = fit_stroke([(0.01, 1e5), (1.0, 1e5)])
    assert fit is not None
    assert fit.span_ns == pytest.approx(0)


def test_the_time_at_a_fraction_is_that_of_the_law() -> None:
    """5 ms without any distance and 15 ms for the whole stroke: a quarter of it costs half of 8/15 of these."""
    points = [(f, 5e6 + 15e6 * 8 / 15 * f**0.5) for f in (0.01, 0.25, 0.64, 1.0)]
    fit = fit_stroke(points)
    assert fit is not None
    assert (fit.base_ns, fit.span_ns) == (pytest.approx(5e6), pytest.approx(15e6))
    assert fit.worst_ns < 1
    assert [fit.time_ns(f) for f, _ in points] == pytest.approx([time_ns for _, time_ns in points])
    assert fit.time_ns(0.25) == pytest.approx(9e6)
