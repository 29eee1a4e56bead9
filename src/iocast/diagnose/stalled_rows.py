"""Rows during which I/O stalled: what they show depends on when the storage stood still, not on the load."""

from __future__ import annotations

from iocast.diagnose.detectors.interference import stalls
from iocast.model.finding import Examination
from iocast.text import brief_time, counted


def stalled_rows(examination: Examination) -> dict[str, str]:
    """Each of them with what was seen; no forecast and no limit may rest on them."""
    return {
        found.phase: found.says
        for found in examination.findings
        if found.code == stalls.CODE and found.state != "rejected" and found.phase
    }


def stall_caution(examination: Examination) -> str:
    """One sentence of a run whose I/O stalled, "" of any other."""
    longest_ns = [
        found.evidence["longest_ns"]
        for found in examination.findings
        if found.code == stalls.CODE and found.state != "rejected" and found.phase
    ]
    if not longest_ns:
        return ""
    rows = counted(len(longest_ns), "row")
    return f"I/O stalled on {rows} for up to {brief_time(max(longest_ns))}: the figures hold between stalls only."
