"""A run with the letters it was given, as the chart of its report card is made of it."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.model.grading import Grades


class GradedRun(Struct, frozen=True):
    """The facts of a run and its letters."""

    facts: Facts
    grades: Grades
