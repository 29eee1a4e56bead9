"""Grades: the letters of a report card, each with the evidence that earned it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.codes import AspectCode, StatisticCode
from iocast.model.finding import Grade

Letter = Literal["A+", "A", "A-", "B", "B-", "C", "C-", "D", "F"]
LETTERS: tuple[Letter, ...] = ("A+", "A", "A-", "B", "B-", "C", "C-", "D", "F")  # the best first

LEVEL_KEPT: Letter = "B-"  # the last letter of a service level that is kept: measured at most what is allowed

Scale = Literal["modern", "hailey2012", "slo"]


class ServiceLevel(Struct, frozen=True):
    """A percentile of the response time of random reads that must not be exceeded, at a rate when one is given."""

    q: float
    limit_ns: int
    rate_per_s: float | None = None


class GradeRequest(Struct, frozen=True):
    """How a run is to be graded, and the letter below which it has failed (None: it cannot fail)."""

    scale: Scale = "modern"
    levels: tuple[ServiceLevel, ...] = ()
    floor: Letter | None = None


class Graded(Struct, frozen=True, kw_only=True):
    """One letter. `letter` is None where nothing may be graded; `says` is the evidence, or why not."""

    code: AspectCode
    letter: Letter | None
    says: str
    statistic: StatisticCode | None = None  # what of the aspect, where it has a letter for each
    why_not: str = ""  # why there is no letter, without the words around it
    phases: tuple[str, ...] = ()  # the rows that were judged
    best: Letter | None = None  # the letters at the ends of the interval of the value
    worst: Letter | None = None
    figures: dict[str, float] = {}
    source: str = ""  # of the limits
    aside: str = ""  # what must be said of the letter wherever it stands alone: "at 8x1, at 1x1 a D"

    @property
    def shown(self) -> str:
        """The letter with its range where chance could have moved it: "B (A-..C)"; "-" for none."""
        if self.letter is None:
            return "-"
        ranged = self.best and self.worst and self.best != self.worst
        return f"{self.letter} ({self.best}..{self.worst})" if ranged else self.letter


class Grades(Struct, frozen=True, kw_only=True):
    """All letters of a run on one scale. `overall` is None when the run is not graded; `says` tells why."""

    scale: Scale
    overall: Letter | None
    says: str
    trust: Grade | None  # the worst trust of the rows that the overall letter rests on
    parts: tuple[Graded, ...]

    def reaches(self, floor: Letter) -> bool:
        """True when the overall letter is at least `floor`; what could not be graded does not reach it."""
        return self.overall is not None and letter_rank(self.overall) <= letter_rank(floor)


def letter_rank(letter: Letter) -> int:
    """0 for an A+, 8 for an F."""
    return LETTERS.index(letter)


def worst_letter(*letters: Letter) -> Letter:
    """The worst of some letters."""
    return max(letters, key=letter_rank)


def stepped_down(letter: Letter) -> Letter:
    """The next worse letter; an F stays."""
    return LETTERS[min(len(LETTERS) - 1, letter_rank(letter) + 1)]
