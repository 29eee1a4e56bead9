"""Hosts that are slow for their load, planted in drawn fleets: slow ones are found, busy and equal ones are not."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from iocast.analyse.fleet_table import HostMedians
from iocast.analyse.slow_hosts import LEAST_HOSTS, SLOWER, Judged, judged_class

RATE, MEAN_NS = 5000.0, 200e3
SEEDS = range(20)
ROWS = 6
SLOW, BUSY = 2, 3


def closed(drawn: random.Random, host: int, slower: float, others: float = 0.0) -> HostMedians:
    """A row of one user, whose rate follows from its latency; what others do makes it as much slower."""
    noise = math.exp(drawn.gauss(0, 0.03))
    mean_ns = MEAN_NS * noise * slower * (1 + others)
    rate = RATE * MEAN_NS / mean_ns
    return HostMedians("m", "row", "load", host, 3, math.log(mean_ns), 0.03**2, others * RATE, rate, None, False)


def opened(drawn: random.Random, host: int, slower: float, others: float = 0.0) -> HostMedians:
    """A row at a rate of its own, as busy as that; a queue makes the latency."""
    rate = RATE * (drawn.uniform(0.3, 0.9) if not others else 1.1)
    mean_ns = MEAN_NS * math.exp(drawn.gauss(0, 0.03)) * slower / (1 - 0.7 * rate / RATE)
    return HostMedians("m", "row", "load", host, 3, math.log(mean_ns), 0.03**2, rate, rate, None, True)


Kind = Callable[[random.Random, int, float, float], HostMedians]
KINDS = pytest.mark.parametrize("kind", [closed, opened])


def drawn_fleet(kind: Kind, seed: int, *, hosts: int = 12, slow: float = 1.0, busy: float = 0.0) -> list[Judged]:
    """The rows of all hosts, each class judged."""
    drawn = random.Random(seed)
    return [
        judged
        for _ in range(ROWS)
        for judged in judged_class(
            [kind(drawn, host, slow if host == SLOW else 1.0, busy if host == BUSY else 0.0) for host in range(hosts)],
            tests=ROWS * hosts,
        )
    ]


def hosts_that_are(standing: str, judged: list[Judged]) -> set[int]:
    return {each.row.subject for each in judged if each.standing == standing}


@KINDS
def test_a_slow_host_is_found_and_no_other(kind: Kind) -> None:
    slow = [hosts_that_are("slow", drawn_fleet(kind, seed, slow=1.6)) for seed in SEEDS]
    assert sum(SLOW in each for each in slow) >= 19
    assert all(each <= {SLOW} for each in slow)


@KINDS
def test_equal_hosts_are_not_slow(kind: Kind) -> None:
    assert [hosts_that_are("slow", drawn_fleet(kind, seed)) for seed in SEEDS] == [set()] * len(SEEDS)


@KINDS
def test_a_busy_host_is_busy_and_not_slow(kind: Kind) -> None:
    fleets = [drawn_fleet(kind, seed, busy=1.0) for seed in SEEDS]
    assert [hosts_that_are("slow", each) for each in fleets] == [set()] * len(SEEDS)
    assert sum(BUSY in hosts_that_are("busy", each) for each in fleets) >= 19


@KINDS
def test_beside_a_busy_host_the_slow_one_is_found(kind: Kind) -> None:
    fleets = [drawn_fleet(kind, seed, slow=1.6, busy=1.0) for seed in SEEDS]
    assert sum(hosts_that_are("slow", each) == {SLOW} for each in fleets) >= 19


def test_two_slow_hosts_do_not_hide_each_other() -> None:
    drawn = random.Random(1)
    rows = [closed(drawn, host, 1.8 if host in (0, 1) else 1.0) for host in range(12)]
    assert hosts_that_are("slow", judged_class(rows, 12)) == {0, 1}


def test_three_slow_hosts_of_a_hundred_are_found() -> None:
    """Of many hosts several are looked at together: an innocent one among them saves nobody."""
    drawn = random.Random(1)
    rows = [closed(drawn, host, {7: 1.25, 30: 8.0, 60: 9.0}.get(host, 1.0)) for host in range(100)]
    assert hosts_that_are("slow", judged_class(rows, 100)) == {7, 30, 60}


def test_a_few_ios_of_others_excuse_nobody() -> None:
    """A twelfth of its usual rate beside it, and three times as slow: the device did less for all together."""
    drawn = random.Random(1)
    rows = [closed(drawn, host, 1.0) for host in range(11)]
    slow = HostMedians("m", "row", "load", 11, 3, math.log(3 * MEAN_NS), 0.03**2, RATE / 12, RATE / 3, None, False)
    assert hosts_that_are("slow", judged_class([*rows, slow], 12)) == {11}


def test_a_host_that_has_less_to_do_than_any_is_held_against_them() -> None:
    """No line is drawn beyond the loads of the others, where it may lead anywhere."""
    drawn = random.Random(1)
    rates = [RATE * drawn.uniform(0.80, 0.90) for _ in range(12)]
    usual = [
        replace(opened(drawn, at, 1.0), busy_per_s=rate, log_ns=drawn.gauss(0, 0.03)) for at, rate in enumerate(rates)
    ]
    idle = replace(usual[0], subject=12, busy_per_s=1.0, log_ns=math.log(1.25))
    assert hosts_that_are("slow", judged_class([*usual, idle], 13)) == {12}


def test_what_is_expected_of_a_host_does_not_depend_on_it() -> None:
    """It is held against the line of all others, whatever its own latency is."""
    drawn = random.Random(1)
    rows = [opened(drawn, host, 1.0) for host in range(14)]
    moved = [replace(row, log_ns=row.log_ns + 0.02 * (at == 5)) for at, row in enumerate(rows)]
    before, after = (judged_class(each, 14)[5] for each in (rows, moved))
    assert after.expected_ns == pytest.approx(before.expected_ns, rel=1e-6)
    assert after.bound_ns == pytest.approx(before.bound_ns, rel=1e-6)
    others = (judged_class(each, 14)[6].expected_ns for each in (rows, moved))
    assert next(others) != pytest.approx(next(others), rel=1e-6)


def test_the_middle_of_few_runs_says_less() -> None:
    """Hosts of thirty runs agree within 1%; one of a single run may be as far off as a run is."""
    drawn = random.Random(3)

    def host(subject: int, runs: int, away: float) -> HostMedians:
        return HostMedians("m", "row", "load", subject, runs, math.log(MEAN_NS) + away, 0.2**2, 0.0, RATE, None, False)

    usual = [host(at, 30, drawn.gauss(0, 0.005)) for at in range(12)]
    assert hosts_that_are("slow", judged_class([*usual, host(12, 30, 0.25)], 13)) == {12}
    assert hosts_that_are("slow", judged_class([*usual, host(12, 1, 0.25)], 13)) == set()


def test_what_is_sure_and_small_is_nobodys_trouble() -> None:
    rows = [HostMedians("m", "r", "l", at, 3, math.log(MEAN_NS), 0.0, 0.0, RATE, None, False) for at in range(8)]
    less, more = (
        HostMedians("m", "r", "l", 8, 3, math.log(MEAN_NS * times), 0.0, 0.0, RATE, None, False)
        for times in (SLOWER - 0.01, SLOWER + 0.01)
    )
    assert hosts_that_are("slow", judged_class([*rows, less], 9)) == set()
    (judged,) = [each for each in judged_class([*rows, more], 9) if each.row.subject == 8]
    assert judged.standing == "slow"
    assert judged.expected_ns == pytest.approx(MEAN_NS)
    assert judged.expected_ns < judged.bound_ns < math.exp(judged.row.log_ns)


def test_an_unknown_load_is_taken_for_usual() -> None:
    drawn = random.Random(1)
    rows = [closed(drawn, host, 1.0) for host in range(11)]
    unknown = HostMedians("m", "row", "load", 11, 3, math.log(2 * MEAN_NS), None, None, RATE / 2, None, False)
    assert hosts_that_are("slow", judged_class([*rows, unknown], 12)) == {11}


def test_too_few_hosts_say_nothing() -> None:
    drawn = random.Random(1)
    assert judged_class([closed(drawn, host, 1.0) for host in range(LEAST_HOSTS - 1)], 4) == []


def test_hosts_that_have_little_in_common_have_no_bound() -> None:
    """Five latencies over eleven orders of magnitude, and many rows: the bound is no number, and nobody is slow."""
    rows = [HostMedians("m", "r", "l", at, 1, 6.0 * at, None, 0.0, RATE, None, False) for at in range(5)]
    judged = judged_class(rows, 1_000_000)
    assert {each.standing for each in judged} == {"usual"}
    assert math.inf in {each.bound_ns for each in judged}
    assert all(math.isfinite(each.expected_ns) for each in judged)
