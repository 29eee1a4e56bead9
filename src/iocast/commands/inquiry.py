"""The loop of a diagnosis: a finding, its hypothesis, an experiment, a verdict, and on to the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from iocast import archive
from iocast.commands.session import announce, say
from iocast.commands.targets import only_read
from iocast.diagnose import detectors, examination
from iocast.diagnose.experiments import next_step
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.diagnose.experiments.next_step import Budget
from iocast.errors import IocastError
from iocast.model.codes import FindingCode
from iocast.model.experiment import Diagnosis, Experiment, Outcome, Step
from iocast.model.finding import Finding
from iocast.model.run import Run


class Inquiry(NamedTuple):
    """What came of it, and the exit code (not 0 when it was stopped)."""

    diagnosis: Diagnosis
    code: int


def inquire(run: Run, budget: Budget, out: str) -> Inquiry:
    """Tests what is only suggested about a run, the gravest first, as far as the budget goes; tells as it goes.

    Runs of experiments are kept in `out`. Raises IocastError when not even one could be made.
    """
    steps: list[Step] = []
    untested: dict[FindingCode, str] = {}
    if only_read(run.plan.target) and not run.plan.target.destroy:
        budget = replace(budget, writes=False)
    found = examination.examine(run).findings
    for candidate in next_step.candidates(run, found, detectors.confirmer):
        finding, experiment = candidate.finding, candidate.experiment
        _suspect(finding)
        if experiment is None:
            untested[finding.code] = next_step.why_untested(finding)
            say(f"  not tested: {untested[finding.code]}")
            continue
        step, budget, code = _test(run, finding, experiment, budget, out, untested)
        if step is not None:
            steps.append(step)
        if code:
            return Inquiry(Diagnosis(steps=tuple(steps), untested=untested), code)
    return Inquiry(Diagnosis(steps=tuple(steps), untested=untested), 0)


def _suspect(finding: Finding) -> None:
    where = f" in {finding.phase}" if finding.phase else ""
    say(f"\nseen{where}: {finding.says}")
    if finding.hypothesis:
        say(f"  hypothesis ({finding.confidence:.0%}): {finding.hypothesis}")


def _test(
    run: Run, finding: Finding, experiment: Experiment, budget: Budget, out: str, untested: dict[FindingCode, str]
) -> tuple[Step | None, Budget, int]:
    """Makes an experiment, once more and longer when it could not tell."""
    step = None
    for attempt in (experiment, next_step.longer(experiment)):
        moved = next_step.moved_guess(run, attempt)
        why_not = next_step.unaffordable(attempt, budget, moved)
        if why_not:
            if step is None:
                untested[finding.code] = why_not
            say(f"  not tested{' again' if step else ''}: {why_not}")
            return step, budget, 0
        say(f"  experiment: {attempt.question}")
        done, name, code = _carry_out(run, finding, attempt, out)
        budget = replace(budget, seconds=budget.seconds - attempt.seconds, bytes=int(budget.bytes - moved))
        if done is None:
            return step, budget, code
        try:
            outcome = judge(attempt, done)
        except IocastError as error:
            outcome = Outcome(verdict="undecided", says=error.message)
        say(f"  {outcome.verdict}: {outcome.says}")
        step = Step(
            finding=finding.code,
            phase=finding.phase,
            hypothesis=finding.hypothesis,
            question=attempt.question,
            outcome=outcome,
            run=name,
        )
        if code or outcome.verdict != "undecided":
            return step, budget, code
    return step, budget, 0


def _carry_out(run: Run, finding: Finding, experiment: Experiment, out: str) -> tuple[Run | None, str, int]:
    from iocast import load, runner
    from iocast.commands.interrupts import Interrupts
    from iocast.commands.progress import progress

    plan = plan_of(finding.detector or finding.code, experiment, run.plan.target, run.plan.files, run.plan.seed)
    layout = load.lay_out(plan)
    announce(plan, layout, ())
    with Interrupts() as interrupts:
        done = runner.perform(plan, layout, out, progress(interrupts.stopped), interrupts.stopped)
    if done.error is not None:
        say(f"  the experiment failed: {done.error.message}")
    folder = "" if done.folder is None else os.path.relpath(done.folder, out)
    return (done.run if done.run.measured else None), folder, interrupts.exit_code


def diagnose_run(folder: str, budget: Budget) -> int:
    """Tests what is suspected of the run in `folder`, and keeps the diagnosis there; returns the exit code."""
    found = inquire(archive.load(folder), budget, os.path.join(folder, archive.EXPERIMENTS))
    archive.save_diagnosis(Path(folder), found.diagnosis)
    say("")
    return found.code
