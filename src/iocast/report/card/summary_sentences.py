"""What the storage does, in sentences: random reads, scans, commits, mixes. Only of rows that can be used, and, where a
rate fell for good, of those of one state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.ladder import kind
from iocast.analyse.load_kind import data_bytes, is_open_loop
from iocast.analyse.statistics import published
from iocast.diagnose.excluded_rows import OTHER_STATE, OTHER_TIME
from iocast.diagnose.relations import DISTURBED
from iocast.model.finding import Examination, Excluded
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, Hotspot, Op, Sequential, Uniform, Zipf

SCAN_SIZE_BYTES = 64 << 10  # smaller sequential reads measure the path of one I/O, not a scan
DATABASE_BLOCK_BYTES = 8 << 10  # the size to speak of where several were measured
TWO_PEAKS = 2.0  # a mean this many times the median says that neither tells the whole
QUICKER = 0.7  # of the time at a lower load: more load makes no storage faster [J]
SAME_RATE = 0.01  # rates nearer to each other are the same, however well a peak is known [J]

BEFORE, AFTER = "before the rate fell", "after the rate fell"
MET = {
    "other I/O": "while other I/O ran",
    "maintenance": "during maintenance",
    OTHER_TIME: "while the storage was in another state",
    OTHER_STATE: "while the storage was in another state",
    "rate changed": "while the rate changed",
    "short of CPU": "while this machine was short of CPU",
}
State = Callable[[PhaseRecord], str]
FLUSHES: tuple[Op, ...] = ("fsync", "fdatasync")


def sentences(
    facts: Facts,
    records: list[PhaseRecord],
    rates_only: list[PhaseRecord] | None = None,
    state: State = lambda _: "",
    every: list[PhaseRecord] | None = None,
) -> list[str]:
    """All that can be said of these rows, in the order in which a database administrator asks; of the rows in
    `rates_only` no percentile is known well. `state` says on which side of a fall of the rate a row lies. `every`:
    those that may have done more, trusted or not."""
    closed = [each for each in records if _can_be_told(each)]
    scans = [each for each in rates_only or () if _can_be_told(each)]
    reads = [*_random_reads(facts, closed, state)] or [*_read_rates(records, state)]
    said = [
        *reads,
        *_scans(closed, scans, records if every is None else every, state),
        *_commits(closed, state),
        *_mixes(closed, state),
    ]
    return _met_once(said)


def _met_once(said: list[str]) -> list[str]:
    """With what ends every one of them, such as "while this machine was short of CPU", said once at the end."""
    for words in dict.fromkeys(MET.values()):
        if len(said) > 1 and all(each.endswith(f", {words}.") for each in said):
            return [*(each.replace(f", {words}", "") for each in said), f"All of this was measured {words}."]
    return said


def _can_be_told(record: PhaseRecord) -> bool:
    return not is_open_loop(record) and record.measurement.ios > 0 and _is_known(record)


def _is_known(record: PhaseRecord) -> bool:
    """False for an imported row whose tool does not say how long I/Os took, or how many were outstanding."""
    timed = not math.isnan(record.measurement.response().mean_ns)
    return timed and not {"users", "depth"} & {*record.unstated}


def _random_reads(facts: Facts, records: list[PhaseRecord], state: State) -> Iterator[str]:
    rows = [each for each in records if only(each, "read") and is_random(each) and size_of(each)]
    if not rows:
        return
    alone = lone_read(rows)
    most = least_load_at_peak(facts, rows, alone)
    together = f" at {who(alone)}" if alone.measurement.asked_depth > 1 else beside_others(alone)
    what, rate = read_words(alone)
    sentence = f"A {what} takes {takes(alone.measurement.response('read'))}{together}"
    if most is not alone and most.measurement.rate_per_s > 1.1 * alone.measurement.rate_per_s:
        sentence += state(alone) * (state(alone) != state(most))
        sentence += f"; {who(most)} reaches {text.rate(most.measurement.rate_per_s)} {rate}"
        each_ns, alone_ns = (facts.row(row).response("read").mean_ns for row in (most, alone))
        if each_ns < QUICKER * alone_ns:
            sentence += f", each in {text.brief_time(each_ns)}: the storage had become faster by then"
    yield f"{sentence}{state(most)}."


def _read_rates(records: list[PhaseRecord], state: State) -> Iterator[str]:
    """The most IOPS, where an imported result states no time beside any."""
    rows = [
        each
        for each in records
        if not is_open_loop(each) and each.measurement.ios > 0 and not {"users", "depth"} & {*each.unstated}
    ]
    rows = [each for each in rows if only(each, "read") and is_random(each) and size_of(each)]
    if rows:
        size = _spoken_size(rows)
        best = max((each for each in rows if size_of(each) == size), key=lambda each: each.measurement.rate_per_s)
        rate = text.rate(best.measurement.rate_per_s)
        yield f"Random {text.size(size)} reads reach {rate} IOPS at {who(best)}{state(best)}."


def read_words(record: PhaseRecord) -> tuple[str, str]:
    """What a row of random reads times, and what its rate counts: statements, where it went through a database."""
    size = text.size(size_of(record))
    if record.phase.database is not None:
        return f"statement on random {size}", "statements/s"
    return f"random {size} read", "IOPS"


def lone_read(records: list[PhaseRecord]) -> PhaseRecord:
    """The random reads to speak of: of a database's block size, of all the data rather than a small part, alone, and
    with the fewest outstanding."""
    size = _spoken_size(records)
    rows = [each for each in records if size_of(each) == size]
    return min(rows, key=lambda each: (each.phase.together != "", -data_bytes(each), each.measurement.asked_depth))


def busiest(records: list[PhaseRecord], alone: PhaseRecord) -> PhaseRecord:
    """Of the rows that do what `alone` does, in the same place and with more outstanding, the one with most IOPS; or
    it itself. The rate of another place beside the time of this one would say what no row has done."""
    same = [each for each in records if kind(each) == kind(alone)]
    deeper = [each for each in same if each.measurement.asked_depth > alone.measurement.asked_depth]
    return max([alone, *deeper], key=lambda each: each.measurement.rate_per_s)


def least_load_at_peak(facts: Facts, records: list[PhaseRecord], alone: PhaseRecord) -> PhaseRecord:
    """Of the same rows the one of the least load that is as fast as the busiest, within 1% or the 95% interval of
    that one: its closed loop completes I/Os as fast as their mean response allows."""
    peak = busiest(records, alone)
    did = peak.measurement
    mean = facts.row(peak).mean("read")
    share = min(1 - SAME_RATE, mean.value_ns / (mean.high_ns or mean.value_ns))
    same = [each for each in records if kind(each) == kind(alone)]
    fast = [each for each in same if each.measurement.rate_per_s >= share * did.rate_per_s]
    return min(fast, key=lambda each: (each.measurement.asked_depth, each is not peak), default=peak)


def _scans(
    records: list[PhaseRecord], rates_only: list[PhaseRecord], every: list[PhaseRecord], state: State
) -> Iterator[str]:
    rows = [each for each in (*records, *rates_only) if is_scan(each)]
    if rows:
        best = _least_load(rows, lambda each: each.measurement.bytes_per_s)
        speed = text.brief_throughput(best.measurement.bytes_per_s)
        few = " (the rate only: its percentiles are imprecise)" if best not in records else ""
        few += "" if most_of_all(best, every) else " (highest of the rows that can be trusted)"
        yield f"{text.size(size_of(best))} sequential reads reach {speed} at {who(best)}{state(best)}{few}."


def most_of_all(best: PhaseRecord, every: list[PhaseRecord]) -> bool:
    """Whether no row of the same kind moved more, those left out included."""
    same = [each.measurement.bytes_per_s for each in every if kind(each) == kind(best)]
    return (1 - SAME_RATE) * max(same, default=0.0) <= best.measurement.bytes_per_s


def _commits(records: list[PhaseRecord], state: State) -> Iterator[str]:
    rows = [each for each in records if is_commit(each) and size_of(each)]
    if not rows:
        return
    alone = min(rows, key=lambda each: (each.phase.together != "", each.measurement.asked_depth, size_of(each)))
    size = text.size(size_of(alone))
    size = f"{size} byte" if size.isdigit() else size
    flush = alone.measurement.response(*FLUSHES)
    with_others = f" at {who(alone)}" if alone.measurement.asked_depth > 1 else beside_others(alone)
    if flush.total:
        yield f"The flush of {text.article(size)} {size} commit takes {takes(flush)}{with_others}{state(alone)}."
    else:
        times = takes(alone.measurement.response("write"))
        yield f"{text.article(size).capitalize()} {size} commit takes {times}{with_others}{state(alone)}."


def _mixes(records: list[PhaseRecord], state: State) -> Iterator[str]:
    rows = [each for each in records if _data_ops(each) == {"read", "write"} and never_pauses(each)]
    if rows:
        best = _least_load(rows, _rate_of_data)
        size = size_of(best)
        blocks = f"{text.size(size)} reads and writes" if size else "reads and writes"
        rate, split = text.rate(_rate_of_data(best)), _split(best)
        mix = f"{text.article(split).capitalize()} {split} mix of {blocks}"
        yield f"{mix} reaches {rate} IOPS at {who(best)}{state(best)}."


def _least_load(records: list[PhaseRecord], speed: Callable[[PhaseRecord], float]) -> PhaseRecord:
    """Of the rows that do what the fastest does the one of the least load that is as fast: more load brings nothing."""
    peak = max(records, key=speed)
    fast = [each for each in records if kind(each) == kind(peak) and speed(each) >= (1 - SAME_RATE) * speed(peak)]
    return min(fast, key=lambda each: (each.measurement.asked_depth, each is not peak))


def _data_ops(record: PhaseRecord) -> set[Op]:
    return {item.op for item in record.phase.workload.mix} - {*FLUSHES}


def _split(record: PhaseRecord) -> str:
    """The shares of reads and writes as asked for: "70/30"."""
    weights = {op: sum(item.weight for item in record.phase.workload.mix if item.op == op) for op in ("read", "write")}
    share = 100 * weights["read"] / (sum(weights.values()) or 1.0)
    return f"{share:.0f}/{100 - round(share)}"


def _rate_of_data(record: PhaseRecord) -> float:
    """Reads and writes a second, without flushes."""
    did = record.measurement
    return sum(part.ios for part in did.classes if part.op in ("read", "write")) * 1e9 / max(1, did.elapsed_ns)


def _spoken_size(records: list[PhaseRecord]) -> int:
    sizes = {size_of(each) for each in records}
    return DATABASE_BLOCK_BYTES if DATABASE_BLOCK_BYTES in sizes else min(sizes)


def takes(histogram: Histogram) -> str:
    """A median with its tail: "240 µs (p50; p99 482 µs)"; with the mean where it lies far from the median, and the mean
    alone where no median is known."""
    half, most = published(histogram, 0.5), published(histogram, 0.99)
    mean = text.brief_time(histogram.mean_ns)
    if half is None:
        return f"{mean} (mean)"
    more = [f"mean {mean}"] if histogram.mean_ns > TWO_PEAKS * half else []
    more += [] if most is None else [f"p99 {text.brief_time(most)}"]
    return f"{text.brief_time(half)} ({'; '.join(filter(None, ('p50', ', '.join(more))))})"


def who(record: PhaseRecord) -> str:
    """The load of a row: "1x1", "4x16"."""
    return text.load(record.plan.users, record.plan.depth) + beside_others(record)


def beside_others(record: PhaseRecord) -> str:
    """What must be said of a row that did not have the storage for itself."""
    return " alongside other rows" if record.phase.together else ""


def is_commit(record: PhaseRecord) -> bool:
    """True for writes that must be on the medium before the next one."""
    workload = record.phase.workload
    flushed = workload.fsync_every > 0 or any(item.op in FLUSHES for item in workload.mix)
    only_writes = all(item.op not in ("read", "trim") for item in workload.mix) and workload.writes
    return only_writes and (workload.sync != "none" or flushed)


def is_scan(record: PhaseRecord) -> bool:
    """True for large sequential reads that go as fast as they can."""
    plain = only(record, "read") and is_in_order(record) and never_pauses(record)
    return plain and size_of(record) >= SCAN_SIZE_BYTES


def never_pauses(record: PhaseRecord) -> bool:
    """True where the storage alone limits the rate: no think time, and no rate that was asked for."""
    return record.phase.workload.arrival == Closed()


def is_in_order(record: PhaseRecord) -> bool:
    """True for a scan."""
    return isinstance(record.phase.workload.locality, Sequential)


def is_random(record: PhaseRecord) -> bool:
    """True where every place is as far away as the last."""
    return isinstance(record.phase.workload.locality, Uniform | Zipf | Hotspot)


def only(record: PhaseRecord, op: Op) -> bool:
    """True when nothing but `op` was asked for."""
    return all(item.op == op for item in record.phase.workload.mix)


def size_of(record: PhaseRecord) -> int:
    """The size of the I/Os that move data when all have the same, else 0."""
    sizes = {item.size_bytes for item in record.phase.workload.mix if item.size_bytes}
    return sizes.pop() if len(sizes) == 1 else 0


def rows_that_held(records: Sequence[PhaseRecord], examination: Examination) -> list[PhaseRecord]:
    """Without the rows in which the rate fell, and without those of the state that has fewer rows; these are kept where
    nothing else does such I/Os, those never."""
    out = examination.excluded
    kept = [each for each in records if not _fell(each, out)]
    sorts = {sort(each) for each in kept}
    return [each for each in records if each in kept or (_fell(each, out) != "within" and sort(each) not in sorts)]


def two_states(records: Sequence[PhaseRecord], examination: Examination) -> Iterator[str]:
    """A sentence for each row in which the rate fell, where no other row does such I/Os. Of plain writes no headline
    speaks."""
    sorts = {sort(each) for each in rows_that_held(records, examination)}
    for each in records:
        plain_writes = only(each, "write") and not is_commit(each)
        if _fell(each, examination.excluded) == "within" and sort(each) not in sorts and not plain_writes:
            yield f"No figure stands for {each.phase.name}, {examination.excluded[each.phase.name].why}."


def state_words(records: Sequence[PhaseRecord], examination: Examination) -> Callable[[PhaseRecord], str]:
    """On which side of a fall of its kind of I/O a row lies, or what it met that others did not, as it follows the
    load: ", after the rate fell", ", perhaps while other I/O ran", or ""."""
    place = {each.phase.name: at for at, each in enumerate(records)}
    fallen = [(each, _fell(each, examination.excluded)) for each in records if _fell(each, examination.excluded)]

    def words(record: PhaseRecord) -> str:
        own = _fell(record, examination.excluded)
        sides = [own] if own else [_side(place, record, other, fell) for other, fell in fallen if _same(record, other)]
        if not sides:
            return _met(record, examination)
        return f", {BEFORE if sides[0] == 'before' else AFTER}"

    return words


def _met(record: PhaseRecord, examination: Examination) -> str:
    """What a row met that sets it apart from others: certain where it was counted."""
    name = record.phase.name
    out = examination.excluded.get(name)
    if out is None or out.brief not in MET:
        return ""
    sure = [
        each.certain
        for each in examination.findings
        if each.phase == name and each.code in DISTURBED and DISTURBED[each.code].brief == out.brief
    ]
    certain = all(sure) and out.brief not in (OTHER_TIME, OTHER_STATE)
    return f", {MET[out.brief] if certain else f'perhaps {MET[out.brief]}'}"


def _side(place: Mapping[str, int], record: PhaseRecord, other: PhaseRecord, fell: str) -> str:
    if fell == "within":
        return "before" if place[record.phase.name] < place[other.phase.name] else "after"
    return "before" if fell == "after" else "after"


def _same(record: PhaseRecord, other: PhaseRecord) -> bool:
    return kind(record) == kind(other)


def _fell(record: PhaseRecord, out: Mapping[str, Excluded]) -> str:
    why = out.get(record.phase.name)
    return "" if why is None else why.fell


def sort(record: PhaseRecord) -> tuple[object, ...]:
    """What a headline tells apart: which operations, in order or not, durable or not."""
    load = record.phase.workload
    ops = frozenset(item.op for item in load.mix)
    return ops, isinstance(load.locality, Sequential), load.sync != "none" or load.fsync_every > 0
