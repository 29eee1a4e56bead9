"""An Experiment becomes a Plan; the Run that comes of it is judged by the interval of a ratio."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.diagnose.experiments.decisions import Decided, decide, rate_of
from iocast.model.codes import VerdictCode
from iocast.model.experiment import Arm, Experiment, Outcome
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.text import number

ALIKE = 1.5  # times the rate that was seen, or as much less: the storage is in another state than it was then [J]


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
        met: dict[str, int] = {}
        for group in reversed(_at_once(experiment.arms)) if turned else _at_once(experiment.arms):
            together = f"round {round_}: {group[0].name}" if len(group) > 1 else ""
            for arm in group:
                met[arm.name] = again = met.get(arm.name, 0) + 1
                name = f"{arm.name} ({round_}{f'.{again}' if again > 1 else ''})"
                yield _phase(arm, name, together, "measure" if arm.measured else "warm", round_ - 1)


def _at_once(arms: tuple[Arm, ...]) -> list[list[Arm]]:
    """Arms that run together, in one list each."""
    groups: list[list[Arm]] = []
    joined = False
    for arm in arms:
        if joined:
            groups[-1].append(arm)
        else:
            groups.append([arm])
        joined = arm.together
    return groups


def _phase(arm: Arm, name: str, together: str, role: str, steps: int = 0) -> Phase:
    return Phase(
        name=name,
        test=arm.name,
        workload=arm.workload,
        length=Length(seconds=arm.seconds, ios=arm.ios, bytes=arm.bytes),
        role="measure" if role == "measure" else "warm",
        region_start_bytes=arm.region_start_bytes + steps * arm.step_bytes,
        region_size_bytes=arm.region_size_bytes,
        together=together,
        same_offsets=arm.same_offsets,
    )


def judge(experiment: Experiment, run: Run) -> Outcome:
    """What the runs of the arms decide. Raises AnalysisError when an arm has no result at all.

    With several decisions all must be confirmed; one that is rejected rejects, and is the one that is reported. What
    was not met as it was seen is not rejected.
    """
    decided = [decide(decision, run) for decision in (experiment.decision, *experiment.also)]
    verdict, sentence = _together(decided)
    first = decided[0]
    evidence = {"ratio": first.value, "limit": experiment.decision.limit, "rounds": float(first.rounds)}
    unlike = _unlike(experiment, run, decided) if verdict == "rejected" else ""
    if unlike:
        verdict, says = "undecided", f"{'. '.join(each.says for each in decided)}. Undecided: {unlike}."
    elif verdict == "undecided":
        few = not all(each.interval for each in decided)
        says = f"{sentence}: too few rounds to decide." if few else f"{sentence}: too near the limit to decide."
    else:
        follows = experiment.if_confirmed if verdict == "confirmed" else experiment.if_rejected
        says = f"{sentence}. {follows.format(ratio=f'{first.value:.2f}')}".strip()
    if verdict == "rejected" and not experiment.absence_proves:
        verdict = "undecided"
    return Outcome(verdict=verdict, says=says, ratio=first.value, low=first.low, high=first.high, evidence=evidence)


def _unlike(experiment: Experiment, run: Run, decided: list[Decided]) -> str:
    """Why what speaks against it does not reject it, "" where it does."""
    if experiment.if_split and decided[0].verdict != "rejected":
        return experiment.if_split
    before_per_s, name = experiment.seen_per_s, experiment.decision.first
    met = rate_of(run, name) if before_per_s else None
    if not before_per_s or not met or 1 / ALIKE <= met / before_per_s <= ALIKE:
        return ""
    rates = f"{number(met)} IOPS here, {number(before_per_s)} in the run"
    return f'"{name}" did {rates}: what held it back there was not met again'


def _together(decided: list[Decided]) -> tuple[VerdictCode, str]:
    worse: tuple[VerdictCode, ...] = ("rejected", "undecided")
    for verdict in worse:
        those = [each for each in decided if each.verdict == verdict]
        if those:
            return verdict, those[0].says
    return "confirmed", ". ".join(each.says for each in decided)
