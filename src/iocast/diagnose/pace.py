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
from iocast.text import percent

VOID = Bound("unknown", "Bottleneck unknown: the row is void.")

# What a row is bound by where the finding is certain, and the words for it, certain and suspected.
PACES: dict[FindingCode, tuple[BoundCode, str, str]] = {
    "throttle": ("rate", "Rate-limited", "A rate limit"),
    "link_limit": ("link", "Link-bound", "A full link"),
    "serialised_direct_io": ("serialised", "Serialised", "A lock above the device"),
}


def paced(facts: Facts, findings: tuple[Finding, ...], void: frozenset[str]) -> dict[str, Bound]:
    """What bound each measured phase, by name. Void rows have no bottleneck and are no measure for others."""
    found = bounds_without(facts, void) if void else dict(bounds(facts))
    found |= dict.fromkeys(void, VOID)
    surest: dict[str, Finding] = {}
    for finding in findings:
        for name in _rows_of(facts, finding, found):
            if name not in surest or _surety(finding) > _surety(surest[name]):
                surest[name] = finding
    return found | {name: _by(finding, found[name]) for name, finding in surest.items()}


def _surety(finding: Finding) -> tuple[bool, float]:
    return finding.certain, finding.confidence


def _rows_of(facts: Facts, finding: Finding, found: dict[str, Bound]) -> Iterator[str]:
    """The rows whose pace it would set: its own, and those of the same curve where more load brought no more."""
    own = found.get(finding.phase)
    if finding.code not in PACES or finding.state == "rejected" or own is None or own is VOID:
        return
    if own.by in ("device", "queue") or (own.by == "unknown" and finding.certain):
        yield finding.phase
    for curve in facts.curves:
        flat = [row.phase.name for row in curve.rows if found[row.phase.name].by == "device"]
        if finding.phase in flat:
            yield from flat


def _by(finding: Finding, plain: Bound) -> Bound:
    by, certain, suspected = PACES[finding.code]
    if finding.certain:
        return Bound(by, f"{certain}: {finding.clause or finding.says}".rstrip(".") + ".", finding.evidence)
    says = f"{plain.says} {suspected} is suspected to set the pace instead ({percent(finding.confidence)})."
    return Bound(plain.by, says, plain.evidence)
