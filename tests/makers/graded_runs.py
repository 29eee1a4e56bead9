"""A run of the four tests of 2012: the published rows (V5) of the system colorado, as fioparse has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.model.grading import Scale
from iocast.report.card.card_report import card
from iocast.tools import importers

ROWS = Path(__file__).with_name("fioparse_grades.csv")


def graded_charts(scale: Scale = "hailey2012") -> tuple[Any, ...]:
    """The charts beside the letters of its card."""
    (run,) = importers.read((str(ROWS),))
    facts = Facts(run)
    examination = examine(facts)
    report = card(facts, examination, courses={}, grades=grade(facts, examination, scale, None))
    return next(section.charts for section in report.sections if section.code == "grade")
