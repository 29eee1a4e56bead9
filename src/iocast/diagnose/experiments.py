"""An Experiment becomes a Plan; the Run that comes of it is judged by the interval of a ratio."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.comparison import ab_ratio
from iocast.diagnose.words import number, throughput, time
from iocast.errors import AnalysisError
from iocast.model.experiment import Arm, Decision, Experiment, Outcome, Statistic
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target

QUANTILES: dict[Statistic, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def plan_of(name: str, experiment: Experiment, target: Target, files: WorkFiles, seed: int = 1) -> Plan:
    """The Plan of all rounds: arms in turns, each round in the other order than the one before (ABBA)."""
    phases = [*_prepared(experiment.prepare), *_rounds(experiment)]
    plan = Plan(name=f"experiment {name}", target=target, phases=tuple(phases), files=files, seed=seed)
    return replace(plan, engine="sim") if target.kind == "sim" else plan


def _prepared(arms: tuple[Arm, ...]) -> Iterator[Phase]:
    for at, arm in enumerate(arms, 1):
        yield _phase(arm, f"{arm.name} (before, {at})", together="", role="warm")


def _rounds(experiment: Experiment) -> Iterator[Phase]:
    for round_ in range(1, experiment.rounds + 1):
        turned = round_ % 2 == 0 and not experiment.keep_order
        for group in reversed(_at_once(experiment.arms)) if turned else _at_once(experiment.arms):
            together = f"round {round_}: {group[0].name}" if len(group) > 1 else ""
            for arm in group:
                yield _phase(arm, f"{arm.name} ({round_})", together, "measure" if arm.measured else "warm")


def _at_once(arms: tuple[Arm, ...]) -> list[list[Arm]]:
    """Arms that run at once, in one list each."""
    groups: list[list[Arm]] = []
    joined = False
    for arm in arms:
        if joined:
            groups[-1].append(arm)
        else:
            groups.append([arm])
        joined = arm.together
    return groups


def _phase(arm: Arm, name: str, together: str, role: str) -> Phase:
    return Phase(
        name=name,
        test=arm.name,
        workload=arm.workload,
        length=Length(seconds=arm.seconds),
        role="measure" if role == "measure" else "warm",
        region_start_bytes=arm.region_start_bytes,
        region_size_bytes=arm.region_size_bytes,
        together=together,
        same_offsets=arm.same_offsets,
    )


def judge(experiment: Experiment, run: Run) -> Outcome:
    """What the runs of the arms decide. Raises AnalysisError when an arm has no result at all."""
    decision = experiment.decision
    first, other = (_values(run, name, decision) for name in (decision.first, decision.other))
    if not first or not other:
        missing = decision.first if not first else decision.other
        raise AnalysisError(f'the experiment has no result for "{missing}"', "see the run of the experiment for why")
    found = ab_ratio(first, other)
    evidence = {"ratio": found.ratio, "limit": decision.limit, "rounds": float(min(len(first), len(other)))}
    figures = _figures(decision, first, other)
    if found.low is None or found.high is None:
        says = f"{figures} One round cannot decide."
        return Outcome(verdict="undecided", says=says, ratio=found.ratio, evidence=evidence)
    beyond = found.high < decision.limit if decision.direction == "below" else found.low > decision.limit
    short = found.low > decision.limit if decision.direction == "below" else found.high < decision.limit
    interval = f"ratio {found.ratio:.2f}, 95% interval {found.low:.2f} to {found.high:.2f}, limit {decision.limit:g}"
    ratio = f"{found.ratio:.2f}"
    if beyond:
        says = f"{figures} ({interval}). {experiment.if_confirmed.format(ratio=ratio)}".strip()
        verdict = "confirmed"
    elif short:
        says = f"{figures} ({interval}). {experiment.if_rejected.format(ratio=ratio)}".strip()
        verdict = "rejected"
    else:
        says, verdict = f"{figures} ({interval}): these rounds cannot tell.", "undecided"
    return Outcome(
        verdict=verdict,  # type: ignore[arg-type]
        says=says,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        evidence=evidence,
    )


def _values(run: Run, arm: str, decision: Decision) -> list[float]:
    records = [record for record in run.measured if record.phase.test == arm and record.measurement.ios]
    found = [_value(record, decision) for record in records]
    return [value for value in found if value > 0]


def _value(record: PhaseRecord, decision: Decision) -> float:
    did = record.measurement
    response = did.response(decision.op) if decision.op else did.response()
    parts = [part for part in did.classes if not decision.op or part.op == decision.op]
    seconds = did.elapsed_ns / 1e9
    match decision.statistic:
        case "rate":
            return sum(part.ios for part in parts) / seconds
        case "bytes_per_s":
            return sum(part.bytes for part in parts) / seconds
        case "mean":
            return response.mean_ns if response.total else 0.0
        case quantile:
            return response.quantile_ns(QUANTILES[quantile]) if response.total else 0.0


def _figures(decision: Decision, first: list[float], other: list[float]) -> str:
    """The median of each arm with its unit: "p50 of direct 92 µs, of buffered 3.1 µs"."""
    words = {"rate": lambda value: f"{number(value)}/s", "bytes_per_s": throughput}.get(decision.statistic, time)
    middle = [sorted(values)[len(values) // 2] for values in (first, other)]
    what = {"rate": "rate", "bytes_per_s": "throughput"}.get(decision.statistic, decision.statistic)
    return f"The {what} of {decision.first} is {words(middle[0])}, of {decision.other} {words(middle[1])}"
