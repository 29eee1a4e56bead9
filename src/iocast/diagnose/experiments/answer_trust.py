"""How far the rows of a named experiment can be believed for its answer: what it is about is no fault of theirs."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.diagnose.relations import SUBJECTS
from iocast.diagnose.trust.components import anomalies
from iocast.model.finding import Examination, Trust
from iocast.model.run import Run


def for_answer(run: Run, examination: Examination) -> Examination:
    """The examination with the trust that rows deserve as parts of the answer: one whose question is caches rests on
    rows that caches answered."""
    subject = SUBJECTS.get(run.plan.experiment, frozenset())
    findings = tuple(each for each in examination.findings if each.code not in subject)
    trust = dict[str, Trust]()
    for record in run.measured:
        whole = examination.trust[record.phase.name]
        kept = (part for part in whole.components if part.code not in ("anomalies", *subject))
        parts = (*kept, anomalies(record, findings))
        own = Trust(max(part.grade for part in parts), parts)
        void = whole.void and whole.void_by not in subject
        trust[record.phase.name] = replace(
            own, **({"void": whole.void, "void_by": whole.void_by, "void_clause": whole.void_clause} if void else {})
        )
    return replace(examination, trust=trust)
