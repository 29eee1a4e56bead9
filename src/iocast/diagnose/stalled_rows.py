"""Rows during which I/O stalled: what they show depends on when the storage stood still, not on the load."""

from __future__ import annotations

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.relations import stalls_among
from iocast.model.finding import Examination, Finding
from iocast.model.row_stops import RowStops
from iocast.text import brief_time, counted


def stalled_rows(examination: Examination) -> dict[str, str]:
    """Each of them with what was seen; no forecast and no limit may rest on them."""
    return {found.phase: found.says for found in stalls_among(examination.findings)}


def stall_caution(examination: Examination) -> str:
    """What the figures of a run that stalled leave out, "" of any other. Of I/Os that ended in turn it is not known
    what they queued behind."""
    found = [each.evidence for each in stalls_among(examination.findings)]
    if not found:
        return ""
    stood = [each for each in found if each["stalls"]]
    rows, longest = counted(len(stood or found), "row"), brief_time(max(each["longest_ns"] for each in stood or found))
    out = "It is left out" if len(stood or found) == 1 else "They are left out"
    if not stood:
        seen = (
            f"On {rows} I/Os completed one after another and took up to {longest} each, for a reason that is unknown."
        )
        return f"{seen} {out}: the figures exclude such queues."
    return f"{rows} had stalls of up to {longest}. {out}: the figures exclude stalls."


def row_stops(facts: Facts, examination: Examination) -> tuple[RowStops, ...]:
    """How long the storage stood still on each of them; an I/O that waited behind others' work is no stall."""
    rows = {row.name: row for row in facts.rows}
    stood = (found for found in stalls_among(examination.findings) if found.evidence["stalls"] and found.phase in rows)
    return tuple(_stops(rows[found.phase], found) for found in stood)


def _stops(row: RowFacts, found: Finding) -> RowStops:
    """Where only some of the outstanding I/Os stood, an arrival meets them with that chance; the core records the
    slowest I/Os only, and what is due at a rate may be outstanding in any number: then all are taken to have stood."""
    seconds = tuple((span.end_ns - span.start_ns) / 1e9 for span in found.spans)
    did, stood = row.measurement, found.evidence["ios"]
    unknown = row.is_open_loop or len(did.slow) >= row.record.plan.slow_limit
    share = 1.0 if unknown else min(1.0, stood / (len(seconds) * max(1, did.asked_depth)))
    return RowStops(row.name, seconds, share)
