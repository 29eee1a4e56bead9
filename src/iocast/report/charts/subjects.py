"""What charts are made of: what a report hands to those that stand at one of its places."""

from __future__ import annotations

import re

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.analyse.target_history import RunPoint, Series
from iocast.model.finding import Examination
from iocast.model.grading import Grades
from iocast.model.histogram import Histogram
from iocast.model.results.comparison import Compared


class ExaminedRun(Struct, frozen=True):
    """The facts of a run and its examination."""

    facts: Facts
    examination: Examination


class GradedRun(Struct, frozen=True):
    """The facts of a run and the letters that it was given."""

    facts: Facts
    grades: Grades


class ComparedSides(Struct, frozen=True):
    """Two sides of a comparison: their names, their figures, the response times of each row on both."""

    labels: tuple[str, str]
    figures: tuple[Compared, ...]
    rows: tuple[tuple[str, Histogram, Histogram], ...]


class FollowedFigure(Struct, frozen=True):
    """The runs of a trend, the oldest first, and one of their figures; `key` names it among the others."""

    runs: tuple[RunPoint, ...]
    series: Series
    key: str


class SizedNeed(Struct, frozen=True):
    """(words, devices) of each part of a need, which of them binds, how many devices there are in the end, and why so
    many."""

    device: str
    counts: tuple[tuple[str, int], ...]
    binding: str
    devices: int
    why: str
    noun: str = "device"


def file_key(name: str) -> str:
    """A name as part of a key that is fit for a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "row"
