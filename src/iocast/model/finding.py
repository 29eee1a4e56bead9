"""Finding: something a reader must know about a run, with its evidence; Trust: how far a row can be believed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Grade = Literal["A", "B", "C", "D", "F"]
GRADES: tuple[Grade, ...] = ("A", "B", "C", "D", "F")


class TrustComponent(Struct, frozen=True):
    """One row of the trust table: its letter, why in one sentence, and the figures behind it."""

    name: str  # "integrity", "steady", "precision", "representative", "load achieved", "isolation", "anomalies"
    grade: Grade
    reason: str
    evidence: dict[str, float] = {}


class Trust(Struct, frozen=True):
    """The belief that one phase deserves: the worst component wins; `void` says why a row is no measurement."""

    grade: Grade
    components: tuple[TrustComponent, ...]
    void: str = ""

    @property
    def reason(self) -> str:
        """The reason of the worst component ("" for an A)."""
        worst = [c for c in self.components if c.grade == self.grade]
        return self.void or (worst[0].reason if worst and self.grade != "A" else "")


class Bound(Struct, frozen=True):
    """What set the pace of one phase, in a sentence, with the figures behind it."""

    by: Literal["generator", "kernel", "link", "queue", "device", "rate", "unknown"]
    says: str
    evidence: dict[str, float] = {}


# Who says so: it only looks like it; it was counted, so nothing remains to be tested; an experiment decided.
State = Literal["suggested", "counted", "confirmed", "rejected"]


class Span(Struct, frozen=True):
    """A stretch of a phase, from and to, counted from its start; both the same for a single moment."""

    start_ns: int
    end_ns: int


class Finding(Struct, frozen=True, kw_only=True):
    """An abnormality: what was seen, what explains it, how sure that is, how to be surer, what to do about it."""

    name: str
    severity: Literal["note", "warn", "severe", "void"]  # what it means for the row, when it is true
    phase: str  # name of the phase, "" for the whole run
    says: str  # what was seen, with its figures
    evidence: dict[str, float] = {}
    remedy: str = ""
    hypothesis: str = ""  # what would explain it
    confidence: float = 1.0  # from 0 to 1, before any experiment [J]
    confirm: str = ""  # what would confirm it, in words
    state: State = "counted"
    learned: str = ""  # what the experiment found
    rivals: tuple[str, ...] = ()  # names of other findings that would explain the same
    spans: tuple[Span, ...] = ()  # when it was seen, in order of time; () where that is the whole phase, or not known
    detector: str = ""  # the module that found it; `examine` fills it in

    @property
    def certain(self) -> bool:
        """True when it weighs with its full severity."""
        return self.state in ("counted", "confirmed")


class Examination(Struct, frozen=True):
    """What diagnosis says of a run: trust and bound of each measured phase (by name), and findings."""

    trust: dict[str, Trust]
    findings: tuple[Finding, ...] = ()
    bounds: dict[str, Bound] = {}
