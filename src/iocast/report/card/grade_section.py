"""The part of a card that shows its letters, each with the evidence that earned it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iocast.model.grading import Grades
from iocast.model.report import Section
from iocast.model.results.card import GradeRow
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.report.wording import words as words_of

SCALES = {
    "modern": "iocast's absolute scale, the same for all storage: a letter is a factor of two in time or throughput",
    "hailey2012": "the scale of Kyle Hailey's fio_scripts (2012), made for hard disks",
    "slo": "the scale of the workload's service level: measured over allowed",
}


def graded_section(grades: Grades | None, rows: Sequence[GradeRow]) -> Section | None:
    """The overall letter in a sentence, and a row for each aspect where any has one; None for a run without rows."""
    if grades is None:
        return None
    head = grades.says
    if grades.overall:
        trust = f", from rows of trust {grades.trust}" if grades.trust else ""
        head = f"Overall {grades.overall}{trust}. {grades.says}"
    if not any(part.letter for part in grades.parts):
        return section("grade", (head,))  # a list of what is missing says no more
    words: dict[str, Callable[[GradeRow], str]] = {
        "code": lambda each: " ".join(filter(None, (words_of(each.code), each.statistic))),
        "best": lambda each: f"{each.best} to {each.worst}" if each.best != each.worst else "",
    }
    leave = () if any(map(words["best"], rows)) else ("best",)
    notes = (f"Graded on {SCALES[grades.scale]}.",)
    table = result_table(GradeRow, rows, key="grades", words=words, leave=leave, notes=notes)
    return section("grade", (head,), tables=(table,))
