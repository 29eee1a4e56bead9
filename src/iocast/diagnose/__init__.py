"""Opinions with evidence: one detector a file; trust looks at what all of them found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec.structs import replace

from iocast.diagnose import (
    absent,
    async_timing,
    bimodal,
    bound,
    cache_pollution,
    cached,
    coarse_clock,
    credits,
    elided,
    failures,
    first_write,
    generator_bound,
    impossible,
    link_limit,
    maintenance,
    read_ahead,
    reduction,
    request_shape,
    retrograde,
    round_trip,
    serialised,
    shallow,
    shared_drives,
    short_stroke,
    stalls,
    storage_cache,
    throttle,
    tiers,
    trust,
    unverified,
    write_cliff,
)
from iocast.diagnose.reasoning import with_steps
from iocast.model.experiment import Diagnosis, Experiment
from iocast.model.finding import Examination, Finding
from iocast.model.run import Run


class Detector(Protocol):
    """A module that finds one kind of abnormality; its docstring is its manual page.

    It declares the names of its findings: NAME, or NAMES where there are several. One whose findings can be tested
    has `confirm(run, finding) -> Experiment | None` as well.
    """

    NEEDS: tuple[str, ...]  # observers without which it sees nothing

    def detect(self, run: Run) -> Iterator[Finding]:
        """Everything abnormal that it finds in a run."""
        ...


DETECTORS: tuple[Detector, ...] = (
    failures,
    unverified,
    impossible,
    cached,
    storage_cache,
    read_ahead,
    tiers,
    first_write,
    elided,
    reduction,
    short_stroke,
    credits,
    write_cliff,
    absent,
    stalls,
    shared_drives,
    link_limit,
    round_trip,
    request_shape,
    maintenance,
    serialised,
    shallow,
    cache_pollution,
    bimodal,
    async_timing,
    throttle,
    coarse_clock,
    generator_bound,
    retrograde,
)

SEVERITIES = ("void", "severe", "warn", "note")


def examine(run: Run, diagnosis: Diagnosis | None = None) -> Examination:
    """The trust that each measured phase deserves, what bound it, and all findings, the gravest first.

    With a diagnosis, what its experiments decided is part of the findings.
    """
    found = [replace(finding, detector=_name(detector)) for detector in DETECTORS for finding in detector.detect(run)]
    if diagnosis is not None:
        found = list(with_steps(tuple(found), diagnosis))
    findings = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    grades = {record.phase.name: trust.judge(run, record, findings) for record in run.measured}
    return Examination(trust=grades, findings=findings, bounds=bound.bounds(run))


def _name(detector: Detector) -> str:
    return str(getattr(detector, "__name__", "")).rpartition(".")[2]


def names(detector: Detector) -> tuple[str, ...]:
    """The names of all findings that a detector may give."""
    several: tuple[str, ...] = getattr(detector, "NAMES", ())
    return several or (str(getattr(detector, "NAME", "")),)


def confirmer(finding: Finding) -> Callable[[Run, Finding], Experiment | None] | None:
    """What proposes an experiment for a finding; None when its detector knows none."""
    detector = next((each for each in DETECTORS if _name(each) == finding.detector), None)
    return getattr(detector, "confirm", None)
