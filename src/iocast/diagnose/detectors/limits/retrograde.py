"""Retrograde scaling: beyond the peak, more outstanding I/Os bring fewer IOPS.

What it is: a load curve that rises, peaks and falls: each outstanding I/O slows all others down.
Why it matters: a database that opens more connections, or uses more asynchronous I/O, to go faster gets less done.
How it shows: the universal scalability law fitted to the curve has a crosstalk above zero by its 95% interval, and the
row with twice the outstanding I/Os of the peak, or more, does at least 5% fewer IOPS. Of fewer than five loads: two or
more beyond the peak, each with at least 5% fewer IOPS than the one before.
How to confirm: run the load of the peak and twice that load in turns, so that heat and order affect both alike.
What to change: cap the load at the peak (users, connections, the device's queue depth); look for what is shared:
a lock, a controller's processor, a cache line of counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from iocast.analyse.facts import Facts
from iocast.analyse.ladder import Curve
from iocast.analyse.scalability import LEAST_POINTS, Scalability
from iocast.diagnose.preconditions import ONE_STATE, Only, curve_for
from iocast.diagnose.same_load import at_depth, same_place
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run
from iocast.text import brief_percent, counted, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (ONE_STATE,)

CODE: FindingCode = "retrograde_scaling"
FALLS_TO = 0.95  # models C, 22: X(2N) < .95 X(N)


def detect(facts: Facts) -> Iterator[Finding]:
    """Curves of random reads or writes that fall."""
    for whole in facts.random_curves("read", "write"):
        curve = curve_for(facts, whole, ONLY)
        fall = None if curve is None else _falls(curve)
        if fall is not None:
            yield _finding(*fall)


def _falls(curve: Curve) -> tuple[PhaseRecord, PhaseRecord, Scalability | None] | None:
    """The row of the peak, the first beyond it that does less, twice as deep or more, and the law of the curve; of a
    curve too short for the law the last row, where it fell from load to load.
    """
    peak = curve.peak.record
    for row in curve.rows:
        deep = row.measurement.asked_depth >= 2 * peak.measurement.asked_depth
        if deep and row.measurement.rate_per_s < FALLS_TO * peak.measurement.rate_per_s:
            if len(curve.points) < LEAST_POINTS:
                return (peak, curve.rows[-1], None) if _falls_on(curve) else None
            law = curve.law  # last: most curves do not fall, and to fit one takes long
            return None if law is None or law.crosstalk_low <= 0 else (peak, row, law)
    return None


def _falls_on(curve: Curve) -> bool:
    """Whether the rate fell with every load beyond the peak, and with two at least."""
    beyond = [point.rate_per_s for point in curve.points if point.load >= curve.peak.load]
    return len(beyond) > 2 and all(after < FALLS_TO * before for before, after in pairwise(beyond))


def _finding(peak: PhaseRecord, beyond: PhaseRecord, law: Scalability | None) -> Finding:
    most, less = peak.measurement, beyond.measurement
    fitted = {} if law is None else _figures(law)
    outstanding = counted(max(1, round(fitted.get("fitted_peak", most.asked_depth))), "outstanding I/O")
    return Finding(
        code=CODE,
        severity="warn",
        phase=beyond.phase.name,
        says=(
            f"IOPS fell beyond the peak: {number(less.rate_per_s)} IOPS with {less.asked_depth} outstanding I/Os,"
            f" {brief_percent(1 - less.rate_per_s / most.rate_per_s)} fewer than with {most.asked_depth}."
        ),
        evidence={
            "peak_depth": most.asked_depth,
            "depth": less.asked_depth,
            "peak_per_s": most.rate_per_s,
            "rate_per_s": less.rate_per_s,
            **fitted,
        },
        remedy=f"Keep at most about {outstanding}; look for what they all share.",
        hypothesis="each outstanding I/O slows the others down: a lock, a busy controller, a shared queue",
        confidence=0.8 if fitted else 0.5,
        confirm="run the load of the peak and twice that load in turns",
        state="suggested",
    )


def _figures(law: Scalability) -> dict[str, float]:
    return {
        "contention": law.contention,
        "crosstalk": law.crosstalk,
        "crosstalk_low": law.crosstalk_low,
        "fitted_peak": law.peak_load,
    }


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """The peak against the deeper row, as they were run."""
    rows = {row.measurement.asked_depth: row for curve in _all(run, finding) for row in curve.rows}
    peak, deep = rows[round(finding.evidence["peak_depth"])], rows[round(finding.evidence["depth"])]
    names = [f"1x{row.measurement.asked_depth}" for row in (peak, deep)]
    arms = tuple(
        Arm(name=name, workload=at_depth(row, row.measurement.asked_depth), **same_place(row))  # type: ignore[arg-type]
        for name, row in zip(names, (peak, deep), strict=True)
    )
    return Experiment(
        question=f"Does {names[1]} give fewer IOPS than {names[0]}?",
        arms=arms,
        decision=Decision(statistic="rate", first=names[0], other=names[1], limit=FALLS_TO, direction="below"),
        if_confirmed="Retrograde: more outstanding I/Os give fewer IOPS.",
        if_rejected="In turns both give the same IOPS: heat, order or other I/O made the difference.",
    )


def _all(run: Run, finding: Finding) -> Iterator[Curve]:
    for curve in Facts(run).random_curves("read", "write"):
        if any(row.phase.name == finding.phase for row in curve.rows):
            yield curve
