"""The part of a card that lists what is abnormal: how grave, how sure, on which rows, with the evidence and remedy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from iocast import text
from iocast.analyse.facts import facts_of
from iocast.diagnose.evidence import CPU_FREE
from iocast.diagnose.how_bad import how_bad
from iocast.diagnose.limits.own_group import held_by_quota
from iocast.model.codes import FindingCode, SeverityCode
from iocast.model.finding import Examination, Finding
from iocast.model.report import Section, Table
from iocast.model.results.card import FindingDocument
from iocast.model.run import Run
from iocast.report.card.row_labels import labels
from iocast.report.result_tables import result_table
from iocast.report.wording import STATES, UNTESTABLE, section, words
from iocast.results.card import found_document

STATES_NOTE = (
    "Confirmed: counted, or decided by an experiment. Suspected: the figures suggest it; `iocast diagnose --for RUN`"
    " tests it. The percentage is the confidence."
)
UNTESTABLE_NOTE = "Not testable: suspected, and no experiment on this machine can decide it."


class SharedFinding(NamedTuple):
    """Findings of one kind with one advice, and their rows. `finding` says it of the rows `said_of`: all of them, or
    those where it is worst."""

    finding: Finding
    phases: tuple[str, ...]
    said_of: tuple[str, ...]


def standing(finding: Finding | FindingDocument, untestable: frozenset[FindingCode]) -> str:
    """The state of a finding, and how sure it is where it is not certain: "suspected, 60%"."""
    state = STATES[finding.state]
    if finding.state == "suggested" and finding.code in untestable:
        state = UNTESTABLE
    certain = finding.state in ("counted", "confirmed")
    return state if certain else f"{state}, {text.percent(finding.confidence)}"


def alike(findings: Iterable[Finding]) -> tuple[SharedFinding, ...]:
    """Findings that no experiment rejected, those of several rows together, the gravest first, then the surest.

    Rows with other figures are together where a figure tells which of them is the worst.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for each in findings:
        if each.state != "rejected":
            own = each.says if not each.phase or math.isinf(how_bad(each)) else ""
            kind = (each.severity, each.code, each.remedy, each.state, each.confidence, own)
            groups.setdefault(kind, []).append(each)
    gravity: tuple[SeverityCode, ...] = ("void", "severe", "warn", "note")
    shared = [_shared(group) for group in groups.values()]
    return tuple(sorted(shared, key=lambda each: (gravity.index(each.finding.severity), not each.finding.certain)))


def _shared(group: list[Finding]) -> SharedFinding:
    """One of the group speaks for all: the worst; of equally bad ones the one that is said of most rows."""
    said = Counter(each.says for each in group)
    worst = max(group, key=lambda each: (how_bad(each), said[each.says]))
    rows = tuple(each.phase for each in group if each.phase)
    return SharedFinding(worst, rows, tuple(each.phase for each in group if each.phase and each.says == worst.says))


def findings_section(run: Run, examination: Examination, untestable: frozenset[FindingCode]) -> Section | None:
    """The list, a line for each suspicion that an experiment rejected, and on which rows none was raised; None where
    nothing is to say.
    """
    shared = alike(examination.findings)
    said = (*_rejected(examination.findings), *_unsuspected(run, examination.unsuspected))
    if not shared and not said:
        return None
    tables = (_table(run, shared, untestable),) if shared else ()
    return section("findings", said, tables)


def _table(run: Run, shared: tuple[SharedFinding, ...], untestable: frozenset[FindingCode]) -> Table:
    rows = [found_document(each.finding, each.phases, untestable) for each in shared]
    only = {id(row): each.said_of for row, each in zip(rows, shared, strict=True) if each.said_of != each.phases}
    following = [*(each.remedy for each in rows), None][1:]
    below = {id(row): row.remedy for row, after in zip(rows, following, strict=True) if row.remedy != after}
    words: dict[str, Callable[[FindingDocument], str | tuple[str, ...]]] = {
        "state": lambda each: standing(each, untestable),
        "phases": lambda each: labels(run, each.phases),
        "says": lambda each: f"Worst on {', '.join(only[id(each)])}: {each.says}" if id(each) in only else each.says,
        "": lambda each: below.get(id(each)) or "",  # once below neighbours with the same
    }
    return result_table(FindingDocument, rows, key="findings", words=words, notes=_notes(shared, untestable))


def _notes(shared: tuple[SharedFinding, ...], untestable: frozenset[FindingCode]) -> tuple[str, ...]:
    """What the states mean, where one of them is not certain."""
    unsure = [each.finding for each in shared if not each.finding.certain]
    never = any(each.state == "suggested" and each.code in untestable for each in unsure)
    return (STATES_NOTE, UNTESTABLE_NOTE)[: 1 + never] if unsure else ()


def _rejected(findings: tuple[Finding, ...]) -> Iterator[str]:
    """What left the list, and why, once for each kind of suspicion."""
    gone: dict[FindingCode, list[Finding]] = {}
    for each in findings:
        if each.state == "rejected":
            gone.setdefault(each.code, []).append(each)
    for code, group in gone.items():
        where = ", ".join(each.phase for each in group if each.phase)
        why = f": {group[0].learned}" if group[0].learned else "."
        yield f"Rejected by experiment: {words(code)}{f' ({where})' if where else ''}{why}"


def _unsuspected(run: Run, rows: tuple[str, ...]) -> Iterator[str]:
    """Where an empty list does not mean that nothing is wrong."""
    if rows:
        held = any(map(held_by_quota, facts_of(run).rows))
        quota = ", or raise the CPU quota of the test's control group," if held else ""
        where = "any row" if len(rows) == len(run.measured) > 1 else ", ".join(rows)
        yield (
            f"No cause is suspected on {where}, because less than"
            f" {text.percent(CPU_FREE)} of the CPU time was free or the test's threads waited for a CPU."
            f" Free the CPUs{quota} and run again."
        )
