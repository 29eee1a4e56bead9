"""Detectors: each finds one kind of abnormality in a finished run; one file a detector, listed here.

shortcuts: something nearer than the medium answered; limits: what capped the rate; interference: other load on the
same storage; measurement: the measurement itself is at fault.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import (
    cache_pollution,
    layer_losses,
    misaligned,
    rate_steps,
    request_shape,
    shared_drives,
    stalls,
    under_maintenance,
)
from iocast.diagnose.detectors.limits import (
    credits,
    fresh_writes,
    link_limit,
    retrograde,
    round_trip,
    serialised,
    shallow,
    slow_region,
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
    long_tail,
    unverified,
)
from iocast.diagnose.detectors.shortcuts import (
    cached,
    elided,
    first_write,
    free_flushes,
    memory_test,
    read_ahead,
    reduction,
    short_stroke,
    storage_cache,
    tiers,
)
from iocast.diagnose.experiments.next_step import Candidate, candidates
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import FailedDetector, Finding
from iocast.model.run import Run


class Detector(Protocol):
    """A module that finds one kind of abnormality; its docstring is its manual page.

    It declares the codes of its findings: CODE, or CODES where there are several. One whose findings can be tested
    has `confirm(run, finding) -> Experiment | None` as well.
    """

    NEEDS: tuple[str, ...]  # observers without which it sees nothing
    ONLY: Only  # what a row must be before it says anything of it; () where a part of it asks for it

    def detect(self, facts: Facts) -> Iterator[Finding]:
        """Everything abnormal that it finds in a run."""
        ...


DETECTORS: tuple[Detector, ...] = (
    failures,
    unverified,
    impossible,
    cached,
    memory_test,
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
    rate_steps,
    serialised,
    shallow,
    cache_pollution,
    bimodal,
    long_tail,
    async_timing,
    throttle,
    coarse_clock,
    generator_bound,
    retrograde,
    fresh_writes,
    slow_region,
    layer_losses,
)


def module_name(detector: Detector) -> str:
    return str(getattr(detector, "__name__", "")).rpartition(".")[2]


def codes(detector: Detector) -> tuple[FindingCode, ...]:
    """The codes of all findings that a detector may give."""
    several: tuple[FindingCode, ...] = getattr(detector, "CODES", ())
    one: FindingCode | None = getattr(detector, "CODE", None)
    return several or ((one,) if one else ())


def failure(detector: Detector, codes: tuple[FindingCode, ...], error: Exception) -> FailedDetector:
    """What failed, why, and the line in which it did."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f"{os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}" if last is not None else ""
    why = f"{type(error).__name__}: {error}".removesuffix(": ")
    return FailedDetector(detector=module_name(detector), codes=codes, why=why, where=where)


def proposed(run: Run, finding: Finding) -> Candidate:
    """The finding with the experiment that its detector proposes, if it knows one; one that fails costs only that."""
    detector = next((each for each in DETECTORS if module_name(each) == finding.detector), None)
    confirm = getattr(detector, "confirm", None)
    if detector is None or confirm is None:
        return Candidate(finding, None)
    try:
        return Candidate(finding, confirm(run, finding))
    except Exception as error:  # a plug-in may fail in any way; the others are still tested
        return Candidate(finding, None, replace(failure(detector, (finding.code,), error), step="confirm"))


class Untestable(NamedTuple):
    """The kinds of suspicions that no experiment on this machine can decide, and the detectors that failed to plan."""

    codes: frozenset[FindingCode]
    failed: tuple[FailedDetector, ...]


def untestable(run: Run, findings: Iterable[Finding]) -> Untestable:
    """What another tool measured elsewhere cannot be tested here; of what was tested already nothing is untestable."""
    suspected = tuple(finding for finding in findings if finding.state == "suggested" and not finding.learned)
    failed: dict[FailedDetector, None] = {}

    def candidate_of(run: Run, finding: Finding) -> Candidate:
        candidate = proposed(run, finding)
        if candidate.failed is not None:
            failed[candidate.failed] = None
        return candidate

    # What a diagnosis would test, and nothing else: a minor finding of the same kind does not make this one testable.
    experiments = candidates(run, suspected, candidate_of) if run.source is None else ()
    testable = {each.finding.code for each in experiments if each.experiment is not None}
    return Untestable(frozenset(finding.code for finding in suspected) - testable, tuple(failed))
