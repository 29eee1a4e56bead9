"""View: what went on between two samples, with wraps, resets, gaps, and the same code for rows and live screens."""

from __future__ import annotations

import pytest

from iocast import metrics
from iocast.metrics import BUSY_NS, DEVICE_TIME_PERIOD_NS, DISKSTATS, QUEUE_NS, READ_BYTES, READ_NS, READS, WRITES
from iocast.model.run import Sample
from iocast.model.view import View, ratio, total, views

SECOND_NS = 1_000_000_000


def sampled(metric: str, *values: float, subject: str = "sda", every_ns: int = SECOND_NS) -> list[Sample]:
    return [Sample(at * every_ns, DISKSTATS, subject, metric, float(value)) for at, value in enumerate(values)]


def test_rates_sizes_waits_queue_and_utilisation() -> None:
    samples = [
        *sampled(READS, 10, 110, 210),
        *sampled(WRITES, 0, 0, 100),
        *sampled(READ_BYTES, 0, 1_638_400, 1_638_400),
        *sampled(READ_NS, 0, 0, SECOND_NS),
        *sampled(QUEUE_NS, 0, SECOND_NS, 5 * SECOND_NS),
        *sampled(BUSY_NS, 0, SECOND_NS, 1.5 * SECOND_NS),
    ]
    seen = views(samples, DISKSTATS)["sda"]
    assert seen.elapsed_ns == 2 * SECOND_NS
    assert (seen.per_s(READS), seen.per_s(READS, WRITES)) == (100.0, 150.0)
    assert seen.mean(READ_BYTES, of=READS) == 8192
    assert seen.mean(READ_NS, of=READS) == 5_000_000
    assert (seen.queue_mean, seen.utilisation) == (2.5, 0.75)
    assert seen.sum(READS, WRITES) == 300


def test_processors_by_the_times_that_are_known_of_them() -> None:
    times = {metrics.USER_NS: 500, metrics.SYSTEM_NS: 200, metrics.IDLE_NS: 200, metrics.IOWAIT_NS: 50}
    seen = View("", SECOND_NS, {**times, metrics.STEAL_NS: 50, metrics.CONTEXT_SWITCHES: 10**9})
    assert (seen.idle_share, seen.stolen_share) == (0.25, 0.05)
    assert View("", SECOND_NS, times).stolen_share == 0.0, "no hypervisor that steals"
    assert View("", SECOND_NS, dict.fromkeys(times, 0)).idle_share is None
    nothing = View("", SECOND_NS, {})
    assert (nothing.idle_share, nothing.stolen_share) == (None, None)


def test_a_live_second_is_the_same_view_as_a_row() -> None:
    samples = [*sampled(READS, 0, 100, 500), *sampled(QUEUE_NS, 0, 1, 2)]
    second = [each for each in samples if each.time_ns >= SECOND_NS]
    assert views(second, DISKSTATS)["sda"].per_s(READS) == 400.0
    assert views(samples, DISKSTATS, 4 * SECOND_NS)["sda"].per_s(READS) == 125.0, "over the time of the load"


def test_times_start_again_as_often_as_they_will() -> None:
    near = DEVICE_TIME_PERIOD_NS - SECOND_NS
    assert views(sampled(QUEUE_NS, near, SECOND_NS, near, 0), DISKSTATS)["sda"].delta(QUEUE_NS) == (
        DEVICE_TIME_PERIOD_NS + SECOND_NS
    )


@pytest.mark.parametrize("values", [(5e9, 1e9), (5e9, 1e9, 9e9), (100, 99)])
@pytest.mark.parametrize("metric", [READS, QUEUE_NS, metrics.USER_NS])
def test_a_reset_is_unknown_even_when_the_last_sample_is_above_the_first(
    metric: str, values: tuple[float, ...]
) -> None:
    assert views(sampled(metric, *values), DISKSTATS)["sda"].delta(metric) is None


def test_a_sum_that_the_kernel_lets_be_negative_goes_on() -> None:
    """The queue of an NFS client: its sum has no sign in the kernel, and may lie below 0."""
    assert views(sampled("queue_sum", -5e9, -4e9, -3.5e9), DISKSTATS)["sda"].delta("queue_sum") == 1_500_000_000
    assert views(sampled("queue_sum", 5e9, -4e9), DISKSTATS)["sda"].delta("queue_sum") is None


def test_a_small_step_back_is_jitter() -> None:
    """Idle time is unsteady (see the observer of processors): what counts is how far it went in all."""
    assert views(sampled(metrics.IDLE_NS, 1000, 990, 1100), DISKSTATS)["sda"].delta(metrics.IDLE_NS) == 100


def test_what_was_seen_once_or_never_is_unknown_and_so_is_what_is_made_of_it() -> None:
    samples = [*sampled(READS, 0, 10), Sample(0, DISKSTATS, "sda", WRITES, 7.0)]
    seen = views(samples, DISKSTATS)["sda"]
    assert (seen.delta(WRITES), seen.sum(READS, WRITES), seen.per_s(WRITES)) == (None, None, None)
    assert (seen.queue_mean, seen.utilisation, seen.mean(READ_BYTES, of=READS)) == (None, None, None)
    assert views(sampled(READS, 5), DISKSTATS) == {}


def test_others_are_left_alone() -> None:
    samples = [*sampled(READS, 0, 10), *sampled(READS, 0, 3, subject="sdb"), Sample(0, "cpu", "", "reads", 1.0)]
    assert {name: view.delta(READS) for name, view in views(samples, DISKSTATS).items()} == {"sda": 10, "sdb": 3}


def test_nothing_is_divided_by_nothing() -> None:
    assert View("", 0, {READS: 5}).per_s(READS) is None
    assert (ratio(1, 0), ratio(None, 1), ratio(1, None), total(1, None), total(1, 2)) == (None, None, None, None, 3)


def ticked(*epochs: float) -> list[Sample]:
    return sampled(metrics.EPOCH, *epochs, subject="")


def test_another_epoch_makes_all_of_the_interval_unknown() -> None:
    """A reset shows although every counter is above what it was."""
    counted = sampled(READS, 10, 50, subject="relation")
    (seen,) = views([*ticked(7, 7), *counted], DISKSTATS).values()
    assert (seen.delta(READS), seen.per_s(READS)) == (40, 40.0)
    (seen,) = views([*ticked(7, 8), *counted], DISKSTATS).values()
    assert (seen.subject, seen.delta(READS)) == ("relation", None)


def test_the_epoch_of_a_subject_is_its_own() -> None:
    rows = [*sampled(READS, 1, 3, subject="a"), *sampled(READS, 1, 3, subject="b")]
    own = [*sampled(metrics.EPOCH, 1, 2, subject="a"), *sampled(metrics.EPOCH, 1, 1, subject="b")]
    since = [*sampled(READS, 1, 3, subject="c"), Sample(SECOND_NS, DISKSTATS, "c", metrics.EPOCH, 3.0)]
    seen = views([*ticked(7, 7), *rows, *own, *since], DISKSTATS)
    assert {name: view.delta(READS) for name, view in seen.items()} == {"a": None, "b": 2, "c": None}


def test_a_subject_that_is_new_counts_from_nought() -> None:
    late = [Sample(2 * SECOND_NS, DISKSTATS, "lt_8us", READS, 30.0)]
    seen = views([*ticked(7, 7, 7), *late], DISKSTATS)["lt_8us"]
    assert (seen.delta(READS), seen.per_s(READS)) == (30, 15.0)


def test_a_counter_with_an_epoch_never_goes_back_and_never_vanishes() -> None:
    back = sampled(READS, 100, 99, 200, subject="back")
    gone = sampled(READS, 5, 6, subject="gone")
    again = [each for each in sampled(READS, 5, 0, 9, subject="again") if each.value]
    stays = sampled(READS, 5, 6, 8, subject="stays")
    seen = views([*ticked(7, 7, 7), *back, *gone, *again, *stays], DISKSTATS)
    assert {name: view.delta(READS) for name, view in seen.items()} == {
        "back": None,
        "gone": None,
        "again": None,
        "stays": 3,
    }
