"""Codes: the stable names by which programs tell findings, sections, letters and verdicts apart; never shown as words.

A code never changes once it was released; the words for people (report/wording.py) may.
"""

from __future__ import annotations

from typing import Literal

FindingCode = Literal[
    # The measurement itself is at fault.
    "nothing_done",
    "end_of_file",
    "file_shrank",
    "errors",
    "short_ios",
    "hung",
    "stopped_by_errors",
    "interrupted",
    "writes_did_not_come_back",
    "memory_file_system",
    "memory_device",
    "faster_than_memory",
    "faster_than_the_link",
    "too_quick_for_a_device",
    "generator_did_not_run",
    "generator_bound",
    "several_peaks",
    "long_tail",
    "asynchronous_timing",
    "coarse_clock",
    # Something nearer than the medium answered.
    "cached_although_direct_was_claimed",
    "device_counters_stood_still",
    "page_cache",
    "memory_test",
    "cache_in_the_storage",
    "read_ahead",
    "tier_migration",
    "first_write_penalty",
    "elided_reads",
    "compression_or_deduplication",
    "short_stroke",
    "flushes_cost_nothing",
    # What capped the rate.
    "burst_credits",
    "write_cliff",
    "link_limit",
    "round_trip_floor",
    "serialised_direct_io",
    "too_few_in_flight",
    "throttle",
    "retrograde_scaling",
    "slow_region",
    "fresh_writes",
    # Other load on the same storage.
    "stalls",
    "shared_drives",
    "consolidation",
    "splitting",
    "misaligned",
    "maintenance",
    "rate_step",
    "cache_pollution",
    # Seen in the layers that were recorded beside the load.
    "cpu_starvation",
    "throttle_above_block_layer",
    "neighbour_on_device",
    "double_buffering",
    "late_statistics",
    "blocks_timed_as_reads",
]

# What must be known of copies of a file.
CopyRemarkCode = Literal[
    "content_differs",
    "way_refused",
    "reflinked",
    "copied_in_kernel",
    "not_cold",
    "not_warm",
    "sparse_source",
]

# Whose clock timed an I/O of a live watch, from the call down to the device.
ClockCode = Literal["system_call", "bio", "request", "driver"]

# I/O waits of Oracle.
WaitKindCode = Literal[
    "single_block", "log_write", "multi_block", "direct_read", "direct_read_temp", "direct_write_temp"
]

CountingEngine = Literal["duckdb", "spark"]  # who counts the rows of a trace
SeverityCode = Literal["note", "warn", "severe", "void"]

# Who says so: it only looks like it; it was counted, so nothing remains to be tested; an experiment decided.
StateCode = Literal["suggested", "counted", "confirmed", "rejected"]

# The questions asked of each row before anyone asks how fast it is.
TrustCode = Literal[
    "integrity", "steady", "precision", "representative", "load_achieved", "isolation", "anomalies", "hosts"
]

# What a letter is for. Those of 2012 have a letter for each `StatisticCode`.
AspectCode = Literal[
    "random_read",
    "commit",
    "scan",
    "scaling",
    "write_interference",
    "service_level",
    "random_read_8k",
    "sequential_read_1m",
    "write_1k",
    "write_128k",
]

StatisticCode = Literal["throughput", "mean", "p50", "p95", "p99"]

# "queue": a higher load was measured and gave more. "not_shown": the row is the highest of its ladder and still gained;
# "device_or_limit": the rate is level, and what was measured does not tell the device from a limit in front of it.
BoundCode = Literal[
    "generator", "kernel", "link", "queue", "not_shown", "device", "device_or_limit", "rate", "serialised", "unknown"
]

# What an experiment answers to its question.
VerdictCode = Literal["confirmed", "rejected", "undecided"]

# What a comparison of two sides says of one figure.
ComparisonCode = Literal[
    "equivalent", "different", "small_difference", "different_here", "inconclusive", "not_compared"
]

# Whether repeats of a row agree.
RepeatsCode = Literal["repeats", "incomplete", "inconclusive"]

# What a file system does with direct writes that come at the same time.
SerialisationCode = Literal["serialised", "parallel", "device_too_fast", "not_seen"]

# What a number of devices is needed for; "layout": nothing that was asked for needs more than the fewest there can be.
NeedCode = Literal["capacity", "iops", "throughput", "latency", "failure", "layout"]

# What may differ between two sides besides their results.
DifferenceCode = Literal[
    "measured_by",
    "target",
    "job",
    "host",
    "kernel",
    "processor",
    "memory",
    "virtualisation",
    "iocast",
    "file_system",
    "device",
    "firmware",
    "scheduler",
    "queue_depth",
    "write_cache",
    "link",
    "length",
    "region",
    "work_files",
    "engine",
    "seed",
    "findings",
    "row_names",
    "rows_alone",
]

# A host of a fleet: slower than its load explains, repeatedly or in one row of one run; slower than quiet hosts because
# of its load; normal; or too few hosts like it to judge.
StandingCode = Literal["slow", "slow_once", "busy", "usual", "not_judged"]

# The maxima of a calibration.
MaximumCode = Literal[
    "within_limit", "within_limit_mean", "closed_within_limit", "most_iops", "most_throughput", "single_process"
]

# Answers to where more load stops paying (models A6).
KneeCode = Literal["limit", "least_load", "max_power", "planning_cap", "latency_multiple", "saturation", "chord"]

# What a calibration does not say.
CalibrationRefusalCode = Literal[
    "idle_refused",
    "limit_below_idle",
    "few_ios",
    "not_saturated",
    "no_rates",
    "limit_not_reached",
    "limit_unsure",
    "no_streams",
    "rows_refused",
]

# Of a profile: how much is under way, what the time of a latency may be of, bands of latencies, parts of a response
# time, what is compared of two workloads, and in which respects a made load may be unlike its original.
ConcurrencyCode = Literal["mean", "p99", "most", "sessions", "gap_cv2"]
LikelyLayerCode = Literal[
    "host_cache", "fast_local_flash", "flash", "array_cache", "busy_flash_or_cloud", "fast_disk", "disk", "queueing"
]
LatencyBandCode = Literal["memory", "cache", "storage", "stalled"]
ResponsePartCode = Literal["cpu", "inside_calls", "unaccounted", "cut_off", "between_calls", "idle"]
WorkloadCode = Literal["events", "share", "size", "pattern", "rate", "in_flight", "sessions"]
DistanceCode = Literal[
    "rate", "operations", "sizes", "gaps", "dispersion", "in_flight", "sequential", "misses", "places"
]

# The layers between an application and the medium whose times are compared.
LayerCode = Literal[
    "client",
    "database",
    "read_call",
    "write_call",
    "sync_call",
    "bio_read",
    "bio_write",
    "bio_flush",
    "request_read",
    "request_write",
    "driver_read",
    "driver_write",
    "driver_flush",
    "run_queue",
    "nfs_queue",
    "nfs_round_trip",
]

# Which of them loses the time; "none": all are quick enough; "unknown": too little was seen.
LostTimeCode = Literal[
    "none",
    "unknown",
    "cpu",
    "throttle",
    "file_system",
    "device_queue",
    "device",
    "journal",
    "nfs_slots",
    "nfs_server",
    "engine",
    "client_path",
    "late_statistics",
    "lock",
    "log",
    "query",
]

# The three questions of ioh.
LayerQuestionCode = Literal["storage_slow", "network_or_client_slow", "file_system_slow"]

ReportCode = Literal[
    "card",
    "comparison",
    "repeats",
    "experiment",
    "listing",
    "verification",
    "trend",
    "fleet",
    "model",
    "size",
    "forecast",
    "calibration",
    "profile",
    "tape",
    "copy",
    "study",
]

SectionCode = Literal[
    # of a card
    "notes",
    "target",
    "source",
    "results",
    "hosts",
    "beside_database",
    "database",
    "matrix",
    "time",
    "devices",
    "grade",
    "trust",
    "findings",
    "tested",
    "bounds",
    "replay",
    "verification",
    "errors",
    "slowest",
    "family",
    "sizes_view",
    "device_view",
    "remarks",
    # of a comparison
    "differences",
    "latency",
    "percentiles",
    "relative",
    "repeats",
    "prices",
    # of a forecast
    "forecast",
    "headroom",
    "profile",
    "what_if",
    "basis",
    "open_rows",
    "arithmetic",
    # of a profile
    "workload",
    "arrivals",
    "sequentiality",
    "locality",
    "latencies",
    "targets",
    "phases",
    "response_time",
    # of a tape
    "layers",
    "events",
    "activity",
    "databases",
    "not_seen",
    # of a study
    "study",
    # of copies of a file
    "copies",
    "copy_remarks",
    # of others
    "experiment",
    "runs",
    "trend",
    "trend_row",
    "slow_hosts",
    "setting",
    "ranks",
    "law",
    "sizing",
    "calibration",
    "calibration_curve",
    "calibration_knees",
    "calibration_refusals",
]

BadgeCode = Literal["trust", "grade"]

# What a card comes to besides its letters and figures.
ConclusionCode = Literal["matrix", "diagnosis", "finding", "bottleneck"]


def code_of_old_name(name: str) -> str:
    """The code of what folders of version 1 call by its name: "serialised direct I/O" is "serialised_direct_io".

    Spaces and hyphens become underscores, other punctuation goes, all is lower case.
    """
    joined = name.lower().replace(" ", "_").replace("-", "_")
    return "".join(sign for sign in joined if sign.isalnum() or sign == "_")
