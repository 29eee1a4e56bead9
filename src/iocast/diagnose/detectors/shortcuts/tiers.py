"""Hot data move to a faster tier.

What it is: an array, or a hybrid drive, that keeps hot data on flash and the rest on disks.
Why it matters: a test that goes over the same blocks again and again becomes faster than any database that does not;
what production sees depends on what was hot last night.
How it shows: repeated passes over the same blocks become faster and faster; untouched blocks do not.
How to confirm: repeated passes over fresh blocks; a cache is quick from the second pass on, a tier later.
What to change: run the working set for as long as the tiering policy needs (hours, days) before measuring, and test
cold data as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.evidence import row_of
from iocast.diagnose.same_load import mib_below, target_bytes
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.workload import Constant, MixItem, Stride, Workload
from iocast.text import brief_time, number

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "tier_migration"
PASSES = 4  # models C, 7
FALLS = 0.7  # models C, 7: hot over untouched
ENOUGH = 30  # I/Os a pass [J]
STEP_BYTES = 1 << 20
TRIED = 6
MOST_ROUNDS = 6
WAITS_S = 5.0  # a run whose passes took longer is repeated with as long a wait between them [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows that went over the same blocks at least four times, and were faster at the end than the second time."""
    for passes in facts.groups:
        if len(passes) < PASSES or not passes[0].is_only("read") or not passes[0].is_past_the_host:
            continue
        if min(each.measurement.ios for each in passes) < ENOUGH:
            continue
        second, last = passes[1].p50_ns, fmean(each.p50_ns for each in passes[-2:])
        if last < FALLS * second:
            yield _finding(passes, second, last)


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
        rivals=("cache_in_the_storage",),
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Six passes over fresh blocks; what is quick at once is a cache, what becomes quick later is a tier."""
    record = row_of(run, finding)
    load = record.phase.workload
    size = mib_below(target_bytes(run) / MOST_ROUNDS, 128)
    if size < 32 * STEP_BYTES:
        return None
    reads = Workload(mix=(MixItem("read", load.mix[0].size_bytes),), locality=Stride(STEP_BYTES), direct=load.direct)
    fresh = Arm(name="", workload=reads, seconds=3.0, ios=size // STEP_BYTES, region_size_bytes=size, step_bytes=size)
    wait = finding.evidence.get("spans_s", 0.0) / (TRIED - 1)
    quiet = Workload(mix=reads.mix, locality=reads.locality, arrival=Constant(1.0), direct=load.direct)
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
