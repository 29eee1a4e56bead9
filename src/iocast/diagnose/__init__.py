"""Opinions with evidence: one detector a file; trust looks at what all of them found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from iocast.diagnose import absent, bound, cached, failures, impossible, stalls, trust, unverified
from iocast.model.finding import Examination, Finding
from iocast.model.run import Run


class Detector(Protocol):
    """A module that finds one kind of abnormality; its docstring is its manual page."""

    NEEDS: tuple[str, ...]  # observers without which it sees nothing

    def detect(self, run: Run) -> Iterator[Finding]:
        """Everything abnormal that it finds in a run."""
        ...


DETECTORS: tuple[Detector, ...] = (failures, unverified, impossible, cached, absent, stalls)

SEVERITIES = ("void", "severe", "warn", "note")


def examine(run: Run) -> Examination:
    """The trust that each measured phase deserves, what bound it, and all findings, the gravest first."""
    found = [finding for detector in DETECTORS for finding in detector.detect(run)]
    findings = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    grades = {record.phase.name: trust.judge(run, record, findings) for record in run.measured}
    return Examination(trust=grades, findings=findings, bounds=bound.bounds(run))
