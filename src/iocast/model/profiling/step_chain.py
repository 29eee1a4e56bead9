"""What the steps of a session come to: the share of each, and the mean pause."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from iocast.model.service_laws import (
    BimodalLaw,
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    GammaLaw,
    LognormalLaw,
    QuantilePoint,
    ServiceLaw,
    TableLaw,
    UniformLaw,
)
from iocast.model.workload import MixItem, Op, Step

ROUNDS = 2000  # of the chain, after which shares no longer change
STILL = 1e-12


def step_shares(steps: Sequence[Step]) -> tuple[float, ...]:
    """The share of each step in the long run."""
    rows = [[weight / sum(step.next) for weight in step.next] for step in steps]
    shares = [1 / len(steps)] * len(steps)
    for _ in range(ROUNDS):
        moved = [sum(share * row[at] for share, row in zip(shares, rows, strict=True)) for at in range(len(steps))]
        # Half of what was there stays: a chain that goes round and round would never come to rest.
        after = [(one + other) / 2 for one, other in zip(shares, moved, strict=True)]
        still = max(abs(one - other) for one, other in zip(shares, after, strict=True)) < STILL
        shares = after
        if still:
            break
    return tuple(shares)


def step_mix(steps: Sequence[Step]) -> tuple[MixItem, ...]:
    """Operations and sizes of all steps, by the share of each in the long run."""
    weights: dict[tuple[Op, int], float] = {}
    for step, share in zip(steps, step_shares(steps), strict=True):
        whole = sum(each.weight for each in step.sizes)
        sizes = [(each.size_bytes, each.weight / whole) for each in step.sizes if each.weight] or [(0, 1.0)]
        for size, part in sizes:
            weights[step.op, size] = weights.get((step.op, size), 0.0) + 100 * share * part
    return tuple(MixItem(op, size, round(weight, 4)) for (op, size), weight in weights.items())


def mean_pause_ns(steps: Sequence[Step]) -> float:
    """The mean pause after a step."""
    return sum(share * law_mean_ns(step.pause) for step, share in zip(steps, step_shares(steps), strict=True))


def law_mean_ns(law: ServiceLaw) -> float:
    """The mean of a law; of a disk, half a turn."""
    match law:
        case TableLaw(points=points):
            return _table_mean_ns(points)
        case UniformLaw(low_ns=low, high_ns=high):
            return (low + high) / 2
        case BimodalLaw(fast_percent=percent, fast_ns=fast, slow_ns=slow):
            return percent / 100 * fast + (1 - percent / 100) * slow
        case DiskLaw(rpm=rpm, seek_base_ns=base):
            return base + 30e9 / rpm
        case ConstantLaw() | ExponentialLaw() | LognormalLaw() | GammaLaw():
            return law.mean_ns


def _table_mean_ns(points: Sequence[QuantilePoint]) -> float:
    """Of quantiles: straight between them, the first time is the shortest."""
    first = QuantilePoint(0.0, points[0].ns)
    return sum((b.percent - a.percent) / 100 * (a.ns + b.ns) / 2 for a, b in pairwise((first, *points)))
