"""How latency grew from one load to the next, by the rule of Kyle Hailey's graphs (fiop.r)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

LEAST_FALL = 0.01  # [J] of the throughput: less is noise, and no reader would call it a fall

Verdict = Literal["faster", "slower", "lost"]  # latency fell · it rose · it rose and throughput fell


class LoadPoint(Struct, frozen=True):
    """What a load of so many I/Os at once did."""

    load: float
    mean_ns: float
    bytes_per_s: float


class ScalingStep(Struct, frozen=True):
    """From one load to the next. `ratio` is 1 when latency grew as much as the load: nothing was gained."""

    before: float
    after: float
    ratio: float  # (latency after / before) / (load after / before)
    bar: float  # 2^(10 ratio) / 1024, so that a ratio of 1 is a bar of exactly 1
    verdict: Verdict


def scaling_steps(points: Sequence[LoadPoint]) -> tuple[ScalingStep, ...]:
    """The steps between neighbouring loads, which ascend.

    fiop.r calls any fall of throughput lost; here it takes 1 %.
    """
    return tuple(_step(one, other) for one, other in pairwise(points) if one.mean_ns and one.load)


def _step(one: LoadPoint, other: LoadPoint) -> ScalingStep:
    growth = other.mean_ns / one.mean_ns
    ratio = growth / (other.load / one.load)
    if other.bytes_per_s < one.bytes_per_s * (1 - LEAST_FALL):
        verdict: Verdict = "lost"
    else:
        verdict = "faster" if growth < 1 else "slower"
    # Far beyond 1 the bar says no more, and 2^(10 ratio) would outgrow a float.
    return ScalingStep(one.load, other.load, ratio, 2.0 ** min(10 * ratio, 1000) / 1024, verdict)
