"""Random reads of data of which a part lies on a volume with burst credits, and the rest on one without."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator

from makers import card_runs
from msgspec import Struct
from msgspec.structs import replace

from iocast.model.run import MARKS, OpSeries, PhaseRecord, Series

SECOND_NS = card_runs.SECOND_NS


class Bands(Struct, frozen=True, kw_only=True):
    """The share of the volume with credits, its rates, how long they last; who reads, and how long a read takes."""

    share: float
    baseline_per_s: float
    burst_per_s: float
    burst_s: float
    users: int
    service_ns: float = 250_000.0
    slower: float = 1.0  # all reads take so many times as long in the second half
    seconds: int = 40


def drawn(seed: int) -> Bands:
    """A device of a seed, whose credits are spent before two thirds of the row."""
    draw = random.Random(seed)
    baseline = draw.uniform(60, 400)
    return Bands(
        share=draw.uniform(0.3, 0.8),
        baseline_per_s=baseline,
        burst_per_s=baseline * draw.uniform(5, 9),
        burst_s=draw.uniform(6, 14),
        users=draw.choice([2, 4, 8, 16]),
        service_ns=draw.uniform(150_000, 400_000),
    )


def row(bands: Bands, seed: int) -> PhaseRecord:
    """The row of reads, second by second."""
    ended = [each for each in _reads(bands, random.Random(seed)) if each[0] < bands.seconds * SECOND_NS]
    times = card_runs.histogram(*((took, 1) for _, took in ended))
    seconds = range(bands.seconds)
    quantiles = [times.quantile_ns(mark) for mark in MARKS]
    ios, took_ns = [0 for _ in seconds], [0.0 for _ in seconds]
    up_to = [[0 for _ in seconds] for _ in MARKS]
    for end, took in ended:
        second = int(end / SECOND_NS)
        ios[second] += 1
        took_ns[second] += took
        for mark, quantile in enumerate(quantiles):
            up_to[mark][second] += took <= quantile
    sums = tuple(round(each) for each in took_ns)
    reads = OpSeries(op="read", ios=tuple(ios), response_ns=sums, up_to=tuple(map(tuple, up_to)))
    sizes = tuple(8192 * each for each in ios)
    series = Series(interval_ns=SECOND_NS, ios=tuple(ios), bytes=sizes, response_ns=sums, ops=(reads,))
    record = card_runs.reads(times=times, users=bands.users, elapsed_ns=bands.seconds * SECOND_NS)
    return replace(record, series=series)


def _reads(bands: Bands, draw: random.Random) -> Iterator[tuple[float, float]]:
    """When each read ended, and how long it took: a closed loop of users."""
    waiting = [(0.0, user) for user in range(bands.users)]
    most = bands.burst_s * bands.burst_per_s
    credits, counted_to, free_at, now = most, 0.0, 0.0, 0.0
    while now < bands.seconds * SECOND_NS:
        now, user = heapq.heappop(waiting)
        slower = bands.slower if now > bands.seconds / 2 * SECOND_NS else 1.0
        takes = slower * bands.service_ns * math.exp(draw.gauss(-0.08, 0.4))
        begins = now
        if draw.random() < bands.share:
            begins = max(now, free_at)
            credits = min(most, credits + (begins - counted_to) / SECOND_NS * bands.baseline_per_s)
            missing = max(0.0, 1 - credits)
            begins += missing / bands.baseline_per_s * SECOND_NS
            credits, counted_to = credits - 1 + missing, begins
            free_at = begins + SECOND_NS / bands.burst_per_s
        heapq.heappush(waiting, (begins + takes, user))
        yield begins + takes, begins + takes - now
