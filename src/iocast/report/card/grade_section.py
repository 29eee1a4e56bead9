"""The part of a card that shows its letters, each with the evidence that earned it."""

from __future__ import annotations

from iocast.model.grading import Grades
from iocast.model.report import Chart, Column, Row, Section, Table
from iocast.report.wording import section, words

SCALES = {
    "modern": "iocast's absolute scale, the same for all storage: a letter is a factor of two in time or throughput",
    "hailey2012": "the scale of Kyle Hailey's fio_scripts (2012), made for hard disks",
    "slo": "the scale of the workload's service level: measured over allowed",
}
COLUMNS = (
    Column("aspect", "aspect"),
    Column("letter", "grade", "grade"),
    Column("range", "range", spare=1),
    Column("says", "reason"),
)


def graded_section(grades: Grades | None, charts: tuple[Chart, ...] = ()) -> Section | None:
    """The overall letter in a sentence, and a row for each aspect where any has one; None for a run without rows."""
    if grades is None:
        return None
    rows = tuple(
        Row(
            {
                "code": part.code,
                "statistic": part.statistic,
                "aspect": " ".join(filter(None, (words(part.code), part.statistic))),
                "letter": part.letter or "",
                "range": f"{part.best} to {part.worst}" if part.best != part.worst else "",
                "says": part.says,
                "phases": part.phases,
                "source": part.source,
                "best": part.best,
                "worst": part.worst,
            }
        )
        for part in grades.parts
    )
    head = grades.says
    if grades.overall:
        trust = f", from rows of trust {grades.trust}" if grades.trust else ""
        head = f"Overall {grades.overall}{trust}. {grades.says}"
    if not any(part.letter for part in grades.parts):
        return section("grade", (head,))  # a list of what is missing says no more
    columns = tuple(each for each in COLUMNS if each.key != "range" or any(row.cells["range"] for row in rows))
    table = Table("", columns, rows, key="grades", notes=(f"Graded on {SCALES[grades.scale]}.",))
    return section("grade", (head,), tables=(table,), charts=charts)
