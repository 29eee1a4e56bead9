"""Renders a card or a comparison as JUnit's XML, which systems for continuous integration show as tests.

A row is a test that passes when it can be believed, and is skipped, with the reason, when it cannot; a grade fails when
it is an F; a finding fails when it is severe and not only suspected. Of a comparison each figure is a test, which fails
when it is worse and is skipped while that is undecided. Any other report is one test with its verdict.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TextIO

from msgspec import Struct

from iocast.model.report import Report
from iocast.model.results.card import Card, FindingDocument, GradeRow, MeasuredRow
from iocast.model.results.comparison import Compared, Comparison
from iocast.model.results.trust import TrustReason
from iocast.report.renderers.safe_words import safe
from iocast.report.wording import words
from iocast.results.comparison import is_judged, outcome
from iocast.text import iso

Outcome = Literal["passed", "failed", "skipped"]
_UNBELIEVABLE = ("D", "F")


class _Test(Struct, frozen=True):
    """One test: of which group, its name, how it ended, and what is said of that."""

    group: str
    name: str
    outcome: Outcome
    says: str = ""


def render(report: Report, out: TextIO, *, colour: bool = False, width: int = 0) -> None:
    """Writes the tests of a report. `colour` and `width` mean nothing here."""
    report = safe(report)
    tests = list(_tests(report))
    counts = {
        "tests": str(len(tests)),
        "failures": str(sum(test.outcome == "failed" for test in tests)),
        "skipped": str(sum(test.outcome == "skipped" for test in tests)),
    }
    whole = ET.Element("testsuites", counts | {"name": "iocast"})
    suite = ET.SubElement(whole, "testsuite", counts | {"name": report.title})
    begun = iso(min((each.started_unix_ns for each in report.subjects), default=0))
    if begun is not None:
        suite.set("timestamp", begun)
    named: Counter[tuple[str, str]] = Counter()
    for test in tests:
        named[test.group, test.name] += 1
        again = named[test.group, test.name]
        name = test.name if again == 1 else f"{test.name} ({again})"  # names are keys where tests are listed
        case = ET.SubElement(suite, "testcase", {"classname": f"iocast.{test.group}", "name": name})
        if test.outcome == "passed":
            if test.says:
                ET.SubElement(case, "system-out").text = test.says
        else:
            ET.SubElement(case, "failure" if test.outcome == "failed" else "skipped", {"message": test.says})
    ET.SubElement(suite, "system-out").text = report.verdict
    ET.indent(whole)
    out.write('<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(whole, "unicode") + "\n")


def _tests(report: Report) -> Iterator[_Test]:
    if isinstance(report.result, Card):
        yield from (_row(row, report.result.trust) for row in report.result.rows if not row.part)
        yield from map(_grade, report.result.grades)
        yield from (_finding(each) for each in report.result.findings if each.state != "rejected")
    elif isinstance(report.result, Comparison):
        for pair in report.result.pairs:
            rows = [row for row in pair.rows if report.result.gate is None or row.why_not or is_judged(row)]
            yield from (_figure(row, f"comparison.{pair.other}") for row in rows)
    else:
        yield _Test(report.kind, report.title, "passed", report.verdict)


def _row(row: MeasuredRow, reasons: tuple[TrustReason, ...]) -> _Test:
    if row.void:
        return _Test("row", row.phase, "skipped", row.void)
    if row.trust in _UNBELIEVABLE:
        why = [each.reason for each in reasons if row.phase in each.phases and each.trust == row.trust]
        return _Test("row", row.phase, "skipped", f"trust {row.trust}: {' '.join(why)}")
    return _Test("row", row.phase, "passed", f"trust {row.trust}" if row.trust else "")


def _grade(grade: GradeRow) -> _Test:
    name = words(grade.statistic or grade.code)
    if grade.letter is None:
        return _Test("grade", name, "skipped", grade.says)
    return _Test("grade", name, "failed" if grade.letter == "F" else "passed", f"{grade.letter}: {grade.says}")


def _finding(finding: FindingDocument) -> _Test:
    name = " · ".join([words(finding.code), *finding.phases])
    if finding.state == "suggested":
        return _Test("finding", name, "skipped", f"only suspected: {finding.says}")
    grave = finding.severity in ("severe", "void")
    return _Test("finding", name, "failed" if grave else "passed", finding.says)


def _figure(compared: Compared, group: str) -> _Test:
    name = f"{compared.phase} {words(compared.statistic)}" if compared.statistic else compared.phase
    judgement = outcome(compared)
    if judgement in ("undecided", "refused") or compared.relative is None:
        return _Test(group, name, "skipped", compared.why_not or words(compared.verdict))
    says = f"{compared.relative:.1%} of the first side's performance"
    return _Test(group, name, "failed" if judgement == "worse" else "passed", says)
