"""A part of the data is slower than the rest: the place decides, not the time.

What it is: a stretch of the target on which the same I/O takes longer: remapped or failing blocks, an outer or inner
zone of a disk, a slower drive or tier below a part of a volume, blocks that a cache in front does not hold.
Why it matters: how fast a database is depends on which of its files lie there; an average over the whole describes
neither part, and a sequential row that reaches it looks as if the storage had become slower.
How it shows: the slowest reads of a row at random places lie close together, closer than chance puts them once in a
million rows. Slow times put them anywhere, and so do caches that hold single blocks; a disk's long seeks put them at
both ends.
How to confirm: the same reads within that stretch and within one of the same length elsewhere, in turns. After a
run that wrote, the other one is written first: if what was written last is slow, that one is slow now.
What to change: look at the error counters of the drive (`smartctl -x`), at what lies below that part of the volume
(`lvs -o +devices`, `mdadm --detail`); keep logs and hot files off it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import region
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    MEASURED_HERE,
    PAST_THE_HOST,
    Only,
    at_least,
    rows_for,
)
from iocast.diagnose.same_load import target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.measurement import SlowIo
from iocast.model.run import Run
from iocast.model.workload import MixItem, Sequential, Uniform, Workload
from iocast.text import brief_percent, brief_time, capacity

NEEDS: tuple[str, ...] = ()
# Who waits for a processor, or for a limit of our own group, waits at any place.
ONLY: Only = (MEASURED_HERE, PAST_THE_HOST, at_least(200))

CODE: FindingCode = "slow_region"
TWICE = 2.0  # what reads take elsewhere: what is nearer to it is no slow place [J]
NUMBERS = (8, 16, 32, 64)  # of slowest reads that are looked at; few slow places are lost among many slow times [J]
MOST_OF_THEM = 0.8  # lie there: of the long seeks of a disk, half lie at either end [J]
BY_CHANCE = 1e-6  # in a row; a run has tens of them [J]
SLOWER = 1.5  # than elsewhere, at least [J]
WRITTEN_BYTES = 1 << 20
FEWEST_BLOCKS = 16  # of a stretch, for reads at random within it [J]


class Stretch(NamedTuple):
    """Where slow reads lie, from byte to byte of their file: how many of how many, in what share of the data, and how
    likely that is by chance."""

    start_bytes: int
    end_bytes: int
    within: int
    slow: int
    share: float
    by_chance: float


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that read at random places, and whose slowest reads lie close together."""
    for row, stretch in slow_stretches(facts):
        yield _finding(row, stretch)


def slow_stretches(facts: Facts) -> Iterator[tuple[RowFacts, Stretch]]:
    """Where reads at random places were much slower than elsewhere, of each row that shows it."""
    for row in rows_for(facts, ONLY):
        if isinstance(row.workload.locality, Uniform) and any(item.op == "read" for item in row.workload.mix):
            stretch = _stretch(row)
            if stretch is None:
                continue
            there_ns, elsewhere_ns = _medians_ns(row, stretch)
            if there_ns > TWICE * elsewhere_ns:
                yield row, stretch


def _stretch(row: RowFacts) -> Stretch | None:
    """Where the slowest reads of a row lie, if that is no chance."""
    slowest = [each for each in row.measurement.slow if each.op == "read"]  # slowest first
    closest = [_closest(row, slowest[:number]) for number in NUMBERS if number <= len(slowest)]
    best = min((each for each in closest if each is not None), key=lambda each: each.by_chance, default=None)
    return best if best is not None and best.by_chance * len(NUMBERS) <= BY_CHANCE else None


def _closest(row: RowFacts, slow: Sequence[SlowIo]) -> Stretch | None:
    """The least likely stretch that holds most of these; None where they are of several files."""
    file = Counter(each.file for each in slow).most_common(1)[0][0]
    places = sorted((each.offset_bytes, each.offset_bytes + each.size_bytes) for each in slow if each.file == file)
    least, size = math.ceil(MOST_OF_THEM * len(slow)), region(row.record)[1]
    stretches = [
        (_chance(len(slow), last - at + 1, (end - first) / max(1, size)), first, end)
        for at, (first, _) in enumerate(places)
        for last, (_, end) in enumerate(places[at + least - 1 :], at + least - 1)
    ]
    if not stretches:
        return None
    chance, first, end = min(stretches)
    within = sum(first <= offset < end for offset, _ in places)
    return Stretch(first, end, within, len(slow), (end - first) / max(1, size), chance)


def _chance(places: int, within: int, share: float) -> float:
    """An upper bound of the probability that `within` or more of `places` random places lie in some stretch of this
    share: Chernoff's bound of the binomial tail, times the number of stretches and of sizes that were tried."""
    others, hits = places - 1, (within - 1) / (places - 1)
    if hits <= share:
        return 1.0
    apart = hits * math.log(hits / share)
    if hits < 1:
        apart += (1 - hits) * math.log((1 - hits) / (1 - share))
    return min(1.0, places * places * math.exp(-others * apart))


def _medians_ns(row: RowFacts, stretch: Stretch) -> tuple[float, float]:
    """There and elsewhere: of the slowest part of all reads, as large as the stretch's share of the data, and of the
    rest."""
    reads = row.service("read")
    return reads.quantile_ns(1 - stretch.share / 2), reads.quantile_ns((1 - stretch.share) / 2)


def _finding(row: RowFacts, stretch: Stretch) -> Finding:
    there_ns, elsewhere_ns = _medians_ns(row, stretch)
    return Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=(
            f"{stretch.within} of the {stretch.slow} slowest reads lie within"
            f" {capacity(stretch.end_bytes - stretch.start_bytes)} ({brief_percent(stretch.share)} of the data), from"
            f" {capacity(stretch.start_bytes)} to {capacity(stretch.end_bytes)}: about {brief_time(there_ns)}"
            f" there, {brief_time(elsewhere_ns)} elsewhere."
        ),
        evidence={
            "start_bytes": float(stretch.start_bytes),
            "end_bytes": float(stretch.end_bytes),
            "slow_ns": there_ns,
            "elsewhere_ns": elsewhere_ns,
            "by_chance": stretch.by_chance,
        },
        remedy=(
            "Look at the drive's error counters (`smartctl -x`) and at what lies below that part of the volume;"
            " keep logs and hot files off it."
        ),
        hypothesis="a part of the data is slower than the rest, whenever it is read",
        confidence=0.8,
        confirm="read within it and within a stretch of the same length elsewhere, in turns",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The same reads there and elsewhere; None where there is no room for both. What the run wrote last may be the slow
    part: after a run that wrote, the other one is written first."""
    size = max(item.size_bytes for item in row_of(run, finding).phase.workload.mix if item.op == "read")
    start, end = (int(finding.evidence[name]) // size * size for name in ("start_bytes", "end_bytes"))
    room = target_bytes(run)
    before, after = start, room - end
    length = min(end - start, max(before, after)) // size * size
    if length < FEWEST_BLOCKS * size:
        return None
    there = Arm(
        name="there",
        workload=Workload(mix=(MixItem("read", size),)),
        region_start_bytes=start + (end - start - length) // 2 // size * size,
        region_size_bytes=length,
    )
    at = (before - length) // 2 if before >= after else end + (after - length) // 2
    elsewhere = replace(there, name="elsewhere", region_start_bytes=at // size * size)
    writes = Workload(mix=(MixItem("write", WRITTEN_BYTES),), locality=Sequential(), depth=4)
    written = replace(elsewhere, name="writing", workload=writes, seconds=10.0, bytes=length, measured=False)
    wrote = any(record.phase.workload.writes for record in run.phases) and length >= WRITTEN_BYTES
    return Experiment(
        question=f"Do reads from {capacity(start)} to {capacity(end)} take longer than reads of as much elsewhere?",
        prepare=(written,) if wrote else (),
        arms=(elsewhere, there),
        decision=Decision(statistic="mean", first="elsewhere", other="there", limit=SLOWER, direction="above"),
        if_confirmed="It is the place: reads there take {ratio} times as long, whenever they are done.",
        if_rejected="It is not the place: the slow reads were slow for another cause, or had been written last.",
    )
