"""Which of several findings of one kind is the worst: by the figure that says how far it went."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from iocast.model.codes import FindingCode
from iocast.model.finding import Finding

Evidence = Mapping[str, float]


def _most(name: str) -> Callable[[Evidence], float]:
    return lambda evidence: evidence.get(name, math.nan)


def _least(name: str) -> Callable[[Evidence], float]:
    return lambda evidence: -evidence.get(name, math.nan)


def _ratio(name: str, over: str) -> Callable[[Evidence], float]:
    return lambda evidence: evidence.get(name, math.nan) / (evidence.get(over) or math.nan)


# A kind that is not here has no figure that grows with the harm.
FIGURES: dict[FindingCode, Callable[[Evidence], float]] = {
    "stalls": _most("longest_ns"),
    "generator_did_not_run": _most("longest_ns"),
    "generator_bound": lambda evidence: max(evidence.get("cpu_share", 0.0), evidence.get("queued_share", 0.0)),
    "errors": _most("failed_share"),
    "end_of_file": _most("failed_share"),
    "file_shrank": _most("lost_bytes"),
    "short_ios": _most("short_ios"),
    "hung": _most("abandoned_ios"),
    "faster_than_memory": _most("bytes_per_s"),
    "faster_than_the_link": _most("bytes_per_s"),
    "too_quick_for_a_device": _least("read_p50_ns"),
    "several_peaks": _most("widest_gap_ns"),
    "long_tail": _ratio("from_ns", "median_below_ns"),
    "asynchronous_timing": _ratio("service_ns", "device_ns"),
    "cached_although_direct_was_claimed": _least("device_share"),
    "page_cache": _least("device_share"),
    "memory_test": _least("storage_share"),
    "cache_in_the_storage": _most("quick_share"),
    "first_write_penalty": _most("ratio"),
    "compression_or_deduplication": _most("ratio"),
    "tier_migration": _least("ratio"),
    "burst_credits": _ratio("burst_per_s", "after_per_s"),
    "write_cliff": _ratio("before_bytes_per_s", "after_bytes_per_s"),
    "retrograde_scaling": _ratio("peak_per_s", "rate_per_s"),
    "too_few_in_flight": _ratio("asked", "in_flight"),
    "shared_drives": _most("variation"),
    "consolidation": _ratio("device_size_bytes", "size_bytes"),
    "splitting": _most("requests_per_io"),
}


def how_bad(finding: Finding) -> float:
    """A figure by which findings of one kind compare; below all others where it is not known."""
    figure = FIGURES.get(finding.code)
    value = math.nan if figure is None else figure(finding.evidence)
    return -math.inf if math.isnan(value) else value
