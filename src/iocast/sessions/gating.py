"""gate: is storage worse than its baseline? Rounds go on until every figure is known."""

from __future__ import annotations

import os
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.catalogue import runs_in, until_sure
from iocast.diagnose.comparable import REPEATS, Side, side
from iocast.errors import SpecError
from iocast.model.job import FileSize, Job
from iocast.model.report import Report
from iocast.model.results.comparison import Gate
from iocast.model.run import Run
from iocast.report.comparison_report import compare as report_of
from iocast.results.comparison import gate_outcome, judged_pairs
from iocast.sessions.comparing import Comparison, group_folder, in_turns, measured_run, refuse_unfit, side_of
from iocast.sessions.events import RunBegun
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.listener import Listener
from iocast.sessions.requests.compare import AbRequest, GateRequest
from iocast.sessions.target_finding import find_target

MOST_ROUNDS = 20
_MAKE_ONE = "make one of ten runs: iocast repeat 10 JOB PATH --out baseline"


class Gated(Struct, InNotebook, frozen=True):
    """What a gate found: the baseline, what was held against it, and the verdict."""

    sides: tuple[Side, ...]  # two
    verdict: Gate
    folder: str  # of the runs that were made
    again: str = ""  # the command that compares them once more, where that is not `iocast report`

    def report(self, *, charts: bool = False) -> Report:
        """The verdict, and the comparison that it stands on. Raises AnalysisError without a common row."""
        return report_of(self.sides, charts=charts, gate=self.verdict)


def gate(request: GateRequest, listener: Listener) -> Gated | None:
    """Measures storage against a baseline, in rounds, until each figure is known to be kept or one to be worse; None
    when stopped. Raises IocastError."""
    return _beside(request, listener) if request.job else _against_runs(request, listener)


def _judged(request: GateRequest, sides: tuple[Side, ...], most: int) -> Gate:
    """What the rounds so far say of the baseline and of what is held against it."""
    first, other = sides
    outcome = gate_outcome(judged_pairs(first, other, request.limit))
    return Gate(outcome=outcome, rounds=len(other.runs), most_rounds=most, limit_share=request.limit)


def _beside(request: GateRequest, listener: Listener) -> Gated | None:
    """Both are measured, in turns."""
    if not request.path:
        raise SpecError(
            "with --job the baseline is a path that is measured, too, and PATH is missing",
            "for example iocast gate /mnt/old /mnt/new --job card-quick",
        )
    most = request.rounds or MOST_ROUNDS
    turns = AbRequest(
        job=request.job,
        target_a=request.baseline,
        target_b=request.path,
        rounds=REPEATS,
        until_sure=most,
        destroy=request.destroy,
        options=request.options,
    )

    def is_known(comparison: Comparison) -> bool:
        return _judged(request, comparison.sides, most).outcome != "undecided"

    comparison = in_turns(turns, "gate-{}", is_known, listener)
    if comparison is None:
        return None
    return Gated(comparison.sides, _judged(request, comparison.sides, most), comparison.folder)


def _against_runs(request: GateRequest, listener: Listener) -> Gated | None:
    """What was measured earlier is held against runs with the same offsets."""
    baseline = side("baseline", runs_in(request.baseline))
    job = _job_again(request, baseline.runs)
    path = request.path or baseline.runs[0].plan.target.path
    seeds = list(dict.fromkeys(run.plan.seed for run in baseline.runs))
    most = min(request.rounds or len(seeds), len(seeds))
    destroy, *more = request.destroy or ("",)
    if more:
        raise SpecError("--destroy is given twice, and one target is measured", "give the identity of PATH only")
    refuse_unfit(job, find_target(path, destroy), request.options)
    with group_folder(request.options.out, f"gate-{job.name.replace(' ', '-')}") as folder:
        for number, seed in enumerate(seeds[:most], 1):
            listener.tell(RunBegun(number, most))
            this = replace(request.options, seed=seed, out=folder)
            if measured_run(job, find_target(path, destroy), this, listener).stopped:
                return None
            if number < REPEATS:
                continue
            sides = baseline, side_of("now", folder)
            verdict = _judged(request, sides, most)
            if verdict.outcome != "undecided":
                break
        return Gated(
            sides, verdict, folder, f"iocast compare {quote(request.baseline)} {quote(os.path.relpath(folder))}"
        )


def _job_again(request: GateRequest, runs: tuple[Run, ...]) -> Job:
    """The job of a baseline, with its sizes and times. Raises SpecError where it cannot be run once more."""
    given = request.options
    if given.size_bytes is not None or given.duration_ns is not None:
        raise SpecError(
            "--size and --time are those of the baseline",
            "omit them (`iocast config gate` shows defaults), or give --job and two paths",
        )
    where = request.baseline
    if until_sure(where):
        raise SpecError(f"{where} was made by a gate itself, which chose how many runs to make", _MAKE_ONE)
    if any(run.source is not None for run in runs):
        raise SpecError(f"{where} was measured by another tool: iocast cannot repeat it", _MAKE_ONE)
    plan = runs[0].plan
    if plan.calibration or any(record.phase not in plan.phases for record in runs[0].measured):
        raise SpecError(f'the rows of "{plan.name}" are chosen as it runs, and cannot be repeated', _MAKE_ONE)
    if len({(run.plan.target.path, run.plan.files, run.plan.phases) for run in runs}) > 1:
        raise SpecError(f"the runs of {where} are not of one job on one target", _MAKE_ONE)
    if len({run.plan.seed for run in runs}) < REPEATS:
        raise SpecError(f"a baseline needs at least {REPEATS} runs, of different seeds; {where} has too few", _MAKE_ONE)
    return Job(
        name=plan.name,
        phases=plan.phases,
        file_count=plan.files.count,
        file_size=FileSize(size_bytes=plan.files.size_bytes),
        file_sizes=plan.files.sizes,
        file_names=plan.files.names,
        stripe_bytes=plan.files.stripe_bytes,
        tree=plan.tree,
        engine="auto" if plan.engine == "sim" else plan.engine,
        polling=plan.polling,
        interval_ns=plan.interval_ns,
        text=plan.job,
    )
