"""The words for codes: how people read them. Nothing is decided here, and no program reads what stands here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iocast.diagnose.aspects import ASPECTS
from iocast.model.codes import (
    CalibrationRefusalCode,
    ComparisonCode,
    CopyRemarkCode,
    DifferenceCode,
    FindingCode,
    KneeCode,
    MaximumCode,
    NeedCode,
    RepeatsCode,
    SectionCode,
    SerialisationCode,
    StandingCode,
    StateCode,
    StatisticCode,
    TrustCode,
)
from iocast.model.copy_trials import MethodCode
from iocast.model.report import Chart, Section, Table

SECTIONS: dict[SectionCode, str] = {
    "notes": "Notes",
    "target": "Target",
    "source": "Source",
    "results": "Results",
    "hosts": "Hosts",
    "matrix": "Data points",
    "database": "Below the database",
    "beside_database": "As a database sees it",
    "time": "Where the time went",
    "devices": "Devices",
    "grade": "Grade",
    "trust": "Why this trust",
    "findings": "Findings",
    "tested": "Diagnosis",
    "bounds": "Bottleneck",
    "replay": "Replay",
    "verification": "Verification",
    "errors": "Errors",
    "slowest": "Slowest I/Os (over 10 × p99)",
    "family": "All rows",
    "sizes_view": "Throughput by I/O size",
    "device_view": "Requests at the device",
    "remarks": "Limitations",
    "differences": "Other differences",
    "latency": "Response times",
    "percentiles": "Percentiles",
    "relative": "Relative to",
    "repeats": "Repeatability",
    "prices": "Prices",
    "forecast": "Forecast",
    "headroom": "Headroom",
    "profile": "Bursts",
    "what_if": "What if",
    "basis": "Measured rows behind it",
    "open_rows": "Held against open-loop rows",
    "arithmetic": "The arithmetic",
    "workload": "Operations and sizes",
    "arrivals": "Arrivals and concurrency",
    "sequentiality": "Sequential runs",
    "locality": "Locality and caches",
    "latencies": "Latency",
    "targets": "Targets",
    "phases": "Phases",
    "response_time": "Response time of calls",
    "layers": "Layers",
    "events": "Latencies of events",
    "activity": "What sessions did",
    "databases": "Databases",
    "not_seen": "Not seen",
    "study": "Study",
    "copies": "Copies",
    "copy_remarks": "What must be known of them",
    "experiment": "Experiment",
    "runs": "Runs",
    "trend": "Trend",
    "trend_row": "Row",
    "slow_hosts": "Slow hosts",
    "setting": "What differs",
    "ranks": "All hosts",
    "law": "Model",
    "sizing": "Sizing",
    "calibration": "Calibration",
    "calibration_curve": "Load and latency",
    "calibration_knees": "Knees",
    "calibration_refusals": "What it does not say",
}

MAXIMA: dict[MaximumCode, str] = {
    "within_limit": "within the limit",
    "within_limit_mean": "mean within it",
    "closed_within_limit": "closed, within it",
    "most_iops": "most IOPS",
    "most_throughput": "most MB/s",
    "single_process": "MB/s, 1 process",
}

KNEES: dict[KneeCode, str] = {
    "limit": "limit",
    "least_load": "least load",
    "max_power": "most power",
    "planning_cap": "planning cap",
    "latency_multiple": "2.5 x idle",
    "saturation": "saturation",
    "chord": "chord",
}

HELD = {"held": "kept", "broken": "broken", "unsure": "unsure", "refused": "refused"}

REFUSALS: dict[CalibrationRefusalCode, str] = {
    "idle_refused": "idle response unknown",
    "limit_below_idle": "limit below idle",
    "few_ios": "too few I/Os",
    "not_saturated": "not saturated",
    "no_rates": "no rates",
    "limit_not_reached": "limit not reached",
    "limit_unsure": "limit unsure",
    "no_streams": "no throughput",
    "rows_refused": "rows refused",
}

FINDINGS: dict[FindingCode, str] = {
    "nothing_done": "no I/O completed",
    "end_of_file": "end of file",
    "file_shrank": "file shrank",
    "errors": "I/O errors",
    "short_ios": "short I/Os",
    "hung": "hung I/O",
    "stopped_by_errors": "stopped by errors",
    "interrupted": "interrupted",
    "writes_did_not_come_back": "lost writes",
    "memory_file_system": "memory file system",
    "memory_device": "memory device",
    "faster_than_memory": "faster than memory",
    "faster_than_the_link": "faster than the link",
    "too_quick_for_a_device": "too fast for a device",
    "generator_did_not_run": "load generator stalled",
    "generator_bound": "generator-bound",
    "several_peaks": "several latency peaks",
    "long_tail": "long latency tail",
    "asynchronous_timing": "asynchronous timing",
    "coarse_clock": "coarse clock",
    "cached_although_direct_was_claimed": "cached despite direct I/O",
    "device_counters_stood_still": "device counters unchanged",
    "page_cache": "page cache",
    "memory_test": "memory test",
    "cache_in_the_storage": "storage cache",
    "read_ahead": "read-ahead",
    "tier_migration": "tier migration",
    "first_write_penalty": "first-write penalty",
    "elided_reads": "elided reads",
    "compression_or_deduplication": "compression or deduplication",
    "short_stroke": "short-stroked",
    "flushes_cost_nothing": "free flushes",
    "burst_credits": "burst credits",
    "write_cliff": "write cliff",
    "link_limit": "link limit",
    "round_trip_floor": "round-trip floor",
    "serialised_direct_io": "serialised direct I/O",
    "too_few_in_flight": "too few outstanding I/Os",
    "throttle": "throttling",
    "retrograde_scaling": "retrograde scaling",
    "slow_region": "slow region",
    "fresh_writes": "slow reads of fresh writes",
    "stalls": "stalls",
    "shared_drives": "shared drives",
    "consolidation": "consolidation",
    "splitting": "splitting",
    "misaligned": "misaligned I/O",
    "maintenance": "maintenance",
    "rate_step": "rate changed within a row",
    "cache_pollution": "cache pollution",
    "cpu_starvation": "CPU starvation",
    "throttle_above_block_layer": "throttle above the block layer",
    "neighbour_on_device": "neighbour on the device",
    "double_buffering": "double buffering",
    "late_statistics": "late statistics",
    "blocks_timed_as_reads": "time of blocks, not of reads",
}

COPY_METHODS: dict[MethodCode, str] = {
    "mmap_window": "mmap 8 MiB + write",
    "read_write_large": "read/write 8 MiB",
    "read_write_block": "read/write st_blksize",
    "copy_file_range": "copy_file_range",
    "sendfile": "sendfile",
    "splice": "splice",
    "direct": "O_DIRECT 8 MiB",
    "uring_buffered": "io_uring 8x1 MiB",
    "uring_direct": "io_uring O_DIRECT 8x1 MiB",
    "reflink": "reflink (FICLONE)",
}

COPY_REMARKS: dict[CopyRemarkCode, str] = {
    "content_differs": "content differs",
    "way_refused": "refused",
    "reflinked": "reflink",
    "copied_in_kernel": "fell back",
    "not_cold": "not cold",
    "not_warm": "not warm",
    "sparse_source": "sparse source",
}

# A count leaves nothing to be tested.
STATES: dict[StateCode, str] = {
    "suggested": "suspected",
    "counted": "confirmed",
    "confirmed": "confirmed",
    "rejected": "rejected",
}
UNTESTABLE = "not testable"  # suspected, and no experiment on this machine can decide it

TRUST: dict[TrustCode, str] = {
    "integrity": "integrity",
    "steady": "steadiness",
    "precision": "precision",
    "representative": "representative",
    "load_achieved": "load achieved",
    "isolation": "isolation",
    "anomalies": "anomalies",
    "hosts": "hosts",
}

COMPARISONS: dict[ComparisonCode, str] = {
    "equivalent": "equivalent",
    "different": "different",
    "small_difference": "small difference",
    "different_here": "different in these two runs",
    "inconclusive": "inconclusive",
    "not_compared": "not compared",
}

REPEATS: dict[RepeatsCode, str] = {
    "repeats": "repeats",
    "incomplete": "incomplete",
    "inconclusive": "inconclusive: find the cause before comparing",
}

SERIALISATIONS: dict[SerialisationCode, str] = {
    "serialised": "serialised",
    "parallel": "parallel",
    "device_too_fast": "device too fast",
    "not_seen": "not observed",
}

STATISTICS: dict[StatisticCode, str] = {
    "throughput": "throughput",
    "mean": "mean response time",
    "p50": "p50",
    "p95": "p95",
    "p99": "p99",
}

DIFFERENCES: dict[DifferenceCode, str] = {
    "measured_by": "tool",
    "target": "target",
    "job": "job",
    "host": "host",
    "kernel": "kernel",
    "processor": "CPU",
    "memory": "memory",
    "virtualisation": "virtualisation",
    "iocast": "iocast",
    "file_system": "file system",
    "device": "device",
    "firmware": "firmware",
    "scheduler": "scheduler",
    "queue_depth": "requests queued",
    "write_cache": "write cache",
    "link": "link",
    "length": "row duration",
    "region": "data region",
    "work_files": "work files",
    "engine": "engine",
    "seed": "seed",
    "findings": "findings",
    "row_names": "row names",
    "rows_alone": "unmatched rows",
}

STANDINGS: dict[StandingCode, str] = {
    "slow": "slow",
    "slow_once": "slow once",
    "busy": "busy",
    "usual": "normal",
    "not_judged": "",
}

NEEDS: dict[NeedCode, str] = {
    "capacity": "capacity",
    "iops": "IOPS",
    "throughput": "throughput",
    "latency": "response time",
    "failure": "one failure",
    "layout": "smallest layout",
}

# What limits a sizing, in a sentence.
LIMITED: dict[NeedCode, str] = {**NEEDS, "failure": "surviving one failure"}

# Where a code is a cell of a table. None has other words in one vocabulary than in another, but those of repeats.
_VOCABULARIES: tuple[Mapping[Any, str], ...] = (
    FINDINGS,
    TRUST,
    ASPECTS,
    COMPARISONS,
    SERIALISATIONS,
    STATISTICS,
    DIFFERENCES,
    STANDINGS,
    NEEDS,
    COPY_METHODS,
    COPY_REMARKS,
    {"not_tested": "not tested", "device_or_limit": "device or limit", "not_shown": "not shown"},
    MAXIMA,
    KNEES,
    HELD,
    REFUSALS,
)


def words(code: str) -> str:
    """A code as people read it; one that has no other words is its own."""
    return next((vocabulary[code] for vocabulary in _VOCABULARIES if code in vocabulary), code)


def section(
    code: SectionCode,
    paragraphs: tuple[str, ...] = (),
    tables: tuple[Table, ...] = (),
    charts: tuple[Chart, ...] = (),
) -> Section:
    """A section under its usual heading."""
    return Section(code, SECTIONS[code], paragraphs, tables, charts)
