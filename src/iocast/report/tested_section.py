"""The part of a report that tells what was tested, what came of it, and what only a person can find out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from iocast import text
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Finding
from iocast.model.report import Section
from iocast.model.results.card import TestedRow
from iocast.report.result_tables import result_table
from iocast.report.wording import section, words


def tested_section(rows: Sequence[TestedRow]) -> Section | None:
    """The experiments in order, with their questions; None when nothing was tested."""
    return section("tested", tables=(result_table(TestedRow, rows, key="tested"),)) if rows else None


def conclusion(findings: tuple[Finding, ...], diagnosis: Diagnosis) -> str:
    """The diagnosis in a few sentences: what is certain, what was ruled out, what remains open."""
    counts = Counter(step.outcome.verdict for step in diagnosis.steps)
    proven = {step.finding for step in diagnosis.steps if step.outcome.verdict == "confirmed"}
    certain = list(
        dict.fromkeys(words(f.code) for f in findings if f.certain and (f.severity != "note" or f.code in proven))
    )
    parts = []
    if certain:
        parts.append(f"Confirmed: {', '.join(certain)}.")
    ruled_out = [words(step.finding) for step in diagnosis.steps if step.outcome.verdict == "rejected"]
    if ruled_out:
        parts.append(f"Rejected by experiment: {', '.join(dict.fromkeys(ruled_out))}.")
    left = Counter(words(f.code) for f in findings if f.state == "suggested")
    more = {name: f" on {text.counted(often, 'more row')}" * (name in certain) for name, often in left.items()}
    open_ = [f"{name}{rows}" for name, rows in more.items()]
    if open_:
        parts.append(f"Open: {', '.join(open_)}.")
    noted = list(dict.fromkeys(words(f.code) for f in findings if f.state != "rejected"))
    if not parts and noted:
        parts.append(f"Only noted: {', '.join(noted)}; no suspicion to test.")
    if not parts:
        parts.append("No anomaly was found; no experiment was needed.")
    count = text.counted(sum(counts.values()), "experiment")
    return f"{' '.join(parts)} {count[:1].upper()}{count[1:]} made." if counts else " ".join(parts)
