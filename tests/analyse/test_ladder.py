"""Curves: which rows belong to one, in which order, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.analyse.ladder import Curve, Point, of_random, one_for_each
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, MixItem, Sequential, Zeros

MS = 1_000_000

MS = 1_000_000


def _row(users: int, response_ms: float, count: int = 1000, name: str = "") -> PhaseRecord:
    times = card_runs.histogram((response_ms * MS, count))
    return card_runs.reads(name or f"x{users}", users=users, times=times)


def _curve(*rows: PhaseRecord) -> Curve:
    return Facts(card_runs.run(*rows)).curves[0]


def test_a_curve_ascends_whatever_the_order_of_its_rows() -> None:
    curve = _curve(_row(8, 2.0), _row(1, 1.0), _row(32, 8.0))
    assert curve.loads == (1, 8, 32)
    assert [row.phase.name for row in curve.rows] == ["x1", "x8", "x32"]
    assert curve.rates_per_s == pytest.approx((1000, 4000, 4000), rel=0.01)
    assert curve.quantiles_ns(0.5) == pytest.approx((1 * MS, 2 * MS, 8 * MS), rel=0.01)


def test_of_two_rows_of_one_load_the_one_of_more_ios_is_on_the_first_curve() -> None:
    facts = Facts(card_runs.run(_row(1, 1.0, 100, "few"), _row(1, 1.0, 900, "many"), _row(4, 1.0)))
    assert [[row.phase.name for row in curve.rows] for curve in facts.curves] == [["many", "x4"], ["few"]]
    assert facts.rows[0].curve is facts.curves[0]


def test_rows_that_differ_in_more_than_load_are_on_other_curves() -> None:
    elsewhere = _row(4, 1.0)
    elsewhere = replace(elsewhere, phase=replace(elsewhere.phase, region_start_bytes=1 << 30))
    beside = _row(2, 1.0)
    beside = replace(beside, phase=replace(beside.phase, together="both"))
    facts = Facts(card_runs.run(_row(1, 1.0), elsewhere, beside, card_runs.paced(), card_runs.commits()))
    assert [curve.loads for curve in facts.curves] == [(1,), (4,), (1,)]
    assert facts.random_curves("read") == facts.curves[:2]
    assert facts.random_curves("write") == ()


def test_steps_tell_what_a_doubling_gains() -> None:
    first, second = _curve(_row(1, 1.0), _row(4, 1.0), _row(8, 2.0)).steps
    assert (first.ratio, first.gain) == pytest.approx((4.0, 2.0), rel=0.01)
    assert (second.ratio, second.gain) == pytest.approx((1.0, 1.0), rel=0.01)


def test_the_knee_the_saturation_load_and_the_rows_below_it() -> None:
    """Four are served side by side, in a millisecond each."""
    curve = _curve(_row(1, 1.0), _row(2, 1.0), _row(4, 1.0), _row(8, 2.0), _row(16, 4.0))
    assert curve.saturation_load == pytest.approx(4.0, rel=0.01)
    assert curve.below(4.5).loads == (1, 2, 4)
    assert curve.below(0.5).loads == (1,)
    assert curve.knee is not None
    assert (curve.knee.max_power_load, curve.knee.saturated) == (4, True)
    assert [step.ratio for step in curve.scaling] == pytest.approx([0.5, 0.5, 1.0, 1.0], rel=0.01)
    assert curve.law is not None
    assert curve.law.crosstalk == pytest.approx(0.0, abs=0.02)
    assert curve.at(8) is curve.points[3]
    assert curve.at(3) is None


def test_the_peak_need_not_be_the_deepest_load() -> None:
    assert _curve(_row(1, 1.0), _row(8, 2.0), _row(32, 10.0)).peak.load == 8


def test_two_points_are_no_knee_and_no_law() -> None:
    curve = _curve(_row(1, 1.0), _row(2, 1.0))
    assert (curve.knee, curve.law) == (None, None)


def test_a_load_that_was_measured_twice_counts_the_first_time() -> None:
    assert one_for_each(["bb", "a", "cc", "ddd"], len) == ("a", "bb", "ddd")


def test_a_point_of_one_operation_says_what_that_operation_did() -> None:
    record = card_runs.mixed()
    reads = record.measurement.response("read")
    point = Point(record, record.measurement.asked_depth, 10.0, 80.0, reads)
    assert point.mean_ns == reads.mean_ns


def test_a_step_from_any_load_gains_by_the_doubling() -> None:
    up, down = _curve(_row(2, 1.0), _row(8, 1.0), _row(16, 4.0)).steps
    assert (up.ratio, up.gain) == pytest.approx((4.0, 2.0), rel=0.01)  # four times the load is two doublings
    assert (down.ratio, down.gain) == pytest.approx((0.5, 0.5), rel=0.01)


def test_the_saturation_load_counts_by_the_response_of_the_least_load() -> None:
    curve = _curve(_row(1, 1.0), _row(2, 1.5), _row(4, 2.0))
    assert curve.saturation_load == pytest.approx(curve.peak.rate_per_s * 1e-3, rel=1e-12)
    assert curve.below(2).loads == (1, 2)


@pytest.mark.parametrize("changes", [{"arrival": Closed(think_ns=5)}, {"sync": "dsync"}, {"fsync_every": 8}])
def test_think_time_and_syncs_are_not_plain_random_io(changes: dict[str, Any]) -> None:
    plain = _row(1, 1.0)
    phase = replace(plain.phase, workload=replace(plain.phase.workload, **changes))
    assert of_random(_curve(plain), "read")
    assert not of_random(_curve(plain), "write")
    assert not of_random(_curve(replace(plain, phase=phase)), "read")


@pytest.mark.parametrize(
    "changes",
    [
        {"mix": (MixItem("read", 4096),)},
        {"locality": Sequential()},
        {"arrival": Closed(think_ns=5)},
        {"direct": False},
        {"sync": "dsync"},
        {"fsync_every": 8},
        {"payload": Zeros()},
    ],
)
def test_another_workload_is_another_curve(changes: dict[str, Any]) -> None:
    one, other = _row(1, 1.0), _row(4, 1.0)
    phase = replace(other.phase, workload=replace(other.phase.workload, **changes))
    facts = Facts(card_runs.run(one, replace(other, phase=phase)))
    assert [curve.loads for curve in facts.curves] == [(1,), (4,)]
    assert [curve.loads for curve in Facts(card_runs.run(one, other)).curves] == [(1, 4)]


def test_a_row_that_did_nothing_is_on_no_curve() -> None:
    one, nothing = _row(1, 1.0, count=1), _row(4, 1.0)
    nothing = replace(nothing, measurement=replace(nothing.measurement, ios=0))
    assert [curve.loads for curve in Facts(card_runs.run(one, nothing)).curves] == [(1,)]


def test_a_ladder_is_saturated_where_its_last_doubling_gains_less_than_a_tenth() -> None:
    def curve(*rates: tuple[int, float]) -> Curve:
        row = _row(1, 1.0)
        return Curve(tuple(Point(row, load, rate, 0.0, row.measurement.response()) for load, rate in rates))

    assert not curve((4, 100.0)).saturated, "of one load nothing is known"
    for top, gain, saturated in (
        (8, 1.09, True),
        (8, 1.11, False),
        (8, 1.3, False),
        (16, 1.2, True),
        (16, 1.22, False),
    ):
        assert curve((4, 100.0), (top, 100.0 * gain)).saturated == saturated
        assert curve((1, 10.0), (4, 100.0), (top, 100.0 * gain)).saturated == saturated
    assert curve((4, 100.0), (8, 90.0)).saturated


@pytest.mark.parametrize(("least", "full"), [(4, False), (8, True), (32, True)])
def test_a_curve_whose_least_load_fills_the_storage(least: int, full: bool) -> None:
    """Five are served side by side: with no row below it, N* is the least load itself, by Little's law."""
    loads = [load for load in (1, 4, 8, 32, 64) if load >= least]
    curve = _curve(*(_row(load, max(1.0, load / 5)) for load in loads))
    assert curve.full_from_the_least == full
    assert curve.saturation_load == pytest.approx(least if full else 5, rel=0.02)
    assert not _curve(_row(least, 1.0)).full_from_the_least, "of one load nothing is known"


def test_a_curve_of_some_rows_only() -> None:
    curve = _curve(_row(1, 1.0), _row(2, 1.0), _row(4, 1.0))
    assert curve.only(lambda _: True) is curve
    assert curve.only(lambda _: False) is None
    some = curve.only(lambda record: record.phase.name != "x2")
    assert some is not None
    assert some.points == (curve.points[0], curve.points[2])


@pytest.mark.parametrize(
    ("scatter", "ios", "clock"),
    [
        (0.05, 9_000, True),
        (0.9, 9_000, False),
        (0.4, 9_000, True),  # a sixth of the variance
        (0.55, 9_000, False),
        (0.4, 400, False),  # of so few that may be chance
    ],
)
def test_what_passes_by_a_clock_scatters_less_than_the_device(scatter: float, ios: int, clock: bool) -> None:
    """One server of random times: what eight wait for has the variance of the eight before and of the one itself."""
    own = 0.2
    one = card_runs.reads("1x1", times=card_runs.lognormal(9_000, MS, own))
    deep = own * (2 + 7 * scatter**2) ** 0.5 / 8
    eight = card_runs.reads("8x1", users=8, times=card_runs.lognormal(ios, 8 * MS, deep))
    (curve,) = Facts(card_runs.run(one, eight)).curves
    assert curve.passes_by_a_clock == clock


def test_where_an_io_itself_takes_longest_a_clock_cannot_be_told() -> None:
    """Of 24 at a time, which scatter, the waits of 40 more are not seen."""
    one = card_runs.reads("1x1", times=card_runs.lognormal(9_000, 6 * MS, 0.8))
    many = card_runs.reads("64x1", users=64, times=card_runs.lognormal(9_000, 16 * MS, 0.3))
    (curve,) = Facts(card_runs.run(one, many)).curves
    assert curve.scatter_of_pace == 0
    assert not curve.passes_by_a_clock
