"""What detectors found and is not said: what another finding explains, and suspicions that a busy CPU raises too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iocast.analyse.facts import Facts
from iocast.diagnose.evidence import waited_for_a_processor
from iocast.model.finding import Finding

CAUSES = frozenset(
    {
        "cache_in_the_storage",
        "coarse_clock",
        "burst_credits",
        "elided_reads",
        "first_write_penalty",
        "maintenance",
        "shared_drives",
        "stalls",
        "throttle",
        "tier_migration",
        "write_cliff",
    }
)
ONLY_STEPS = ("stalls", "tier_migration", "write_cliff")  # explain nothing else
TOLD_FALLS = ("burst_credits", "maintenance", "shared_drives", "write_cliff")
HOLD_A_PART = ("cache_in_the_storage", "tier_migration", "elided_reads")  # what is read is quick in part
OF_FIRST_WRITES = ("shared_drives", "write_cliff", "compression_or_deduplication")  # what such writes look like
AS_LONG = 1.5  # times the longest stall of other rows [J]
PASSES, LONGER = 3.0, 1.2  # over the blocks of a row; times the p50: neither is that of first writes [J]
UNEVEN = 0.2  # scatter of a rate over its mean: no level that is left when something is full [J]
MISSES = 4.0  # times the slow group of reads: as long as that some of them take, and no stall [J]
SLICES_NS = 150_000_000  # stalls up to here are those of a throttle, which works in slices of 100 ms [J]
BASELINE = 0.05  # a suspected limit so near to what spent credits leave is that [J]
STEPS_APART = 4.0  # of a coarse clock: peaks that are further apart have another cause as well [J]

Rates = Mapping[str, tuple[float, float]]  # of each row by name: I/Os and bytes a second


def worth_saying(facts: Facts, found: Sequence[Finding]) -> list[Finding]:
    """One explanation for each thing that was seen, and no suspicion by times that were spent waiting for a CPU."""
    others = [each for each in found if each.code in CAUSES and each.state != "rejected"]
    writing = frozenset(row.name for row in facts.rows if row.workload.writes)
    rates = {row.name: (row.measurement.rate_per_s, row.measurement.bytes_per_s) for row in facts.rows}
    busy = frozenset(busy_rows(facts)) if any(each.state == "suggested" for each in found) else frozenset()
    return [
        each
        for each in found
        if not (each.state == "suggested" and each.phase in busy)
        and not any(_explains(other, each, writing, rates) for other in others)
    ]


def _explains(cause: Finding, seen: Finding, writing: frozenset[str], rates: Rates) -> bool:
    """Peaks are hits and misses of a cache, or the ticks of a clock; quick and slow reads, or a rate that varied, those
    before a fall and after; a write rate that varied, or fell, that of blocks which were written before or not.
    """
    if seen.code == "rate_step":
        return _explains_a_step(cause, seen, writing)
    if cause.code in ONLY_STEPS:
        return False
    if cause.code == "first_write_penalty":
        alike = seen.phase in writing and seen.code in OF_FIRST_WRITES and not _of_second_writes(seen)
        return seen.state == "suggested" and alike
    if cause.code == "elided_reads":  # in any row that meets such blocks
        return cause.certain and seen.state == "suggested" and seen.code == "cache_in_the_storage"
    if cause.code == "burst_credits" and seen.code == "first_write_penalty":  # those after the fall are the slow ones
        return seen.state == "suggested" and cause.phase == seen.phase
    if cause.code == "burst_credits" and seen.code in ("throttle", "write_cliff"):
        return seen.state == "suggested" and _at_the_baseline(cause, seen, rates)
    if cause.code == "maintenance":  # the rate came back while the load went on
        alike = cause.phase == seen.phase and seen.state == "suggested"
        return alike and seen.code in ("write_cliff", "burst_credits")
    if cause.code == "shared_drives":  # what is left beside others is no level, a wait for them not the write's own
        uneven = seen.code == "write_cliff" and seen.evidence.get("constant", 0.0) > UNEVEN
        waited = seen.code == "first_write_penalty" and cause.certain and cause.phase == seen.phase
        return seen.state == "suggested" and (uneven or waited)
    if cause.phase not in ("", seen.phase):
        return False
    if cause.code == "cache_in_the_storage":
        return cause.phase == seen.phase and _missed(cause, seen)
    if cause.code == "throttle":
        return _throttled(cause, seen)
    if cause.code == "coarse_clock":
        ticks = STEPS_APART * cause.evidence["step_ns"]
        return seen.code == "several_peaks" and seen.evidence["widest_gap_ns"] <= ticks
    if cause.code == "burst_credits" and seen.code in ("several_peaks", "stalls"):
        turn_ns = MISSES * cause.evidence.get("turn_ns", 0.0)
        return seen.code == "several_peaks" or seen.evidence["longest_ns"] <= turn_ns
    return seen.state == "suggested" and seen.code in ("cache_in_the_storage", "shared_drives")


def _of_second_writes(seen: Finding) -> bool:
    """Whether most of the unique data were written to blocks that the same row had written before, and took longer."""
    figures = seen.evidence
    return figures.get("passes", 0.0) >= PASSES and figures.get("p50_ratio", 0.0) >= LONGER


def _explains_a_step(cause: Finding, step: Finding, writing: frozenset[str]) -> bool:
    """Whether a rate that changed within a row is told already, as a fall or a slow time of that row; or comes of what
    a cache or a tier held, or of first writes."""
    if cause.code in TOLD_FALLS:
        return cause.phase == step.phase
    if cause.code == "stalls":  # of another row: here it reached beyond an end
        return step.evidence["lost_ns"] <= AS_LONG * cause.evidence["longest_ns"]
    return cause.code in HOLD_A_PART or (cause.code == "first_write_penalty" and step.phase in writing)


def _at_the_baseline(credits: Finding, level: Finding, rates: Rates) -> bool:
    """Whether a suspected rate limit, or what writes fell to, is what spent credits leave."""
    per_s, bytes_per_s = rates.get(level.phase, (0.0, 0.0))
    per_s = level.evidence.get("after_per_s", per_s)  # to which writes fell
    bytes_per_s = level.evidence.get("after_bytes_per_s", bytes_per_s)
    left, left_bytes = credits.evidence["after_per_s"], credits.evidence.get("baseline_bytes_per_s")
    got, leaves = (per_s, left) if left_bytes is None else (bytes_per_s, left_bytes)
    return abs(got / leaves - 1) <= BASELINE


def _missed(cause: Finding, seen: Finding) -> bool:
    """Peaks that are hits and misses, or misses that only look like stalls beside the hits."""
    slow_ns = cause.evidence.get("slow_ns", 0.0)
    return seen.code == "several_peaks" or (seen.code == "stalls" and seen.evidence["longest_ns"] <= MISSES * slow_ns)


def _throttled(cause: Finding, seen: Finding) -> bool:
    """I/Os that stood still, or formed a slow group, because a limit of our own cgroup held them back."""
    if "limit" not in cause.evidence or cause.phase != seen.phase:
        return False
    return seen.code == "several_peaks" or (seen.code == "stalls" and seen.evidence["longest_ns"] <= SLICES_NS)


def busy_rows(facts: Facts) -> tuple[str, ...]:
    """Rows that were measured here while next to no CPU time was left: no suspicion is raised on them."""
    return tuple(row.name for row in facts.rows if waited_for_a_processor(row))
