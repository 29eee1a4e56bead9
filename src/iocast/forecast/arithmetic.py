"""The arithmetic of a forecast step by step, so that it can be checked with a pocket calculator."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from iocast.forecast.flow_equivalent import MOST_IN_SYSTEM
from iocast.forecast.load_forecast import Figure, Forecaster

MOST_LINES = 16
LEAST_SHARE = 0.0005


class ArithmeticFinding(Struct, frozen=True, kw_only=True):
    """How often an arrival finds `in_system` I/Os in the storage, and what it then takes; `weight` is relative to 0."""

    in_system: int
    response_s: float  # R(found + 1): of a closed load of one more
    factor: float  # rate x R(found) / found: by what the weight before is multiplied
    weight: float
    chance: float
    within: float | None  # the share of such arrivals that take no longer than the percentile


class Arithmetic(Struct, frozen=True, kw_only=True):
    """Everything between the measured rows and the interval of one figure, in seconds."""

    rate_per_s: float
    figure: Figure
    lines: tuple[ArithmeticFinding, ...]
    weights: float  # the sum of all weights, those that are not listed too
    rest_mean_s: float  # what the states that are not listed add to the mean
    rest_chance: float
    rest_within: float  # what they add to the share within the percentile
    mean_s: float


def arithmetic(by: Forecaster, rate_per_s: float, q: float | None) -> Arithmetic:
    """The steps of one figure at a rate of random arrivals. Raises TooClose."""
    three = by.three(rate_per_s)
    figure = by.figure(three, q, by.chance(rate_per_s, q))
    every = list(_states(by, rate_per_s, figure))
    weights = math.fsum(each.weight for each in every)
    whole = [
        ArithmeticFinding(
            in_system=each.in_system,
            response_s=each.response_s,
            factor=each.factor,
            weight=each.weight,
            chance=each.weight / weights,
            within=each.within,
        )
        for each in every
    ]
    shown = _shown(whole)
    rest = [each for each in whole if each.in_system > shown[-1].in_system]
    return Arithmetic(
        rate_per_s=rate_per_s,
        figure=figure,
        lines=tuple(shown),
        weights=weights,
        rest_mean_s=math.fsum(each.chance * each.response_s for each in rest),
        rest_chance=math.fsum(each.chance for each in rest),
        rest_within=math.fsum(each.chance * (each.within or 0.0) for each in rest),
        mean_s=math.fsum(each.chance * each.response_s for each in whole),
    )


def _states(by: Forecaster, rate_per_s: float, figure: Figure) -> Iterator[ArithmeticFinding]:
    ladder, missed = by.ladder, rate_per_s * (1 - by.hits)
    factor, weight, total = 1.0, 1.0, 0.0
    for in_system in range(MOST_IN_SYSTEM):
        if in_system:
            factor = missed * ladder.at(in_system) / in_system
            weight *= by.paced(factor, in_system)
        total += weight
        if factor < 1 and weight < 1e-9 * total:
            return
        within = None if figure.q is None else by.law.at(in_system + 1).share_up_to(figure.base_s)
        yield ArithmeticFinding(
            in_system=in_system,
            response_s=ladder.at(in_system + 1),
            factor=factor,
            weight=weight,
            chance=0.0,
            within=within,
        )


def _shown(every: list[ArithmeticFinding]) -> list[ArithmeticFinding]:
    kept = [each for each in every if each.chance >= LEAST_SHARE or each.in_system < 3]
    last = max(each.in_system for each in kept)
    return every[: min(last + 1, MOST_LINES)]
