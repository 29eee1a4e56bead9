"""What set the pace of each row, once it is known what else was found: one answer a row, not two that compete.

More load that brings no more IOPS says that something below the queue is full. Where a finding says what that is (a
rate limit, a link, a lock), the row is bound by it, not by the device.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.bound import bounds, bounds_without
from iocast.model.codes import BoundCode, FindingCode
from iocast.model.finding import Bound, Finding
from iocast.model.run import PhaseRecord
from iocast.text import number, percent

VOID = Bound("unknown", "Bottleneck unknown: the row is void.")

# What a row is bound by where the finding is certain, and the words for it, certain and suspected.
PACES: dict[FindingCode, tuple[BoundCode, str, str]] = {
    "throttle": ("rate", "Rate-limited", "A rate limit"),
    "burst_credits": ("rate", "Rate-limited", "An empty burst bucket"),
    "link_limit": ("link", "Link-bound", "A full link"),
    "serialised_direct_io": ("serialised", "Serialised", "A lock above the device"),
}
AS_FAST = 0.1  # rows of one curve that the same limit holds back are as fast as each other within that [J]
SAME_RATE = 0.05  # rows of other curves, where only their rate says that it is the same limit [J]


def paced(facts: Facts, findings: tuple[Finding, ...], void: frozenset[str]) -> dict[str, Bound]:
    """What bound each measured phase, by name. Void rows have no bottleneck and are no measure for others."""
    found = bounds_without(facts, void) if void else dict(bounds(facts))
    found |= dict.fromkeys(void, VOID)
    surest: dict[str, tuple[tuple[bool, float, bool], Finding]] = {}
    for finding in findings:
        for name in _rows_of(facts, finding, found):
            key = (finding.certain, finding.confidence, name == finding.phase)
            if name not in surest or key > surest[name][0]:
                surest[name] = key, finding
    told = {name: _by(finding, found[name]) for name, (_, finding) in surest.items()}
    others = {name: bound for name, bound in _elsewhere(facts, findings, found) if name not in told}
    return found | told | others


def _rows_of(facts: Facts, finding: Finding, found: dict[str, Bound]) -> Iterator[str]:
    """The rows whose pace it would set: its own, and those of the same curve where more load brought no more."""
    own = found.get(finding.phase)
    if finding.code not in PACES or finding.state == "rejected" or own is None or own is VOID:
        return
    if own.by in ("device", "queue") or (own.by == "unknown" and finding.certain):
        yield finding.phase
    here = next(row.record for row in facts.rows if row.name == finding.phase)
    for flat in _flat(facts, found):
        if here in flat:
            yield from (row.phase.name for row in flat if _held_back_alike(finding.code, here, row))


def _flat(facts: Facts, found: dict[str, Bound]) -> Iterator[list[PhaseRecord]]:
    """The rows of each curve where more load brought no more."""
    for curve in facts.curves:
        yield [row for row in curve.rows if found[row.phase.name].by == "device"]


def _held_back_alike(code: FindingCode, one: PhaseRecord, other: PhaseRecord) -> bool:
    """Whether a limit on one row can be that of another: a link is full of bytes, a cap counts I/Os or bytes."""
    if code not in ("link_limit", "throttle"):
        return True
    did, does = one.measurement, other.measurement
    return _near(did.bytes_per_s, does.bytes_per_s, AS_FAST) or (
        code == "throttle" and _near(did.rate_per_s, does.rate_per_s, AS_FAST)
    )


def _near(one: float, other: float, within: float) -> bool:
    return abs(one - other) <= within * max(one, other)


def _elsewhere(facts: Facts, findings: tuple[Finding, ...], found: dict[str, Bound]) -> Iterator[tuple[str, Bound]]:
    """Rows of other curves that a confirmed cap, or spent credits, hold back too: they go at the same rate."""
    rates = {row.name: row.measurement.rate_per_s for row in facts.rows}
    for finding in findings:
        if finding.code not in ("throttle", "burst_credits") or not finding.certain or finding.phase not in rates:
            continue
        cap = finding.evidence.get("after_per_s", rates[finding.phase])
        spent = finding.code == "burst_credits"
        why = "burst credits were spent" if spent else f"it goes at the same {number(cap)} IOPS"
        bound = Bound("rate", f"Rate-limited: {why}, as on {finding.phase}.", finding.evidence)
        for flat in _flat(facts, found):
            same = [row.phase.name for row in flat if _near(rates[row.phase.name], cap, SAME_RATE)]
            yield from ((row.phase.name, bound) for row in flat if row.phase.name in same or (same and spent))


def _by(finding: Finding, plain: Bound) -> Bound:
    by, certain, suspected = PACES[finding.code]
    if finding.certain:
        return Bound(by, f"{certain}: {finding.clause or finding.says}".rstrip(".") + ".", finding.evidence)
    says = f"{plain.says} {suspected} is suspected to set the pace instead ({percent(finding.confidence)})."
    return Bound(plain.by, says, plain.evidence)
