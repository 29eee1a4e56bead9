"""The modes of a latency distribution: how many peaks it has, where, and how much lies around each.

A kernel density over log10 of the time; peaks that no real valley parts are one, and those that hold next to
nothing are none. It was chosen over mixtures (they find three parts in one exponential) and Hartigan's dip (it
misses a second mode of a tenth).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from operator import mul

from msgspec import Struct

from iocast.model.histogram import Histogram, bucket_bounds_ns
from iocast.model.stated import Coarse

MIN_TOTAL = 1000
GRID = 0.01  # decades
MIN_BANDWIDTH = 0.03
VALLEY = 0.8  # a valley higher than this share of the lower peak parts nothing
CERTAIN = 3.0  # standard deviations of both counts: what parts nothing by its depth is real in few, wide buckets
LIKELY = 2.5  # the same where all that is asked is that chance alone does not make so deep a valley [J]
MIN_MASS = 0.01
MIN_COUNT = 50
REACH = 4.0  # bandwidths, beyond which a kernel adds nothing that counts


class Mode(Struct, frozen=True):
    """One peak: where it stands, and the share of all I/Os around it."""

    location_ns: float
    share: float


class Density(Struct, frozen=True):
    """A distribution over log10 of the time: `values[i]` per decade at `low + i GRID`, and its modes."""

    low: float  # log10 of ns
    values: tuple[float, ...]
    modes: tuple[Mode, ...]


def modes(histogram: Histogram) -> tuple[Mode, ...]:
    """The modes from fast to slow; none when there are fewer than a thousand values."""
    shape = density(histogram)
    return shape.modes if shape and histogram.total >= MIN_TOTAL else ()


@lru_cache(maxsize=128)  # detectors and charts ask for the same rows
def density(histogram: Histogram) -> Density | None:
    """The smoothed distribution with its modes; None for fewer than two values. Modes need `MIN_TOTAL`.

    What another tool measured is drawn in that tool's own buckets, unsmoothed.
    """
    if histogram.coarse is not None:
        return _stepped(histogram.coarse)
    points = list(zip(map(_decades, histogram.index), histogram.count, strict=True))
    return _of_counts(points, sum(histogram.count))


def _of_counts(points: list[tuple[float, int]], total: int) -> Density | None:
    """A kernel for each value, at log10 of its time."""
    if total < 2:
        return None
    width = _bandwidth(points, total)
    low, cells = _cells(points, width)
    heights = _smoothed(cells, width)
    values = [each / total / GRID for each in heights]
    least = max(MIN_MASS, MIN_COUNT / total)
    shares = [each / total for each in cells]
    # Of a smoothed count the variance is the count over the cells that a kernel is wide.
    chance = GRID / (2 * math.sqrt(math.pi) * width)
    peaks = _peaks(heights, shares, least, chance=chance) if total >= MIN_TOTAL else []
    where = tuple(Mode(10 ** (low + at * GRID), share) for at, share in peaks)
    return Density(low, tuple(values), where)


@cache  # the buckets of one row are those of the next
def _decades(index: int) -> float:
    """The middle of a bucket, as log10 of ns."""
    return math.log10(max(1.0, sum(bucket_bounds_ns(index)) / 2))


def _stepped(stated: Coarse) -> Density | None:
    """A step for each stated bucket; one without an end reaches to the maximum, or to twice its start."""
    if stated.total < 2 or not stated.whole:
        return None
    spans = []
    for bucket in stated.buckets:
        high_ns = max(stated.max_ns or 0, 2 * bucket.low_ns) if bucket.high_ns is None else bucket.high_ns
        low_ns = bucket.low_ns or max(1, min(stated.min_ns or high_ns, high_ns // 2))
        if high_ns > low_ns:
            spans.append((math.log10(low_ns), math.log10(high_ns), bucket.weight / stated.whole))
    held = [at for at, (_, _, share) in enumerate(spans) if share]
    if not held:
        return None
    kept = spans[held[0] : held[-1] + 1]
    low = math.floor(kept[0][0] / GRID) - 1
    values = [0.0] * (math.ceil(kept[-1][1] / GRID) - low + 2)
    for start, end, share in kept:
        for at in range(round(start / GRID) - low, max(round(start / GRID) + 1, round(end / GRID)) - low):
            values[at] = share / (end - start)
    fine = [((start + end) / 2, round(share * stated.total)) for start, end, share in kept if share]
    if max(end - start for start, end, share in kept if share) <= MIN_BANDWIDTH:
        # Buckets as narrow as our own, as those of fio's json+: what single ones hold is chance.
        smooth = _of_counts(fine, sum(count for _, count in fine)) if stated.total >= MIN_TOTAL else None
        return Density(low * GRID, tuple(values), smooth.modes if smooth else ())
    # `coarse_modes` tells modes by upper edges; a peak is named in the middle of its bucket.
    counts = [round(share * stated.total) for _, _, share in kept]
    uppers, lowest = [10**end for _, end, _ in kept], 10 ** kept[0][0]
    peaks = coarse_modes(uppers, counts, lowest=lowest, counted=stated.holds_counts)
    middle = {10**end: 10 ** ((start + end) / 2) for start, end, _ in kept}
    named = tuple(Mode(middle[mode.location_ns], mode.share) for mode in peaks) if stated.total >= MIN_TOTAL else ()
    return Density(low * GRID, tuple(values), named)


def coarse_modes(
    uppers: Sequence[float], counts: Sequence[int], *, lowest: float | None = None, counted: bool = False
) -> tuple[Mode, ...]:
    """The modes of a histogram of few, wide buckets, by their upper edges: density is counted per octave.

    `location_ns` is the upper edge of the peak's bucket, in the unit of `uppers`. Only coarsely true. The first bucket
    begins at `lowest`; where that is not given it counts as an octave. Where the source `counted` the I/Os of each
    bucket, a valley that is no chance parts two peaks, however shallow it is.
    """
    total = sum(counts)
    if not total:
        return ()
    first = 1.0 if lowest is None else math.log2(uppers[0] / lowest)
    octaves = [first] + [math.log2(high / low) for low, high in pairwise(uppers)]
    heights = [count / octave for count, octave in zip(counts, octaves, strict=True)]
    peaks = _peaks(heights, [count / total for count in counts], MIN_MASS, certain=CERTAIN if counted else math.inf)
    return tuple(Mode(uppers[at], share) for at, share in peaks)


def _bandwidth(points: list[tuple[float, int]], total: int) -> float:
    mean = math.fsum(at * count for at, count in points) / total
    spread = math.sqrt(math.fsum(count * (at - mean) ** 2 for at, count in points) / max(1, total - 1))
    middle = (_at_share(points, total, 0.75) - _at_share(points, total, 0.25)) / 1.349
    return max(MIN_BANDWIDTH, 0.9 * min(spread, middle) / math.pow(total, 0.2))


def _at_share(points: list[tuple[float, int]], total: int, share: float) -> float:
    counted = 0
    for at, count in points:
        counted += count
        if counted >= share * total:
            return at
    return points[-1][0]


def _cells(points: list[tuple[float, int]], width: float) -> tuple[float, list[float]]:
    """The counts on the grid, with room for the kernel at both ends. A count lies between two cells."""
    room = math.ceil(REACH * width / GRID)
    first = math.floor(points[0][0] / GRID) - room
    cells = [0.0] * (math.ceil(points[-1][0] / GRID) + room - first + 2)
    for at, count in points:
        cell = math.floor(at / GRID)
        right = at / GRID - cell
        cells[cell - first] += count * (1 - right)
        cells[cell - first + 1] += count * right
    return first * GRID, cells


def _smoothed(cells: list[float], width: float) -> list[float]:
    room = math.ceil(REACH * width / GRID)
    kernel = [math.exp(-0.5 * ((at * GRID) / width) ** 2) for at in range(-room, room + 1)]
    whole = math.fsum(kernel)
    shares, reach = [weight / whole for weight in kernel], len(kernel)
    wide = [*[0.0] * room, *cells, *[0.0] * room]
    return [sum(map(mul, wide[at : at + reach], shares)) for at in range(len(cells))]


def _peaks(
    heights: Sequence[float], shares: Sequence[float], least: float, certain: float = math.inf, chance: float = 0.0
) -> list[tuple[int, float]]:
    """Positions of the peaks with the share from valley to valley; a valley belongs to its right. A valley is real by
    its depth, or, where heights are counts, by `certain` standard deviations. With `chance`, the variance of a height
    over it, it must be deeper than chance makes valleys too."""
    tops = _tops(heights)
    while len(tops) > 1:
        valleys = [min(heights[one : other + 1]) for one, other in pairwise(tops)]
        sides = [min(heights[one], heights[other]) for one, other in pairwise(tops)]
        depth = [_shallowness(valley, side, chance) for valley, side in zip(valleys, sides, strict=True)]
        shallow = max(range(len(depth)), key=depth.__getitem__)
        valley, side = valleys[shallow], sides[shallow]
        if depth[shallow] <= VALLEY or side - valley >= certain * math.sqrt(side + valley):
            break
        one, other = tops[shallow], tops[shallow + 1]
        tops.remove(one if heights[one] < heights[other] else other)
    while True:
        bounds = _bounds(heights, tops)
        mass = [math.fsum(shares[start:end]) for start, end in pairwise(bounds)]
        small = min(range(len(tops)), key=mass.__getitem__)
        if len(tops) == 1 or mass[small] >= least:
            return list(zip(tops, mass, strict=True))
        tops.pop(small)


def _shallowness(valley: float, side: float, chance: float) -> float:
    """The valley over the lower peak; above 1 the likelier it is that chance made it."""
    deviations = (side - valley) / math.sqrt(chance * (side + valley)) if chance else math.inf
    return valley / side if deviations >= LIKELY else 2 - deviations / LIKELY


def _tops(heights: Sequence[float]) -> list[int]:
    """The local maxima; of a level top, its first point."""
    tops = []
    for at, height in enumerate(heights):
        rises = not at or height > heights[at - 1]
        if rises and height > next((heights[on] for on in range(at + 1, len(heights)) if heights[on] != height), -1.0):
            tops.append(at)
    return tops


def _bounds(heights: Sequence[float], tops: list[int]) -> list[int]:
    valleys = [min(range(one, other + 1), key=heights.__getitem__) for one, other in pairwise(tops)]
    return [0, *valleys, len(heights)]
