"""Experiment: two or more arms that differ in one thing, run in turns; Outcome: what came of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.codes import FindingCode, VerdictCode
from iocast.model.workload import Workload

Statistic = Literal["p50", "p95", "p99", "mean", "rate", "bytes_per_s"]


class Arm(Struct, frozen=True, kw_only=True):
    """One of the things compared: a workload on a part of the target, for so many seconds each time."""

    name: str
    workload: Workload
    seconds: float = 2.0
    ios: int | None = None  # ends after so many, if that comes first
    bytes: int | None = None
    region_start_bytes: int = 0
    region_size_bytes: int | None = None  # None: to the end
    step_bytes: int = 0  # in each round the region starts so much further on: ground that no round before it touched
    same_offsets: bool = False  # every time the same blocks in the same order, and in all arms that say so
    together: bool = False  # at once with the next arm
    measured: bool = True  # False: it only prepares the ground for the next one


class Decision(Struct, frozen=True, kw_only=True):
    """How the arms decide: `other` over `first` in one statistic, against a limit.

    Confirmed when the 95 % interval of the ratio lies beyond `limit` on the side of `direction`, rejected when it
    lies on the other side, undecided when the limit is in it. "same" wants the interval between 1/limit and limit.
    "varies" looks at one arm alone (`first` and `other` are the same): the interval of its coefficient of variation
    over the rounds against `limit`, and its ups and downs, for what goes one way only is a trend. "dips" looks at one
    arm alone too, round by round: a rate that falls by `limit` for at least five rounds and comes back, once.
    """

    statistic: Statistic
    first: str
    other: str
    limit: float
    direction: Literal["below", "above", "same", "varies", "dips"]
    or_others: tuple[str, ...] = ()  # of these and `other` the one that is furthest in that direction decides
    op: Literal["", "read", "write"] = ""  # "": all operations of the arm


class Experiment(Struct, frozen=True, kw_only=True):
    """What is asked, the arms in the order of one round, and what decides. Rounds go forth and back (ABBA)."""

    question: str  # "Are the same blocks faster the second time when they pass the page cache?"
    arms: tuple[Arm, ...]  # of one name several times: as many observations in each round
    decision: Decision
    prepare: tuple[Arm, ...] = ()  # once, before the first round
    rounds: int = 3
    also: tuple[Decision, ...] = ()  # must be confirmed as well; one that is rejected rejects all
    keep_order: bool = False  # rounds must not be turned round: what is first must be first
    absence_proves: bool = True  # False: what did not show now may have been away, so nothing is rejected
    if_confirmed: str = ""  # the sentence that follows; {ratio} is the ratio in words
    if_rejected: str = ""
    if_split: str = ""  # where one of `also` is rejected and the decision is not: undecided, and why; "": rejected
    seen_per_s: float | None = None  # the rate of the decision's first arm in the run; where another is met: undecided

    @property
    def writes(self) -> bool:
        """True when any arm changes data: it needs work files of its own."""
        return any(arm.workload.writes for arm in (*self.prepare, *self.arms))

    @property
    def seconds(self) -> float:
        """How long it takes."""
        once = sum(arm.seconds for arm in self.prepare)
        return once + self.rounds * sum(arm.seconds for arm in self.arms)


class Outcome(Struct, frozen=True, kw_only=True):
    """What an experiment found. `says` is a sentence with its figures."""

    verdict: VerdictCode
    says: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    evidence: dict[str, float] = {}


class DiagnosisStep(Struct, frozen=True, kw_only=True):
    """One turn of the loop: what was suspected, what was asked, what came of it, where its run is kept."""

    finding: FindingCode
    phase: str
    hypothesis: str
    question: str
    outcome: Outcome
    run: str = ""  # name of the run folder


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The steps of a diagnosis in order, and the findings that could not be tested, each with the reason."""

    steps: tuple[DiagnosisStep, ...] = ()
    untested: dict[FindingCode, str] = {}
