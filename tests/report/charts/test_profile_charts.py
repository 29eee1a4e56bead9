"""Charts of a profile: each tells what the trace has and is missing where the trace does not say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.made_traces import database_load, profile_of

from iocast.model.profiling.profile import Profile
from iocast.report.charts import (
    charts_at,
    miss_ratio,
    plot_of,
    size_distribution,
    time_latency,
    time_offset,
    use_share,
)
from iocast.report.charts.use_share import BusiestBlocks
from iocast.report.plot.theme import LIGHT


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile_of(tmp_path_factory.mktemp("made"), database_load(20))


def test_every_io_is_in_both_heat_maps(profile: Profile) -> None:
    (latency,), (offset,) = time_latency.tell(profile), time_offset.tell(profile)
    assert sum(sum(moment.counts) for moment in latency.moments) == profile.events
    assert sum(sum(moment.places) for moment in offset.moments) == profile.events
    assert len(latency.moments) <= 240


def test_sizes_are_counted_by_powers_of_two(profile: Profile) -> None:
    (chart,) = size_distribution.tell(profile)
    found = {each.size_bytes: (each.reads, each.writes) for each in chart.sizes}
    writes = sum(each.events for each in profile.sizes if each.op == 1)
    assert set(found) == {2048, 8192, 1 << 20}
    assert (found[2048], found[1 << 20]) == ((0, writes), (32, 0))


def test_the_curve_of_misses_falls_to_the_first_references(profile: Profile) -> None:
    (chart,) = miss_ratio.tell(profile)
    ratios = [each.ratio_share for each in chart.points if each.curve == "all"]
    assert ratios == sorted(ratios, reverse=True)
    assert profile.order.references.all is not None
    assert ratios[-1] == pytest.approx(profile.order.references.all.first_share)


def test_the_busiest_tenth_is_in_the_sentence(profile: Profile) -> None:
    (chart,) = use_share.tell(profile)
    assert chart.summary.startswith("The busiest tenth of the blocks gets ")
    assert chart.points[-1] == BusiestBlocks(1.0, 1.0)


def test_all_are_drawn(profile: Profile) -> None:
    charts = charts_at("profile", profile)
    assert [chart.kind for chart in charts] == [
        "size_distribution",
        "time_offset",
        "time_latency",
        "miss_ratio",
        "use_share",
    ]
    assert all(plot_of(chart, LIGHT).marks for chart in charts)


def test_nothing_is_told_of_what_a_trace_does_not_have(tmp_path: Path) -> None:
    one = profile_of(tmp_path, [(0, 0, "R", 0, 8192, 5)])
    assert [chart.kind for chart in charts_at("profile", one)] == ["size_distribution"]
