"""Trust: how far each measured phase can be believed; the worst component wins.

What it is: seven questions asked of every row before its speed is judged: do its figures satisfy Little's law, was
it steady, are there enough I/Os, did the storage answer, was the load achieved, was there other I/O, was there an
anomaly.
Why it matters: an unreliable figure is worse than none, because it gets quoted.
How it shows: a letter beside each row. A and B can be used, C is a hint, D and F must not be used.
How to confirm: repeat the phase, for longer and at another hour; repeatability is not judged here.
What to change: what the reason of the worst component names.
"""

from __future__ import annotations

from iocast.analyse.facts import RowFacts
from iocast.diagnose.thresholds import worst
from iocast.diagnose.trust import components, host_parts, imported, isolation, representative, steadiness
from iocast.model.finding import Finding, Trust


def judge(row: RowFacts, findings: tuple[Finding, ...]) -> Trust:
    """The trust of one phase, given everything that the detectors found in the run."""
    record = row.record
    if row.facts.imported:
        parts = (*imported.components(row), components.anomalies(record, findings))
    else:
        parts = (
            components.integrity(row),
            representative.representative(row),
            steadiness.steady(row),
            components.precision(row),
            components.load_achieved(row),
            isolation.isolation(row),
            components.anomalies(record, findings),
            *((host_parts.host_parts(row),) if row.run.hosts else ()),
        )
    void = [f for f in findings if f.severity == "void" and f.certain and f.phase in (record.phase.name, "")]
    grade = worst(*(part.grade for part in parts))
    return Trust(grade, parts, void[0].says, void[0].code, void[0].clause) if void else Trust(grade, parts)
