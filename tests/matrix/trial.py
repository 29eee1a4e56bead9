"""One trial: a place with a condition is made, measured and diagnosed as `iocast diagnose` does it."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from conditions import Condition
from makers.recording import Recording
from making import NotHere
from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.diagnose import examination
from iocast.diagnose.experiments.next_step import USUAL_BUDGET
from iocast.errors import IocastError
from iocast.model.experiment import DiagnosisStep
from iocast.model.finding import Finding
from iocast.model.job import Job
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.inquire import diagnose_run
from iocast.sessions.job_run import run_job
from iocast.sessions.requests.run_options import RunOptions, size_of_files
from iocast.sessions.target_finding import find_target, identity_name

JOBS = Path(__file__).parent / "jobs"
Names = tuple[str, ...]


class Trial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a condition with one seed: codes of findings by what became of them."""

    condition: str
    seed: int
    seconds: float  # of this machine's time
    examine_s: float = 0.0
    suspected: Names = ()  # before any experiment
    counted: Names = ()
    confirmed: Names = ()
    rejected: Names = ()
    undecided: Names = ()
    untested: dict[str, str] = {}
    wrong: Names = ()  # certain, and not true of this place
    doubtful: Names = ()  # suspected, not true of this place, and no rival of what is: a false alarm too
    held_out: bool = False  # of those that nobody tunes on
    refused: str = ""  # why nothing was measured, where that is the right answer
    outside: Names = ()  # counted, and true, but of this machine and not of the place
    blind: str = ""  # why the place could not be made, or the run failed

    def found(self, names: Names) -> bool:
        """Whether any of these was at least suspected."""
        return bool(set(names) & {*self.suspected, *self.counted, *self.confirmed})

    def proved(self, names: Names) -> bool:
        """Whether any of these is certain."""
        return bool(set(names) & {*self.counted, *self.confirmed})


class Tried(Struct, frozen=True):
    """A trial, what was said while it was made, and by certain finding what its reader is told."""

    trial: Trial
    said: str
    shown: dict[str, str]


def attempt(condition: Condition, seed: int, base: Path) -> Tried:
    """Makes the place, measures and diagnoses it, takes it away. What cannot be made here is a blind trial."""
    began = time.monotonic()
    listener = Recording()
    shown: dict[str, str] = {}
    with TemporaryDirectory(prefix="iocast-matrix-", dir=base) as scratch, TemporaryDirectory() as out:
        try:
            with condition.place_of(seed)(Path(scratch)) as place:
                trial, shown = _diagnosed(condition, seed, place, out, listener)
        except (NotHere, IocastError, OSError) as why:
            trial = Trial(condition=condition.name, seed=seed, seconds=0.0, blind=str(why))
    trial = replace(trial, seconds=round(time.monotonic() - began, 2), held_out=condition.held_out(seed))
    return Tried(trial, listener.said, shown)


def _diagnosed(
    condition: Condition, seed: int, place: str, out: str, listener: Recording
) -> tuple[Trial, dict[str, str]]:
    try:
        options = RunOptions(size_bytes=_size(condition), seed=seed, out=out)
        done = run_job(_job(condition, options), _target(condition, place), options, listener)
    except IocastError as why:
        if condition.refuses and condition.refuses in why.message:
            return _refused(condition, seed, why)
        raise
    if done.error is not None or done.folder is None:
        why = done.error.message if done.error else "nothing was measured"
        return Trial(condition=condition.name, seed=seed, seconds=0.0, blind=why), {}
    diagnose_run(str(done.folder), USUAL_BUDGET, listener)
    return judged(condition, seed, archive.load(str(done.folder)), str(done.folder))


def _size(condition: Condition) -> int | None:
    return None if condition.size is None else size_of_files(condition.size)


def _job(condition: Condition, options: RunOptions) -> Job:
    own = JOBS / f"{condition.job}.toml"
    job = asked_job(str(own) if own.exists() else condition.job, options)
    return replace(job, phases=tuple(_paced(phase, condition.pace) for phase in job.phases))


def _paced(phase: Phase, pace: float) -> Phase:
    seconds = phase.length.seconds
    return phase if seconds is None else replace(phase, length=replace(phase.length, seconds=pace * seconds))


def _target(condition: Condition, place: str) -> Target:
    target = find_target(place)
    return find_target(place, identity_name(target)) if condition.given_up else target


def _refused(condition: Condition, seed: int, why: IocastError) -> tuple[Trial, dict[str, str]]:
    """Nothing is measured where nothing could be learnt: that counts as finding the condition."""
    trial = Trial(condition=condition.name, seed=seed, seconds=0.0, counted=condition.finds, refused=why.message)
    return trial, dict.fromkeys(condition.finds, f"refused: {why.message}\n  what to do: {why.hint}")


def judged(condition: Condition, seed: int, run: Run, folder: str) -> tuple[Trial, dict[str, str]]:
    """The trial of a run that was diagnosed, and what is told of each certain finding."""
    began = time.monotonic()
    first = examination.examine(run).findings
    examine_s = time.monotonic() - began
    diagnosis = archive.load_diagnosis(folder)
    last = examination.examine(run, diagnosis).findings
    steps = () if diagnosis is None else diagnosis.steps
    counted = _names(each for each in last if each.state == "counted")
    confirmed = _names(each for each in last if each.state == "confirmed")
    false = [each for each in last if _weighs(each) and each.code not in {*condition.finds, *condition.also}]
    outside = [each for each in false if is_of_the_machine(condition, run, each)]
    made = Trial(
        condition=condition.name,
        seed=seed,
        seconds=0.0,
        examine_s=round(examine_s, 4),
        suspected=_names(each for each in first if each.state == "suggested"),
        doubtful=doubtful(condition, first),
        counted=counted,
        confirmed=confirmed,
        rejected=_names(each for each in last if each.state == "rejected"),
        undecided=tuple(sorted({each.finding for each in steps if each.outcome.verdict == "undecided"})),
        untested={} if diagnosis is None else diagnosis.untested,
        wrong=_names(each for each in false if each not in outside),
        outside=_names(outside),
    )
    return made, {each.code: _told(each, steps) for each in reversed(last) if each.certain}


def doubtful(condition: Condition, findings: tuple[Finding, ...]) -> Names:
    """What is suspected before any experiment, neither planted nor true besides, and no rival of what was planted."""
    true = {*condition.finds, *condition.also}
    rivals = {rival for each in findings if each.code in true for rival in each.rivals}
    return _names(each for each in findings if each.state == "suggested" and each.code not in true | rivals)


def _weighs(finding: Finding) -> bool:
    """Certain, and no mere note of what was counted."""
    return finding.state == "confirmed" or (finding.state == "counted" and finding.severity != "note")


def is_of_the_machine(condition: Condition, run: Run, finding: Finding) -> bool:
    """Whether what was counted is true, and no fault of the place: on real devices only, and each for its reason."""
    if condition.where != "real" or finding.state != "counted":
        return False
    match finding.code:
        case "generator_did_not_run":  # the hypervisor, or other work, had the processors
            rows = [each for each in run.measured if each.phase.name == finding.phase]
            causes = {absence.cause for row in rows for absence in row.measurement.generator.absences}
            return "busy" not in causes
        case "generator_bound":  # it waited for a processor, whoever had it, for longer than it worked
            return finding.evidence["queued_share"] > finding.evidence["cpu_share"]
        case "splitting":  # a limit that the kernel states for a queue gives just as many pieces
            return finding.evidence.get("explained") == 1.0
        case "consolidation":  # both ends were counted: the kernel merges neighbours that wait in a queue
            return True
        case "shared_drives" | "stalls":  # others use the disk of this machine, and it stands still at times
            return condition.own_disk
        case _:
            return False


def _told(finding: Finding, steps: tuple[DiagnosisStep, ...]) -> str:
    """As `iocast diagnose` tells it."""
    where = f" in {finding.phase}" if finding.phase else ""
    lines = [f"seen{where}: {finding.says}"]
    if finding.hypothesis:
        lines.append(f"  hypothesis: {finding.hypothesis}")
    for step in steps:
        if step.finding == finding.code:
            lines += [f"  experiment: {step.question}", f"  {step.outcome.verdict}: {step.outcome.says}"]
    return "\n".join([*lines, f"  what to do: {finding.remedy}"])


def _names(findings: object) -> Names:
    chosen: list[Finding] = list(findings)  # type: ignore[call-overload]
    return tuple(sorted({finding.code for finding in chosen}))
