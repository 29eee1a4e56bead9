"""A cache inside the drive, the controller or the array answers part of the reads.

What it is: random reads whose times fall into two groups, of which the quick one is too quick for the medium.
Why it matters: the share of quick answers depends on how small the test is beside the cache; a database of another
size sees other figures.
How it shows: some random reads take a small fraction of the time of the others, most clearly on media that are never
that quick; or repeated reads of a small region are twice as quick as reads of the whole.
How to confirm: read single blocks again and again, and the whole of the data at random, in turns: a block that is
quick every time is cached. (A disk has to wait for a full rotation to read a block again.) On flash two groups may
also be two kinds of blocks, so there they are no more than a note until that is tested.
What to change: use ten times as much data as the cache, or the real working set; report both groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.device_io import DEVICE_SHARE
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.modes import modes
from iocast.analyse.statistics import bucket_shares
from iocast.diagnose.detectors.limits import credits
from iocast.diagnose.evidence import ARM_NS, has_an_arm, row_of, times_ratio
from iocast.diagnose.preconditions import (
    CLOSED_LOOP,
    NOT_SHORT_OF_CPU,
    ONLY_READS,
    PAST_THE_HOST,
    REAL_DEVICE,
    UNDER_NO_LIMIT,
    Only,
    at_least,
    meets,
    pairs_for,
    rows_for,
)
from iocast.diagnose.same_load import target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Uniform, Workload
from iocast.text import brief_percent, brief_time, capacity

NEEDS: tuple[str, ...] = ()
# Who waits for a limit of our own group forms a slow group.
# Who waits for a processor now and then forms a slow group, of the length of a time slice.
ONLY: Only = (PAST_THE_HOST, NOT_SHORT_OF_CPU, UNDER_NO_LIMIT)

CODE: FindingCode = "cache_in_the_storage"
FLOOR_NS = 500_000  # no disk reads at random below this (models C, 1b)
ENOUGH = 200  # reads, for a share of two in a hundred to be more than chance [J]
ENOUGH_FOR_A_SHARE = at_least(ENOUGH)
SHARE = 0.02  # of the reads
QUICK_ONES = 15  # for the emptiness beside them to be more than chance [J]
MISSES = 0.04  # at least; a few slow reads are stalls, neighbours or a processor that was away [J]
FEW = 5  # of an arm's: to have a middle [J]
GAP = 2.0  # from where nine tenths of the quick ones end to where nine tenths of the slow ones begin: a valley [J]
EMPTY, NARROW, STRETCHES = 0.5, 1.02, 8  # of the density of the quick group; its least width; per doubling [J]
APART = 4.0  # the slow group takes so many times as long as the quick one [J]
BASELINE = 1.1  # times the rate that is left when burst credits are spent [J]
SMALL = 8  # a region is small when it is so many times smaller than the other [J]
SPOTS, SPOT_S = 12, 0.25  # with a share of hits of a third, none of twelve blocks is held in one case of a hundred
TWICE = 0.5  # models C, 1b: what is held over cold reads; by the mean, since half of the cold ones may hit too


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of direct random reads with a quick and a slow group."""
    arm = has_an_arm(facts)
    for row in rows_for(facts, ONLY):
        if not _may_tell(row, arm=arm):
            continue
        if _host_answers(row):  # what memory answers forms a quick group
            continue
        groups = _groups(row, arm=arm)
        if groups is not None:
            yield _finding(row.record, *groups)
        elif not arm and (peaks := _flash_peaks(row)) is not None:
            yield _of_flash(row.record, *peaks)
    yield from _remembered(facts)


def _may_tell(row: RowFacts, *, arm: bool) -> bool:
    """Whether two groups of reads can only be hits and misses: of one read at a time, and where each read has to wait
    for an arm of any, beside writes and in a queue too."""
    load = row.workload
    if not isinstance(load.locality, Uniform):
        return False
    alone = meets(row, ONLY_READS) and row.measurement.asked_depth == 1
    return alone or (arm and any(item.op == "read" for item in load.mix))


def _host_answers(row: RowFacts) -> bool:
    """True when the devices were seen to deliver less than was read."""
    share = row.device_share_of_reads if meets(row, REAL_DEVICE) else None
    return share is not None and share < DEVICE_SHARE


def _remembered(facts: Facts) -> Iterator[Finding]:
    """A small region that is quicker than the whole, beyond what a shorter way of an arm explains."""
    # What reads at the baseline of a volume whose credits are spent is slow for that.
    spent = max((finding.evidence["after_per_s"] for finding in credits.detect(facts)), default=0.0)
    for one, other in pairs_for(facts, (ONLY_READS, PAST_THE_HOST, ENOUGH_FOR_A_SHARE), "region"):
        small, whole = sorted((one, other), key=lambda row: row.data_bytes)
        load = small.workload
        if not isinstance(load.locality, Uniform) or load.asked_depth != 1:
            continue
        if whole.measurement.rate_per_s < BASELINE * spent or not meets(whole, NOT_SHORT_OF_CPU):
            continue
        if small.data_bytes * SMALL > whole.data_bytes:
            continue
        small_ns, whole_ns = small.mean_ns, whole.mean_ns
        arm = whole_ns > ARM_NS and small.p50_ns > FLOOR_NS
        apart = times_ratio(whole, small)
        carried = (apart.ratio if apart.high is None else apart.high) < TWICE
        if small_ns < TWICE * whole_ns and carried and not arm and not _slower_since(facts, small, whole):
            yield _suggested(
                small.record,
                says=f"Repeated reads of {capacity(small.data_bytes)} took {brief_time(small_ns)}, reads of the whole"
                f" {brief_time(whole_ns)}.",
                evidence={"small_ns": small_ns, "whole_ns": whole_ns, "ratio": small_ns / whole_ns},
            )
            return


def _slower_since(facts: Facts, small: RowFacts, whole: RowFacts) -> bool:
    """Whether a rate fell for good between the two, and the same reads of as much data as the whole, or more, had been
    about as quick as those of the small region: then it is not the region that made these quick."""
    rows = facts.rows
    between = rows[rows.index(small) + 1 : rows.index(whole)]
    return any(row.drop is not None for row in between) and any(
        small.mean_ns > TWICE * other.mean_ns
        for pair in facts.pairs("region")
        for other in pair
        if small in pair and other.data_bytes >= whole.data_bytes and meets(other, ENOUGH_FOR_A_SHARE)
    )


def _groups(row: RowFacts, *, arm: bool) -> tuple[float, float, float] | None:
    """The share of reads below the floor, and the medians of both groups; None when there is one group only."""
    # Service, not response: with a rate, a wait for earlier I/Os is no second group of the storage's.
    taken = row.service("read")
    if taken.total < ENOUGH:
        return None
    quick, _ = bucket_shares(taken, (FLOOR_NS,))
    # The few slow ones beside hits are stalls or neighbours, but for an arm, which can only have missed.
    most = 1 - (FEW / taken.total if arm else MISSES)
    if not max(SHARE, QUICK_ONES / taken.total) <= quick <= most:
        return None
    low, high = taken.quantile_ns(quick / 2), taken.quantile_ns(quick + (1 - quick) / 2)
    ends, begins = taken.quantile_ns(0.9 * quick), taken.quantile_ns(quick + 0.1 * (1 - quick))
    apart = high >= APART * low and begins >= GAP * ends and _valley(taken, quick, low, high)
    return _by_peaks(row) or (quick, low, high) if apart else None


def _valley(taken: Histogram, quick: float, low_ns: float, high_ns: float) -> bool:
    """Whether a stretch between the groups, as wide as a doubling, is far emptier than the middle of the quick one.

    Any wide distribution can be cut at the floor: exponential times become ever denser towards their mean.
    """
    width = math.log(max(NARROW, taken.quantile_ns(0.75 * quick) / max(1.0, taken.quantile_ns(0.25 * quick))))
    steps = int(math.log2(high_ns / low_ns / GAP) * STRETCHES)
    starts = [low_ns * 2 ** (step / STRETCHES) for step in range(steps + 1)]
    upto = [bucket_shares(taken, (round(start), round(GAP * start))) for start in starts]
    return min(inside for _, inside, _ in upto) / math.log(GAP) < EMPTY * 0.5 * quick / width


def _by_peaks(row: RowFacts) -> tuple[float, float, float] | None:
    """The same by the peaks of the distribution, which charts and other findings name; None where it shows none."""
    peaks = row.modes if meets(row, ONLY_READS) else modes(row.response("read"))  # writes have peaks of their own
    quick = [mode for mode in peaks if mode.location_ns < FLOOR_NS]
    slow = [mode for mode in peaks if mode.location_ns >= FLOOR_NS]
    if not quick or not slow or not meets(row, CLOSED_LOOP):
        return None
    low, high = (max(some, key=lambda mode: mode.share).location_ns for some in (quick, slow))
    return sum(mode.share for mode in quick), low, high


def _flash_peaks(row: RowFacts) -> tuple[float, float, float] | None:
    """The same where the slow group too is quicker than any disk: exactly two peaks, far apart, neither of a few."""
    peaks = [mode for mode in row.modes if mode.share >= SHARE]
    if len(peaks) != 2 or row.service("read").total < ENOUGH or not meets(row, CLOSED_LOOP):
        return None
    low, high = peaks
    apart = high.location_ns >= APART * low.location_ns and high.location_ns < FLOOR_NS
    return (low.share, low.location_ns, high.location_ns) if apart and min(low.share, high.share) >= MISSES else None


def _of_flash(record: PhaseRecord, quick: float, low_ns: float, high_ns: float) -> Finding:
    """Two service times are known, their cause is not."""
    finding = _finding(record, quick, low_ns, high_ns)
    says = (
        f"{brief_percent(quick)} of the reads took about {brief_time(low_ns)}, {brief_percent(1 - quick)} about"
        f" {brief_time(high_ns)}: two service times, as of hits and misses of a cache in front of the flash."
    )
    return replace(finding, severity="note", says=says, confidence=0.5)


def _finding(record: PhaseRecord, quick: float, low_ns: float, high_ns: float) -> Finding:
    return _suggested(
        record,
        says=(
            f"{brief_percent(quick)} of the reads took about {brief_time(low_ns)}, the others about"
            f" {brief_time(high_ns)}."
        ),
        evidence={"quick_share": quick, "quick_ns": low_ns, "slow_ns": high_ns},
    )


def _suggested(record: PhaseRecord, says: str, evidence: dict[str, float]) -> Finding:
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=says,
        evidence=evidence,
        remedy="Test with ten times as much data as the cache, or with the real working set.",
        hypothesis="a cache inside the drive, the controller or the array answers part of the reads",
        confidence=0.7,
        confirm="read single blocks repeatedly beside cold random reads, and compare the means",
        state="suggested",
    )


def _held(finding: Finding) -> float:
    """Of what reads take, below which one is held: between the two groups, where they are known. A block that is read
    again on a disk needs no seek, and is quicker than the rest without any cache."""
    measured = finding.evidence
    return min(TWICE, math.sqrt(measured["quick_ns"] / measured["slow_ns"])) if "quick_ns" in measured else TWICE


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Single blocks again and again, against the whole: of what a cache holds some block is quick every time."""
    record = row_of(run, finding)
    size, room = record.phase.workload.mix[0].size_bytes, target_bytes(run)
    if room < 8 * SPOTS * size:
        return None
    reads = Workload(mix=(MixItem("read", size),))
    names = [f"one block ({number_} of {SPOTS})" for number_ in range(1, SPOTS + 1)]
    spots = [
        Arm(
            name=name,
            workload=reads,
            seconds=SPOT_S,
            region_start_bytes=(2 * at + 1) * room // (2 * SPOTS) // size * size,
            region_size_bytes=size,
        )
        for at, name in enumerate(names)
    ]
    return Experiment(
        question="Is any single block always quicker than random blocks of the whole?",
        arms=(Arm(name="everywhere", workload=reads, seconds=2.0), *spots),
        decision=Decision(
            statistic="mean",
            first="everywhere",
            other=names[0],
            or_others=tuple(names[1:]),
            limit=_held(finding),
            direction="below",
        ),
        if_confirmed="A cache, or a fast tier to which such blocks move, answers repeated reads.",
        if_rejected="No cache answers repeated reads: the quick ones have another cause.",
    )
