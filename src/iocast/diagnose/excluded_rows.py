"""Rows that are no measure for others: what they met (I/O of others, a stall, too little CPU) was not there for all.

A verdict on several rows, a bottleneck or a grade, compares them as if only the load were different. What is left out
of it is said, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.states import Apart, apart
from iocast.diagnose.evidence import cpu_words, waited_for_a_processor
from iocast.diagnose.relations import ANSWERS, DISTURBED, STALLED_BRIEF, stalls_among
from iocast.model.codes import TrustCode
from iocast.model.finding import Excluded, Finding, Trust, TrustComponent
from iocast.text import brief_throughput, number

REFUSED = ("D", "F")  # trust that nothing may rest on
NO_STATE: TrustCode = "precision"  # a percentile that is not known well says nothing against the rate
FELL, CHANGED = "the rate fell within it", "rate changed"
OTHER_TIME, OTHER_STATE = "another time", "another state"
ALIKE = 0.05  # of the time that the storage stood still: less between two rows is no difference [J]
MOST_NAMED = 6  # rows of one reason
STALLED = 0.01  # of a row's time: below that neither its rate nor its p99 is that of the stall [J]


def met_another_state(facts: Facts) -> dict[str, str]:
    """The rows that met two states of the storage, or another one than most, with why: of several loads they make no
    ladder.
    """
    return {name: _of_states(why).why for name, why in apart(facts).items()}


def excluded(facts: Facts, findings: tuple[Finding, ...], trust: Mapping[str, Trust]) -> dict[str, Excluded]:
    """Each of them by name."""
    rows: dict[str, Excluded] = {}
    others = apart(facts)
    for row in facts.rows:
        about = [each for each in findings if each.phase == row.name and each.state != "rejected"]
        why = _why(row, about, trust[row.name])
        if why is None and row.name in others:
            why = _of_states(others[row.name])
        if why is not None:
            rows[row.name] = why
    return rows


def _of_states(why: Apart) -> Excluded:
    """In words."""
    fell, last = f"its rate had fallen, within {why.at}", why.last
    rates = f"{_says(why.before_per_s, why)} to {_says(why.after_per_s, why)}"
    match why.how:
        case "within":
            two = f"IOPS fell from {number(why.before_per_s)} to {number(why.after_per_s)} within it and stayed there"
            return Excluded(FELL, f"two states in one row: {two}", "within")
        case "step":
            down = why.after_per_s < why.before_per_s
            levels = f"{number(why.before_per_s)} to {number(why.after_per_s)}"
            two = f"two states in one row: IOPS {'fell' if down else 'rose'} from {levels} within it"
            return Excluded(FELL if down else CHANGED, two)
        case "after" if last:
            after = f"it met the storage after the rate had fallen from {rates}, between {last} and {why.at}"
            return Excluded(f"after {last}", after, "after")
        case "after":
            return Excluded(f"after {why.at}", f"it met the storage after {fell}", "after")
        case "before" if last:
            before = f"it met the storage before the rate fell from {rates}, between {last} and {why.at}"
            return Excluded(f"before {why.at}", before, "before")
        case "before":
            before = f"it met the storage before its rate fell, within {why.at}"
            return Excluded(f"before {why.at}", before, "before")
        case "slow_time":
            return Excluded(OTHER_TIME, _slow_time_words(why))
        case "limits":
            return Excluded("other limits", "the limits of the test's control group were others than during most rows")
        case "ladder":
            return Excluded(OTHER_STATE, f"its times and those of {_listed(list(why.beside))} are not of one state")


def _slow_time_words(why: Apart) -> str:
    times, slower = why.before_per_s / why.after_per_s, why.before_per_s > why.after_per_s
    how = f"{number(times if slower else 1 / times)} times as {'slow' if slower else 'fast'}"
    return f"the storage was {how} from within {why.at} to within {why.last}, and this row lies on the side of fewer"


def _says(per_s: float, why: Apart) -> str:
    return brief_throughput(per_s) if why.unit == "bytes" else f"{number(per_s)} IOPS"


def _why(row: RowFacts, about: list[Finding], trust: Trust) -> Excluded | None:
    if trust.void:
        return Excluded("void", "the row is void")
    if waited_for_a_processor(row):
        return Excluded("short of CPU", f"CPU first: {cpu_words(row)}")
    disturbed = next((each for each in about if _disturbs(row, each)), None)
    if disturbed is not None:
        says = (disturbed.clause or disturbed.says).rstrip(".")
        return Excluded(
            DISTURBED[disturbed.code].brief, f"{says[:1].lower()}{says[1:]}" if says[1:2].islower() else says
        )
    refused = max(filter(_refuses, trust.components), key=lambda part: REFUSED.index(part.grade), default=None)
    return None if refused is None else _distrusted(trust, refused)


def _distrusted(trust: Trust, refused: TrustComponent) -> Excluded:
    """With the letter that the row has everywhere else: that of another component, as of a percentile, may be worse."""
    letter = f"trust is {trust.grade}"
    if trust.grade != refused.grade:
        letter += f", {refused.grade} for this alone"
    return Excluded(f"trust {trust.grade}", f"{letter}: {refused.clause or refused.reason}".rstrip("."))


def rates_apart(facts: Facts, findings: tuple[Finding, ...], out: Mapping[str, Excluded]) -> dict[str, Excluded]:
    """Of the rows left out those whose rate, too, is no measure for others: storage that stands still for a like share
    of every row of a curve slows all of them alike, and what more load gains is seen beside it."""
    shares = {row.name: _stalled_share(row, findings) for row in facts.rows}
    alike = set()
    for row in facts.rows:
        curve = row.curve
        beside = [shares[each.phase.name] for each in curve.rows] if curve is not None and len(curve.rows) > 1 else []
        if beside and shares[row.name] - min(beside) <= ALIKE:
            alike.add(row.name)
    return {name: why for name, why in out.items() if why.brief != STALLED_BRIEF or name not in alike}


def _stalled_share(row: RowFacts, findings: tuple[Finding, ...]) -> float:
    """For how much of a row the storage stood still; all of it where the list of slow I/Os does not tell."""
    if len(row.measurement.slow) >= row.record.plan.slow_limit or not row.measurement.elapsed_ns:
        return 1.0
    about = (each for each in stalls_among(findings) if each.phase == row.name)
    return max((each.evidence["stalled_ns"] / row.measurement.elapsed_ns for each in about), default=0.0)


def rate_believed(trust: Trust) -> bool:
    """Whether the rate of a row can be believed: trust that is low only for the precision of a percentile says nothing
    against it."""
    if trust.grade not in REFUSED:
        return True
    low = [part.code for part in trust.components if part.grade in REFUSED]
    return not trust.void and bool(low) and all(code == NO_STATE for code in low)


def _refuses(part: TrustComponent) -> bool:
    """Whether a component says that the row is no measurement of the storage at its load."""
    if part.grade not in REFUSED:
        return False
    if part.code == "anomalies":
        return part.finding not in ANSWERS
    return part.code != NO_STATE


def _disturbs(row: RowFacts, finding: Finding) -> bool:
    """Whether something beside the load set the pace for long enough to be seen in the rate."""
    if finding.code not in DISTURBED or finding.severity == "note":
        return False
    figure = DISTURBED[finding.code].lasted
    if not figure:
        return True
    full = len(row.measurement.slow) >= row.record.plan.slow_limit  # then there may have been more
    return full or finding.evidence.get(figure, 0.0) > STALLED * row.measurement.elapsed_ns


def named(names: Mapping[str, str], out: Mapping[str, Excluded]) -> str:
    """Rows by what they are called, those of one reason together: "8x1, 32x1 (stalled)"; "" for none."""
    groups: dict[str, list[str]] = {}
    for name, called in names.items():
        if name in out:
            groups.setdefault(out[name].brief, []).append(called)
    return ", ".join(f"{_listed(list(dict.fromkeys(called)))} ({brief})" for brief, called in groups.items())


def _listed(called: list[str]) -> str:
    more = len(called) - MOST_NAMED
    return ", ".join(called) if more <= 0 else f"{', '.join(called[:MOST_NAMED])} and {more} more"
