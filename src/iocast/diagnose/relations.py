"""How findings relate, in tables: which explains which, which could explain the same, which spoils a row for others.

One explanation is told for each thing that was seen. A rival is another explanation that was not ruled out: confirmed,
it makes the finding half as likely. A row that something beside the load disturbed is no measure for others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.preconditions import NOT_SHORT_OF_CPU, meets
from iocast.model.codes import FindingCode, TrustCode
from iocast.model.finding import Finding
from iocast.model.workload import Sequential

AS_LONG = 1.5  # times the longest stall of other rows [J]
PASSES, LONGER = 3.0, 1.2  # over the blocks of a row; times the p50: neither is that of first writes [J]
UNEVEN = 0.2  # scatter of a rate over its mean: no level that is left when something is full [J]
MISSES = 4.0  # times the slow group of reads: as long as that some of them take, and no stall [J]
SLICES_NS = 150_000_000  # stalls up to here are those of a throttle, which works in slices of 100 ms [J]
BASELINE = 0.05  # a suspected limit so near to what spent credits leave is that [J]
AS_QUICK = 1.25  # times: less apart are reads of the same storage from row to row [J]
STEPS_APART = 4.0  # of a coarse clock: peaks that are further apart have another cause as well [J]


# What a named experiment is about: its rows show that on purpose, which costs its answer no trust.
SUBJECTS: Mapping[str, frozenset[FindingCode | TrustCode]] = {
    "cache": frozenset(("page_cache", "memory_test", "cache_in_the_storage", "representative")),
    "cold-warm": frozenset(("page_cache", "memory_test", "representative")),
    "read-ahead": frozenset(("read_ahead", "page_cache", "representative")),
    "request-size": frozenset(("splitting", "consolidation")),
    "working-set": frozenset(("short_stroke", "cache_in_the_storage")),
    "first-write": frozenset(("first_write_penalty", "fresh_writes", "representative")),
    "holes": frozenset(("elided_reads", "device_counters_stood_still", "representative")),
    "payload": frozenset(("compression_or_deduplication", "representative")),
    "dio-matrix": frozenset(("serialised_direct_io",)),
    "zones": frozenset(("slow_region",)),
    "probe": frozenset(("shared_drives",)),
}


class Both(NamedTuple):
    """What may explain, what is explained, and the row of that; None where it is of the whole run."""

    cause: Finding
    effect: Finding
    row: RowFacts | None


Condition = Callable[[Both], bool]


def same_row(both: Both) -> bool:
    return both.cause.phase == both.effect.phase


def its_rows(both: Both) -> bool:
    """The cause is of that row, or of the whole run."""
    return both.cause.phase in ("", both.effect.phase)


def suspected(both: Both) -> bool:
    return both.effect.state == "suggested"


def certain_cause(both: Both) -> bool:
    return both.cause.certain


def of_writes(both: Both) -> bool:
    return both.row is not None and bool(both.row.workload.writes)


def of_first_writes(both: Both) -> bool:
    """Not where most of the unique data went to blocks that the same row had written before, and took longer."""
    figures = both.effect.evidence
    return figures.get("passes", 0.0) < PASSES or figures.get("p50_ratio", 0.0) < LONGER


def lost_in_a_stall(both: Both) -> bool:
    """A stall of another row costs as much: here it reached beyond an end."""
    return both.effect.evidence["lost_ns"] <= AS_LONG * both.cause.evidence["longest_ns"]


def at_the_baseline(both: Both) -> bool:
    """A suspected rate limit, or what writes fell to, is what spent credits leave."""
    credits, did = both.cause.evidence, None if both.row is None else both.row.measurement
    unit = "per_s" if "baseline_bytes_per_s" not in credits else "bytes_per_s"
    leaves = credits["after_per_s" if unit == "per_s" else "baseline_bytes_per_s"]
    went = 0.0 if did is None else did.rate_per_s if unit == "per_s" else did.bytes_per_s
    return abs(both.effect.evidence.get(f"after_{unit}", went) / leaves - 1) <= BASELINE


def no_level(both: Both) -> bool:
    """What is left beside others is uneven."""
    return both.effect.evidence.get("constant", 0.0) > UNEVEN


def as_long_as_a_miss(both: Both) -> bool:
    return both.effect.evidence["longest_ns"] <= MISSES * both.cause.evidence.get("slow_ns", 0.0)


def as_long_as_a_turn(both: Both) -> bool:
    return both.effect.evidence["longest_ns"] <= MISSES * both.cause.evidence.get("turn_ns", 0.0)


def known_limit(both: Both) -> bool:
    """A limit of our own control group held the I/Os of this row back."""
    return "limit" in both.cause.evidence


def within_slices(both: Both) -> bool:
    return both.effect.evidence["longest_ns"] <= SLICES_NS


def steps_of_the_clock(both: Both) -> bool:
    return both.effect.evidence["widest_gap_ns"] <= STEPS_APART * both.cause.evidence["step_ns"]


def no_quicker_than_elsewhere(both: Both) -> bool:
    """Repeated reads take what reads beside the slow place take: a cache would make them quicker than these."""
    repeated_ns = both.effect.evidence.get("small_ns", 0.0)
    return repeated_ns * AS_QUICK >= both.cause.evidence.get("elsewhere_ns", math.inf)


def passed_through(both: Both) -> bool:
    """A sequential row, which reaches the slow place at some moment."""
    return both.row is not None and isinstance(both.row.workload.locality, Sequential)


class Explains(NamedTuple):
    """A finding that is not rejected explains others where all of this holds: these are not told then."""

    cause: FindingCode
    effects: tuple[FindingCode, ...]
    when: tuple[Condition, ...] = ()


EXPLAINS: tuple[Explains, ...] = (
    # A rate that changed within a row is told already, as a fall or a slow time of that row; or comes of what a cache
    # or a tier held, of first writes, of a stall at an end.
    Explains("burst_credits", ("rate_step",), (same_row,)),
    Explains("maintenance", ("rate_step",), (same_row,)),
    Explains("shared_drives", ("rate_step",), (same_row,)),
    Explains("write_cliff", ("rate_step",), (same_row,)),
    Explains("stalls", ("rate_step",), (lost_in_a_stall,)),
    Explains("cache_in_the_storage", ("rate_step",)),
    Explains("tier_migration", ("rate_step",)),
    Explains("elided_reads", ("rate_step",)),
    Explains("first_write_penalty", ("rate_step",), (of_writes,)),
    # A write rate that varied, or fell, is that of blocks which were written before or not.
    Explains(
        "first_write_penalty",
        ("shared_drives", "write_cliff", "compression_or_deduplication"),
        (suspected, of_writes, of_first_writes),
    ),
    # In any row that meets such blocks: a cache answers none of them, and what is stored by now takes longer.
    Explains("elided_reads", ("cache_in_the_storage", "fresh_writes"), (suspected, certain_cause)),
    Explains("burst_credits", ("first_write_penalty",), (suspected, same_row)),  # those after the fall are slow
    Explains("burst_credits", ("throttle", "write_cliff"), (suspected, at_the_baseline)),
    Explains("burst_credits", ("cache_in_the_storage", "shared_drives"), (suspected, its_rows)),
    Explains("maintenance", ("write_cliff", "burst_credits"), (suspected, same_row)),  # the rate came back
    Explains("shared_drives", ("write_cliff",), (suspected, no_level)),
    Explains("shared_drives", ("first_write_penalty",), (suspected, certain_cause, same_row)),  # a wait for others
    # Peaks are hits and misses of a cache, what a limit let pass and what it held, the ticks of a clock, quick and slow
    # reads before a fall and after; and the slower of them are no stalls.
    Explains("cache_in_the_storage", ("several_peaks",), (same_row,)),
    Explains("cache_in_the_storage", ("stalls",), (same_row, as_long_as_a_miss)),
    Explains("throttle", ("several_peaks",), (same_row, known_limit)),
    Explains("throttle", ("stalls",), (same_row, known_limit, within_slices)),
    # Under a limit of our own the rate goes as that does, and falls or rises where somebody changes it.
    Explains(
        "throttle",
        ("burst_credits", "rate_step", "maintenance", "write_cliff", "shared_drives"),
        (same_row, known_limit),
    ),
    Explains("coarse_clock", ("several_peaks",), (its_rows, steps_of_the_clock)),
    Explains("burst_credits", ("several_peaks",), (its_rows,)),
    # A slow place: reads at random meet it now and then, sequential ones all at once.
    Explains("slow_region", ("several_peaks", "long_tail"), (same_row,)),
    Explains("slow_region", ("several_peaks", "long_tail"), (certain_cause,)),
    Explains("fresh_writes", ("slow_region", "several_peaks"), (certain_cause,)),
    Explains("slow_region", ("cache_in_the_storage",), (suspected, same_row)),
    Explains("slow_region", ("cache_in_the_storage",), (suspected, certain_cause, no_quicker_than_elsewhere)),
    Explains("slow_region", ("stalls",), (same_row, as_long_as_a_miss)),
    Explains("slow_region", ("rate_step",), (passed_through,)),
    Explains("slow_region", ("maintenance", "burst_credits", "shared_drives"), (suspected, passed_through)),
    Explains("burst_credits", ("stalls",), (its_rows, as_long_as_a_turn)),
)


class Rivals(NamedTuple):
    """Other findings that would explain the same as a suspicion; of those with this figure in their evidence only."""

    code: FindingCode
    others: tuple[FindingCode, ...]
    figure: str = ""


RIVALS: tuple[Rivals, ...] = (
    Rivals("throttle", ("link_limit", "serialised_direct_io")),
    Rivals("link_limit", ("throttle",)),
    Rivals("serialised_direct_io", ("generator_bound",), "device_queue"),
    Rivals("serialised_direct_io", ("throttle",)),
    Rivals("burst_credits", ("throttle",)),
    Rivals("write_cliff", ("burst_credits", "throttle")),
    Rivals("retrograde_scaling", ("shared_drives",)),
    Rivals("cache_in_the_storage", ("tier_migration", "read_ahead", "elided_reads", "fresh_writes")),
    Rivals("tier_migration", ("cache_in_the_storage", "read_ahead", "elided_reads", "maintenance", "shared_drives")),
    Rivals("elided_reads", ("cache_in_the_storage", "tier_migration", "fresh_writes")),
    Rivals("read_ahead", ("cache_in_the_storage", "tier_migration")),
    Rivals("slow_region", ("fresh_writes", "cache_in_the_storage")),
    # Beside what a cache or a hole answers, what was just written looks slow.
    Rivals("fresh_writes", ("slow_region", "cache_in_the_storage", "elided_reads")),
    Rivals("maintenance", ("shared_drives",)),
    Rivals("shared_drives", ("maintenance", "stalls")),
    Rivals("cache_pollution", ("shared_drives", "maintenance", "write_cliff")),
    Rivals("asynchronous_timing", ("too_few_in_flight",)),
)


BY_PLACE: frozenset[FindingCode] = frozenset({"slow_region", "fresh_writes"})  # waits for a CPU happen anywhere


class Disturbs(NamedTuple):
    """A row that met it is no measure for others: in a word, and the figure that says for how long, in ns."""

    brief: str
    lasted: str = ""


DISTURBED: dict[FindingCode, Disturbs] = {
    "shared_drives": Disturbs("other I/O"),
    "maintenance": Disturbs("maintenance"),
    "stalls": Disturbs("stalled", "stalled_ns"),
    "generator_did_not_run": Disturbs("the test stood still", "absent_ns"),
}
STALLED_BRIEF = DISTURBED["stalls"].brief
# What limits a row is an answer, and no state that would keep it from one.
ANSWERS: frozenset[FindingCode] = frozenset(
    {"throttle", "burst_credits", "link_limit", "serialised_direct_io", "retrograde_scaling", "generator_bound"}
)
CAPS: frozenset[FindingCode] = frozenset({"throttle"})  # one for all rows that go at its rate
# Notes that may be all of a difference between two runs: what answered, what capped the rate, and what else there was
# to do. Of others, which tell how times are spread, a comparison shows the times.
WEIGHTY_NOTES: frozenset[FindingCode] = (ANSWERS - {"retrograde_scaling", "generator_bound"}) | {
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
    "write_cliff",
    "stalls",
    "shared_drives",
    "consolidation",
    "splitting",
    "misaligned",
    "maintenance",
    "cache_pollution",
}


def with_rivals(finding: Finding) -> Finding:
    """The same, with what else would explain what it suspects."""
    if finding.state != "suggested":
        return finding
    fits = (each for each in RIVALS if each.code == finding.code and each.figure in ("", *finding.evidence))
    rival = next(fits, None)
    return finding if rival is None else replace(finding, rivals=rival.others)


def not_suppressed(facts: Facts, findings: Sequence[Finding]) -> list[Finding]:
    """One explanation for each thing that was seen, and no suspicion by times that were spent waiting for a CPU."""
    rows = {row.name: row for row in facts.rows}
    busy = frozenset(busy_rows(facts)) if any(each.state == "suggested" for each in findings) else frozenset()
    return [
        each
        for each in findings
        if not (each.state == "suggested" and each.phase in busy and each.code not in BY_PLACE)
        and not any(_explains(cause, each, rows.get(each.phase)) for cause in findings if cause.state != "rejected")
    ]


def _explains(cause: Finding, finding: Finding, row: RowFacts | None) -> bool:
    both = Both(cause, finding, row)
    return any(
        each.cause == cause.code and finding.code in each.effects and all(holds(both) for holds in each.when)
        for each in EXPLAINS
    )


def busy_rows(facts: Facts) -> tuple[str, ...]:
    """Rows that were measured here while next to no CPU time was left: no suspicion is raised on them."""
    return tuple(row.name for row in facts.rows if not meets(row, NOT_SHORT_OF_CPU))


def stalls_among(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those that say of a row that I/O stalled, and were not rejected."""
    return (each for each in findings if each.code == "stalls" and each.state != "rejected" and each.phase)
