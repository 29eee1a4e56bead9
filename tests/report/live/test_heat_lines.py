"""The two heat maps: colours by share of the largest value, bounds as OraLatencyMap writes them, golden."""

from __future__ import annotations

import sys
from itertools import pairwise

from makers.command_line import compare
from makers.live_moments import MadeLoad

from iocast.analyse.live.latency_columns import HeatMap, Latencies
from iocast.model.live.moment import Interval
from iocast.report.live.latency.heat_lines import BLUES, BOUNDS_NS, REDS, heat_lines
from iocast.report.live.latency.latencymap_lines import LatencyMapLines

US, SECOND_NS = 1_000, 1_000_000_000


def _heat(*columns: dict[int, int]) -> HeatMap:
    heat = HeatMap(BOUNDS_NS, 10)
    for counts in columns:
        heat.add(Latencies(SECOND_NS, {upper_us * US: count for upper_us, count in counts.items()}))
    return heat


def test_three_records() -> None:
    heat = _heat({128: 100, 512: 20, 8192: 60}, {256: 30, 16384: 6}, {})
    compare("heat_map.txt", "\n".join(heat_lines(heat, "db file sequential read", 10)) + "\n")


def test_the_largest_value_has_the_last_colour() -> None:
    lines = list(heat_lines(_heat({128: 100, 8192: 1}), "x", 3))
    assert f"\x1b[48;5;{BLUES[-1]}m " in next(line for line in lines if " <.128" in line)
    assert f"\x1b[48;5;{REDS[-1]}m " in [line for line in lines if " <.128" in line][1]


def test_a_column_of_nothing_is_white_and_an_unknown_one_has_no_colour() -> None:
    heat = HeatMap(BOUNDS_NS, 2)
    heat.add(None)
    heat.add(Latencies(SECOND_NS, {}))
    row = next(line for line in heat_lines(heat, "x", 2) if line.startswith(" <.128"))
    assert row.startswith(" <.128 \x1b[0m \x1b[48;5;15m ")


def test_127_and_128_us_share_the_lowest_bin() -> None:
    frequencies = _heat({127: 1, 128: 1, 129: 1}).frequencies()[0]
    assert frequencies is not None
    assert frequencies[:2] == [2.0, 1.0]


def test_the_top_row_takes_all_above() -> None:
    frequencies = _heat({131_072: 1, 262_144: 4}).frequencies()[0]
    assert frequencies is not None
    assert frequencies[-2:] == [1.0, 4.0]


def test_the_line_mode_remembers_columns_and_no_moments() -> None:
    """A moment of a machine with thousands of processes is megabytes, and a map has a hundred columns."""
    moments = list(MadeLoad().moments(lambda: False))
    mode = LatencyMapLines()
    for before, after in pairwise(moments):
        printed = list(mode.lines(Interval(before, after)))
    assert len(printed) > 10
    del before, after
    assert all(sys.getrefcount(moments[at]) == 2 for at in range(len(moments)))
