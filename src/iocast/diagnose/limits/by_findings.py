"""What set the pace of each row, once it is known what else was found: one answer a row, not two that compete.

More load that brings no more IOPS says that something below the queue is full. Where a finding says what that is (a
rate limit, a link, a lock), the row is bound by it, not by the device; where one is only suspected, by one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.levels import Unit, as_fast
from iocast.diagnose.limits.by_load import BUSY, DEVICE, RULE, bounds_without, excluded_words
from iocast.diagnose.relations import CAPS
from iocast.diagnose.thresholds import DOUBLING_GAINS
from iocast.model.codes import BoundCode, FindingCode
from iocast.model.finding import Bound, Examination, Excluded, Finding
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord
from iocast.text import brief_percent, brief_throughput, load, number, percent


class Pace(NamedTuple):
    """What a row is bound by where a finding is certain, the words for it, certain and suspected, and what it counts:
    other rows that it holds back do as much of that; rows of one curve whatever they do, where it counts nothing."""

    by: BoundCode
    certain: str
    suspected: str
    counts: tuple[Unit, ...] = ()


PACES: dict[FindingCode, Pace] = {
    "throttle": Pace("rate", "Rate-limited", "a rate limit in front of it", ("ios", "bytes")),
    "burst_credits": Pace("rate", "Rate-limited", "an empty burst bucket"),
    "link_limit": Pace("link", "Link-bound", "a full link in front of it", ("bytes",)),
    "serialised_direct_io": Pace("serialised", "Serialised", "a lock above it"),
}
ALMOST = 0.001  # of a rate: a difference that one does not name
BY_A_CLOCK = 0.02  # squared coefficient of variation of what level rows wait for: less is as even as a cap [J]
# What the others may be bound by, and how it is said of the row.
OPENS: dict[BoundCode, str] = {
    "device": DEVICE,
    "device_or_limit": "Bound by the device or a limit in front of it",
    "rate": "Rate-limited",
    "link": "Link-bound",
}
LARGE_BYTES = 128 << 10  # an I/O: what such rows do is counted in bytes [J]
SAME_IOS = 0.005  # apart: rates of unlike I/Os are near each other by chance, but seldom so near [J]
LEAST_SIZES = 3  # of I/Os that move the same bytes: of ten kinds two do so by chance in about one run of five [J]
HELD_BACK = 1.9  # times the IOPS for a doubling of the load: with more, nothing held the row back yet [J]
DOUBLING = "gain_per_doubling"


def paced(
    facts: Facts, findings: tuple[Finding, ...], out: Mapping[str, Excluded], void: frozenset[str] = frozenset()
) -> dict[str, Bound]:
    """What bound each measured phase, by name. The rows in `out` are no measure for others; void ones have no
    bottleneck, whatever else was found of them.
    """
    limits = bounds_without(facts, out)
    limits |= {name: Bound("unknown", f"Bottleneck unknown: {out[name].why}.") for name in void}
    surest: dict[str, tuple[tuple[bool, float, bool], Finding]] = {}
    for finding in findings:
        for name in () if finding.phase in void else _rows_of(facts, finding, limits):
            key = (finding.certain, finding.confidence, name == finding.phase)
            if name not in surest or key > surest[name][0]:
                surest[name] = key, finding
    explained = {name: _by(finding, limits[name]) for name, (_, finding) in surest.items()}
    others = {name: bound for name, bound in _elsewhere(facts, findings, limits) if name not in explained}
    capped = {
        name: finding
        for name, (_, finding) in surest.items()
        if "ios" in PACES[finding.code].counts and explained[name].by == "device_or_limit"
    }
    beside = {name: bound for name, bound in _beside_a_suspicion(facts, limits, capped) if name not in explained}
    explained = limits | beside | others | explained
    no_measure = {**out, **{name: Excluded("not to be trusted", limits[name].says.rstrip(".")) for name in void}}
    return as_full(facts, explained | dict(_not_shown(facts, findings, explained, out)), no_measure)


def _not_shown(
    facts: Facts, findings: tuple[Finding, ...], limits: Mapping[str, Bound], out: Mapping[str, Excluded]
) -> Iterator[tuple[str, Bound]]:
    """Level rows whose I/Os pass as evenly as by a clock: a cap in front of the device would look the same, unless an
    experiment showed that there is none."""
    freed = {each.phase for each in findings if each.code in CAPS and each.state == "rejected"}
    for row in facts.rows:
        bound = limits[row.name]
        if bound.by != "device" or not bound.level or bound.evidence["rate_ratio"] < 1 / DOUBLING_GAINS:
            continue  # more load that costs IOPS meets no cap
        whole = row.curve
        curve = None if whole is None else whole.only(lambda record: record.phase.name not in out)
        if curve is None or not freed.isdisjoint(record.phase.name for record in curve.rows):
            continue
        scatter = curve.scatter_of_pace
        one_size = len({item.size_bytes for item in row.workload.mix}) == 1  # a cap on bytes lets larger ones wait more
        if scatter is None or scatter < BY_A_CLOCK or not one_size:
            says = f"{OPENS['device_or_limit']} {bound.level}.{excluded_words(bound.excluded)}"
            yield row.name, replace(bound, by="device_or_limit", says=says)


def _rows_of(facts: Facts, finding: Finding, limits: dict[str, Bound]) -> Iterator[str]:
    """The rows whose pace it would set: its own, and those of the same curve where more load brought no more."""
    own = limits.get(finding.phase)
    if finding.code not in PACES or finding.state == "rejected" or own is None:
        return
    reached = own.by in ("generator", "kernel") and "limit" in finding.evidence  # whatever the CPUs did
    if own.by in ("device", "queue", "not_shown") or (own.by == "unknown" and finding.certain) or reached:
        yield finding.phase
    if "after_per_s" in finding.evidence:
        yield from _at_the_baseline(facts, finding, limits)
    here = next(row.record for row in facts.rows if row.name == finding.phase)
    for flat in _flat(facts, limits):
        if here in flat:
            yield from (
                row.phase.name for row in flat if _on_a_level(here.measurement, row.measurement, PACES[finding.code])
            )


def _at_the_baseline(facts: Facts, finding: Finding, limits: dict[str, Bound]) -> Iterator[str]:
    """Rows of other I/Os that go at what spent credits leave, in I/Os or in bytes: more load brought them no more."""
    ios, of_bytes = finding.evidence["after_per_s"], finding.evidence.get("baseline_bytes_per_s")
    for row in facts.rows:
        did = row.measurement
        got, left = (did.rate_per_s, ios) if of_bytes is None else (did.bytes_per_s, of_bytes)
        if limits[row.name].by == "device" and as_fast(got, left):
            yield row.name


def _flat(facts: Facts, limits: dict[str, Bound]) -> Iterator[list[PhaseRecord]]:
    """The rows of each curve where more load brought no more."""
    for curve in facts.curves:
        yield [row for row in curve.rows if limits[row.phase.name].by == "device"]


def _on_a_level(one: Measurement, other: Measurement, pace: Pace) -> bool:
    """Whether two rows of a curve do as much of what counts as a level has it: more load gains, or costs, less than a
    doubling would have to. Whatever they do, where nothing counts."""
    ratios = [each / rest for each, rest in _pairs(one, other, pace.counts) if rest]
    return not pace.counts or any(1 / DOUBLING_GAINS <= ratio <= DOUBLING_GAINS for ratio in ratios)


def _as_fast(one: Measurement, other: Measurement, counts: tuple[Unit, ...]) -> bool:
    """Whether two rows do as much of one of these; of nothing, whatever they do."""
    return not counts or any(as_fast(each, rest) for each, rest in _pairs(one, other, counts))


def _pairs(one: Measurement, other: Measurement, counts: tuple[Unit, ...]) -> list[tuple[float, float]]:
    both = {"ios": (one.rate_per_s, other.rate_per_s), "bytes": (one.bytes_per_s, other.bytes_per_s)}
    return [both[unit] for unit in counts]


def _elsewhere(facts: Facts, findings: tuple[Finding, ...], limits: dict[str, Bound]) -> Iterator[tuple[str, Bound]]:
    """Rows of other curves that a confirmed cap, or spent credits, hold back too: they go at about the same rate."""
    rates = {row.name: row.measurement.rate_per_s for row in facts.rows}
    for finding in findings:
        pace, evidence = PACES.get(finding.code), finding.evidence
        if pace is None or pace.by != "rate" or not finding.certain or finding.phase not in rates:
            continue
        if "baseline_bytes_per_s" in evidence:
            continue  # its rows are known by their throughput, whatever their rates
        cap, spent = evidence.get("after_per_s", rates[finding.phase]), "after_per_s" in evidence
        for flat in _flat(facts, limits):
            # Of a level that reaches it all rows: with the least load an I/O now and then takes longer than the cap.
            names = [
                row.phase.name for row in flat if spent or as_fast(rates[row.phase.name], cap, 1 - 1 / DOUBLING_GAINS)
            ]
            for name in names if any(as_fast(rates[name], cap) for name in names) else ():
                why = "burst credits were spent" if spent else _as_it_goes(rates[name], cap)
                yield name, Bound(pace.by, f"{pace.certain}: {why}, as on {finding.phase}.", evidence)


def _beside_a_suspicion(
    facts: Facts, limits: dict[str, Bound], suspicions: Mapping[str, Finding]
) -> Iterator[tuple[str, Bound]]:
    """Rows of other curves that go level, too, at the rate or the bytes of rows where a cap is suspected."""
    did = {row.name: row.measurement for row in facts.rows}
    for flat in _flat(facts, limits):
        for name in (row.phase.name for row in flat if row.phase.name not in suspicions):
            for beside, finding in suspicions.items():
                if _as_fast(did[beside], did[name], PACES[finding.code].counts):
                    yield name, _by(finding, limits[name])
                    break


def _as_it_goes(rate_per_s: float, cap_per_s: float) -> str:
    """The row's own rate beside that of the cap."""
    off = rate_per_s / cap_per_s - 1
    if abs(off) < ALMOST:
        return f"it goes at about the same {number(cap_per_s)} IOPS"
    way = "less" if off < 0 else "more"
    return f"it goes at {number(rate_per_s)} IOPS, {brief_percent(abs(off))} {way} than the {number(cap_per_s)}"


def _confirmed_level(finding: Finding) -> str:
    """A level that an experiment showed to be a cap, without what else it might have been; "" for other findings."""
    evidence = finding.evidence
    if finding.state != "confirmed" or "from_depth" not in evidence:
        return ""
    loads = f"{number(evidence['depth'])} outstanding I/Os as with {number(evidence['from_depth'])}"
    return f"about {number(evidence['rate_per_s'])} IOPS with {loads}; at half of that rate each I/O was quicker"


def _by(finding: Finding, plain: Bound) -> Bound:
    by, certain, suspected, _ = PACES[finding.code]
    if finding.certain:
        why = finding.clause or _confirmed_level(finding) or finding.says
        return Bound(by, f"{certain}: {why}".rstrip(".") + ".", finding.evidence)
    sure = f"(suspected, {percent(finding.confidence)})"
    if not plain.level:
        says = f"{plain.says} {suspected[:1].upper()}{suspected[1:]} may set the pace instead {sure}."
        return Bound(plain.by, says, plain.evidence)
    device = "the device's full bandwidth" if finding.evidence.get("bandwidth") else "the device"
    says = f"Bound by {device} or {suspected} {sure} {plain.level}.{excluded_words(plain.excluded)}"
    return replace(plain, by="device_or_limit", says=says)


# Rows at their highest load: alone, such a row only shows that the load before it was too small. Beside rows of another
# curve where more load brings little it is seen to have reached what holds them back: the same bytes, or, exactly, the
# same I/Os in a second.


def as_full(facts: Facts, limits: Mapping[str, Bound], out: Mapping[str, Excluded]) -> dict[str, Bound]:
    """The same bounds, with those of rows that are seen to be as full as others."""
    judged = [row for row in facts.rows if row.name not in out and not row.record.phase.together]
    full = [row for row in judged if limits[row.name].by in OPENS and not row.is_open_loop]
    full = [row for row in full if _reached(row, limits[row.name])]
    full_bounds = {row.name: bound for row in judged for bound in _as_full_as(row, full, limits)}
    return {**limits, **dict(_level_in_bytes(judged, limits)), **full_bounds}


def _level_in_bytes(judged: list[RowFacts], limits: Mapping[str, Bound]) -> Iterator[tuple[str, Bound]]:
    """Rows at their highest load that move what I/Os of two other sizes move, too, while none moves more: whatever
    holds them back counts bytes. A link, a limit in bytes and the device's full bandwidth look alike in this."""
    one_way = [
        row for row in judged if limits[row.name].by not in BUSY and not row.is_open_loop and _moves_one_way(row)
    ]
    most = max((row.measurement.bytes_per_s for row in one_way), default=0.0)
    level = [row for row in one_way if as_fast(row.measurement.bytes_per_s, most, SAME_IOS)]
    if len(set().union(*map(_sizes_of, level))) < LEAST_SIZES:
        return
    for row in level:
        own = limits[row.name]
        if own.by != "not_shown":
            continue
        others = [each for each in level if _sizes_of(each) != _sizes_of(row)]
        other = max(others, key=lambda each: max(_sizes_of(each)))
        says = (
            f"{OPENS['device_or_limit']} at {load(row.record.plan.users, row.record.plan.depth)}: it moves"
            f" {brief_throughput(row.measurement.bytes_per_s)}, as {other.name} does and others of unlike sizes, and no"
            f" row moves more: what is full counts bytes.{excluded_words(own.excluded)}"
        )
        yield row.name, replace(own, by="device_or_limit", says=says)


def _moves_one_way(row: RowFacts) -> bool:
    """Of one operation, and one size, that moves data: a link carries both ways together, and a trim takes none."""
    return len(row.workload.mix) == 1 and not row.workload.trims


def _reached(row: RowFacts, bound: Bound) -> bool:
    """False where the limit was met on the way to the next load only: such a row is not at it yet."""
    evidence = bound.evidence
    return evidence.get("rate_ratio", 1.0) < DOUBLING_GAINS or row.measurement.asked_depth >= evidence.get("deeper", 0)


def _as_full_as(row: RowFacts, full: list[RowFacts], limits: Mapping[str, Bound]) -> Iterator[Bound]:
    """What a row at the end of its curve is bound by, where one of another kind shows it."""
    own = limits[row.name]
    curve = row.curve
    if own.by != "not_shown" or curve is None or row.measurement.asked_depth < curve.loads[-1]:
        return
    if own.evidence.get(DOUBLING, 1.0) + 1 > HELD_BACK:
        return
    for other in full:
        words = _alike(row, other) if other.kind != row.kind else ""
        if words:
            says = _as_full_says(row, other, limits[other.name].by, words)
            yield replace(own, by=limits[other.name].by, says=f"{says}{excluded_words(own.excluded)}")
            return


def _alike(row: RowFacts, other: RowFacts) -> str:
    """What both do alike; "" for nothing. Small I/Os of one size move as much whenever they are as many."""
    did, does = row.measurement, other.measurement
    if as_fast(did.rate_per_s, does.rate_per_s, SAME_IOS):
        return f"it reaches {number(did.rate_per_s)} IOPS"
    large = min(_sizes_of(row), default=0) >= LARGE_BYTES
    if (large or _sizes_of(row) != _sizes_of(other)) and as_fast(did.bytes_per_s, does.bytes_per_s):
        return f"it moves {brief_throughput(did.bytes_per_s)}"
    return ""


def _sizes_of(row: RowFacts) -> set[int]:
    return {item.size_bytes for item in row.workload.mix}


def _as_full_says(row: RowFacts, other: RowFacts, by: BoundCode, words: str) -> str:
    here = load(row.record.plan.users, row.record.plan.depth)
    return f"{OPENS[by]} at {here}: {words}, as {other.name} does, where a doubling of the load gains less than {RULE}."


def held_back(examination: Examination) -> frozenset[str]:
    """The rows whose limit is a severe finding that is certain: where there is one, most rows do not outvote it."""
    codes = {
        PACES[each.code].by
        for each in examination.findings
        if each.code in PACES and each.certain and each.severity == "severe"
    }
    return frozenset(name for name, bound in examination.bounds.items() if bound.by in codes)
