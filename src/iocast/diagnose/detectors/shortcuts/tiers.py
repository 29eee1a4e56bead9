"""Hot data move to a faster tier.

What it is: an array, or a hybrid drive, that keeps hot data on flash and the rest on disks.
Why it matters: a test that goes over the same blocks again and again becomes faster than any database that does not;
what production sees depends on what was hot last night.
How it shows: repeated passes over the same blocks become faster and faster; untouched blocks do not. Or one row of
random reads becomes faster all the time, from its first fifth to its last, and not in one step: then something ended.
Or random reads at a higher load, later in the run, take less than half the time of those at a lower one.
How to confirm: repeated passes over fresh blocks; a cache is quick from the second pass on, a tier later.
What to change: run the working set for as long as the tiering policy needs (hours, days) before measuring, and test
cold data as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import fmean, geometric_mean

from msgspec.structs import replace

from iocast.analyse.changepoint import sharpest
from iocast.analyse.comparison import ab_ratio
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.ladder import Curve
from iocast.analyse.states import apart
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ALONE,
    CLOSED_LOOP,
    MEASURED_HERE,
    NOT_SHORT_OF_CPU,
    ONLY_READS,
    PAST_THE_HOST,
    Only,
    at_least,
    meets,
    rows_for,
)
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import Constant, Hotspot, MixItem, Stride, Uniform, Workload, Zipf
from iocast.text import brief_time, load, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONLY_READS, PAST_THE_HOST, NOT_SHORT_OF_CPU)

CODE: FindingCode = "tier_migration"
PASSES = 4  # models C, 7
HALVED, OVER_WAKING_NS = 0.5, 200_000  # of the time at a lower load; a processor that must wake costs less [J]
FALLS = 0.7  # models C, 7: hot over untouched
ENOUGH = at_least(30)  # a pass [J]
STEP_BYTES = 1 << 20
TRIED = 6
MOST_ROUNDS = 6
RAMP_INTERVALS, PARTS, STILL = 20, 5, 1.03  # of a row; and how much slower a fifth may be than the one before it [J]
OF_A_STEP, LEAST_SIDE = 0.2, 4  # of a step may lie beside it; intervals of which a half says something [J]
WAITS_S = 5.0  # a run whose passes took longer is repeated with as long a wait between them [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that went over the same blocks at least four times, and were faster at the end than the second time."""
    for passes in facts.groups:
        if len(passes) < PASSES or not all(meets(each, *ONLY, ENOUGH) for each in passes):
            continue
        second, last = passes[1].p50_ns, fmean(each.p50_ns for each in passes[-2:])
        if last < FALLS * second:
            yield _finding(passes, second, last)
    for row in rows_for(facts, (*ONLY, MEASURED_HERE, CLOSED_LOOP, ALONE)):
        yield from _ramp(row)
    for curve in facts.random_curves("read"):
        yield from _quicker_with_more(facts, curve)


def _ramp(row: RowFacts) -> Iterator[Finding]:
    """A row of reads at random whose times fell from fifth to fifth, and not in one step."""
    series = row.record.series
    if not isinstance(row.workload.locality, Uniform | Zipf | Hotspot) or len(series.ios) < RAMP_INTERVALS:
        return
    times, size = series.responses_ns, len(series.ios) // PARTS
    parts = [times[at * size : (at + 1) * size] for at in range(PARTS - 1)] + [times[(PARTS - 1) * size :]]
    middles = [geometric_mean(part) for part in parts]
    falling = all(after <= STILL * before for before, after in pairwise(middles))
    apart = ab_ratio(parts[0], parts[-1])
    if not falling or apart.high is None or apart.high >= FALLS:
        return
    if _in_one_step(times):
        return
    first_ns, last_ns = middles[0], middles[-1]
    yield Finding(
        code=CODE,
        severity="warn",
        phase=row.name,
        says=f"The reads became faster all through the row: {brief_time(first_ns)} on average in its first fifth,"
        f" {brief_time(last_ns)} in its last.",
        evidence={"first_ns": first_ns, "last_ns": last_ns, "ratio": apart.ratio},
        remedy="Run the working set for as long as the tiering policy needs before measuring; test cold data as well.",
        hypothesis="hot data move to a faster tier, or a cache fills",
        confidence=0.5,
        confirm=f"{number(TRIED)} passes over fresh blocks: a cache is quick from the second on, a tier later",
        state="suggested",
    )


def _quicker_with_more(facts: Facts, curve: Curve) -> Iterator[Finding]:
    """Random reads that take far less time at a higher load, later in the run: more load makes no storage faster."""
    rows = [row for row in map(facts.row, curve.rows) if meets(row, *ONLY, ENOUGH)]
    # That a ladder is not of one state is what a tier explains.
    out = {name for name, why in apart(facts).items() if why.how != "ladder"}
    rows = [row for row in rows if row.name not in out]
    if len(rows) < 2:
        return
    first, last = rows[0], rows[-1]
    gained_ns = first.mean_ns - last.mean_ns
    if last.mean_ns > HALVED * first.mean_ns or gained_ns < OVER_WAKING_NS or not _in_order(facts, first, last):
        return
    loads = [load(row.record.plan.users, row.record.plan.depth) for row in (first, last)]
    yield Finding(
        code=CODE,
        severity="warn",
        phase=last.name,
        says=f"Random reads became faster while the load rose: {brief_time(first.mean_ns)} on average at {loads[0]},"
        f" {brief_time(last.mean_ns)} at {loads[1]}; more load makes no storage faster.",
        evidence={"first_ns": first.mean_ns, "last_ns": last.mean_ns, "ratio": last.mean_ns / first.mean_ns},
        remedy="Run the working set for as long as the tiering policy needs before measuring; test cold data as well.",
        hypothesis="hot data move to a faster tier, or a cache fills",
        confidence=0.5,
        confirm=f"{number(TRIED)} passes over fresh blocks: a cache is quick from the second on, a tier later",
        state="suggested",
    )


def _in_order(facts: Facts, first: RowFacts, last: RowFacts) -> bool:
    names = [row.name for row in facts.rows]
    return names.index(first.name) < names.index(last.name)


def _in_one_step(times_ns: list[float]) -> bool:
    """Whether the times fell once and were level before and after it, but for a little of that fall."""
    cut = sharpest(times_ns, len(times_ns) // 2, len(times_ns) // 2)
    sides = [times_ns[: cut - 1], times_ns[cut + 1 :]]  # the interval in which it fell is of neither
    whole = math.log(geometric_mean(times_ns[:cut]) / geometric_mean(times_ns[cut:]))
    return all(_falls_by(side) < OF_A_STEP * whole for side in sides if len(side) >= LEAST_SIDE)


def _falls_by(times_ns: list[float]) -> float:
    """By how much, on a logarithm, the second half lies below the first."""
    half = len(times_ns) // 2
    return math.log(geometric_mean(times_ns[:half]) / geometric_mean(times_ns[half:]))


def _finding(passes: tuple[RowFacts, ...], second_ns: float, last_ns: float) -> Finding:
    began, ended = passes[0].measurement.started_unix_ns, passes[-1].measurement.started_unix_ns
    return Finding(
        code=CODE,
        severity="warn",
        phase=passes[-1].name,
        says=f"{len(passes)} passes over the same blocks became faster: p50 {brief_time(second_ns)} in the second pass,"
        f" {brief_time(last_ns)} in the last ones.",
        evidence={
            "passes": float(len(passes)),
            "second_p50_ns": second_ns,
            "last_p50_ns": last_ns,
            "ratio": last_ns / second_ns,
            "spans_s": max(0.0, (ended - began) / 1e9),
        },
        remedy="Run the working set for as long as the tiering policy needs before measuring; test cold data as well.",
        hypothesis="hot data move to a faster tier",
        confidence=0.6,
        confirm=f"{number(TRIED)} passes over fresh blocks, for as long as the tiering policy needs",
        state="suggested",
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Six passes over fresh blocks; what is quick from the first on is a cache, what becomes quick later is a tier."""
    record = row_of(run, finding)
    own = record.phase.workload
    size = mib_below(target_bytes(run) / MOST_ROUNDS, 128)
    if size < 32 * STEP_BYTES:
        return None
    reads = Workload(mix=(MixItem("read", own.mix[0].size_bytes),), locality=Stride(STEP_BYTES), direct=own.direct)
    fresh = Arm(name="", workload=reads, seconds=3.0, ios=size // STEP_BYTES, region_size_bytes=size, step_bytes=size)
    wait = finding.evidence.get("spans_s", 0.0) / (TRIED - 1)
    quiet = Workload(mix=reads.mix, locality=reads.locality, arrival=Constant(1.0), direct=own.direct)
    waiting = replace(fresh, name="waiting", workload=quiet, seconds=wait, ios=None, measured=False)
    arms: list[Arm] = []
    for number_ in range(1, TRIED + 1):
        arms.append(replace(fresh, name=f"pass {number_}"))
        if wait > WAITS_S and number_ < TRIED:
            arms.append(waiting)
    return Experiment(
        question="Do fresh blocks become faster after the second pass over them?",
        arms=tuple(arms),
        keep_order=True,
        decision=Decision(statistic="p50", first="pass 2", other=f"pass {TRIED}", limit=FALLS, direction="below"),
        if_confirmed="Hot data move to a faster tier.",
        if_rejected="From the second pass on the same blocks take as long as before: nothing moved.",
    )
