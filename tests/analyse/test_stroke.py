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
