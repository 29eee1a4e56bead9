"""Hosts in the order of their speed, in groups whose members cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from iocast._core import student_t_quantile
from iocast.analyse.comparison import MARGIN
from iocast.analyse.fleet_table import HostScore

CONFIDENCE = 0.95  # that no two equal hosts are told apart
NO_MATTER = MARGIN / 2  # a difference below this is none, however sure


class Ranked(Struct, frozen=True):
    """A host's place: its speed against the typical host, with the 95% interval; None without a second run anywhere."""

    score: HostScore
    rank: int
    group: int | None
    speed: float
    low: float | None
    high: float | None


def ranked(scores: Sequence[HostScore]) -> list[Ranked]:
    """The hosts, the fastest first.

    A group goes on until a host is slower than the first of it by more than chance and by more than NO_MATTER. The
    spread of runs is that of all hosts together, so that a host of one run has its place, too.
    """
    order = sorted(scores, key=lambda each: (-each.score, each.subject))
    variance, degrees = _pooled(order)
    groups = _groups(order, variance, degrees)
    return [
        Ranked(each, rank, group, math.exp(each.score), *_interval(each, variance, degrees))
        for rank, (each, group) in enumerate(zip(order, groups, strict=True), 1)
    ]


def _pooled(scores: Sequence[HostScore]) -> tuple[float, int]:
    """The variance of a run's score within its host, and its degrees of freedom."""
    known = [(each.variance, each.runs - 1) for each in scores if each.variance is not None]
    degrees = sum(free for _, free in known)
    return (sum(variance * free for variance, free in known) / degrees, degrees) if degrees else (0.0, 0)


def _groups(order: Sequence[HostScore], variance: float, degrees: int) -> list[int | None]:
    if not degrees:
        return [None] * len(order)
    pairs = max(1, len(order) * (len(order) - 1) // 2)
    t = _t(1 - (1 - CONFIDENCE) / (2 * pairs), degrees)
    groups, first, number = list[int | None](), order[0], 1
    for each in order:
        apart = first.score - each.score
        error = math.sqrt(variance * (1 / first.runs + 1 / each.runs))
        if apart > -math.log1p(-NO_MATTER) and apart > t * error:
            first, number = each, number + 1
        groups.append(number)
    return groups


def _interval(score: HostScore, variance: float, degrees: int) -> tuple[float | None, float | None]:
    if not degrees:
        return None, None
    half = _t((1 + CONFIDENCE) / 2, degrees) * math.sqrt(variance / score.runs)
    return math.exp(score.score - half), math.exp(score.score + half)


@cache
def _t(q: float, degrees: int) -> float:
    return student_t_quantile(q, float(degrees))
