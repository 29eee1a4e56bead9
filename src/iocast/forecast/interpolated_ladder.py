"""A ladder of a size between two measured ones, at the loads that both have.

The time of one I/O is straight in its bytes, and the logarithm of a percentile is straight in that of the size (models
A7). Neither is known to hold for the storage at hand: a request may be split, or cross a stripe, at some size. So the
interval of such a forecast reaches from the lower end of the smaller size to the upper end of the larger one: all that
it takes for granted is that larger I/Os are not faster.
"""

from __future__ import annotations

import math

from iocast.forecast.laws.mixes import capacity_at_size
from iocast.forecast.measured_ladder import LEAST_LOADS, AskedLoad, Level, MeasuredLadder


def interpolated(smaller: MeasuredLadder, larger: MeasuredLadder, asked: AskedLoad) -> MeasuredLadder | None:
    """The ladder of the asked size; None for fewer than three loads in common."""
    of_larger = {level.users: level for level in larger.levels}
    pairs = [(level, of_larger[level.users]) for level in smaller.levels if level.users in of_larger]
    if len(pairs) < LEAST_LOADS or pairs[0][0].users != 1:
        return None
    part = math.log(asked.size_bytes / smaller.asked.size_bytes)
    part /= math.log(larger.asked.size_bytes / smaller.asked.size_bytes)
    sizes = (smaller.asked.size_bytes, larger.asked.size_bytes)
    return MeasuredLadder(
        levels=tuple(_level(few, many, sizes, asked.size_bytes, part) for few, many in pairs),
        asked=asked,
        read_share=smaller.read_share,
        service_cv2=max(smaller.service_cv2, larger.service_cv2),
        fastest_s=_between(smaller.fastest_s, larger.fastest_s, part),
        left_out={**smaller.left_out, **larger.left_out},
        unsure={**smaller.unsure, **larger.unsure},
        between=(smaller, larger),
    )


def _level(few: Level, many: Level, sizes: tuple[int, int], size_bytes: int, part: float) -> Level:
    errors: dict[float, float | None] = {}
    for q, one in few.errors.items():
        other = many.errors.get(q)
        errors[q] = None if one is None or other is None else max(one, other)
    return Level(
        names=(*few.names, *many.names),
        users=few.users,
        rate_per_s=capacity_at_size(sizes, (few.rate_per_s, many.rate_per_s), size_bytes),
        ios=min(few.ios, many.ios),
        times_s=tuple(_between(*both, part) for both in zip(few.times_s, many.times_s, strict=True)),
        mean_error=max(few.mean_error, many.mean_error),
        errors=errors,
    )


def _between(of_smaller: float, of_larger: float, part: float) -> float:
    """Straight in logarithms."""
    if min(of_smaller, of_larger) <= 0:
        return of_smaller + part * (of_larger - of_smaller)
    return math.exp((1 - part) * math.log(of_smaller) + part * math.log(of_larger))
