"""Which experiment comes next, and what its outcome makes of a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from iocast.diagnose.experiments.decisions import of_interval
from iocast.diagnose.relations import CAPS
from iocast.model.codes import FindingCode, SeverityCode
from iocast.model.experiment import Arm, Diagnosis, DiagnosisStep, Experiment, Outcome
from iocast.model.finding import FailedDetector, Finding
from iocast.model.run import Run
from iocast.model.workload import Closed
from iocast.text import capacity

SAME_CAP = 1.02  # rates of one cap [J]
LONGER = 2  # an undecided experiment is repeated, with this many times the rounds
GRAVEST_FIRST: tuple[SeverityCode, ...] = ("void", "severe", "warn", "note")


class Budget(Struct, frozen=True):
    """What a diagnosis may cost. `writes` says that work files may be written to."""

    seconds: float
    bytes: int
    writes: bool = True


USUAL_BUDGET = Budget(seconds=600.0, bytes=64 << 30)


class Candidate(Struct, frozen=True):
    """A finding and the experiment that would decide it: None when there is none, or its detector failed."""

    finding: Finding
    experiment: Experiment | None
    failed: FailedDetector | None = None

    @property
    def why_untested(self) -> str:
        """What a finding without an experiment asks of a person."""
        if self.failed is not None:
            return f"its experiment could not be planned: {self.failed.why} ({self.failed.where}); please report"
        return self.finding.confirm or "no experiment on this machine alone can decide it"


Proposer = Callable[[Run, Finding], Candidate]


def candidates(run: Run, findings: tuple[Finding, ...], proposed: Proposer) -> Iterator[Candidate]:
    """For each kind of finding that is only suggested its experiment, or None; the gravest first, of these the one
    that decides most of the others, then the surest.

    A finding of many rows is tested once: on the first of the gravest of them that has an experiment. `proposed` asks
    its detector.
    """
    tested: dict[FindingCode, list[Finding]] = {}
    open_ = {finding.code: finding.rivals for finding in findings if finding.state == "suggested"}

    def decides(finding: Finding) -> int:
        """How many other suspicions its confirmation would make less likely."""
        return sum(finding.code in rivals for code, rivals in open_.items() if code != finding.code)

    for finding in sorted(findings, key=lambda f: (GRAVEST_FIRST.index(f.severity), -decides(f), -f.confidence)):
        if finding.state == "suggested":
            tested.setdefault(finding.code, []).append(finding)
    for first, *others in tested.values():
        alike = [first, *(each for each in others if each.severity == first.severity)]
        yield _first_planned(proposed(run, each) for each in alike)


def _first_planned(candidates: Iterator[Candidate]) -> Candidate:
    """The first with an experiment; where none has one, the first."""
    first = next(candidates)
    return first if first.experiment else next((each for each in candidates if each.experiment), first)


def unaffordable(experiment: Experiment, left: Budget, moved_bytes: float) -> str:
    """Why the experiment does not fit into what is left of the budget, "" when it does.

    `moved_bytes` is a guess of what it moves, from the rate that the run has shown.
    """
    if experiment.seconds > left.seconds:
        return f"it takes {experiment.seconds:.0f} s; {max(0.0, left.seconds):.0f} s of the budget are left"
    if experiment.writes and not left.writes:
        return "it writes, and this target is read-only; give a directory, in which iocast makes its work files"
    if moved_bytes > left.bytes:
        return f"it may move {capacity(moved_bytes)}; {capacity(max(0, left.bytes))} of the budget are left"
    return ""


def moved_guess(run: Run, experiment: Experiment) -> float:
    """About how many bytes it moves: at the median throughput of the run's rows, and no more than its arms say."""
    rates = sorted(record.measurement.bytes_per_s for record in run.measured)
    usual = rates[len(rates) // 2] if rates else 0.0
    once = sum(_moved(arm, usual) for arm in experiment.prepare)
    return once + experiment.rounds * sum(_moved(arm, usual) for arm in experiment.arms)


def _moved(arm: Arm, bytes_per_s: float) -> float:
    """About how many bytes an arm moves in one round."""
    largest = max(item.size_bytes for item in arm.workload.mix)
    bounds = [arm.seconds * bytes_per_s]
    if arm.bytes is not None:
        bounds.append(arm.bytes)
    if arm.ios is not None:
        bounds.append(arm.ios * largest)
    if not isinstance(arm.workload.arrival, Closed):
        bounds.append(arm.workload.arrival.rate_per_s * arm.seconds * largest)
    return min(bounds)


def worth_repeating(experiment: Experiment, outcome: Outcome) -> bool:
    """Whether more rounds may tell what these could not. Not where they told, and that rejects nothing; what comes and
    goes may come meanwhile.
    """
    if outcome.verdict != "undecided":
        return False
    comes_and_goes = experiment.decision.direction in ("varies", "dips")
    if experiment.absence_proves or comes_and_goes or outcome.low is None or outcome.high is None:
        return True
    return of_interval(experiment.decision, outcome.low, outcome.high) != "rejected"


def longer(experiment: Experiment) -> Experiment:
    """The same question with more rounds."""
    return replace(experiment, rounds=experiment.rounds * LONGER)


def refined(finding: Finding, outcome: Outcome) -> Finding:
    """The finding with what its experiment taught; an undecided one stays a suggestion."""
    if outcome.verdict == "undecided":
        return replace(finding, learned=outcome.says)
    if outcome.verdict == "confirmed":
        remedy = finding.confirmed_remedy or finding.remedy
        return replace(finding, learned=outcome.says, state="confirmed", confidence=0.99, remedy=remedy)
    return replace(finding, learned=outcome.says, state=outcome.verdict, confidence=0.01)


def with_steps(
    findings: tuple[Finding, ...], diagnosis: Diagnosis, kinds: Mapping[str, str] | None = None
) -> tuple[Finding, ...]:
    """All findings, those that an experiment tested refined by the last step that was about them. `kinds` says of each
    row by name which load it has, users and depth apart.

    A confirmed one rejects no rival by itself, but a rival that is only suggested becomes half as likely.
    """
    confirmed = {step.finding for step in diagnosis.steps if step.outcome.verdict == "confirmed"}
    explained = []
    for finding in findings:
        about = [step for step in diagnosis.steps if step.finding == finding.code]
        step = next((each for each in reversed(about) if _tested(each, finding, findings, kinds or {})), None)
        if finding.state == "suggested" and step is not None:
            finding = refined(finding, step.outcome)
        elif finding.state == "suggested" and about:
            finding = replace(
                finding, learned=f"Not tested on this row; on {about[-1].phase}: {about[-1].outcome.says}"
            )
        elif finding.state == "suggested" and confirmed & set(finding.rivals):
            finding = replace(finding, confidence=finding.confidence / 2)
        explained.append(finding)
    return tuple(explained)


def _tested(step: DiagnosisStep, finding: Finding, findings: tuple[Finding, ...], kinds: Mapping[str, str]) -> bool:
    """Whether a step was about this finding: about its row, about one of the same I/O at another load, or about one of
    which the very same was seen."""
    if "" in (step.phase, finding.phase) or finding.phase == step.phase:
        return True
    if step.phase in kinds and kinds[step.phase] == kinds.get(finding.phase):
        return True
    subjects = [each for each in findings if each.code == step.finding and each.phase == step.phase]
    return any(each.says == finding.says or _one_cap(each, finding) for each in subjects)


def _one_cap(one: Finding, other: Finding) -> bool:
    """Whether both suspect a cap at the same rate, on whatever I/Os."""
    rates = [each.evidence.get("rate_per_s", 0.0) for each in (one, other)]
    return one.code in CAPS and min(rates) > 0 and max(rates) <= SAME_CAP * min(rates)
