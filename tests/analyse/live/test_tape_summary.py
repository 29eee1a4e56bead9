"""A tape summed up: totals, the course, gaps that nobody watched, counters that were reset."""

from __future__ import annotations

from makers.changing_population import Population
from makers.live_moments import SECOND_NS, device, histogram, moment

from iocast import metrics
from iocast.analyse.live.tape_summary import STRETCHES, summarise

VDA = (metrics.DISKSTATS, "vda")
LAYER = ("block_layer", "vda|driver|read|8192")


def test_totals_are_the_sum_of_all_intervals() -> None:
    made = [moment(at, {VDA: device(reads=at * 10), LAYER: histogram({128: at * 3})}) for at in range(11)]
    found = summarise(made, SECOND_NS, 10 * SECOND_NS)
    assert found is not None
    assert (found.moments, found.elapsed_ns) == (11, 10 * SECOND_NS)
    view = found.views(metrics.DISKSTATS)["vda"]
    assert (view.delta(metrics.READS), view.per_s(metrics.READS)) == (100, 10)
    assert set(found.observers) == {metrics.WATCH, metrics.DISKSTATS, "block_layer"}
    counted = [each.histograms[LAYER].total for each in found.course if LAYER in each.histograms]
    assert sum(counted) == 30
    assert [each.histograms[LAYER].total for each in found.course] == [3] * 10, "no stretch is shorter than an interval"


def test_processes_that_come_and_go_are_not_summed_up() -> None:
    """Nothing of the report is made of them, and a day has millions."""
    found = summarise(Population(100, SECOND_NS, 50).moments(lambda: False), SECOND_NS, 49 * SECOND_NS)
    assert found is not None
    assert (found.moments, found.observers) == (50, (metrics.WATCH,))


def test_the_course_of_a_long_tape_has_no_more_stretches() -> None:
    made = [moment(at, {VDA: device(reads=at * 10)}) for at in range(1001)]
    found = summarise(made, SECOND_NS, 1000 * SECOND_NS)
    assert found is not None
    assert len(found.course) == STRETCHES
    assert sum(each.devices["vda"].delta(metrics.READS) or 0 for each in found.course) == 10_000


def test_a_gap_was_not_watched() -> None:
    """A machine that slept, or a watch that was stopped: nothing is known of that time."""
    made = [moment(at, {VDA: device(reads=at * 10)}) for at in (0, 1, 100, 101)]
    found = summarise(made, SECOND_NS, 101 * SECOND_NS)
    assert found is not None
    assert (found.elapsed_ns, found.length_ns) == (2 * SECOND_NS, 101 * SECOND_NS)
    assert found.views(metrics.DISKSTATS)["vda"].per_s(metrics.READS) == 10


def test_a_reset_leaves_its_interval_out() -> None:
    made = [moment(at, {VDA: device(reads=reads)}) for at, reads in enumerate((1000, 1010, 2, 12))]
    found = summarise(made, SECOND_NS, 3 * SECOND_NS)
    assert found is not None
    assert found.views(metrics.DISKSTATS)["vda"].delta(metrics.READS) == 20


def test_one_moment_is_nothing() -> None:
    assert summarise([moment(0, {VDA: device()})], SECOND_NS, 0) is None
