"""One trial: a place with a condition is made, measured and diagnosed as `iocast diagnose` does it."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from conditions import Condition
from making import NotHere
from msgspec import Struct
from msgspec.structs import replace

from iocast import archive, diagnose
from iocast.commands.inquiry import diagnose_run
from iocast.commands.session import adjust, carry_out
from iocast.commands.targets import find_target
from iocast.diagnose.reasoning import USUAL_BUDGET
from iocast.errors import IocastError
from iocast.model.experiment import Step
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.spec import load_job

JOBS = Path(__file__).parent / "jobs"
Names = tuple[str, ...]
# Counted, and true of any real place here: other work takes the processors and the disk, queues cut up 1 MiB.
OF_THE_MACHINE = {"generator did not run", "stalls", "shared drives", "splitting"}


class Trial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a condition with one seed: names of findings by what became of them."""

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
    said = io.StringIO()
    shown: dict[str, str] = {}
    with TemporaryDirectory(prefix="iocast-matrix-", dir=base) as scratch, TemporaryDirectory() as out:
        try:
            with redirect_stderr(said), redirect_stdout(io.StringIO()), condition.place(Path(scratch)) as place:
                trial, shown = _diagnosed(condition, seed, place, out)
        except (NotHere, IocastError, OSError) as why:
            trial = Trial(condition=condition.name, seed=seed, seconds=0.0, blind=str(why))
    return Tried(replace(trial, seconds=round(time.monotonic() - began, 2)), said.getvalue(), shown)


def _diagnosed(condition: Condition, seed: int, place: str, out: str) -> tuple[Trial, dict[str, str]]:
    own = JOBS / f"{condition.job}.toml"
    job = adjust(load_job(str(own) if own.exists() else condition.job), condition.size, None)
    done, stopped = carry_out(job, find_target(place), seed, condition.size, out)
    if stopped:
        raise KeyboardInterrupt  # the run has taken the signal: the matrix ends as well
    if done.error is not None or done.folder is None:
        why = done.error.message if done.error else "nothing was measured"
        return Trial(condition=condition.name, seed=seed, seconds=0.0, blind=why), {}
    if diagnose_run(str(done.folder), USUAL_BUDGET):
        raise KeyboardInterrupt
    return judged(condition, seed, archive.load(str(done.folder)), str(done.folder))


def judged(condition: Condition, seed: int, run: Run, folder: str) -> tuple[Trial, dict[str, str]]:
    """The trial of a run that was diagnosed, and what is told of each certain finding."""
    began = time.monotonic()
    first = diagnose.examine(run).findings
    examine_s = time.monotonic() - began
    diagnosis = archive.load_diagnosis(folder)
    last = diagnose.examine(run, diagnosis).findings
    steps = () if diagnosis is None else diagnosis.steps
    counted = _names(each for each in last if each.state == "counted")
    confirmed = _names(each for each in last if each.state == "confirmed")
    grave = set(_names(each for each in last if each.state == "counted" and each.severity != "note"))
    machine = OF_THE_MACHINE if condition.where == "real" else set()
    made = Trial(
        condition=condition.name,
        seed=seed,
        seconds=0.0,
        examine_s=round(examine_s, 4),
        suspected=_names(each for each in first if each.state == "suggested"),
        counted=counted,
        confirmed=confirmed,
        rejected=_names(each for each in last if each.state == "rejected"),
        undecided=tuple(sorted({each.finding for each in steps if each.outcome.verdict == "undecided"})),
        untested={} if diagnosis is None else diagnosis.untested,
        wrong=tuple(sorted({*(grave - machine), *confirmed} - {*condition.finds, *condition.also})),
    )
    return made, {each.name: _told(each, steps) for each in reversed(last) if each.certain}


def _told(finding: Finding, steps: tuple[Step, ...]) -> str:
    """As `iocast diagnose` tells it."""
    where = f" in {finding.phase}" if finding.phase else ""
    lines = [f"seen{where}: {finding.says}"]
    if finding.hypothesis:
        lines.append(f"  hypothesis: {finding.hypothesis}")
    for step in steps:
        if step.finding == finding.name:
            lines += [f"  experiment: {step.question}", f"  {step.outcome.verdict}: {step.outcome.says}"]
    return "\n".join([*lines, f"  what to do: {finding.remedy}"])


def _names(findings: object) -> Names:
    chosen: list[Finding] = list(findings)  # type: ignore[call-overload]
    return tuple(sorted({finding.name for finding in chosen}))
