"""Examination of a run: every detector is asked, each measured row gets its trust and what bound it."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose import bound
from iocast.diagnose.detectors import DETECTORS, module_name
from iocast.diagnose.experiments.next_step import with_steps
from iocast.diagnose.trust import row_trust
from iocast.model.codes import SeverityCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Bound, Examination
from iocast.model.run import Run

SEVERITIES: tuple[SeverityCode, ...] = ("void", "severe", "warn", "note")

VOID = Bound("unknown", "Bottleneck unknown: the row is void.")


def examine(run: Run | Facts, diagnosis: Diagnosis | None = None) -> Examination:
    """The trust that each measured phase deserves, what bound it, and all findings, the gravest first.

    With a diagnosis, what its experiments decided is part of the findings.
    """
    facts = facts_of(run)
    found = [
        replace(finding, detector=module_name(detector)) for detector in DETECTORS for finding in detector.detect(facts)
    ]
    if diagnosis is not None:
        found = list(with_steps(tuple(found), diagnosis))
    findings = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    grades = {row.name: row_trust.judge(row, findings) for row in facts.rows}
    # A row that measured something else has no bottleneck of the storage.
    bounds = {name: VOID if grades[name].void else found for name, found in bound.bounds(facts).items()}
    return Examination(trust=grades, findings=findings, bounds=bounds)
