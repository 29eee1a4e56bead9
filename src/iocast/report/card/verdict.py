"""The verdict of a report card: the gravest thing first, then what the storage does, then how far to believe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from iocast.diagnose.thresholds import worst
from iocast.model.finding import GRADES, Examination, Finding, Grade, Trust
from iocast.model.run import PhaseRecord, Run
from iocast.report.card.summary_sentences import sentences

USABLE: tuple[Grade, ...] = ("A", "B", "C")  # what is graded worse is not put into words

# The components of trust as they read after "for".
ASPECTS = {
    "integrity": "their integrity",
    "steady": "their steadiness",
    "precision": "their precision",
    "representative": "what they measured",
    "load achieved": "the load achieved",
    "isolation": "other programs' I/O",
    "anomalies": "what went wrong",
}

Judged = list[tuple[PhaseRecord, Trust]]


class _Lead(Struct, frozen=True):
    """What the verdict opens with, and the sentences of diagnosis that need no repeating after it."""

    says: str
    told: frozenset[str]


def verdict(run: Run, examination: Examination) -> str:
    """A few plain sentences."""
    judged = [(record, examination.trust[record.phase.name]) for record in run.measured]
    if not judged:
        return "Nothing was measured."
    usable = [record for record, trust in judged if trust.grade in USABLE]
    leads = list(_leads(judged, examination))
    said = sentences(usable)
    if usable and not said:
        said = ["No plain random reads, scans, commits or mixes were measured: see the rows below."]
    told = frozenset[str]().union(*(lead.told for lead in leads))
    return " ".join([*(lead.says for lead in leads), *said, *_belief(judged, told)])


def _leads(judged: Judged, examination: Examination) -> Iterator[_Lead]:
    """What no figure may be read without: memory in place of a disk, void rows, stalls."""
    for found in examination.findings:
        if not found.phase and found.severity in ("void", "severe"):
            yield _Lead(found.says, frozenset({found.says}))
    void = [trust.void for _, trust in judged if trust.void]
    if void:
        rows = "Every row is" if len(void) == len(judged) else f"{len(void)} of {len(judged)} rows are"
        rows = f"1 of {len(judged)} rows is" if len(void) == 1 < len(judged) else rows
        yield _Lead(f"{rows} void: {_inside(_commonest(void))}", frozenset(void))
    names = {record.phase.name for record, _ in judged}
    stalls = [found for found in examination.findings if found.name == "stalls" and found.phase in names]
    if stalls:
        yield _Lead(_stalled(stalls, len(judged)), frozenset(found.says for found in stalls))


def _stalled(found: list[Finding], rows: int) -> str:
    longest = max(found, key=lambda each: each.evidence.get("stalled_ns", 0.0))
    if rows == 1:
        return longest.says
    where = "on every row" if len(found) == rows else f"on {len(found)} of {rows} rows"
    what = longest.says.removeprefix("I/Os stood still: ").split(". ")[0].rstrip(".")
    mostly = ", most of all on" if len(found) > 1 else ","
    return f"I/Os stood still {where}{mostly} {longest.phase}: {what}."


def _belief(judged: Judged, told: frozenset[str]) -> Iterator[str]:
    """How far to believe the rows, and the one thing behind the worst of them."""
    grades = [trust.grade for _, trust in judged]
    useless = [(record, trust) for record, trust in judged if trust.grade not in USABLE]
    if useless:
        rest = [row for row in useless if told.isdisjoint(_reasons(row[1]))]
        void = sum(bool(trust.void) for _, trust in judged)
        if void == len(judged):
            return
        count = f"{len(useless)} of {len(judged)}" if len(useless) < len(judged) else f"all {len(judged)}"
        why = _because(rest, useless) if rest else "."
        yield f"Do not use {_the_rows(useless, count, len(judged))}{why}"
        return
    grade = worst(*grades)
    if grade == "A":
        yield "Every row has earned an A for trust."
        return
    low = [(record, trust) for record, trust in judged if trust.grade == grade]
    where = f" on {len(low)} of {len(judged)} rows" if len(low) < len(judged) else " on every row"
    where = "" if len(judged) == 1 else where
    untold = [row for row in low if told.isdisjoint(_reasons(row[1]))]
    yield f"Trust is {grade}{where}" + (_because(untold, low) if untold else " for that.")


def _the_rows(useless: Judged, count: str, rows: int) -> str:
    if rows == 1:
        return f"the only row, graded {useless[0][1].grade}"
    letters = sorted({trust.grade for _, trust in useless})
    noun = "row" if len(useless) == 1 else "rows"
    return f"the {noun} graded {' or '.join(letters)} ({count})"


def _because(rows: Judged, among: Judged) -> str:
    """What these rows share, or what most of them do, in the words of the worst of them; always starts a clause.

    The clause before speaks of the rows `among` which these are those not explained yet.
    """
    reasons = Counter(reason for _, trust in among for reason in _reasons(trust))
    reason, often = reasons.most_common(1)[0]
    if often == len(among):
        return f": {_inside(reason)}"
    names = Counter(_component(trust) for _, trust in rows)
    gravity = {_component(trust): GRADES.index(trust.grade) for _, trust in sorted(rows, key=lambda row: row[1].grade)}
    name = max(names, key=lambda each: (names[each], gravity[each]))
    record, trust = max((row for row in rows if _component(row[1]) == name), key=lambda row: row[1].grade)
    first = _inside(trust.reason).split(". ")[0].rstrip(".")
    if names[name] == 1:
        return f": on {record.phase.name}, {first}."
    many = f"{names[name]} of them for" if len(names) > 1 else "for"
    return f", {many} {ASPECTS.get(name, name)}: on {record.phase.name}, {first}."


def _reasons(trust: Trust) -> tuple[str, ...]:
    """All reasons that made the letter what it is."""
    return (trust.void,) if trust.void else tuple(part.reason for part in trust.components if part.grade == trust.grade)


def _component(trust: Trust) -> str:
    return next((part.name for part in trust.components if part.grade == trust.grade), "trust")


def _commonest(reasons: list[str]) -> str:
    return Counter(reasons).most_common(1)[0][0]


def _inside(sentence: str) -> str:
    """A sentence made fit to follow a colon; names in capitals (I/O, CPU) and of devices keep theirs."""
    return sentence if sentence[1:2].isupper() or sentence[1:2] == "/" else sentence[:1].lower() + sentence[1:]
