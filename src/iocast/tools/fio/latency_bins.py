"""fio's distributions of latency: the named buckets of its outputs, and the bins of its own histogram."""

from __future__ import annotations

from collections.abc import Mapping

from iocast.model.stated import Bucket, Coarse
from iocast.tools.fio.quantities import PRINTED_NS

FINE = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
SLOW = (*FINE, 2000)
PLAT_BITS = 6  # a power of two is cut into 64 bins
BINS_US = 1216  # fio 1 and 2: microseconds, 19 groups
BINS_NS = 1856  # fio 3: nanoseconds, 29 groups
LAST_NS = 17_112_760_320  # inside the last of these bins: what took longer is counted there

COARSENESS = range(7)  # histogram logs join 2**n bins

Shares = Mapping[tuple[str, str], float]  # (unit, "250" or ">=2000") -> per cent


def buckets(shares: Shares) -> tuple[Bucket, ...]:
    """fio's latency buckets: each is named by its upper edge. Empty ones are left out."""
    units = [unit for unit in ("ns", "us", "ms") if unit != "ns" or any(name == "ns" for name, _ in shares)]
    parts, low_ns = [], 0
    for unit in units:
        for edge in SLOW if unit == "ms" else FINE:
            high_ns = edge * PRINTED_NS[unit]
            weight = shares.get((unit, str(edge)), 0.0)
            if weight:
                parts.append(Bucket(low_ns, high_ns, weight))
            low_ns = high_ns
    beyond = shares.get(("ms", ">=2000"), 0.0)
    return (*parts, Bucket(low_ns, None, beyond)) if beyond else tuple(parts)


def bin_edges(index: int, unit_ns: int) -> tuple[int, int]:
    """The edges in ns of bin `index` of fio's own histogram (64 bins a power of two), the upper one outside."""
    bits = max(0, (index >> PLAT_BITS) - 1)
    low = index if not bits else ((1 << PLAT_BITS) + (index & ((1 << PLAT_BITS) - 1))) << bits
    return low * unit_ns, (low + (1 << bits)) * unit_ns


def bin_of(value: int) -> int:
    """The bin that holds a value (fio names its bins by a value inside)."""
    bits = max(0, value.bit_length() - 1 - PLAT_BITS)
    return value if not bits else ((bits + 1) << PLAT_BITS) + ((value >> bits) & ((1 << PLAT_BITS) - 1))


def from_bins(counts: Mapping[int, int], unit_ns: int, joined: int = 1) -> Coarse:
    """A distribution of nothing but counts by bin; `joined` neighbours are counted as one."""
    kept = sorted((index, count) for index, count in counts.items() if count)
    parts = tuple(
        Bucket(bin_edges(index * joined, unit_ns)[0], bin_edges((index + 1) * joined - 1, unit_ns)[1], count)
        for index, count in kept
    )
    total = sum(count for _, count in kept)
    return Coarse(total=total, buckets=parts, whole=total)


def binning(bins: int) -> tuple[int, int] | None:
    """The unit in ns and how many of fio's bins are joined in one, for a number of bins."""
    for full, unit_ns in ((BINS_NS, 1), (BINS_US, 1000)):
        for power in COARSENESS:
            if bins == full >> power:
                return unit_ns, 1 << power
    return None
