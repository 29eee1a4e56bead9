"""Hosts in the order of speed: equal ones share a group, others do not; without a second run there are no groups."""

from __future__ import annotations

import math
import random
from statistics import fmean, variance

import pytest

from iocast.analyse.fleet_table import HostScore
from iocast.analyse.host_ranks import ranked


def scores(seed: int, *speeds: float, runs: int = 5, scatter: float = 0.03) -> list[HostScore]:
    """Hosts of such speeds, whose runs scatter."""
    drawn = random.Random(seed)
    each = [[math.log(speed) + drawn.gauss(0, scatter) for _ in range(runs)] for speed in speeds]
    return [
        HostScore(at, runs, fmean(values), variance(values) if runs > 1 else None, 4) for at, values in enumerate(each)
    ]


def test_equal_hosts_are_one_group() -> None:
    fleets = [ranked(scores(seed, *[1.0] * 20)) for seed in range(20)]
    assert [{host.group for host in fleet} for fleet in fleets] == [{1}] * 20


def test_two_speeds_are_two_groups() -> None:
    for seed in range(20):
        fleet = ranked(scores(seed, 1.0, 0.7, 1.0, 0.7, 1.0))
        assert [(host.rank, host.group) for host in fleet] == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]
        assert {host.score.subject for host in fleet if host.group == 2} == {1, 3}


def test_a_speed_is_known_with_its_interval() -> None:
    inside = 0
    for seed in range(200):
        for host in ranked(scores(seed, 1.0, 0.9, 1.1)):
            speed = {0: 1.0, 1: 0.9, 2: 1.1}[host.score.subject]
            assert host.low is not None
            assert host.high is not None
            inside += host.low <= speed <= host.high
    assert 0.92 < inside / 600 < 0.98


def test_a_sure_difference_that_is_small_makes_no_group() -> None:
    assert {host.group for host in ranked(scores(1, 1.0, 0.97, runs=200, scatter=0.01))} == {1}


def test_a_host_of_one_run_has_the_scatter_of_all() -> None:
    one = HostScore(9, 1, math.log(0.5), None, 4)
    fleet = ranked([*scores(1, 1.0, 1.0, 1.0), one])
    assert [host.group for host in fleet] == [1, 1, 1, 2]
    assert fleet[-1].low == pytest.approx(0.5 / (fleet[-1].high or 0) * 0.5)


def test_without_a_second_run_there_are_no_groups() -> None:
    fleet = ranked(scores(1, 1.0, 0.5, runs=1))
    assert [(host.group, host.low, host.high) for host in fleet] == [(None, None, None)] * 2
    assert fleet[0].speed > fleet[1].speed
