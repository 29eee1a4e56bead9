"""The letters of a report card: how good the storage is, apart from how far the figures can be believed."""

from __future__ import annotations

from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose.aspects import ASPECTS
from iocast.diagnose.grades.hailey2012 import HEADLINE, classic
from iocast.diagnose.grades.modern_scale import modern
from iocast.diagnose.grades.service_level import against
from iocast.diagnose.relations import stalls_among
from iocast.diagnose.thresholds import worst
from iocast.model.codes import AspectCode
from iocast.model.finding import Examination, Grade
from iocast.model.grading import Graded, Grades, Letter, Scale, ServiceLevel, letter_rank, stepped_down, worst_letter
from iocast.model.run import Run
from iocast.text import brief_percent

FAR_WORSE = 2  # letters by which scan or interference must lie below the rest to pull it down

SEEN = 0.01  # of the time: of I/Os that arrive evenly a p99 shows what lasts longer


def grade(
    run: Run | Facts, examination: Examination, scale: Scale = "modern", levels: tuple[ServiceLevel, ...] = ()
) -> Grades:
    """All letters of a run. With service levels the overall letter is the worst of theirs."""
    facts = facts_of(run)
    if scale == "hailey2012":
        return _hailey(facts, examination)
    parts = modern(facts, examination)
    if levels:
        graded = tuple(against(level, facts, examination) for level in levels)
        letters = [each.letter for each in graded if each.letter is not None]
        overall = worst_letter(*letters) if len(letters) == len(graded) else None
        decisive = [each for each in graded if each.letter == overall]
        return _grades("slo", overall, decisive[0].says, tuple(decisive), (*graded, *parts), examination)
    return _modern(parts, examination)


def _modern(parts: tuple[Graded, ...], examination: Examination) -> Grades:
    """The worse of commit and random read, one letter less where scan or interference is far worse."""
    by_code = {part.code: part for part in parts}
    bearing = [by_code["commit"], by_code["random_read"]]
    graded = [part for part in bearing if part.letter]
    if len(graded) < len(bearing):
        failed = next(part for part in bearing if not part.letter)
        what, why = ASPECTS[failed.code], failed.why_not
        says = f"{what} is not graded: {why}" if failed.phases else f"the run has no {what} test ({why.rstrip('.')})."
        says = f"No overall grade: {says}"
        return _grades("modern", None, says, (), parts, examination)
    stood = _stood_still(bearing, examination)
    if stood:
        return _grades("modern", None, f"No overall grade: {stood}", (), parts, examination)
    overall = worst_letter(*(part.letter for part in graded if part.letter))
    weakest = [part for part in graded if part.letter == overall]
    lower = "both" if len(weakest) > 1 else ASPECTS[weakest[0].code]
    decides = "Commit and random read decide" if len(weakest) > 1 else "The lower of commit and random read decides"
    aside = f" ({weakest[-1].aside})" if weakest[-1].aside else ""
    decided = f"{decides}: {lower} {overall}{aside}"
    says = f"{decided}."
    pulling: tuple[AspectCode, ...] = ("scan", "write_interference")
    for code in pulling:
        letter = by_code[code].letter
        if letter and letter_rank(letter) - letter_rank(overall) >= FAR_WORSE:
            says = f"{decided}; lowered one step for {ASPECTS[code]} ({letter})."
            overall = stepped_down(overall)
            break
    return _grades("modern", overall, says, tuple(graded), parts, examination)


def _stood_still(bearing: list[Graded], examination: Examination) -> str:
    """Why the letters say nothing of what a user waits, "" where they do: while storage stands still a closed loop
    submits nothing, so that its p99 does not show for how long."""
    rows = {name for part in bearing for name in part.phases}
    stood = {
        each.phase: each.evidence["stalled_ns"] / max(1.0, each.evidence["elapsed_ns"])
        for each in stalls_among(examination.findings)
        if each.phase in rows and each.evidence["stalls"]
    }
    row = max(stood, key=lambda name: stood[name], default="")
    if not row or stood[row] <= SEEN:
        return ""
    return (
        f"the storage stood still for {brief_percent(stood[row])} of {row}. That share of evenly arriving I/Os would"
        " have waited; users that wait for each I/O submit none meanwhile, so the p99 here does not show it. Find the"
        " cause and measure again."
    )


def _hailey(facts: Facts, examination: Examination) -> Grades:
    parts = classic(facts, examination)
    headlines = tuple(part for part in parts if part.statistic == HEADLINE)
    missing = [part for part in headlines if part.letter is None]
    if missing:
        names = ", ".join(ASPECTS[part.code] for part in missing)
        says = f"No overall grade: {names} not graded: {missing[0].why_not}"
        if not all(part.phases for part in missing):
            says += " The preset hailey has all rows of this scale."
        return _grades("hailey2012", None, says, (), parts, examination)
    overall = worst_letter(*(part.letter for part in headlines if part.letter))
    weakest = next(part for part in headlines if part.letter == overall)
    says = f"The worst p95 decides: {ASPECTS[weakest.code]}."
    return _grades("hailey2012", overall, says, headlines, parts, examination)


def _grades(
    scale: Scale,
    overall: Letter | None,
    says: str,
    bearing: tuple[Graded, ...],
    parts: tuple[Graded, ...],
    examination: Examination,
) -> Grades:
    rows = [name for part in bearing for name in part.phases]
    trust: Grade | None = worst(*(examination.trust[name].grade for name in rows)) if rows else None
    return Grades(scale=scale, overall=overall, says=says, trust=trust, parts=parts)
