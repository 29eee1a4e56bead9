"""Burst credits ran out.

What it is: storage, mostly in clouds, that exceeds its baseline for as long as it has burst credits.
Why it matters: the rate before they ran out does not last: a database that works all day gets the baseline.
How it shows: the read rate drops to a much lower constant rate and stays there, or is already there when a later row
raises the load; a pause restores exactly as many credits as it saved. Rows of other sizes at the same IOPS, or at the
same throughput, tell what is counted. Where only a part of the data lies on such a volume, the slow reads come at a
constant rate, and the quick ones between them do not. The other explanations of a fall: a full write cache or SLC area
leaves writes so many bytes, and reads what they had; a device that became slower is so for who asks for less than the
baseline, too, and gives later rows more than credits that were saved since allow, once it is over; the rate that others
leave is not constant.
How to confirm: spend all credits, pause, and go on: the rate is high again for a short time.
What to change: measure for longer than the credits last (the finding says how long), or buy the rate that you need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.levels import (
    AT_LEVEL,
    Between,
    Level,
    as_fast,
    counts,
    fall_before,
    fell_within,
    level_at_end,
    level_of,
    rate,
)
from iocast.analyse.load_kind import simulated
from iocast.analyse.rate_drops import FALLS, LEAST_INTERVALS, Drop, short_drop, slow_part
from iocast.analyse.statistics import least_by_chance
from iocast.diagnose.evidence import row_of
from iocast.diagnose.preconditions import (
    ALONE,
    CLOSED_LOOP,
    MEASURED_HERE,
    NO_PAUSES,
    ONLY_READS,
    ONLY_WRITES,
    PAST_THE_HOST,
    SOME_IOS,
    Only,
    applies,
    meets,
)
from iocast.model.codes import FindingCode
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.finding import Finding, Span
from iocast.model.measurement import Measurement
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Constant, MixItem, Uniform, Workload
from iocast.text import brief_percent, brief_throughput, brief_time, capacity, counted, number

NEEDS: tuple[str, ...] = ()
ONLY: Only = (MEASURED_HERE,)

CODE: FindingCode = "burst_credits"
LEAST_TOLD = 0.001  # nothing is known to be within 0%
CONSTANT = 0.02  # models C, 18
# Of the scatter that chance gives to a part of a device's own I/Os: it gives no less, once in 1000 times.
REGULAR = math.sqrt(least_by_chance(LEAST_INTERVALS - 1))
RECOVERS = 1.5  # the rate right after a pause over the one before it [J]
SAVED_S = 1.5  # of the burst: what a pause has to save up [J]
BURST_S, SPENT_S = 1.0, 2.0
DRAIN_MORE = 1.3


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows whose rate fell to a constant. Writes fall for other reasons too (write cliff): there other I/Os must tell
    what is counted."""
    for at, row in enumerate(facts.rows if applies(facts, ONLY) else ()):
        drop, level = _fall(facts, at)
        limited = None if drop is None else _limited(row, drop)
        if drop is None or limited is None:
            continue
        level = level or _level_after(facts, at, drop)
        if not meets(row, ONLY_READS) and not _of_credits(row, level):
            continue
        fell, inside = _where_it_fell(facts.rows[:at], row, drop, level)
        spent = _spent(fell, inside, limited, level)
        exceeded = limited.share == 1.0 and _exceeded(facts, fell, inside, spent, level)
        refuted = _slower_by_itself(facts, fell, inside, level) or exceeded
        if spent.ios > 0 and not refuted:
            yield _finding(fell, inside, limited, spent, level, "" if fell is row else f" on {row.name}")
            return


def _fall(facts: Facts, at: int) -> tuple[Drop | None, Level | None]:
    """Where a row, or the one before it, fell, and to what level as far as other rows show it."""
    row = facts.rows[at]
    if not meets(row, CLOSED_LOOP):
        return None, None
    if row.drop is not None:
        return row.drop, None
    between = fall_before(facts, at)
    if between is not None:
        return _between(between), between.level
    return _in_a_short_row(facts, at) if row.change_points is None and counts(row) else (None, None)


def _of_credits(row: RowFacts, level: Level | None) -> bool:
    """Whether what writes fell to is a rate that I/Os of quite other sizes keep, or a throughput that reads keep too: a
    full write cache, or SLC area, leaves writes so many bytes, and reads what they had."""
    if level is None or not level.known:
        return False
    return level.unit == "ios" or any(not meets(each, ONLY_WRITES) for each in level.rows)


def _size(row: RowFacts) -> float:
    """Of its I/Os, on average."""
    return row.measurement.bytes / max(1, row.measurement.ios)


def _in_bytes(level: Level | None) -> bool:
    return level is not None and level.counts_bytes


class _Limited(NamedTuple):
    """What the credits were spent by: all reads, or the share of them that lies on the volume."""

    share: float
    per_s: float  # after the fall
    constant: float  # its scatter over its mean


def _limited(row: RowFacts, drop: Drop) -> _Limited | None:
    """What came at a constant rate after the fall: everything, or the slow reads; None when nothing did."""
    if drop.constant <= CONSTANT:
        return _Limited(1.0, drop.after_per_s, drop.constant)
    changes = row.change_points
    series = row.series_of("read")
    # In order the places change with time too, and with them what answers: a tier, a cache.
    if not drop.at_ns or series is None or changes is None or not isinstance(row.workload.locality, Uniform):
        return None
    slow = slow_part(series, changes)
    if slow is None or slow.by_chance > REGULAR:
        return None
    return _Limited(slow.share, slow.share * drop.after_per_s, slow.constant)


def _between(fall: Between) -> Drop:
    """A fall between two rows: this one has more outstanding I/Os than one before it, does far less, and always the
    same."""
    size = _size(fall.row)
    before = max(rate(each, "ios") for each in fall.before)
    after = fall.level.per_s / (size if fall.level.unit == "bytes" else 1.0)
    return Drop(at_ns=0, before_per_s=before, after_per_s=after, ios=0, bytes=0, constant=fall.level.constant)


def _in_a_short_row(facts: Facts, at: int) -> tuple[Drop | None, Level | None]:
    """A fall within a row of a few intervals, to a level at which later rows of quite other sizes go."""
    row, later = facts.rows[at], facts.rows[at + 1 :]
    size = _size(row)
    for each in later:
        level = level_of(facts, each, later) or level_at_end(row, each) if counts(each) else None
        if level is not None and level.known and (fell_within(row, level) or _fell_at_its_end(row, level, later[:1])):
            after = level.per_s / (size if level.unit == "bytes" else 1.0)
            plain = Drop(0, row.rates_per_s[0], after, 0, 0, level.constant)
            return _in_few_intervals(row, plain), level
    return None, None


def _fell_at_its_end(row: RowFacts, level: Level, following: tuple[RowFacts, ...]) -> bool:
    """Whether it fell in its last interval, which is of both rates, and the next row goes at the level."""
    step = row.short_step
    if level.unit != "ios" or step is None or not step.after_is_bound or not following:
        return False
    return level.per_s <= step.after_per_s < step.before_per_s and following[0] in level.rows


def _level_after(facts: Facts, at: int, drop: Drop) -> Level | None:
    """The level to which a row fell, by the rows after it: what it counts."""
    row, size = facts.rows[at], _size(facts.rows[at])
    for each in facts.rows[at + 1 :]:
        level = level_of(facts, each, facts.rows[at + 1 :]) if counts(each) else None
        fell_to = drop.after_per_s * (size if level is not None and level.unit == "bytes" else 1.0)
        if level is not None and as_fast(level.per_s, fell_to) and (level.known or each.kind == row.kind):
            return level
    return None


def _where_it_fell(
    earlier: tuple[RowFacts, ...], row: RowFacts, drop: Drop, level: Level | None
) -> tuple[RowFacts, Drop]:
    """The row within which it fell to the rate of this one, and the fall with this one's scatter.

    A stall after the fall hides how constant the rate is there. The mean of such a row is neither of the two rates.
    """
    for each in earlier if not drop.at_ns else ():
        if each.kind != row.kind or not meets(each, ALONE):
            continue
        inside = each.drop
        if inside is not None and as_fast(inside.after_per_s, drop.after_per_s):
            return each, replace(inside, after_per_s=drop.after_per_s, constant=drop.constant)
        if inside is None and level is not None and fell_within(each, level):
            return each, _in_few_intervals(each, drop)
    return row, drop


def _in_few_intervals(row: RowFacts, drop: Drop) -> Drop:
    """The fall in a row of a few intervals: it lies in the first that is far below the one before."""
    plain = short_drop(row.record.series, 1 - FALLS)
    if plain is not None:
        left = 0.0  # of the last interval, at the rate before
        if plain.in_last and plain.after_per_s > drop.after_per_s:
            left = (plain.after_per_s - drop.after_per_s) / (plain.before_per_s - drop.after_per_s)
        return replace(
            plain,
            at_ns=plain.at_ns + round(left * row.record.series.interval_ns),
            ios=plain.ios + round(left * row.record.series.ios[-1]),
            bytes=plain.bytes + round(left * row.record.series.bytes[-1]),
            after_per_s=drop.after_per_s,
            constant=drop.constant,
        )
    series, rates = row.record.series, row.rates_per_s
    at = next(at for at, per_s in enumerate(rates) if per_s <= (1 - FALLS) * rates[0])
    before = fmean(rates[:at])
    return replace(
        drop,
        at_ns=at * series.interval_ns,
        before_per_s=before,
        ios=sum(series.ios[:at]),
        bytes=sum(series.bytes[:at]),
    )


def _exceeded(facts: Facts, fell: RowFacts, drop: Drop, spent: _Spent, level: Level | None) -> bool:
    """Whether later I/Os did more than the baseline and all that was saved since the fall allow: nearer to the rate
    before it. What is read in order
    may have been read ahead, unless it fell in the same row; and no more can be saved than was spent of a full bucket.
    """
    before, in_bytes, half_way = fell.measurement, _in_bytes(level), _half_way(drop)
    saved, most = 0.0, spent.bytes if in_bytes else spent.ios
    per_s = drop.after_per_s * (_size(fell) if in_bytes else 1.0)
    phases = facts.run.phases
    for later in map(facts.row, phases[phases.index(fell.record) + 1 :]):
        if later.beside[0] is not later.record:
            continue  # of phases at once the first stands for all
        did = later.seen_by_devices.measurement
        idle_ns = did.started_unix_ns - before.started_unix_ns - before.elapsed_ns
        saved = min(most, saved + max(0.0, idle_ns / 1e9 * per_s))
        done = did.bytes if in_bytes else did.ios
        beyond = done - per_s * did.elapsed_ns / 1e9
        if later in facts.rows and _counted_alike(fell, later) and done > half_way * (done - beyond + saved):
            return True
        saved, before = min(most, max(0.0, saved - beyond)), did
    return False


def _half_way(drop: Drop) -> float:
    """What lies in the middle between no change and one as large as the fall."""
    return math.sqrt(drop.before_per_s / drop.after_per_s)


def _counted_alike(fell: RowFacts, later: RowFacts) -> bool:
    read_ahead = not meets(later, ONLY_WRITES) and not isinstance(later.workload.locality, Uniform)
    return later.kind == fell.kind or (meets(later, PAST_THE_HOST) and not read_ahead)


def _slower_by_itself(facts: Facts, fell: RowFacts, drop: Drop, level: Level | None) -> bool:
    """Whether later reads that do less than the baseline, and so need no credits, take longer than the same ones did
    before: nearer to the times of a device that became as much slower."""
    at, half_way, size = facts.rows.index(fell), _half_way(drop), _size(fell)
    known = level is not None and level.known

    def needs_none(row: RowFacts) -> bool:
        usual_per_s = row.measurement.asked_depth * 1e9 / row.p50_ns  # a wait for what was due before is none of it
        shares = usual_per_s, usual_per_s * _size(row) / size
        most = max(shares) if not known else shares[_in_bytes(level)]
        return most < (1 - AT_LEVEL) * drop.after_per_s

    return any(
        needs_none(later) and later.p50_ns >= half_way * earlier.p50_ns
        for later in facts.rows[at + 1 :]
        for earlier in facts.rows[:at]
        if _same_reads(earlier, later) and meets(earlier, SOME_IOS) and meets(later, SOME_IOS)
    )


def _same_reads(one: RowFacts, other: RowFacts) -> bool:
    """Whether two rows read alike, with as many outstanding, wherever that is."""
    return (
        meets(one, ONLY_READS, NO_PAUSES)
        and meets(other, NO_PAUSES)
        and one.workload.mix == other.workload.mix
        and type(one.workload.locality) is type(other.workload.locality)
        and one.measurement.asked_depth == other.measurement.asked_depth
    )


class _Spent(NamedTuple):
    """Credits: what was done beyond the baseline until they ran out, in I/Os of the row, and in bytes."""

    ios: float
    bytes: float


def _spent(row: RowFacts, drop: Drop, limited: _Limited, level: Level | None) -> _Spent:
    """Phases before it included. What counts bytes is spent by the size of each I/O."""
    size = _size(row)
    in_bytes = _in_bytes(level)
    per_s = limited.per_s * (size if in_bytes else 1.0)

    def did(measurement: Measurement) -> float:
        return float(measurement.bytes if in_bytes else measurement.ios)

    beyond = 0.0
    phases = row.run.phases
    for each in map(row.facts.row, phases[: phases.index(row.record)]):
        if each.beside[0] is each.record:  # of phases at once the first stands for all: they share the time
            whole = each.seen_by_devices.measurement
            beyond = max(0.0, beyond + limited.share * did(whole) - per_s * whole.elapsed_ns / 1e9)
    here = drop.bytes if in_bytes else drop.ios
    total = beyond + limited.share * here - per_s * drop.at_ns / 1e9
    return _Spent(total / size, total) if in_bytes else _Spent(total, total * size)


def _finding(row: RowFacts, drop: Drop, limited: _Limited, spent: _Spent, level: Level | None, where: str) -> Finding:
    record, size = row.record, _size(row)
    burst_per_s = limited.share * drop.before_per_s
    lasts_s = spent.ios / max(1.0, burst_per_s - limited.per_s)
    within = brief_percent(max(limited.constant, LEAST_TOLD))
    stayed = f" and stayed there within {within}{where}"
    if limited.share < 1:
        stayed = f"; {number(limited.per_s)} slow reads per second completed from then on, within {within}{where}"
    in_bytes = _in_bytes(level)
    what, rate_text = ("throughput", lambda per_s: brief_throughput(per_s * size)) if in_bytes else ("IOPS", number)
    credits = capacity(spent.bytes) if in_bytes else counted(round(spent.ios), "I/O")
    others, bound = _others(level, row, where), drop.in_first and drop.at_ns > 0
    return Finding(
        code=CODE,
        severity="severe",
        phase=record.phase.name,
        says=f"{_when(record, drop)} {what} {'had fallen' if bound else 'fell'} from {'at least ' * bound}"
        f"{rate_text(drop.before_per_s)} to {rate_text(drop.after_per_s)}{stayed}{others}: credits for"
        f" about {credits} beyond that rate were spent by then;"
        f" a full bucket lasts {'at most ' * bound}{brief_time(lasts_s * 1e9)} at the"
        " burst rate.",
        evidence={
            "at_ns": float(drop.at_ns),
            "burst_per_s": burst_per_s,
            "baseline_per_s": limited.per_s,
            "after_per_s": drop.after_per_s,
            "credits": spent.ios,
            "lasts_s": lasts_s,
            "turn_ns": 1e9 * record.measurement.asked_depth / drop.after_per_s,
            **({"baseline_bytes_per_s": limited.per_s * size, "credit_bytes": spent.bytes} if in_bytes else {}),
        },
        remedy="Plan with the lower rate, the one that lasts, or buy the rate that you need.",
        hypothesis="the burst credits are spent and only the baseline is left",
        confidence=0.7,
        confirm="spend all credits, pause, and check that the pause restores what it saved",
        state="suggested",
        spans=(Span(drop.at_ns, record.measurement.elapsed_ns),),
    )


def _others(level: Level | None, row: RowFacts, where: str) -> str:
    """The rows of other sizes that tell what is counted; "" where none do."""
    if level is None or not level.known:
        return ""
    sizes = {item.size_bytes for item in row.workload.mix}
    other = [each.name for each in level.rows if {item.size_bytes for item in each.workload.mix} != sizes]
    other = [name for name in other if not where.endswith(f" {name}")]
    if not other:
        return ""
    more = f" and {counted(len(other) - 1, 'more row')}" if len(other) > 1 else ""
    same = "throughput" if level.unit == "bytes" else "IOPS"
    return f", and {other[0]}{more} of other sizes go{'' if more else 'es'} at the same {same}"


def _when(record: PhaseRecord, drop: Drop) -> str:
    depth = counted(record.measurement.asked_depth, "outstanding I/O")
    return (
        f"{'By' if drop.in_first else 'At'} t={brief_time(drop.at_ns)}"
        if drop.at_ns
        else f"Before the row with {depth}"
    )


def confirm(run: Run, finding: Finding) -> Experiment | None:
    """Spends everything, then pauses and goes on, three times."""
    record = row_of(run, finding)
    load, evidence = record.phase.workload, finding.evidence
    pause_s = SAVED_S * evidence["burst_per_s"] / evidence["baseline_per_s"]
    # A device that runs on in the world has spent them already; a simulated one begins anew with every run.
    drain_s = (DRAIN_MORE * evidence["lasts_s"] if simulated(run) else evidence["at_ns"] / 1e9) + SPENT_S
    quiet = Workload(mix=(MixItem("read", load.mix[0].size_bytes),), arrival=Constant(1.0), direct=load.direct)
    return Experiment(
        question="Does a pause restore the rate for as long as the credits that it saved last?",
        prepare=(Arm(name="spending", workload=load, seconds=drain_s),),
        arms=(
            Arm(name="spent", workload=load, seconds=SPENT_S),
            Arm(name="a pause", workload=quiet, seconds=pause_s, measured=False),
            Arm(name="after a pause", workload=load, seconds=BURST_S),
            Arm(name="spending again", workload=load, seconds=SPENT_S, measured=False),
        ),
        keep_order=True,
        decision=Decision(statistic="rate", first="spent", other="after a pause", limit=RECOVERS, direction="above"),
        if_confirmed="A pause saves burst credits: the rate before they ran out was a burst.",
        if_rejected="A pause changes nothing: burst credits do not explain this rate.",
    )
