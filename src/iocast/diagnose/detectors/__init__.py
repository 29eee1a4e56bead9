"""Detectors: each finds one kind of abnormality in a finished run; one file a detector, listed here.

shortcuts: something nearer than the medium answered; limits: what capped the rate; interference: other load on the
same storage; measurement: the measurement itself is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import (
    cache_pollution,
    misaligned,
    request_shape,
    shared_drives,
    stalls,
    under_maintenance,
)
from iocast.diagnose.detectors.limits import (
    credits,
    link_limit,
    retrograde,
    round_trip,
    serialised,
    shallow,
    throttle,
    write_cliff,
)
from iocast.diagnose.detectors.measurement import (
    absent,
    async_timing,
    bimodal,
    coarse_clock,
    failures,
    generator_bound,
    impossible,
    unverified,
)
from iocast.diagnose.detectors.shortcuts import (
    cached,
    elided,
    first_write,
    free_flushes,
    read_ahead,
    reduction,
    short_stroke,
    storage_cache,
    tiers,
)
from iocast.model.codes import FindingCode
from iocast.model.experiment import Experiment
from iocast.model.finding import Finding
from iocast.model.run import Run


class Detector(Protocol):
    """A module that finds one kind of abnormality; its docstring is its manual page.

    It declares the codes of its findings: CODE, or CODES where there are several. One whose findings can be tested
    has `confirm(run, finding) -> Experiment | None` as well.
    """

    NEEDS: tuple[str, ...]  # observers without which it sees nothing

    def detect(self, facts: Facts) -> Iterator[Finding]:
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
    free_flushes,
    credits,
    write_cliff,
    absent,
    stalls,
    shared_drives,
    link_limit,
    round_trip,
    request_shape,
    misaligned,
    under_maintenance,
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


def module_name(detector: Detector) -> str:
    return str(getattr(detector, "__name__", "")).rpartition(".")[2]


def codes(detector: Detector) -> tuple[FindingCode, ...]:
    """The codes of all findings that a detector may give."""
    several: tuple[FindingCode, ...] = getattr(detector, "CODES", ())
    one: FindingCode | None = getattr(detector, "CODE", None)
    return several or ((one,) if one else ())


def confirmer(finding: Finding) -> Callable[[Run, Finding], Experiment | None] | None:
    """What proposes an experiment for a finding; None when its detector knows none."""
    detector = next((each for each in DETECTORS if module_name(each) == finding.detector), None)
    return getattr(detector, "confirm", None)


def untestable(run: Run, findings: Iterable[Finding]) -> frozenset[FindingCode]:
    """The kinds of suspicions that no experiment on this machine can decide. What another tool measured elsewhere
    is one; of what was tested already none is.
    """
    suspected = [finding for finding in findings if finding.state == "suggested" and not finding.learned]
    testable = {
        finding.code
        for finding in suspected
        if run.source is None and (confirm := confirmer(finding)) is not None and confirm(run, finding) is not None
    }
    return frozenset(finding.code for finding in suspected) - testable
