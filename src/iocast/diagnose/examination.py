"""Examination of a run: every detector is asked, each measured row gets its trust and what bound it."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose.detectors import DETECTORS, codes, failure, module_name
from iocast.diagnose.excluded_rows import excluded, rates_apart
from iocast.diagnose.experiments.next_step import with_steps
from iocast.diagnose.limits.by_findings import paced
from iocast.diagnose.relations import ANSWERS, busy_rows, not_suppressed, with_rivals
from iocast.diagnose.trust import row_trust
from iocast.model.codes import SeverityCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination, FailedDetector, Finding
from iocast.model.run import Run

SEVERITIES: tuple[SeverityCode, ...] = ("void", "severe", "warn", "note")


def _gravity(finding: Finding) -> tuple[int, bool]:
    """The gravest first; of equal ones what certainly limits a row before what is only worth knowing."""
    return SEVERITIES.index(finding.severity), not (finding.certain and finding.code in ANSWERS)


def examine(run: Run | Facts, diagnosis: Diagnosis | None = None) -> Examination:
    """The trust that each measured phase deserves, what bound it, and all findings, the gravest first.

    With a diagnosis, what its experiments decided is part of the findings.
    """
    facts = facts_of(run)
    all_findings: list[Finding] = []
    failed: list[FailedDetector] = []
    for detector in DETECTORS:
        try:
            detected = map(with_rivals, detector.detect(facts))
            all_findings += [replace(finding, detector=module_name(detector)) for finding in detected]
        except Exception as error:  # whatever it is: the card is worth more than one finding
            failed.append(failure(detector, codes(detector), error))
    if diagnosis is not None:
        all_findings = list(with_steps(tuple(all_findings), diagnosis, {row.name: row.kind for row in facts.rows}))
    said = not_suppressed(facts, all_findings)
    findings = tuple(sorted(said, key=_gravity))
    grades = {row.name: row_trust.judge(row, findings) for row in facts.rows}
    out = excluded(facts, findings, grades)
    void = frozenset(name for name, trust in grades.items() if trust.void)
    return Examination(
        trust=grades,
        findings=findings,
        bounds=paced(facts, findings, rates_apart(facts, findings, out), void),
        excluded=out,
        failed=tuple(failed),
        unsuspected=busy_rows(facts),
    )
