"""The layer table in windows: the screen says how much was traced, and means stand with how far they may be off."""

from __future__ import annotations

import pytest
from makers.live_moments import SECOND_NS, histogram, moment

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.report.live.layers_view import overview
from iocast.report.live.styled_lines import plain

READS = (metrics.BLOCK_LAYER, "vda|driver|read|8192")
WATCH = (metrics.KERNEL_LAYERS, "")


def _shown(width: int, traced_share: float) -> list[str]:
    def at(number: int) -> dict[tuple[str, str], dict[str, float]]:
        reads = {**histogram({128: 5000 * number, 8192: 5000 * number}, 0), metrics.SUM_NS: number * 31.2e9}
        watch = {metrics.TRACED_NS: traced_share * SECOND_NS * number, metrics.LOST_EVENTS: 0.0}
        return {READS: {**reads, metrics.BYTES: 0.0}, WATCH: watch}

    return plain(overview(Interval(moment(0, at(0)), moment(1, at(1))), {}, width)).splitlines()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_in_windows_means_stand_with_how_far_they_may_be_off(width: int) -> None:
    told = _shown(width, 0.25)
    (head,) = (line for line in told if line.startswith("layer "))
    (row,) = (line for line in told if line.startswith("device read vda"))
    assert "mean within" in " ".join(head.split())
    assert row.split()[3:8] == ["10000", "0.0", "3.1", "ms", "±3%"]
    assert any(line.startswith("Traced 25% of the time, in windows: ") for line in told)
    assert all(len(line) <= width for line in told)


def test_where_all_was_traced_nothing_is_said() -> None:
    told = "\n".join(_shown(100, 1.0))
    assert "within" not in told
    assert "Traced" not in told
