"""Trust in what another tool measured: what can be judged from its figures, and what stays unknown."""

from __future__ import annotations

import math

from iocast.analyse.facts import RowFacts
from iocast.analyse.statistics import HEADLINE_Q, enough_beyond
from iocast.diagnose import thresholds as limits
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Run
from iocast.text import brief_percent, counted, number

SAID = ("users", "depth")  # what Little's law needs to be known


def components(row: RowFacts) -> tuple[TrustComponent, ...]:
    """Integrity and precision as far as the figures go; the rest in one sentence, for which a C is the best."""
    parts = (_integrity(row), _precision(row), _unseen(row.run), _load(row.record))
    return tuple(part for part in parts if part is not None)


def _integrity(row: RowFacts) -> TrustComponent | None:
    """Little's law on the stated rate and time; None when the load is not stated."""
    record, did = row.record, row.measurement
    if did.error_count:
        failed = counted(did.error_count, "I/O")
        return TrustComponent("integrity", "F", f"{failed} failed, so the response times are incomplete")
    if not did.ios and "ios" not in record.unstated:
        return TrustComponent("integrity", "F", "no I/O completed")
    service_ns = row.service().mean_ns
    if not did.ios or any(name in record.unstated for name in SAID) or row.is_open_loop or math.isnan(service_ns):
        return None
    if record.plan.depth > 1 and row.service("fsync", "fdatasync").total:
        return None  # asynchronous engines stop for a flush: its time and that of the I/Os behind it overlap
    outstanding = did.rate_per_s * service_ns / 1e9
    ratio = outstanding / did.asked_depth
    off = abs(ratio - 1.0)
    were = "was" if did.asked_depth == 1 else "were"
    clause = (
        f"Little's law is off by {brief_percent(off)}: rate x time gives {number(outstanding)} outstanding I/Os,"
        f" {number(did.asked_depth)} {were} requested"
    )
    grade = limits.LITTLE_ERROR.grade(off)
    if ratio < 1 and "arrival" in record.unstated and limits.worst(grade, "C") == grade:
        # A job that pauses between its I/Os has fewer outstanding, and its books are right.
        clause, grade = f"{clause}; whether the job paused or had a rate is not stated", "C"
    return TrustComponent("integrity", grade, clause, {"little_ratio": ratio})


def _precision(row: RowFacts) -> TrustComponent | None:
    """Whether enough I/Os lie beyond the headline percentile; their spread is not known well enough for more."""
    if "ios" in row.record.unstated:
        return None
    most = max((row.service(part.op).total for part in row.measurement.classes), default=0)
    beyond = most * (1 - HEADLINE_Q)
    if not most:
        return TrustComponent("precision", "C", "the source states no response times")
    grade = limits.worst("B", limits.BEYOND.grade(beyond + 1e-9))
    few = f"{counted(most, 'I/O')} {'is' if most == 1 else 'are'} too few for p99"
    many = f"about {number(round(beyond))} I/Os lie beyond the p99; its statistical error is unknown"
    clause = many if enough_beyond(most, HEADLINE_Q) else few
    return TrustComponent("precision", grade, clause, {"beyond": beyond})


def _load(record: PhaseRecord) -> TrustComponent | None:
    """The rate that was asked for, where one was; whether a depth was kept up is unknown."""
    did = record.measurement
    if not did.asked_rate_per_s:
        return None
    share = did.rate_per_s / did.asked_rate_per_s
    clause = (
        f"{brief_percent(share)} of the requested load was achieved: {number(did.rate_per_s)} of"
        f" {number(did.asked_rate_per_s)} IOPS"
    )
    return TrustComponent("load_achieved", limits.LOAD.grade(share), clause, {"achieved": share})


def _unseen(run: Run) -> TrustComponent:
    tool = run.source.tool if run.source else "another tool"
    clause = (
        f"imported from {tool}, not measured by iocast: unknown whether the storage or a cache answered, whether the"
        " load was achieved on time, and who else used the device"
    )
    return TrustComponent("representative", "C", clause)
