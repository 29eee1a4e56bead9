"""Stalls: for a moment I/Os did not complete, while all others of the same phase were quick.

What it is: for a tenth of a second or more, or for a hundredth again and again at equal intervals, none of the
outstanding I/Os, or only some, completed; then all went on as before.
Why it matters: averages and even p99 hide it, because few I/Os are issued during a stall; yet each user of the
database waits through it.
How it shows: among the slowest I/Os, which alone the core records one by one, some that took 100 ms or more and twenty
times the median of their kind, and that were outstanding at the same time; or five and more of 10 ms and longer that
recur at equal intervals. The other explanations: the generator itself did not run (reported apart), or its threads
waited for a processor, and reap in turn; what ended all along, one behind another, waited for its turn behind other
work, and is told so where the test's own outstanding I/Os do not explain it; a few long I/Os while others ended are the
tail of the device's times where that reaches so far (unless other rows were stopped for as long); and what one in
twenty takes is usual, as a first write is. With many outstanding one stall may fill the list and hide others.
How to confirm: a longer run, to see whether the stalls recur at equal intervals; the log of the device, the array or
the hypervisor at the same second.
What to change: what runs at that interval: other users of the device, garbage collection, a flush of a write-back
cache, path failover, snapshots, throttling by burst credits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.levels import as_fast
from iocast.analyse.standstills import LEAST_NS, Stall, Still, period_ns, stalls, still
from iocast.diagnose.detectors.measurement.absent import explains
from iocast.diagnose.evidence import starved_sentence
from iocast.diagnose.limits.own_group import io_limits
from iocast.diagnose.preconditions import NOT_SHORT_OF_CPU, REAL_DEVICE, Only, applies, meets
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.text import brief_time, counted, sentence

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "stalls"
ABOUT = 0.03  # of a time: nearer bounds, or periods, are one figure [J]
SHOWN = 5

CAUSES = "other users of the device, its garbage collection, a cache flush, path failover, snapshots, burst credits"
REMEDY = (
    "Run for longer and see whether the stalls recur at equal intervals; then look for what runs at that interval:"
    f" {CAUSES}."
)
OWN_FIRST = "See whether one outstanding I/O waits too, or the test's own wait for each other. "
QUEUED_REMEDY = (
    "Look for other users of the device at that time (backups, other databases, other guests), then for its own work"
    " (garbage collection, a rebuild); measure again without them."
)


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding for each measured phase that stood still while the generator ran; rows whose stalls recur by the same
    clock share the sentence, and so are told as one."""
    by_row = {
        row: stops
        for row in facts.rows
        if (stops := _worth_a_finding(tuple(each for each in stalls(row) if not _of_this_machine(row, each))))
    }
    findings = {row.name: _finding(row, stops) for row, stops in by_row.items()}
    for period, names in _by_one_clock(facts, by_row, findings):
        full = [row for row in by_row if row.name in names and _fills_the_list(row, by_row[row])]
        findings |= _of_one_clock([findings[name] for name in names], period, full[0] if full else None)
    yield from findings.values()


def _of_this_machine(row: RowFacts, stall: Stall) -> bool:
    """Whether the generator did not run then; or I/Os ended in turn where its threads waited for a processor so, and no
    limit of its control group holds them back as well."""
    in_turn = stall.queued and not meets(row, NOT_SHORT_OF_CPU) and not io_limits(row)
    return explains(row, stall.start_ns, stall.end_ns) or in_turn


def _by_one_clock(
    facts: Facts, by_row: Mapping[RowFacts, tuple[Stall, ...]], findings: Mapping[str, Finding]
) -> Iterator[tuple[int, list[str]]]:
    """Rows whose stalls recur alike, with their period: seen over all rows where these have one clock, as those of a
    simulated device have, else within each of them."""
    stood = {row: [each for each in stops if not each.queued] for row, stops in by_row.items()}
    still = [row for row, stops in stood.items() if len(stops) == len(by_row[row])]  # the others queued as well
    if not applies(facts, (REAL_DEVICE,)):
        clock = facts.virtual_times_ns
        moved = (_later(each, clock[id(row.record)][0]) for row in still for each in stood[row])
        apart: list[Stall] = []
        for each in sorted(moved, key=lambda stall: stall.start_ns):
            if not apart or each.start_ns > apart[-1].end_ns:  # rows that ran together meet the same stall
                apart.append(each)
        period = period_ns(tuple(apart))
        if period:
            yield period, [row.name for row in still]
            return
    own = [(findings[row.name].evidence.get("period_ns", 0.0), row.name) for row in still]
    groups: list[list[tuple[float, str]]] = []
    for one in sorted(one for one in own if one[0]):
        if groups and as_fast(one[0], groups[-1][0][0], ABOUT):
            groups[-1].append(one)
        else:
            groups.append([one])
    yield from ((round(median(period for period, _ in group)), [name for _, name in group]) for group in groups)


def _later(stall: Stall, by_ns: int) -> Stall:
    return replace(stall, start_ns=stall.start_ns + by_ns, end_ns=stall.end_ns + by_ns)


def _of_one_clock(findings: list[Finding], period: int, full: RowFacts | None) -> dict[str, Finding]:
    """The same findings in one sentence, each with its own figures; one alone keeps its own. `full`: a row with more
    stalls, perhaps, than its list of slowest I/Os could show."""
    if len(findings) < 2:
        return {}
    count = sum(len(each.spans) for each in findings)
    shortest_ns = min(each.evidence["shortest_ns"] for each in findings)
    each_time = _between(shortest_ns, max(each.evidence["longest_ns"] for each in findings))
    every = brief_time(period)
    least = "at least " if full else ""
    clause = f"I/O stalled every {every}, for {each_time}: {least}{counted(count, 'stall')} on {len(findings)} rows"
    return {
        each.phase: replace(
            each,
            says=f"{sentence(clause)}{_bounded(full, ' on each row.') if full else ''}",
            clause=clause,
            evidence={**each.evidence, "period_ns": float(period)},
            remedy=f"Look for what runs every {every}: {CAUSES}.",
        )
        for each in findings
    }


def _worth_a_finding(stops: tuple[Stall, ...]) -> tuple[Stall, ...]:
    """Without short ones that come by no clock: the machine may have had a part in the others."""
    return stops if period_ns(stops) else tuple(each for each in stops if each.duration_ns >= LEAST_NS)


def _fills_the_list(row: RowFacts, stops: tuple[Stall, ...]) -> bool:
    """Whether the I/Os of the stalls are all that were recorded one by one."""
    return sum(each.ios for each in stops) == len(row.measurement.slow) >= row.record.plan.slow_limit


def _bounded(row: RowFacts, where: str = ": there may have been more.") -> str:
    return f" Only the {len(row.measurement.slow)} slowest I/Os are recorded one by one{where}"


def _finding(row: RowFacts, stops: tuple[Stall, ...]) -> Finding:
    record, did = row.record, row.measurement
    stood = sum(each.ios for each in stops)
    bounded = _bounded(row) if _fills_the_list(row, stops) else ""
    stills, queued = ([each for each in stops if each.queued == waits] for waits in (False, True))
    still_times = [still(row, each) for each in stills]
    shortest_ns = min((each.least_ns for each in still_times), default=0.0)
    period = period_ns(tuple(stills))
    recur = f" They recur every {brief_time(period)}." if period else ""
    starved = f" {starved_sentence(row)}; it may have had a part." if not meets(row, NOT_SHORT_OF_CPU) else ""
    capped = " and ".join(io_limits(row)) if meets(row, REAL_DEVICE) else ""
    if capped:
        part = "that may have had a part, too" if starved else "that may have had a part"
        starved += f" The test's control group is limited to {capped}: {part}."
    clauses = [
        *([f"I/O stalled: {in_words(_spans(still_times), shortest_ns)}"] if stills else []),
        *([_queued_words(queued)] if queued else []),
    ]
    # What queued stood still for no longer than the longest of its I/Os.
    longest = max([*(each.longest_ns for each in queued), *(each.most_ns for each in still_times)])
    return Finding(
        code=CODE,
        severity="warn",
        phase=record.phase.name,
        says=f"{' '.join(map(sentence, clauses))}{recur}{bounded}{starved}",
        clause="; ".join(clauses),
        evidence={
            "stalls": len(stills),
            "longest_ns": longest,
            "stalled_ns": sum([*(each.duration_ns for each in queued), *(each.most_ns for each in still_times)]),
            **({"shortest_ns": shortest_ns} if stills else {}),
            "first_at_ns": stops[0].start_ns,
            "ios": stood,
            "elapsed_ns": did.elapsed_ns,
            **({"period_ns": period} if period else {}),
            **({"waited_in_turn": sum(each.ios for each in queued)} if queued else {}),
        },
        remedy=REMEDY if stills else f"{OWN_FIRST if did.asked_depth > 1 else ''}{QUEUED_REMEDY}",
        spans=_spans(still_times or queued),
    )


def _spans(stops: Sequence[Stall | Still]) -> tuple[Span, ...]:
    return tuple(Span(each.start_ns, each.end_ns) for each in stops)


def _queued_words(stops: list[Stall]) -> str:
    """I/Os that waited for their turn: "14 I/Os waited one behind another, 310 ms each, for 4.3 s from t=0 s"."""
    ios, lasted = sum(each.ios for each in stops), sum(each.duration_ns for each in stops)
    shortest, longest = min(each.shortest_ns for each in stops), max(each.longest_ns for each in stops)
    low, high = brief_time(shortest), brief_time(longest)
    each = low if low == high else f"{low} to {high}"
    when = f"from t={brief_time(stops[0].start_ns)}" + (f" on, {len(stops)} times" if len(stops) > 1 else "")
    return f"{counted(ios, 'I/O')} waited one behind another, {each} each, for {brief_time(lasted)} {when}"


def in_words(spans: Sequence[Span], least_ns: float) -> str:
    """How many stalls, how long and when: "2 stalls of 110 ms to 2.1 s, at t=6.1 s and t=9.0 s"; the shortest of them
    lasted that long at least."""
    most_ns = max(each.end_ns - each.start_ns for each in spans)
    return f"{counted(len(spans), 'stall')} of {_between(least_ns, most_ns)}, at {_when(tuple(spans))}"


def sentence_of(finding: Finding) -> str:
    """The stalls of a finding, in the same words."""
    shortest_ns = min(each.end_ns - each.start_ns for each in finding.spans)
    return in_words(finding.spans, finding.evidence.get("shortest_ns", float(shortest_ns)))


def _between(least_ns: float, most_ns: float) -> str:
    low, high = brief_time(least_ns), brief_time(most_ns)
    if low == high:
        return low
    if least_ns >= (1 - ABOUT) * most_ns:
        return f"about {brief_time((least_ns + most_ns) / 2)}"
    return f"{low} to {high}" if least_ns > 0 else f"up to {high}"


def _when(spans: tuple[Span, ...]) -> str:
    moments = [f"t={brief_time(each.start_ns)}" for each in spans[:SHOWN]]
    if len(spans) > SHOWN:
        return f"{', '.join(moments)} and {len(spans) - SHOWN} more"
    return " and ".join([", ".join(moments[:-1]), moments[-1]]) if len(moments) > 1 else moments[0]
