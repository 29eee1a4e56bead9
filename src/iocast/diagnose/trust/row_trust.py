"""Trust: how far each measured phase can be believed; the worst component wins.

What it is: seven questions asked of every row before anyone asks how fast it is: do the books balance, had it
settled, is there enough of it, was it the storage, was the load really there, was anyone else there, is anything
abnormal.
Why it matters: a figure that cannot be believed is worse than none, because it gets quoted.
How it shows: a letter beside each row. A and B can be used, C is a hint, D and F are not to be used.
How to confirm: repeat the phase, longer and at another hour; whether it repeats is not judged here.
What to change: what the reason of the worst component names.
"""

from __future__ import annotations

from iocast.analyse.facts import RowFacts
from iocast.diagnose.thresholds import worst
from iocast.diagnose.trust import components, imported, isolation, representative, steadiness
from iocast.model.finding import Finding, Trust


def judge(row: RowFacts, findings: tuple[Finding, ...]) -> Trust:
    """The trust of one phase, given everything that the detectors found in the run."""
    record = row.record
    if row.facts.imported:
        parts = (*imported.components(row), components.anomalies(record, findings))
    else:
        parts = (
            components.integrity(row),
            components.precision(row),
            representative.representative(row),
            steadiness.steady(row),
            components.load_achieved(row),
            isolation.isolation(row),
            components.anomalies(record, findings),
        )
    void = [f.says for f in findings if f.severity == "void" and f.certain and f.phase in (record.phase.name, "")]
    return Trust(worst(*(part.grade for part in parts)), parts, void[0] if void else "")
