"""Examination of a run: every detector is asked, each measured row gets its trust and what bound it."""

from __future__ import annotations

import os

from msgspec.structs import replace

from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose import bound
from iocast.diagnose.detectors import DETECTORS, Detector, codes, module_name
from iocast.diagnose.experiments.next_step import with_steps
from iocast.diagnose.trust import row_trust
from iocast.model.codes import SeverityCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Bound, Examination, FailedDetector, Finding
from iocast.model.run import Run

SEVERITIES: tuple[SeverityCode, ...] = ("void", "severe", "warn", "note")

VOID = Bound("unknown", "Bottleneck unknown: the row is void.")


def examine(run: Run | Facts, diagnosis: Diagnosis | None = None) -> Examination:
    """The trust that each measured phase deserves, what bound it, and all findings, the gravest first.

    With a diagnosis, what its experiments decided is part of the findings.
    """
    facts = facts_of(run)
    found: list[Finding] = []
    failed: list[FailedDetector] = []
    for detector in DETECTORS:
        try:
            found += [replace(finding, detector=module_name(detector)) for finding in detector.detect(facts)]
        except Exception as error:  # whatever it is: the card is worth more than one finding
            failed.append(_failed(detector, error))
    if diagnosis is not None:
        found = list(with_steps(tuple(found), diagnosis))
    findings = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    grades = {row.name: row_trust.judge(row, findings) for row in facts.rows}
    # A row that measured something else has no bottleneck of the storage.
    bounds = {name: VOID if grades[name].void else found for name, found in bound.bounds(facts).items()}
    return Examination(trust=grades, findings=findings, bounds=bounds, failed=tuple(failed))


def _failed(detector: Detector, error: Exception) -> FailedDetector:
    """What failed, why, and the line in which it did."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f"{os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}" if last is not None else ""
    why = f"{type(error).__name__}: {error}".removesuffix(": ")
    return FailedDetector(detector=module_name(detector), codes=codes(detector), why=why, where=where)
