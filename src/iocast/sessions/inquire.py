"""diagnose: a finding, its hypothesis, an experiment, a verdict, and on to the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from iocast import archive, load
from iocast.diagnose import detectors, examination
from iocast.diagnose.experiments import next_step
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.diagnose.experiments.next_step import Budget
from iocast.errors import IocastError, SpecError
from iocast.load.work_files import permission_of, size_that_fits
from iocast.model.codes import FindingCode
from iocast.model.experiment import Diagnosis, DiagnosisStep, Experiment, Outcome
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.runner import Work
from iocast.sessions.card import Card
from iocast.sessions.events import (
    CardReady,
    Decided,
    Diagnosed,
    ExperimentBegun,
    ExperimentFailed,
    Planned,
    Suspected,
    Untested,
)
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.job_run import run_job, run_plan
from iocast.sessions.listener import Listener
from iocast.sessions.requests.diagnose import DiagnoseRequest
from iocast.sessions.requests.run_options import RunOptions, option_value
from iocast.sessions.run_card import keep_judgement, keep_summary, open_card, shown_folder
from iocast.sessions.target_finding import find_target
from iocast.units import parse_duration, parse_size

SURVEY_BYTES = 1 << 30  # what the regions of the survey need


class Inquiry(NamedTuple):
    """What came of it, and whether it was stopped."""

    diagnosis: Diagnosis
    stopped: bool


def budget_of(time: str, size: str) -> Budget:
    """What is given as the budget of experiments. Raises SpecError, which names the option."""
    seconds = option_value("--budget", time, parse_duration) / 1e9
    return Budget(seconds, option_value("--bytes", size, parse_size))


def diagnose(request: DiagnoseRequest, listener: Listener) -> Card | None:
    """Measures unless there is a run, tests what is suspected, judges; None when it was stopped before. Raises
    IocastError."""
    if (request.path is None) == (request.folder is None):
        raise SpecError(
            "give either PATH or --for RUN", "iocast diagnose /mnt/db, or iocast diagnose --for iocast-runs/..."
        )
    budget = budget_of(request.budget, request.most_bytes)
    folder = request.folder
    if folder is None:
        target = find_target(request.path or "")
        job = asked_job(request.job or _first_job(target, request.options), request.options)
        done = run_job(job, target, request.options, listener).told_or_error(listener)
        if done.whole is None:
            if done.folder is not None:
                keep_judgement(done.folder)
            return None
        folder = str(done.whole)
    diagnose_run(folder, budget, listener, again=request.folder is not None)
    card = open_card(folder)
    card = replace(card, judged=card.judged._replace(folder=shown_folder(Path(folder))))
    report = card.report()
    keep_summary(card, report)
    listener.tell(CardReady(card, report))
    return card


def _first_job(target: Target, options: RunOptions) -> str:
    """The preset that is measured first: the survey, where it fits."""
    given = options.size_bytes is not None and target.size_bytes is None
    room = options.size_bytes if given else target.size_bytes
    if room is None:
        room = size_that_fits(target, 1, SURVEY_BYTES)
    return "survey" if room is None or room >= SURVEY_BYTES else "card-quick"


def diagnose_run(folder: str, budget: Budget, listener: Listener, *, again: bool = False) -> Inquiry:
    """Tests what is suspected of the run in `folder`, and keeps the diagnosis there. `again`: the run was made earlier,
    and its folder gives no permission to overwrite a device; only the command line does. Raises IocastError.
    """
    run = archive.load(folder)
    if run.hosts:
        raise SpecError(
            f"{shown_folder(Path(folder))} is a run of {len(run.hosts)} hosts: experiments are made on one",
            f"on a host: iocast diagnose PATH; what it found alone: iocast report {folder}/hosts/{run.hosts[0].name}",
        )
    if again:
        run = replace(run, plan=replace(run.plan, target=replace(run.plan.target, destroy="")))
    inquiry = inquire(run, budget, os.path.join(folder, archive.EXPERIMENTS), listener)
    archive.save_diagnosis(Path(folder), inquiry.diagnosis)
    listener.tell(Diagnosed(folder))
    return inquiry


def inquire(run: Run, budget: Budget, out: str, listener: Listener) -> Inquiry:
    """Tests what is only suggested about a run, the gravest first, as far as the budget goes.

    Runs of experiments are kept in `out`. Raises IocastError when not even one could be made.
    """
    asking = _Asking(run, out, listener, budget)
    findings = examination.examine(run).findings
    for candidate in next_step.candidates(run, findings, detectors.proposed):
        if asking.is_explained(candidate.finding):
            continue
        listener.tell(Suspected(candidate.finding))
        if candidate.experiment is None:
            asking.leave(candidate.finding, candidate.why_untested)
        else:
            asking.test(candidate.finding, candidate.experiment)
        if asking.stopped:
            break
    return Inquiry(Diagnosis(steps=tuple(asking.steps), untested=asking.untested), asking.stopped)


class _Asking:
    """One inquiry as it goes on: its steps, what is left of its budget, whether it was stopped."""

    def __init__(self, run: Run, out: str, listener: Listener, budget: Budget) -> None:
        self.run, self.out, self.listener = run, out, listener
        self.budget = budget if permission_of(run.plan.target).may_write else replace(budget, writes=False)
        self.steps: list[DiagnosisStep] = []
        self.untested: dict[FindingCode, str] = {}
        self.stopped = False

    def is_explained(self, finding: Finding) -> bool:
        """Whether what was confirmed by now says the same: nothing of it is left to test."""
        if not any(step.outcome.verdict == "confirmed" for step in self.steps):
            return False
        left = examination.examine(self.run, Diagnosis(steps=tuple(self.steps))).findings
        return (finding.code, finding.phase) not in {(each.code, each.phase) for each in left}

    def leave(self, finding: Finding, why: str, *, again: bool = False) -> None:
        """A finding is not tested."""
        if not again:
            self.untested[finding.code] = why
        self.listener.tell(Untested(finding, why, again))

    def test(self, finding: Finding, experiment: Experiment) -> None:
        """Makes an experiment, once more and longer when it could not tell."""
        step = None
        for attempt in (experiment, next_step.longer(experiment)):
            moved = next_step.moved_guess(self.run, attempt)
            why_not = next_step.unaffordable(attempt, self.budget, moved)
            if why_not:
                self.leave(finding, why_not, again=step is not None)
                break
            self.listener.tell(ExperimentBegun(finding, attempt))
            done, name = self._run(finding, attempt)
            left = self.budget.seconds - attempt.seconds, int(self.budget.bytes - moved)
            self.budget = replace(self.budget, seconds=left[0], bytes=left[1])
            if done is None:
                break
            step = self._judge(finding, attempt, done, name)
            if self.stopped or not next_step.worth_repeating(attempt, step.outcome):
                break
        if step is not None:
            self.steps.append(step)

    def _run(self, finding: Finding, experiment: Experiment) -> tuple[Run | None, str]:
        """The run of an experiment, None when nothing was measured, and the name of its folder."""
        of = self.run.plan
        plan = plan_of(finding.detector or finding.code, experiment, of.target, of.files, of.seed)
        layout = load.lay_out(plan)
        self.listener.tell(Planned(plan=plan, layout=layout))
        done = run_plan(Work(plan, layout, self.out), self.listener)
        self.stopped = done.stopped
        if done.error is not None:
            self.listener.tell(ExperimentFailed(done.error))
        folder = "" if done.folder is None else os.path.relpath(done.folder, self.out)
        return (done.run if done.run.measured else None), folder

    def _judge(self, finding: Finding, experiment: Experiment, done: Run, name: str) -> DiagnosisStep:
        try:
            outcome = judge(experiment, done)
        except IocastError as error:
            outcome = Outcome(verdict="undecided", says=error.message)
        self.listener.tell(Decided(finding, outcome))
        return DiagnosisStep(
            finding=finding.code,
            phase=finding.phase,
            hypothesis=finding.hypothesis,
            question=experiment.question,
            outcome=outcome,
            run=name,
        )
