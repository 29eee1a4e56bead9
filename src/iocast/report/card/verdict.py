"""The verdict of a report card: the gravest thing first, then what the storage does, then how far to believe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from iocast import text
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.excluded_rows import rate_believed
from iocast.diagnose.how_bad import how_bad
from iocast.diagnose.thresholds import worst
from iocast.model.codes import FindingCode, TrustCode
from iocast.model.finding import GRADES, Examination, Finding, Grade, Trust, TrustComponent
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord
from iocast.report.card.replay_section import sentence as replayed
from iocast.report.card.summary_sentences import rows_that_held, sentences, state_words, two_states
from iocast.report.wording import words

USABLE: tuple[Grade, ...] = ("A", "B", "C")  # what is graded worse is not put into words

# The components of trust as they read after "because of".
ASPECTS: dict[TrustCode, str] = {
    "integrity": "figures that contradict each other",
    "steady": "steadiness",
    "precision": "precision",
    "representative": "representativeness",
    "load_achieved": "a load that was not reached",
    "isolation": "other I/O",
    "anomalies": "anomalies",
    "hosts": "hosts",
}

Judged = list[tuple[PhaseRecord, Trust]]


class _Lead(Struct, frozen=True):
    """What the verdict opens with, and the findings that need no repeating after it."""

    says: str
    codes: frozenset[FindingCode]


def verdict(facts: Facts, examination: Examination) -> str:
    """A few plain sentences."""
    judged = [(record, examination.trust[record.phase.name]) for record in facts.run.measured]
    if not judged:
        return "Nothing was measured."
    usable = [record for record, trust in judged if trust.grade in USABLE]
    rates_only = [record for record, trust in judged if trust.grade not in USABLE and rate_believed(trust)]
    leads = list(_leads(judged, examination))
    state = state_words(facts.run.measured, examination)
    held, of_rates = rows_that_held(usable, examination), rows_that_held(rates_only, examination)
    every = rows_that_held([record for record, trust in judged if not trust.void], examination)
    said = [*filter(None, map(replayed, usable)), *sentences(facts, held, of_rates, state, every)]
    said += two_states(usable, examination)
    if usable and not said:
        said = [_nothing_to_say(facts)]
    codes = frozenset[FindingCode]().union(*(lead.codes for lead in leads))
    return " ".join([*(lead.says for lead in leads), *said, *_belief(judged, codes)])


def _nothing_to_say(facts: Facts) -> str:
    """Whether such rows are missing, or only none that can be used."""
    if sentences(facts, list(facts.run.measured)):
        return "No row of random reads, scans, commits or mixes can be used: see the reasons below."
    return "The run has no plain random reads, scans, commits or mixes: see the rows below."


def _leads(judged: Judged, examination: Examination) -> Iterator[_Lead]:
    """What no figure may be read without: memory in place of a disk, void rows, stalls."""
    for finding in examination.findings:
        if not finding.phase and finding.severity in ("void", "severe") and finding.state != "rejected":
            says = finding.says if finding.certain else f"Suspected {words(finding.code)}: {finding.says}"
            yield _Lead(says, frozenset({finding.code}))
    void = [trust for _, trust in judged if trust.void]
    if void:
        rows = "Every row is" if len(void) == len(judged) else f"{len(void)} of {len(judged)} rows are"
        rows = f"1 of {len(judged)} rows is" if len(void) == 1 < len(judged) else rows
        codes = frozenset(trust.void_by for trust in void if trust.void_by)
        yield _Lead(f"{rows} void{_reason(_commonest(void))}", codes)
    failed = [record.measurement for record, _ in judged if record.measurement.error_count]
    if failed and not all(trust.void for _, trust in judged):
        yield _Lead(_failed(failed, len(judged)), frozenset())
    names = {record.phase.name for record, _ in judged}
    stood = [
        finding
        for finding in examination.findings
        if finding.code == stalls.CODE and finding.state != "rejected" and finding.phase in names
    ]
    if stood:
        yield _Lead(_stalled(stood, len(judged)), frozenset({stalls.CODE}))


def _failed(rows: list[Measurement], every: int) -> str:
    """How many I/Os failed, where and how."""
    count = text.counted(sum(did.error_count for did in rows), "I/O")
    how = ", ".join(dict.fromkeys(f"{error.name} on {error.op}" for did in rows for error in did.errors))
    where = f" on {len(rows)} of {every} rows" if every > 1 else ""
    return f"{count} failed{where}{f': {how}' if how else ''}."


def _stalled(findings: list[Finding], rows: int) -> str:
    stood = [each for each in findings if each.evidence.get("stalls", 1.0)]
    longest = max(findings := stood or findings, key=how_bad)
    if rows == 1:
        return longest.says
    where = "on every row" if len(findings) == rows else f"on {len(findings)} of {rows} rows"
    longest_on = ", longest on" if len(findings) > 1 else ","
    if not stood:
        return f"I/O waited in turn {where}{longest_on} {longest.phase}: {longest.clause}."
    # Not where an I/O takes a twentieth of the stall anyway.
    stalled = "I/O stalled" if len(findings) == rows else "I/O stalls were seen"
    return f"{stalled} {where}{longest_on} {longest.phase}: {stalls.sentence_of(longest)}."


def _belief(judged: Judged, codes: frozenset[FindingCode]) -> Iterator[str]:
    """How far to believe the rows, and the one thing behind the worst of them."""
    grades = [trust.grade for _, trust in judged]
    useless = [(record, trust) for record, trust in judged if trust.grade not in USABLE]
    if useless:
        rest = [row for row in useless if codes.isdisjoint(_finding_codes(row[1]))]
        void = sum(bool(trust.void) for _, trust in judged)
        if void == len(judged):
            return
        count = f"{len(useless)} of {len(judged)}" if len(useless) < len(judged) else f"all {len(judged)}"
        why = _because(rest, useless) if rest else "."
        yield f"Do not use {_the_rows(useless, count, len(judged))}{why}"
        return
    grade = worst(*grades)
    if grade == "A":
        yield "Trust is A on every row."
        return
    low = [(record, trust) for record, trust in judged if trust.grade == grade]
    where = f" on {len(low)} of {len(judged)} rows" if len(low) < len(judged) else " on every row"
    where = "" if len(judged) == 1 else where
    untold = [row for row in low if codes.isdisjoint(_finding_codes(row[1]))]
    yield f"Trust is {grade}{where}" + (_because(untold, low) if untold else " because of it.")


def _the_rows(useless: Judged, count: str, rows: int) -> str:
    if rows == 1:
        return f"this row (trust {useless[0][1].grade})"
    if len(useless) == 1:
        record, trust = useless[0]
        return f"{record.phase.name} (trust {trust.grade}, {count} rows)"
    letters = sorted({trust.grade for _, trust in useless})
    return f"the rows of trust {' or '.join(letters)} ({count})"


def _because(rows: Judged, among: Judged) -> str:
    """What these rows share, or what most of them do, in the words of the worst of them; always starts a clause.

    The clause before speaks of the rows `among` which these are those not explained yet.
    """
    reasons = Counter(reason for _, trust in among for reason in _reasons(trust))
    reason, often = reasons.most_common(1)[0]
    if often == len(among):
        return _reason(reason)
    names = Counter(_component(trust) for _, trust in rows)
    gravity = {_component(trust): GRADES.index(trust.grade) for _, trust in sorted(rows, key=lambda row: row[1].grade)}
    name = max(names, key=lambda each: (names[each], gravity[each]))
    record, trust = max((row for row in rows if _component(row[1]) == name), key=lambda row: row[1].grade)
    first = trust.void_clause if trust.void else _short(trust.worst[0])
    if names[name] == 1:
        return f": on {record.phase.name}, {first}."
    many = f"{names[name]} of them because of" if len(names) > 1 else "because of"
    return f", {many} {ASPECTS[name]}: on {record.phase.name}, {first}."


class _Reason(NamedTuple):
    """Why a row has its letter: a clause where there is one, and all of it in sentences."""

    clause: str
    more: str
    says: str


def _reasons(trust: Trust) -> tuple[_Reason, ...]:
    """All reasons that made the letter what it is."""
    if trust.void:
        return (_Reason(trust.void_clause, "", trust.void),)
    return tuple(_Reason(part.clause, part.more, part.reason) for part in trust.worst)


def _reason(reason: _Reason) -> str:
    """As it follows what it is the reason of."""
    if not reason.clause:
        return f". {reason.says}"
    return " ".join(filter(None, (f": {reason.clause}.", reason.more)))


def _short(part: TrustComponent) -> str:
    """A component in one clause, or the words for its finding."""
    return part.clause or (words(part.finding) if part.finding else words(part.code))


def _finding_codes(trust: Trust) -> frozenset[FindingCode]:
    """The findings that made the letter what it is."""
    codes = [trust.void_by] if trust.void else [part.finding for part in trust.worst]
    return frozenset(code for code in codes if code)


def _component(trust: Trust) -> TrustCode:
    return trust.worst[0].code if trust.worst else "anomalies"


def _commonest(void: list[Trust]) -> _Reason:
    return Counter(reason for trust in void for reason in _reasons(trust)).most_common(1)[0][0]
