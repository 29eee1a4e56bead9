"""Forecasts from ladders of simulated storage: the truth in every interval, refusals, the highest rate, the margins."""

from __future__ import annotations

import pytest
from makers.ladder_runs import ladder_run, pool
from makers.left_out import long_after

from iocast.analyse.facts import Facts
from iocast.forecast.answer import Question, answer
from iocast.forecast.arithmetic import arithmetic
from iocast.forecast.flow_equivalent import TooClose
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.laws.open_queues import mmc, mmc_quantile_s
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder, RequestedLoad

READS = RequestedLoad(size_bytes=8192)


def forecaster(facts: Facts, asked: RequestedLoad = READS) -> Forecaster:
    found = find_ladder(facts, asked, {}, {})
    assert isinstance(found, MeasuredLadder), found
    return Forecaster(found)


@pytest.fixture(scope="module")
def eight() -> Forecaster:
    """8 exponential servers of 1 ms."""
    return forecaster(ladder_run(pool(8)))


@pytest.mark.parametrize("rate", [800, 2400, 4000, 5600, 6400, 7200])
def test_the_truth_of_a_known_queue_is_in_the_intervals(eight: Forecaster, rate: float) -> None:
    found = eight.at(rate)
    truth = [mmc(rate, 0.001, 8).response_s, *(mmc_quantile_s(rate, 0.001, 8, q) for q in (0.5, 0.95, 0.99))]
    for figure, right in zip(found.figures, truth, strict=True):
        assert figure.low_s <= right <= figure.high_s, figure.q
        assert figure.base_s == pytest.approx(right, rel=0.08)
    assert found.utilisation.low <= rate / 8000 <= found.utilisation.high


def test_nothing_is_foretold_near_the_wall(eight: Forecaster) -> None:
    with pytest.raises(TooClose):
        eight.at(7800)


def test_the_lower_end_holds_where_the_ladder_is_coarse() -> None:
    """Between 1 and 32 outstanding I/Os nothing was measured: the straight line is far too slow there."""
    by = forecaster(ladder_run(pool(8), loads=(1, 32, 64)))
    figure = by.at(6400).figure(None)
    assert figure.base_s > 1.3 * mmc(6400, 0.001, 8).response_s
    assert figure.low_s <= mmc(6400, 0.001, 8).response_s <= figure.high_s


def test_a_throttle_waits_less_than_random_servers() -> None:
    """I/Os pass a cap at equal distances: half the wait of M/M/1 at 80 % (measured as an open loop: 1.4 ms)."""
    facts = ladder_run(pool(16, more=",iops=5000/s"), rates=(4000,))
    by = forecaster(facts)
    open_row = facts.rows[-1]
    assert open_row.is_open_loop
    assert by.measured.saturated_cv2 < 0.5
    assert by.within.low < 0.8
    figure = by.at(4000).figure(None)
    assert figure.low_s <= open_row.mean_ns / 1e9 <= figure.high_s


def test_a_throttle_by_time_slices_does_not_hold_back_what_is_below_it() -> None:
    """One user meets the wall already: 99 of 100 I/Os take 60 µs, one waits for the next slice. Below the cap of
    such a throttle all take 60 µs (measured on a disk behind a cgroup: 55 to 65 µs where 623 µs were foretold)."""
    found = forecaster(ladder_run(pool(1, "bimodal:99%:60us:40ms"))).at(1000)
    for figure in found.figures:
        assert figure.low_s < 60e-6 < figure.high_s, figure.q


@pytest.mark.parametrize(
    ("device", "rates"),
    long_after(
        1,
        [
            ("sim:nvme,iops=9000/s", (4000, 7000)),  # one user meets the cap: 113 us, of which 31 us are waits
            ("sim:nvme,iops=11000/s", (4000, 9000)),
            ("sim:sata-ssd,iops=9000/s", (4000, 7000)),
            ("sim:nvme,throughput=40MB/s", (1000, 4000)),  # it always does: what is below the cap was never seen
            (pool(4, "constant:1ms", ",iops=500/s"), (100, 300)),
        ],
    ),
)
def test_what_one_user_waits_for_at_a_cap_is_not_the_time_of_an_io(device: str, rates: tuple[int, int]) -> None:
    facts = ladder_run(device, rates=rates)
    by = forecaster(facts)
    for rate, row in zip(rates, facts.rows[-2:], strict=True):
        for figure in by.at(rate).figures:
            right = row.response().mean_ns if figure.q is None else row.response().quantile_ns(figure.q)
            assert figure.low_s <= right / 1e9 <= figure.high_s, (rate, figure.q)
    assert arithmetic(by, rates[1], None).mean_s == pytest.approx(by.at(rates[1]).figure(None).base_s)
    assert by.at(rates[1]).figure(None).base_s == pytest.approx(facts.rows[-1].response().mean_ns / 1e9, rel=0.5)


@pytest.mark.long
def test_how_much_of_the_first_row_a_cap_held_back() -> None:
    """A read of sim:nvme takes 82 us; 113 us are seen of one user behind 9,000 IOPS."""
    held = forecaster(ladder_run("sim:nvme,iops=9000/s")).held_s
    assert 28e-6 < held < 50e-6
    for device in (pool(1), pool(8), pool(1, "gamma:1ms:0.3"), "sim:cloud-volume"):
        assert forecaster(ladder_run(device)).held_s == 0, device


def test_one_server_of_random_times_is_not_a_throttle() -> None:
    assert forecaster(ladder_run(pool(1))).at(500).figure(None).low_s > 0.0015


def test_services_that_never_vary() -> None:
    """M/D/1 at 60 %: a quarter of the arrivals find one in service that is part done."""
    facts = ladder_run(pool(1, "constant:1ms"), rates=(600,))
    figures, truth = forecaster(facts).at(600).figures, facts.rows[-1].response()
    for figure in figures:
        right = truth.mean_ns if figure.q is None else truth.quantile_ns(figure.q)
        assert figure.low_s <= right / 1e9 <= figure.high_s, figure.q


def test_a_percentile_between_two_modes_has_no_middle() -> None:
    """One in twenty takes 20 ms instead of 1 ms: what is the p95?"""
    figure = forecaster(ladder_run(pool(4, "bimodal:95%:1ms:20ms"))).at(500).figure(0.95)
    assert figure.step is not None
    assert figure.low_s < 0.0020  # some wait behind a slow one
    assert figure.high_s > 0.020
    assert figure.step.faster_s == pytest.approx(0.002, rel=0.05)
    assert figure.step.slower_s == pytest.approx(0.020, rel=0.02)
    assert figure.step.faster == pytest.approx(0.95, abs=0.01)


def test_the_interval_on_a_step_spans_both_groups_and_no_more() -> None:
    """Half of the I/Os hit a cache of 50 us, the rest takes 400 us or 6.4 ms: no p50 is 5 us or 20 ms."""
    hits = pool(8, "bimodal:90%:400us:6400us", ",hit=50%:50us")
    facts = ladder_run(hits, rates=(4000,))
    by = forecaster(facts)
    found = by.at(4000)
    truth = facts.rows[-1].response()
    for q, least_s, most_s in ((0.5, 40e-6, 700e-6), (0.95, 300e-6, 10e-3)):
        figure = found.figure(q)
        assert figure.step is not None
        assert least_s < figure.low_s <= truth.quantile_ns(q) / 1e9 <= figure.high_s < most_s
    assert [each.high_s for each in by.curve(0.5, [4000])] == [pytest.approx(found.figure(0.5).high_s, rel=0.1)]


def test_too_few_ios_are_no_percentile() -> None:
    by = forecaster(ladder_run(pool(1, "exponential:100ms"), seconds=20.0))
    assert by.at(4.0).figure(None).known
    assert not by.at(4.0).figure(0.99).known


def test_the_highest_rate_is_where_the_limit_is_met(eight: Forecaster) -> None:
    rate = eight.highest_rate(0.99, 0.007, "high")
    (below,) = eight.curve(0.99, [rate])
    assert below.high_s <= 0.007 < eight.curve(0.99, [rate * 1.01])[0].high_s
    assert eight.highest_rate(0.99, 0.001, "base") == 0
    assert eight.highest_rate(0.99, 60.0, "base") == eight.limit_per_s
    ends = [eight.highest_rate(0.99, 0.007, end) for end in ("high", "base", "low")]
    assert ends == sorted(ends)


def test_more_load_makes_no_io_faster(eight: Forecaster) -> None:
    figures = eight.curve(0.99, [eight.limit_per_s * share for share in (0.1, 0.5, 0.9, 1.0)])
    assert min(each.low_s for each in figures) >= 0.9 * figures[0].low_s


def test_bursty_arrivals_raise_the_upper_end(eight: Forecaster) -> None:
    bursty = Forecaster(eight.measured, arrival_cv2=4.0)
    assert bursty.at(6400).figure(None).high_s > 1.4 * eight.at(6400).figure(None).high_s


def test_a_cache_takes_load_off(eight: Forecaster) -> None:
    cached = Forecaster(eight.measured, hits=0.5, hit_s=0.0002)
    assert cached.demonstrated_per_s == pytest.approx(2 * eight.demonstrated_per_s)
    plain, hits = eight.at(4000).figure(None), cached.at(8000).figure(None)
    assert hits.base_s == pytest.approx(0.5 * 0.0002 + 0.5 * plain.base_s, rel=1e-6)


def test_what_is_kept_at_the_peak_is_no_headroom_of_zero() -> None:
    """Few I/Os at one user make the interval wide when idle: "within the SLO" stood above "not even when idle"."""
    facts = ladder_run("sim:cached-array", loads=(1, 8, 32, 64), seconds=4.0)
    few = forecaster(facts)
    peak = few.limit_per_s / 2
    idle, busy = few.curve(0.99, [few.limit_per_s * 1e-3, peak])
    assert idle.high_s > busy.high_s, "what this test is about"
    limit_s = (idle.high_s + busy.high_s) / 2
    found = answer(Question(rate_per_s=peak, load=READS, q=0.99, limit_s=limit_s), facts, {}, {})
    assert found.verdict == "ok"
    assert found.headroom is not None
    assert found.headroom.surely_per_s >= peak
