"""The need that a sizing is asked for, from the texts that people write; capacity alone is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from iocast import units
from iocast.errors import SpecError
from iocast.forecast.storage.storage_need import ASK_FOR_IOPS, LatencyLimit, StorageNeed
from iocast.sessions.requests.size import SizeRequest

T = TypeVar("T")

USUAL_READS, USUAL_SIZE = "70%", "8k"
LIMITS = "response times are limited as 5ms (p99), p95=5ms, p99.9<10ms or mean=5ms"
_LIMIT = re.compile(r"(?:(mean|p\d{2}(?:\.\d+)?)\s*(?:<=?|=))?\s*(.+)")


def need_of(size_request: SizeRequest) -> StorageNeed:
    """The demand. Raises SpecError, which names the option."""
    if not size_request.iops and not size_request.mbps:
        raise SpecError("capacity alone does not size storage: the IOPS do", ASK_FOR_IOPS)
    if not size_request.capacity:
        raise SpecError("the capacity is missing", "give --capacity, e.g. --capacity 2TB")
    growth = growth_of(size_request.growth)
    if growth and size_request.years is None:
        raise SpecError("--growth needs a number of years", "for example --growth 20%/year --years 3")
    if size_request.years and not growth:
        raise SpecError("--years needs the growth", "for example --growth 20%/year --years 3")
    size = _named("--size", units.parse_size, size_request.size or USUAL_SIZE)
    if not size:
        raise SpecError("--size is 0", "give the size of one I/O, e.g. --size 8k")
    return StorageNeed(
        capacity_bytes=float(_named("--capacity", units.parse_size, size_request.capacity)),
        iops=_not_negative("--iops", size_request.iops),
        bytes_per_s=_not_negative("--mbps", size_request.mbps) * 1e6,
        read_fraction=_named("--read", units.parse_percent, size_request.read or USUAL_READS) / 100,
        size_bytes=size,
        latency=limit_of(size_request.slo) if size_request.slo else None,
        growth=growth,
        years=size_request.years or 0,
    )


def assumptions(size_request: SizeRequest) -> Iterator[str]:
    """What was not given and therefore taken."""
    if size_request.iops and not size_request.read:
        yield f"--read not given: {USUAL_READS} reads taken."
    if size_request.iops and not size_request.size:
        yield f"--size not given: I/Os of {USUAL_SIZE} taken."
    if size_request.iops and not size_request.slo:
        yield "--slo not given: no response time is asked for."


def limit_of(slo: str) -> LatencyLimit:
    """The limit of "5ms" (p99), "p95=5ms", "p99.9<10ms", "mean=5ms". Raises SpecError."""
    match = _LIMIT.fullmatch(slo.strip())
    if match is None:
        raise SpecError(f'--slo: "{slo}" is no limit of a response time', LIMITS)
    limit_s = _named("--slo", units.parse_duration, match[2]) / 1e9
    if match[1] == "mean":
        return LatencyLimit(limit_s, None)
    quantile = float(match[1][1:]) / 100 if match[1] else 0.99
    if not 0.5 <= quantile < 1:
        raise SpecError(f"--slo: {match[1]} is not a percentile of a limit", LIMITS)
    return LatencyLimit(limit_s, quantile)


def growth_of(growth: str) -> float:
    """The growth a year of "20%/year", "20%". Raises SpecError."""
    if not growth:
        return 0.0
    text, _, period = growth.partition("/")
    if period.strip() not in ("", "year", "a", "y"):
        raise SpecError(f'--growth: "{growth}" is not a growth a year', "for example --growth 20%/year")
    return percent_above("--growth", text) / 100


def percent_above(option: str, text: str) -> float:
    """Per cent that may exceed 100. Raises SpecError."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    if match is None:
        raise SpecError(f'{option}: "{text}" is not a percentage', "percentages are written 20% or 0.5%")
    return float(match[1])


def _not_negative(option: str, value: float | None) -> float:
    if value is not None and not 0 <= value < 1e15:
        raise SpecError(f"{option}: {value:g} makes no load", "give a number above 0")
    return value or 0.0


def _named(option: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except SpecError as error:
        raise SpecError(f"{option}: {error.message}", error.hint) from error
