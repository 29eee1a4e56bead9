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


def need_of(asked: SizeRequest) -> StorageNeed:
    """The demand. Raises SpecError, which names the option."""
    if not asked.iops and not asked.mbps:
        raise SpecError("capacity alone does not size storage: the IOPS do (Kolk: the biggest mistake)", ASK_FOR_IOPS)
    if not asked.capacity:
        raise SpecError("the capacity is missing", "give --capacity, e.g. --capacity 2TB")
    growth = growth_of(asked.growth)
    if growth and asked.years is None:
        raise SpecError("--growth needs a number of years", "for example --growth 20%/year --years 3")
    if asked.years and not growth:
        raise SpecError("--years needs the growth", "for example --growth 20%/year --years 3")
    size = _named("--size", units.parse_size, asked.size or USUAL_SIZE)
    if not size:
        raise SpecError("--size is 0", "give the size of one I/O, e.g. --size 8k")
    return StorageNeed(
        capacity_bytes=float(_named("--capacity", units.parse_size, asked.capacity)),
        iops=_not_negative("--iops", asked.iops),
        bytes_per_s=_not_negative("--mbps", asked.mbps) * 1e6,
        read_fraction=_named("--read", units.parse_percent, asked.read or USUAL_READS) / 100,
        size_bytes=size,
        latency=limit_of(asked.slo) if asked.slo else None,
        growth=growth,
        years=asked.years or 0,
    )


def assumptions(asked: SizeRequest) -> Iterator[str]:
    """What was not given and therefore taken."""
    if asked.iops and not asked.read:
        yield f"--read not given: {USUAL_READS} reads taken."
    if asked.iops and not asked.size:
        yield f"--size not given: I/Os of {USUAL_SIZE} taken."
    if asked.iops and not asked.slo:
        yield "--slo not given: no response time is asked for."


def limit_of(slo: str) -> LatencyLimit:
    """The limit of "5ms" (p99), "p95=5ms", "p99.9<10ms", "mean=5ms". Raises SpecError."""
    found = _LIMIT.fullmatch(slo.strip())
    if found is None:
        raise SpecError(f'--slo: "{slo}" is no limit of a response time', LIMITS)
    limit_s = _named("--slo", units.parse_duration, found[2]) / 1e9
    if found[1] == "mean":
        return LatencyLimit(limit_s, None)
    quantile = float(found[1][1:]) / 100 if found[1] else 0.99
    if not 0.5 <= quantile < 1:
        raise SpecError(f"--slo: {found[1]} is no percentile of a limit", LIMITS)
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
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    if found is None:
        raise SpecError(f'{option}: "{text}" is not a percentage', "percentages are written 20% or 0.5%")
    return float(found[1])


def _not_negative(option: str, value: float | None) -> float:
    if value is not None and not 0 <= value < 1e15:
        raise SpecError(f"{option}: {value:g} makes no load", "give a number above 0")
    return value or 0.0


def _named(option: str, parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except SpecError as error:
        raise SpecError(f"{option}: {error.message}", error.hint) from error
