"""Finding: something a reader must know about a run, with its evidence; Trust: how far a row can be believed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.codes import BoundCode, FindingCode, SeverityCode, StateCode, TrustCode
from iocast.text import sentence

Grade = Literal["A", "B", "C", "D", "F"]
GRADES: tuple[Grade, ...] = ("A", "B", "C", "D", "F")


class TrustComponent(Struct, frozen=True):
    """One row of the trust table: its letter, why, and the figures behind it."""

    code: TrustCode
    grade: Grade
    clause: str  # why, fit to follow a colon: no capital, no full stop; "" where `more` says it all
    evidence: dict[str, float] = {}
    more: str = ""  # whole sentences that follow
    finding: FindingCode | None = None  # the gravest, of "anomalies"

    @property
    def reason(self) -> str:
        """Why, in whole sentences."""
        return " ".join(filter(None, (sentence(self.clause), self.more)))


class Trust(Struct, frozen=True):
    """The belief that one phase deserves: the worst component wins; `void` says why a row is no measurement."""

    grade: Grade
    components: tuple[TrustComponent, ...]
    void: str = ""
    void_by: FindingCode | None = None  # the finding that says so
    void_clause: str = ""  # the same, fit to follow a colon; "" where it was not put so

    @property
    def worst(self) -> tuple[TrustComponent, ...]:
        """The components that made the letter what it is."""
        return tuple(part for part in self.components if part.grade == self.grade)

    def without(self, *codes: TrustCode) -> Trust:
        """The same for who does not rest on some components."""
        kept = tuple(part for part in self.components if part.code not in codes)
        return replace(self, components=kept, grade=max((part.grade for part in kept), default="A"))

    @property
    def reason(self) -> str:
        """The reason of the worst component ("" for an A)."""
        return self.void or (self.worst[0].reason if self.worst and self.grade != "A" else "")


class Bound(Struct, frozen=True):
    """What set the pace of one phase, in a sentence, with the figures behind it."""

    by: BoundCode
    says: str
    evidence: dict[str, float] = {}
    level: str = ""  # of rows that more load did not help: from where on and how that is seen, fit to follow what it is
    excluded: str = ""  # the rows that this could not be held against, each with its reason; `says` ends with them


class Excluded(Struct, frozen=True):
    """Why a row is no measure for others: it met the storage, or this machine, in another state than they did."""

    brief: str  # in a word or two: "stalled"
    why: str  # with its figures, fit to follow a colon: no capital, no full stop
    fell: Literal["", "within", "before", "after"] = ""  # the rate fell within it, or it lies on a side of such a fall


class Span(Struct, frozen=True):
    """A stretch of a phase, from and to, counted from its start; both the same for a single moment."""

    start_ns: int
    end_ns: int


class Finding(Struct, frozen=True, kw_only=True):
    """An abnormality: what was seen, what explains it, how sure that is, how to be surer, what to do about it."""

    code: FindingCode
    severity: SeverityCode  # what it means for the row, when it is true
    phase: str  # name of the phase, "" for the whole run
    says: str  # what was seen, with its figures
    clause: str = ""  # the core of it, fit to follow a colon: no capital, no full stop; "" where none was put so
    evidence: dict[str, float] = {}
    remedy: str = ""
    confirmed_remedy: str = ""  # in its place, once an experiment has confirmed it; "" where it is the same
    hypothesis: str = ""  # what would explain it
    confidence: float = 1.0  # from 0 to 1, before any experiment [J]
    confirm: str = ""  # what would confirm it, in words
    state: StateCode = "counted"
    learned: str = ""  # what the experiment found
    rivals: tuple[FindingCode, ...] = ()  # other findings that would explain the same
    spans: tuple[Span, ...] = ()  # when it was seen, in order of time; () where that is the whole phase, or not known
    detector: str = ""  # the module that found it; `examine` fills it in

    @property
    def certain(self) -> bool:
        """True when it weighs with its full severity."""
        return self.state in ("counted", "confirmed")


class FailedDetector(Struct, frozen=True):
    """A detector that ended with an error: whether its findings are true of the run is unknown; or, when it was asked
    to `confirm` one, how to test it is.
    """

    detector: str
    codes: tuple[FindingCode, ...]  # what it would have looked for, or what it would have tested
    why: str  # "ZeroDivisionError: float modulo"
    where: str  # "coarse_clock.py:112"
    step: Literal["detect", "confirm"] = "detect"


class Examination(Struct, frozen=True):
    """What diagnosis says of a run: trust and bound of each measured phase (by name), and findings."""

    trust: dict[str, Trust]
    findings: tuple[Finding, ...] = ()
    bounds: dict[str, Bound] = {}
    excluded: dict[str, Excluded] = {}  # rows that no verdict on several rows may rest on, by name
    failed: tuple[FailedDetector, ...] = ()
    unsuspected: tuple[str, ...] = ()  # rows with so little CPU time left that no suspicion is raised on them
