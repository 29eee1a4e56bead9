"""Burst credits ran out.

What it is: storage, mostly in clouds, that exceeds its baseline for as long as it has burst credits.
Why it matters: the rate before they ran out does not last: a database that works all day gets the baseline.
How it shows: the read rate drops to a much lower constant rate and stays there, or is already there when a later row
raises the load; a pause restores exactly as many credits as it saved. Where only a part of the data lies on such a
volume, the slow reads come at a constant rate, and the quick ones between them do not.
How to confirm: spend all credits, pause, and go on: the rate is high again for a short time.
What to change: measure for longer than the credits last (the finding says how long), or buy the rate that you need.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, pstdev
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.changepoint import MIN_LENGTH
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import simulated
from iocast.analyse.rate_drops import FALLS, Drop, slow_part
from iocast.diagnose.evidence import row_of
from iocast.diagnose.thresholds import DEVICE_SHARE
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding, Span
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Constant, MixItem, Uniform, Workload
from iocast.text import brief_time, counted, number

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "burst_credits"
CONSTANT = 0.02  # models C, 18
AGREES = 0.1  # the rate after a fall within one row with that of a later one [J]
A_PART, REGULAR = 0.8, 0.3  # of the I/Os; of the scatter that chance gives to a part of a device's own I/Os [J]
RECOVERS = 1.5  # the rate right after a pause over the one before it [J]
SAVED_S = 1.5  # of the burst: what a pause has to save up [J]
BURST_S, SPENT_S = 1.0, 2.0
DRAIN_MORE = 1.3
LEAST_PER_S = 20.0  # of a rate that can be called constant within seconds [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows of reads whose rate fell to a constant. Writes fall for other reasons too (write cliff)."""
    for at, row in enumerate(facts.rows):
        if not row.is_only("read") or row.is_open_loop or facts.imported:
            continue
        found = row.drop or _before_it_began(facts.rows[:at], row)
        limited = None if found is None else _limited(row, found)
        if found is None or limited is None or limited.per_s < LEAST_PER_S:
            continue
        fell, inside = _where_it_fell(facts.rows[:at], row, found)
        spent = _spent(fell, inside, limited)
        if spent > 0:
            yield _finding(fell.record, inside, limited, spent, "" if fell is row else f" on {row.name}")
            return


class _Limited(NamedTuple):
    """What the credits were spent by: all reads, or the share of them that lies on the volume."""

    share: float
    per_s: float  # after the fall
    constant: float  # its scatter over its mean


def _limited(row: RowFacts, found: Drop) -> _Limited | None:
    """What came at a constant rate after the fall: everything, or the slow reads; None when nothing did."""
    if found.constant <= CONSTANT:
        return _Limited(1.0, found.after_per_s, found.constant)
    changes = row.change_points
    series = row.series_of("read")
    if not found.at_ns or series is None or changes is None:
        return None
    slow = slow_part(series, changes)
    if slow is None or slow.share > A_PART or slow.by_chance > REGULAR:
        return None
    return _Limited(slow.share, slow.share * found.after_per_s, slow.constant)


def _before_it_began(earlier: tuple[RowFacts, ...], row: RowFacts) -> Drop | None:
    """A fall between two rows: this one has more at once than one before it, does far less, and always the same."""
    if not isinstance(row.workload.locality, Uniform) or row.record.phase.together:
        return None  # in order a disk alone is quick, and two readers are not; beside others nobody is
    rates, did = row.rates_per_s, row.measurement
    alike = [each for each in earlier if each.kind == row.kind and not each.record.phase.together]
    rows = [each for each in alike if each.measurement.asked_depth < did.asked_depth]
    before = max((each.measurement.rate_per_s for each in rows if _reached_the_device(each)), default=0.0)
    level = rates[len(rates) // 4 :]  # a last bit may have been left
    if len(level) < MIN_LENGTH or max(fmean(level), did.rate_per_s) > (1 - FALLS) * before:
        return None
    after = fmean(level)
    constant = pstdev(level) / after if after else 0.0
    return Drop(at_ns=0, before_per_s=before, after_per_s=after, ios=0, bytes=0, constant=constant)


def _where_it_fell(earlier: tuple[RowFacts, ...], row: RowFacts, found: Drop) -> tuple[RowFacts, Drop]:
    """The row within which it fell to the rate of this one, and the fall with this one's scatter.

    A stall after the fall hides how constant the rate is there. The mean of such a row is neither of the two rates.
    """
    for each in earlier if not found.at_ns else ():
        inside = each.drop if each.kind == row.kind and not each.record.phase.together else None
        if inside is not None and abs(inside.after_per_s / found.after_per_s - 1) <= AGREES:
            return each, replace(inside, after_per_s=found.after_per_s, constant=found.constant)
    return row, found


def _reached_the_device(row: RowFacts) -> bool:
    """False where a cache in this machine answered: that spent no credits, and its rate is not the storage's."""
    share = row.share_of_device("read")
    return share is None or share[0] >= DEVICE_SHARE


def _spent(row: RowFacts, found: Drop, limited: _Limited) -> float:
    """Credits: what was done beyond the baseline until they ran out, phases before it included."""
    beyond = 0.0
    phases = row.run.phases
    for each in map(row.facts.row, phases[: phases.index(row.record)]):
        if each.beside[0] is each.record:  # of phases at once the first stands for all: they share the time
            did = each.seen_by_devices.measurement
            beyond = max(0.0, beyond + limited.share * did.ios - limited.per_s * did.elapsed_ns / 1e9)
    return beyond + limited.share * found.ios - limited.per_s * found.at_ns / 1e9


def _finding(record: PhaseRecord, found: Drop, limited: _Limited, credits: float, where: str) -> Finding:
    burst_per_s = limited.share * found.before_per_s
    lasts_s = credits / max(1.0, burst_per_s - limited.per_s)
    stayed = f" and stayed there within {limited.constant:.1%}{where}"
    if limited.share < 1:
        stayed = (
            f"; {number(limited.per_s)} slow reads per second completed from then on, within"
            f" {limited.constant:.1%}{where}"
        )
    return Finding(
        code=CODE,
        severity="severe",
        phase=record.phase.name,
        says=f"{_when(record, found)} IOPS fell from {number(found.before_per_s)} to {number(found.after_per_s)}"
        f"{stayed}: credits for about {counted(round(credits), 'I/O')} beyond that"
        f" rate were spent by then; a full bucket lasts {brief_time(lasts_s * 1e9)} at the burst rate.",
        evidence={
            "at_ns": float(found.at_ns),
            "burst_per_s": burst_per_s,
            "baseline_per_s": limited.per_s,
            "after_per_s": found.after_per_s,
            "credits": credits,
            "lasts_s": lasts_s,
        },
        remedy="Plan with the lower rate, the one that lasts, or buy the rate that you need.",
        hypothesis="the burst credits are spent and only the baseline is left",
        confidence=0.7,
        confirm="spend all credits, pause, and check that the pause restores what it saved",
        state="suggested",
        rivals=("throttle",),
        spans=(Span(found.at_ns, record.measurement.elapsed_ns),),
    )


def _when(record: PhaseRecord, found: Drop) -> str:
    depth = counted(record.measurement.asked_depth, "outstanding I/O")
    return f"At t={brief_time(found.at_ns)}" if found.at_ns else f"Before the row with {depth}"


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Spends everything, then pauses and goes on, three times."""
    record = row_of(run, finding)
    load, seen = record.phase.workload, finding.evidence
    pause_s = SAVED_S * seen["burst_per_s"] / seen["baseline_per_s"]
    # A device that runs on in the world has spent them already; a simulated one begins anew with every run.
    drain_s = (DRAIN_MORE * seen["lasts_s"] if simulated(run) else seen["at_ns"] / 1e9) + SPENT_S
    quiet = Workload(mix=(MixItem("read", load.mix[0].size_bytes),), arrival=Constant(1.0), direct=load.direct)
    return Experiment(
        question="Does a pause restore the rate for as long as the credits that it saved last?",
        prepare=(Arm(name="spending", workload=load, seconds=drain_s),),
        arms=(
            Arm(name="spent", workload=load, seconds=SPENT_S),
            Arm(name="a pause", workload=quiet, seconds=pause_s, measured=False),
            Arm(name="after a pause", workload=load, seconds=BURST_S),
            Arm(name="spending again", workload=load, seconds=SPENT_S, measured=False),
        ),
        keep_order=True,
        decision=Decision(statistic="rate", first="spent", other="after a pause", limit=RECOVERS, direction="above"),
        if_confirmed="A pause saves burst credits: the rate before they ran out was a burst.",
        if_rejected="A pause changes nothing: burst credits do not explain this rate.",
    )
