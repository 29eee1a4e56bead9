"""What a card comes to besides its letters and figures: the diagnosis, the worst finding, the bottleneck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from iocast import text
from iocast.diagnose.excluded_rows import named
from iocast.diagnose.how_bad import how_bad
from iocast.diagnose.limits.by_findings import held_back
from iocast.model.codes import FindingCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination
from iocast.model.report import Conclusion
from iocast.model.results.card import BoundRow
from iocast.model.run import Run
from iocast.report.card.findings_section import SharedFinding, alike, standing
from iocast.report.card.row_labels import labels
from iocast.report.tested_section import conclusion
from iocast.report.wording import words


def conclusions(
    run: Run,
    examination: Examination,
    diagnosis: Diagnosis | None,
    untestable: frozenset[FindingCode],
    bounds: Sequence[BoundRow],
) -> Iterator[Conclusion]:
    """Those of a run with rows; nothing for a run without."""
    if not run.measured:
        return
    if diagnosis is not None:
        yield Conclusion("diagnosis", "Diagnosis", conclusion(examination.findings, diagnosis))
    yield Conclusion("finding", "Worst finding", _worst(run, examination, untestable))
    yield Conclusion("bottleneck", "Bottleneck", _bottleneck(run, examination, bounds))


def _worst(run: Run, examination: Examination, untestable: frozenset[FindingCode]) -> str:
    shared = alike(examination.findings)
    if not shared:
        return "; ".join(("none found", *_left_open(examination)))
    first, more = _worst_of(shared), len(shared) - 1
    state = standing(first.finding, untestable)
    rows = ", ".join(labels(run, first.said_of))
    if first.said_of != first.phases:
        rows += f", the worst of {text.counted(len(first.phases), 'row')}"
    others = f" {text.counted(more, 'more finding')}." if more else ""
    named = f"{words(first.finding.code)} ({first.finding.severity}, {state})"
    if first.finding.severity == "void":  # the verdict opens with what was seen
        return f"{named}{f' on {rows}' if rows else ''}.{others}"
    return f"{named}: {first.finding.says}{f' On {rows}.' if rows else ''}{others}"


def _left_open(examination: Examination) -> Iterator[str]:
    """What may hide a finding where there is none: rows that are compared with no others, each with why, rows on which
    nothing is suspected, and what was not looked for."""
    busy = frozenset(examination.unsuspected)
    aside = {name: each for name, each in examination.excluded.items() if name not in busy}
    if aside:
        yield f"left out of comparisons: {named({name: name for name in aside}, aside)}"
    if busy:
        yield f"{text.counted(len(busy), 'row')} not judged for lack of free CPU"
    if examination.failed:
        codes = dict.fromkeys(code for each in examination.failed for code in each.codes)
        yield f"not looked for, as a detector failed: {', '.join(map(words, codes))}"


def _worst_of(shared: tuple[SharedFinding, ...]) -> SharedFinding:
    """Of the first kind, which is the gravest, the finding that went furthest; of equal ones the one on most rows."""
    first = shared[0].finding
    kind = [
        each
        for each in shared
        if (each.finding.code, each.finding.severity, each.finding.certain)
        == (first.code, first.severity, first.certain)
    ]
    return max(kind, key=lambda each: (how_bad(each.finding), len(each.phases)))


def _bottleneck(run: Run, examination: Examination, bounds: Sequence[BoundRow]) -> str:
    """What limited most rows, in the words of the case with most rows; what is certain and severe comes first."""
    shown, first = bounds, held_back(examination)
    every = len(run.measured)
    known = {name for each in shown for name in each.phases}
    aside = {name: each.brief for name, each in examination.excluded.items() if name not in known}
    why = ", ".join(dict.fromkeys(aside.values()))
    shown = [each for each in shown if not first.isdisjoint(each.phases)] or shown
    left = f" Not compared with others: {len(aside)} of {every} rows ({why})." if why else ""
    if not shown:
        return f"unknown on {len(aside)} of {every} rows ({why})." if why else "unknown"
    counts: Counter[str] = Counter()
    for each in shown:
        counts[each.by] += len(each.phases)
    by, often = counts.most_common(1)[0]
    most = max((each for each in shown if each.by == by), key=lambda each: len(each.phases))
    if every == 1:
        return f"{words(by)}: {most.says}"
    if by == "rate" and len(aside) > len(known) and not first:  # what a job asks of a few rows is no answer
        return f"unknown on {len(aside)} of {every} rows ({why}). {most.phases[0]}: {most.says}"
    return f"{words(by)} on {often} of {every} rows. {most.phases[0]}: {most.says}{left}"
