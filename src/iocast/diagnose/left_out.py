"""Rows that are no measure for others: what they met (I/O of others, a stall, too little CPU) was not there for all.

A verdict on several rows, a bottleneck or a grade, compares them as if only the load were different. What is left out
of it is said, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.diagnose.evidence import cpu_words, waited_for_a_processor
from iocast.diagnose.fallen_rows import FELL, fallen, two_levels
from iocast.diagnose.simulated_state import ALIKE, OTHERS_PER_S, State, states
from iocast.model.codes import FindingCode, TrustCode
from iocast.model.finding import Finding, LeftOut, Trust, TrustComponent
from iocast.text import brief_percent, number

REFUSED = ("D", "F")  # trust that nothing may rest on
NO_STATE: TrustCode = "precision"  # a percentile that is not known well says nothing against the rate
# What limits a row is an answer, and no state that would keep it from one.
ANSWERS: frozenset[FindingCode] = frozenset(
    {"throttle", "burst_credits", "link_limit", "serialised_direct_io", "retrograde_scaling", "generator_bound"}
)
CHANGED = "rate changed"
MOST_NAMED = 6  # rows of one reason
STALLED = 0.01  # of a row's time: below that neither its rate nor its p99 is that of the stall [J]
DISTURBED: dict[FindingCode, str] = {
    "shared_drives": "other I/O",
    "maintenance": "maintenance",
    "stalls": "stalled",
    "generator_did_not_run": "the test stood still",
}
LASTED = {"stalls": "stalled_ns", "generator_did_not_run": "absent_ns"}  # the figure of how long, in ns


def left_out(facts: Facts, findings: tuple[Finding, ...], trust: Mapping[str, Trust]) -> dict[str, LeftOut]:
    """Each of them by name."""
    found: dict[str, LeftOut] = {}
    others = {**fallen(facts), **in_another_state(facts)}
    for row in facts.rows:
        about = [each for each in findings if each.phase == row.name and each.state != "rejected"]
        why = _why(row, about, trust[row.name]) or others.get(row.name) or _two_levels(row)
        if why is not None:
            found[row.name] = why
    return found


def _two_levels(row: RowFacts) -> LeftOut | None:
    """A row of few intervals that went at two levels, for any reason; whether the second one stayed is not known."""
    fall = None if row.is_open_loop or row.record.phase.together else row.short_drop
    step = fall or two_levels(row)
    if step is None:
        return None
    fell = step.after_per_s < step.before_per_s
    rates = f"{number(step.before_per_s)} to {number(step.after_per_s)}"
    why = f"two states in one row: IOPS {'fell' if fell else 'rose'} from {rates} within it"
    return LeftOut(FELL if fell else CHANGED, why)


def _why(row: RowFacts, about: list[Finding], trust: Trust) -> LeftOut | None:
    if trust.void:
        return LeftOut("void", "the row is void")
    if not row.facts.simulated and not row.facts.imported and waited_for_a_processor(row):
        return LeftOut("short of CPU", f"CPU first: {cpu_words(row)}")
    disturbed = next((each for each in about if _disturbs(row, each)), None)
    if disturbed is not None:
        says = (disturbed.clause or disturbed.says).rstrip(".")
        return LeftOut(DISTURBED[disturbed.code], f"{says[:1].lower()}{says[1:]}" if says[1:2].islower() else says)
    refused = max(filter(_refuses, trust.components), key=lambda part: REFUSED.index(part.grade), default=None)
    return None if refused is None else _distrusted(trust, refused)


def _distrusted(trust: Trust, refused: TrustComponent) -> LeftOut:
    """With the letter that the row has everywhere else: that of another component, as of a percentile, may be worse."""
    letter = f"trust is {trust.grade}"
    if trust.grade != refused.grade:
        letter += f", {refused.grade} for this alone"
    return LeftOut(f"trust {trust.grade}", f"{letter}: {refused.clause or refused.reason}".rstrip("."))


def rates_apart(facts: Facts, findings: tuple[Finding, ...], out: Mapping[str, LeftOut]) -> dict[str, LeftOut]:
    """Of the rows left out those whose rate, too, is no measure for others: storage that stands still for a like share
    of every row of a curve slows all of them alike, and what more load gains is seen beside it."""
    shares = {row.name: _stalled_share(row, findings) for row in facts.rows}
    alike = set()
    for row in facts.rows:
        curve = row.curve
        beside = [shares[each.phase.name] for each in curve.rows] if curve is not None and len(curve.rows) > 1 else []
        if beside and shares[row.name] - min(beside) <= ALIKE:
            alike.add(row.name)
    return {name: why for name, why in out.items() if why.brief != DISTURBED["stalls"] or name not in alike}


def _stalled_share(row: RowFacts, findings: tuple[Finding, ...]) -> float:
    """For how much of a row the storage stood still; all of it where the list of slow I/Os does not tell."""
    met = states(row.facts).get(row.name)
    if met is not None:
        return met.stalled
    if len(row.measurement.slow) >= row.record.plan.slow_limit or not row.measurement.elapsed_ns:
        return 1.0
    about = (each for each in findings if each.phase == row.name and each.code == "stalls" and each.state != "rejected")
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
    if finding.code not in DISTURBED or finding.severity == "note" or OTHERS_PER_S in finding.evidence:
        return False
    figure = LASTED.get(finding.code)
    if figure is None:
        return True
    full = len(row.measurement.slow) >= row.record.plan.slow_limit  # then there may have been more
    return full or finding.evidence.get(figure, 0.0) > STALLED * row.measurement.elapsed_ns


@once
def in_another_state(facts: Facts) -> dict[str, LeftOut]:
    """Rows of a simulated device that met more than the least disturbed one did, by name."""
    met = states(facts)
    if not met:
        return {}
    least = min(met.values(), key=lambda each: each.others + each.slower + each.stalled)
    told = ((name, next(_more(state, least), None)) for name, state in met.items())
    return {name: why for name, why in told if why is not None}


def _more(state: State, least: State) -> Iterator[LeftOut]:
    """In what a row's state lies beyond that of the least disturbed."""
    # What met every row for some of its time is part of this storage: rows differ by chance in how much fell to them.
    if state.others - least.others > max(ALIKE, least.others):
        share = brief_percent(state.others)
        yield LeftOut(DISTURBED["shared_drives"], f"the simulated device had other I/O for {share} of the row")
    if state.slower - least.slower > ALIKE:
        times = number(1 + state.slower)
        yield LeftOut("device slower", f"the simulated device took {times} times as long for an I/O during this row")
    if state.stalled - least.stalled > max(STALLED, least.stalled):
        share = brief_percent(state.stalled)
        yield LeftOut(DISTURBED["stalls"], f"the simulated device stood still for {share} of the row")


def named(names: Mapping[str, str], out: Mapping[str, LeftOut]) -> str:
    """Rows by what they are called, those of one reason together: "8x1, 32x1 (stalled)"; "" for none."""
    groups: dict[str, list[str]] = {}
    for name, called in names.items():
        if name in out:
            groups.setdefault(out[name].brief, []).append(called)
    return ", ".join(f"{_listed(list(dict.fromkeys(called)))} ({brief})" for brief, called in groups.items())


def _listed(called: list[str]) -> str:
    more = len(called) - MOST_NAMED
    return ", ".join(called) if more <= 0 else f"{', '.join(called[:MOST_NAMED])} and {more} more"
