"""Moments: counters by observer, intervals between them, and a tape cut into moments again."""

from __future__ import annotations

from makers.live_moments import BEGAN_NS, SECOND_NS, device, moment

from iocast import metrics
from iocast.model.live.moment import Interval, Moment, intervals, moments_of
from iocast.model.run import Sample

VDA = (metrics.DISKSTATS, "vda")


def test_an_interval_is_what_counters_gained() -> None:
    before, after = (moment(at, {VDA: device(reads=reads)}) for at, reads in ((0, 100), (1, 350)))
    interval = Interval(before, after)
    assert interval.elapsed_ns == SECOND_NS
    assert interval.views(metrics.DISKSTATS)["vda"].per_s(metrics.READS) == 250
    assert interval.views("cpu") == {}
    assert interval.observers == (metrics.WATCH, metrics.DISKSTATS)


def test_a_new_subject_has_no_interval_yet() -> None:
    interval = Interval(
        moment(0, {VDA: device()}), moment(1, {VDA: device(), (metrics.DISKSTATS, "vdb"): device(reads=9)})
    )
    assert set(interval.views(metrics.DISKSTATS)) == {"vda"}


def test_a_counter_that_was_reset_is_unknown_and_no_other() -> None:
    interval = Interval(moment(0, {VDA: device(reads=1000, writes=5)}), moment(1, {VDA: device(reads=3, writes=8)}))
    view = interval.views(metrics.DISKSTATS)["vda"]
    assert view.delta(metrics.READS) is None
    assert view.delta(metrics.WRITES) == 3


def test_values_are_those_of_the_instant() -> None:
    assert moment(0, {VDA: device(reads=7)}).values(metrics.DISKSTATS)["vda"][metrics.READS] == 7


def test_a_tape_is_cut_into_its_moments() -> None:
    made = [moment(at, {VDA: device(reads=at)}) for at in range(4)]
    tape = [sample for each in made for sample in each.samples]
    assert list(moments_of(tape)) == made
    assert [each.elapsed_ns for each in intervals(moments_of(tape))] == [SECOND_NS] * 3


def test_what_stands_before_the_first_tick_belongs_to_no_moment() -> None:
    stray = Sample(BEGAN_NS - 1, metrics.DISKSTATS, "vda", metrics.READS, 1)
    assert list(moments_of([stray, *moment(0, {}).samples])) == [moment(0, {})]


def test_what_stood_at_nought_before_the_interval_began_is_no_part_of_it() -> None:
    """A layer tells of a counter that is new, with its first value, that it was 0 at the sample before."""
    layer = ("block_layer", "vda|driver|read|8192")
    first = moment(1, {layer: {"count": 10.0, "lt_8000ns": 10.0}})
    zeros = [Sample(BEGAN_NS, *layer, metric, 0.0) for metric in ("count", "lt_8000ns")]
    begun = Moment(first.time_ns, (first.samples[0], *zeros, *first.samples[1:]))
    after = moment(2, {layer: {"count": 25.0, "lt_8000ns": 25.0}})
    view = Interval(begun, after).views("block_layer")[layer[1]]
    assert (view.elapsed_ns, view.delta("count"), view.delta("lt_8000ns")) == (SECOND_NS, 15, 15)
    opening = Interval(moment(0, {}), begun).views("block_layer")[layer[1]]
    assert (opening.elapsed_ns, opening.delta("count"), opening.delta("lt_8000ns")) == (SECOND_NS, 10, 10)
