"""Zones: Kolk's three tests, and how much the outer third holds."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.forecast.laws.disk_zones import outer_share, zones


def test_kolks_tests() -> None:
    outside, inside, both = zones(1000, 2, (11.5, 17.5, 32.5))
    assert [each.per_read_s * 1e3 for each in (outside, inside, both)] == pytest.approx([5.75, 8.75, 16.25])
    assert outside.response_s == pytest.approx(0.0115)
    assert [inside.slower, both.slower] == pytest.approx([0.522, 1.826], abs=1e-3)


@pytest.mark.parametrize(("ratio", "share"), [(0.71, 0.371), (0.67, 0.377), (0.15, 0.4976), (1.0, 1 / 3), (0.0, 5 / 9)])
def test_the_outer_third_holds_what_its_length_allows(ratio: float, share: float) -> None:
    assert outer_share(ratio) == pytest.approx(share, abs=5e-4)


def test_nothing_is_no_test() -> None:
    with pytest.raises(SpecError, match="says nothing"):
        zones(0, 1, (1.0,))
    with pytest.raises(SpecError, match="does not exist"):
        outer_share(1.5)
