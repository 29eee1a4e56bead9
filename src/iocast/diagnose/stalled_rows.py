"""Rows during which I/O stalled: what they show depends on when the storage stood still, not on the load."""

from __future__ import annotations

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.relations import stalls_among
from iocast.model.finding import Examination, Finding
from iocast.model.row_stops import RowStops
from iocast.text import brief_time, counted


def stalled_rows(examination: Examination) -> dict[str, str]:
    """Each of them with what was seen; no forecast and no limit may rest on them."""
    return {finding.phase: finding.says for finding in stalls_among(examination.findings)}


def stall_caution(examination: Examination) -> str:
    """What the figures of a run that stalled leave out, "" of any other. Of I/Os that ended in turn it is not known
    what they queued behind."""
    evidence = [each.evidence for each in stalls_among(examination.findings)]
    if not evidence:
        return ""
    stood = [each for each in evidence if each["stalls"]]
    rows, longest = (
        counted(len(stood or evidence), "row"),
        brief_time(max(each["longest_ns"] for each in stood or evidence)),
    )
    out = "It is left out" if len(stood or evidence) == 1 else "They are left out"
    if not stood:
        sentence = (
            f"On {rows} I/Os completed one after another and took up to {longest} each, for a reason that is unknown."
        )
        return f"{sentence} {out}: the figures exclude such queues."
    return f"{rows} had stalls of up to {longest}. {out}: the figures exclude stalls."


def row_stops(facts: Facts, examination: Examination) -> tuple[RowStops, ...]:
    """How long the storage stood still on each of them; an I/O that waited behind others' work is no stall."""
    rows = {row.name: row for row in facts.rows}
    stood = (
        stopped
        for stopped in stalls_among(examination.findings)
        if stopped.evidence["stalls"] and stopped.phase in rows
    )
    return tuple(_stops(rows[stopped.phase], stopped) for stopped in stood)


def _stops(row: RowFacts, finding: Finding) -> RowStops:
    """Where only some of the outstanding I/Os stood, an arrival meets them with that chance; the core records the
    slowest I/Os only, and what is due at a rate may be outstanding in any number: then all are taken to have stood."""
    seconds = tuple((span.end_ns - span.start_ns) / 1e9 for span in finding.spans)
    did, stood = row.measurement, finding.evidence["ios"]
    unknown = row.is_open_loop or len(did.slow) >= row.record.plan.slow_limit
    share = 1.0 if unknown else min(1.0, stood / (len(seconds) * max(1, did.asked_depth)))
    return RowStops(row.name, seconds, share)
