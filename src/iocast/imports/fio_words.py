"""What fio means by its words, whatever format they stand in: buckets, histogram bins, rw=, what its times count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from iocast.model.histogram import Histogram
from iocast.model.stated import Bucket, Coarse, Quantile
from iocast.model.workload import Locality, Op, Sequential, Uniform, Unstated

CLOCK_NOTE = (
    "Mean, least, largest and deviation are fio's lat, from the start of submission; its percentiles and buckets"
    " (and so the ranges and latency here) are its clat, from the end of submission, unless it says otherwise."
)
MIXED_NOTE = "fio's latency buckets of a mix hold reads and writes together: they are left out."
ALL = "All clients"  # a row of several servers' results
ALL_NOTE = f'The row "{ALL}" is fio\'s own sum of the rows above it.'
MIXED_ONLY = "it reports reads and writes as one (unified_rw_reporting=mixed): whose times these are cannot be told"
MIXED_HINT = "run fio with unified_rw_reporting=none or both"
PACE_NOTE = (
    "This format does not say whether the job was given a rate or think time: I/Os that waited to be sent are not in"
    " its times."
)

UNIT_NS = {"nsec": 1, "ns": 1, "usec": 1_000, "us": 1_000, "msec": 1_000_000, "ms": 1_000_000, "sec": 1_000_000_000}
FINE = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
SLOW = (*FINE, 2000)
PLAT_BITS = 6  # a power of two is cut into 64 bins
BINS_US = 1216  # fio 1 and 2: microseconds, 19 groups
BINS_NS = 1856  # fio 3: nanoseconds, 29 groups

_OPS: tuple[Op, ...] = ("read", "write", "trim")

Shares = Mapping[tuple[str, str], float]  # (unit, "250" or ">=2000") -> per cent


def buckets(shares: Shares) -> tuple[Bucket, ...]:
    """fio's latency buckets: each is named by its upper edge. Empty ones are left out."""
    units = [unit for unit in ("ns", "us", "ms") if unit != "ns" or any(name == "ns" for name, _ in shares)]
    found, low_ns = [], 0
    for unit in units:
        for edge in SLOW if unit == "ms" else FINE:
            high_ns = edge * UNIT_NS[unit]
            weight = shares.get((unit, str(edge)), 0.0)
            if weight:
                found.append(Bucket(low_ns, high_ns, weight))
            low_ns = high_ns
    beyond = shares.get(("ms", ">=2000"), 0.0)
    return (*found, Bucket(low_ns, None, beyond)) if beyond else tuple(found)


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
    found = tuple(
        Bucket(bin_edges(index * joined, unit_ns)[0], bin_edges((index + 1) * joined - 1, unit_ns)[1], float(count))
        for index, count in kept
    )
    total = sum(count for _, count in kept)
    return Coarse(total=total, buckets=found, whole=float(total))


def times(
    total: int,
    lat: Mapping[str, float | None],
    quantiles: Iterable[tuple[float, float]] = (),
    shares: tuple[Bucket, ...] = (),
    whole: float = 100.0,
) -> Histogram:
    """A distribution of `total` I/Os: `lat` has min, max, mean, stddev in ns; quantiles are (q, ns)."""
    least, most = lat.get("min"), lat.get("max")
    coarse = Coarse(
        total=total,
        mean_ns=lat.get("mean"),
        stdev_ns=lat.get("stddev"),
        min_ns=None if least is None else round(least),
        max_ns=None if most is None else round(most),
        buckets=shares,
        whole=whole if shares else 0.0,
        quantiles=tuple(Quantile(q, round(value)) for q, value in sorted(quantiles) if q > 0),
    )
    return Histogram.stated(coarse) if total else Histogram()


def locality(rw: str, distribution: str = "random", percentage_random: str = "100", no_map: bool = False) -> Locality:
    """Where rw= sends the I/O; without norandommap fio visits every block once before any comes again."""
    kind = rw.strip().lower()
    if re.fullmatch(r"(read|write|rw|readwrite|trim|trimwrite)", kind):
        return Sequential()
    if kind.startswith("rand") and distribution == "random" and percentage_random in ("100", ""):
        return Uniform(repeats=no_map)
    return Unstated()


def writes_per_flush(ios: Mapping[Op, int]) -> int:
    """What fsync= must have been where it is not stated, from the counts; 0 without writes or flushes."""
    flushes, writes = ios.get("fsync", 0), ios.get("write", 0)
    return max(1, round(writes / flushes)) if flushes and writes else 0


def ops_of(rw: str) -> tuple[Op, ...]:
    """The operations that move data in rw=."""
    kind = rw.lower().partition(":")[0]
    if kind in ("rw", "readwrite", "randrw", "randreadwrite"):
        return ("read", "write")
    return tuple(op for op in _OPS if op in kind)
