"""Counts of times become histograms: exact ones of a client, and those that a server counts by microseconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from iocast.model.histogram import Histogram, bucket_bounds_ns, bucket_index

# A server counts whole microseconds: each its own bucket below SERVER_EXACT, 512 buckets a power of two above.
SUB_BUCKETS = 512
SERVER_EXACT_US = 2 * SUB_BUCKETS
SERVER_BUCKETS = 18 * SUB_BUCKETS  # up to 2**26 us, 67 s; what is longer counts in the last one


def server_bounds_us(bucket: int) -> tuple[int, int]:
    """The least and the greatest number of microseconds of a server's bucket, from 0."""
    if bucket < SERVER_EXACT_US:
        return bucket, bucket
    exponent = bucket // SUB_BUCKETS - 1
    low = (bucket - exponent * SUB_BUCKETS) << exponent
    return low, low + (1 << exponent) - 1


class Tally:
    """Times of one kind, as they come."""

    __slots__ = ("_counts", "least_ns", "most_ns", "squares", "sum_ns", "total")

    def __init__(self) -> None:
        self._counts: dict[int, int] = defaultdict(int)
        self.total = 0
        self.sum_ns = 0
        self.squares = 0.0
        self.least_ns = self.most_ns = 0

    def add(self, time_ns: int) -> None:
        """One time, exactly."""
        self._count(bucket_index(time_ns), 1, time_ns, time_ns)
        self.sum_ns += time_ns
        self.squares += float(time_ns) * time_ns

    def add_server(self, counts: Mapping[int, int], slow_sum_us: int, slow_squares: float, most_us: int) -> None:
        """What a server counted in its buckets; sums and the greatest are exact for what took 1024 us or more."""
        slow = False
        for bucket, count in counts.items():
            low, high = server_bounds_us(bucket)
            if bucket < SERVER_EXACT_US:
                self._count(bucket_index(low * 1000), count, low * 1000, low * 1000)
                self.sum_ns += low * 1000 * count
                self.squares += float(low * 1000) ** 2 * count
            else:
                slow = True
                # Nothing is above the greatest: the bucket of the middle may be.
                middle = min((low + high + 1) * 500, most_us * 1000)
                self._count(bucket_index(middle), count, low * 1000, middle)
        if slow:
            self.sum_ns += slow_sum_us * 1000
            self.squares += slow_squares * 1e6
            self.most_ns = max(self.most_ns, most_us * 1000)

    def merge(self, other: Tally) -> None:
        """All times of another."""
        if not other.total:
            return
        for bucket, count in other._counts.items():
            self._counts[bucket] += count
        self.least_ns = min(self.least_ns, other.least_ns) if self.total else other.least_ns
        self.most_ns = max(self.most_ns, other.most_ns)
        self.total += other.total
        self.sum_ns += other.sum_ns
        self.squares += other.squares

    def _count(self, bucket: int, count: int, least_ns: int, most_ns: int) -> None:
        self._counts[bucket] += count
        self.least_ns = min(self.least_ns, least_ns) if self.total else least_ns
        self.most_ns = max(self.most_ns, most_ns)
        self.total += count

    def histogram(self) -> Histogram:
        """As a noun."""
        order = sorted(self._counts)
        # The least and the greatest lie in the first and the last bucket.
        least = max(self.least_ns, bucket_bounds_ns(order[0])[0]) if order else 0
        return Histogram(
            tuple(order),
            tuple(self._counts[bucket] for bucket in order),
            self.sum_ns,
            self.squares,
            least,
            max(self.most_ns, bucket_bounds_ns(order[-1])[0]) if order else 0,
        )
