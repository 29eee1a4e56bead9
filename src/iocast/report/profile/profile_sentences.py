"""A workload in one paragraph that its administrator recognises: sizes, patterns, sessions, mix, peaks, scans."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.profiling.concurrency import Loop, concurrency, loop_of
from iocast.analyse.profiling.use_shares import share_curve, share_of_busiest
from iocast.model.profiling.characteristics import OPS, READ, WRITE
from iocast.model.profiling.profile import Profile, SizeCount
from iocast.model.results.profiles import LongRun
from iocast.results.profiles import long_runs

SAME_SIZE = 0.6  # of an operation's requests, from which one size stands for it [J]
SEQUENTIAL, RANDOM = 0.8, 0.2  # shares of requests in runs, for the plain words [J]
SYNC = 0.8  # of the writes, from which they are called synchronous [J]
FEW = 1000
FINE_NS = 1_000_000  # the shortest window that is told of
MOST_BYTES = 1 << 30  # of a request with a place (event_rows.rs)
IMPLAUSIBLE_PER_S = 200e9  # bytes: above what the fastest arrays deliver to one host [J]
LOOPS = {
    "no_latency": "the trace has no latencies",
    "few": "too few requests have a latency",
    "constant_depth": "nearly the same number of I/Os is in flight all the time",
    "sessions_wait": "each session waits for its I/O before it issues the next",
    "follows_ends": "most I/Os are issued directly after another one ended",
    "light": "I/Os hardly overlap, so that both would look the same",
    "independent": "I/Os are issued regardless of those in flight",
}
ALONE = "one I/O is in flight nearly all the time"


def description(profile: Profile) -> str:
    """The paragraph."""
    if not profile.events:
        return "No I/O in the trace."
    parts = [_mix(profile), _intensity(profile), _scans(profile), _locality(profile)]
    return " ".join(text.sentence(part) for part in parts if part)


def op_sizes(profile: Profile, op: int) -> list[SizeCount]:
    """The sizes of one operation, the most frequent first."""
    return [each for each in profile.sizes if each.op == op]


def typical_size(profile: Profile, op: int) -> str:
    """A size in words: "8k", "4k to 128k (mean 33.1k)"; "" where no size is known."""
    counts = [each for each in op_sizes(profile, op) if each.size is not None]
    total = sum(each.events for each in counts)
    if not total:
        return ""
    if counts[0].events >= SAME_SIZE * total:
        return _size(counts[0].size)
    ordered = sorted(counts, key=lambda each: each.size or 0)
    low, high = (_size_at(ordered, q * total) for q in (0.1, 0.9))
    mean = sum(each.bytes for each in counts) / total
    if low == high:
        return f"{_size(low)} (mean {_size(mean)})"
    return f"{_size(low)} to {_size(high)} (mean {_size(mean)})"


def _size(size_bytes: float | None) -> str:
    """A size that no reader takes for a number of I/Os: "784 B", "8k"."""
    said = text.size(size_bytes)
    return f"{said} B" if said[-1:].isdigit() else said


def _size_at(ordered: list[SizeCount], wanted: float) -> int:
    passed = 0
    for each in ordered:
        passed += each.events
        if passed >= wanted:
            return each.size or 0
    return ordered[-1].size or 0


def pattern(profile: Profile, op: int) -> str:
    """ "random", "sequential", "42% sequential"; "" where no place is known."""
    stream = profile.order.streams.of(op)
    if stream is None or not stream.requests:
        return ""
    share = stream.sequential_requests / stream.requests
    if share >= SEQUENTIAL:
        return "sequential"
    return "random" if share <= RANDOM else f"{text.brief_percent(share)} sequential"


def _mix(profile: Profile) -> str:
    counts = {op: sum(each.events for each in op_sizes(profile, op)) for op in (READ, WRITE)}
    known = [op for op in sorted(counts, key=lambda op: -counts[op]) if counts[op]]
    if not known:
        return f"{text.counted(profile.events, 'event')} without a read or write"
    first = _operation(profile, known[0])
    by = f"{',' if ',' in first else ''} by {actors(profile)}" if profile.sessions else ""
    if len(known) == 1:
        return f"{first}{by}, no {OPS[1 - known[0]]}s{_flushes(profile)}"
    ratio = counts[known[0]] / counts[known[1]]
    shown = f"{ratio:.0f}:1" if ratio >= 2.95 else f"{ratio:.1f}:1".replace(".0:", ":")
    return f"{first}{by}, {shown} to {_operation(profile, known[1])}{_flushes(profile)}"


def actors(profile: Profile) -> str:
    """How many issued the I/Os: "40 sessions" of a database, "1 process" of anything else."""
    kind = actor_kind(profile) if profile.sessions != 1 else "session" if profile.layers == ("db",) else "process"
    return f"{profile.sessions:,} {kind}"


def actor_kind(profile: Profile) -> str:
    """What issues the I/Os."""
    return "sessions" if profile.layers == ("db",) else "processes"


def _operation(profile: Profile, op: int) -> str:
    """ "8k random reads", "writes of 4k to 20k (mean 11.0k), 54% sequential"."""
    size, places, sync = typical_size(profile, op), pattern(profile, op), profile.order.sync
    durable = op == WRITE and sync.writes and sync.sync_writes >= SYNC * sync.writes
    behind = []
    if " " in size and "mean" in size:
        behind.append(f" of {size}")
        size = ""
    if "%" in places:
        behind.append(f", {places}")
        places = ""
    words = [size or _blocks(profile, op), places, "synchronous" if durable else "", f"{OPS[op]}s"]
    return " ".join(word for word in words if word) + "".join(behind)


def _blocks(profile: Profile, op: int) -> str:
    """What a database says of reads whose size in bytes is unknown."""
    requests = op_sizes(profile, op)
    if op != READ or any(each.size is not None for each in requests):
        return ""
    single = sum(each.figures.get("single_block_reads", 0) for each in profile.sources)
    return "single-block" if single >= SAME_SIZE * sum(each.events for each in requests) else ""


def _flushes(profile: Profile) -> str:
    sync = profile.order.sync
    if not sync.flushes or not sync.writes_between.total:
        return ""
    ratio = sync.writes / sync.flushes
    if ratio < 0.95:
        return f", {sync.flushes:,} flushes for {text.counted(sync.writes, 'write')}"
    if ratio < 1.05:
        return ", a flush for every write"
    shown = f"{ratio:.0f}" if ratio >= 9.5 else f"{ratio:.1f}".removesuffix(".0")
    return f", a flush for every {shown} writes"


def throughput(profile: Profile) -> float | None:
    """Bytes read and written a second; None in a trace without times."""
    moved = sum(each.bytes for each in profile.sizes if each.op in (READ, WRITE))
    return moved * 1e9 / profile.length_ns if profile.length_ns else None


def _intensity(profile: Profile) -> str:
    arrivals = profile.order.arrivals
    if arrivals is None or arrivals.rate_per_s is None:
        return ""
    moved = throughput(profile)
    said = f"{text.rate(arrivals.rate_per_s)} IOPS on average over {text.brief_time(profile.length_ns)}"
    said += f" ({text.brief_throughput(moved)})" if moved and moved >= 1 else ""
    second = arrivals.peak(1_000_000_000)
    several = second is not None and second.windows > 1
    said += f", {text.rate(second.most_per_s)} in the busiest second" if second and several else ""
    under_way = concurrency(profile)
    return f"{said}, {text.number(under_way.mean)} I/Os in flight on average" if under_way else said


def _scans(profile: Profile) -> str:
    # Of an operation that is sequential as a whole, the runs say nothing more.
    runs = [run for run in long_runs(profile) if pattern(profile, OPS.index(run.op)) != "sequential"]
    return "; ".join(scan_words(profile, run) for run in runs[:2])


def scan_words(profile: Profile, run: LongRun) -> str:
    """A scan in words: "a sequential read of 120M every 10 min on data.dbf"."""
    several = run.runs > 1 or not run.all_told
    of = f"sequential {run.op}{'s' if several else ''} of {text.size(run.run_bytes)}"
    where = f" on {run.target}" if run.target and profile.targets > 1 else ""
    if run.period_ns is not None:
        return f"a sequential {run.op} of {text.size(run.run_bytes)} every {text.brief_time(run.period_ns)}{where}"
    if not run.all_told:
        return f"at least {run.runs} sequential {run.op}s of up to {text.size(run.run_bytes)}{where}"
    return f"one {of}{where}" if run.runs == 1 else f"{run.runs} {of} each{where}"


def _locality(profile: Profile) -> str:
    footprint = profile.footprint
    if footprint is None:
        return ""
    touched = text.capacity(footprint.blocks * footprint.block_bytes)
    busiest = share_of_busiest(share_curve(footprint), 0.1)
    if 2 * sum(each.blocks for each in footprint.uses if each.uses == 1) > footprint.blocks:
        return f"{touched} touched, most of it once"
    return f"{touched} touched; the busiest tenth of it gets {text.brief_percent(busiest)} of the references"


def loop_words(loop: Loop) -> str:
    """Open or closed, and why."""
    why = ALONE if loop.reason == "constant_depth" and loop.depth == 1 else LOOPS[loop.reason]
    match loop.code:
        case "unknown":
            return f"Open or closed load: unknown, because {why}."
        case "open":
            return f"Open load: {why}."
    depth = f", {text.counted(loop.depth, 'I/O')} at a time" if loop.depth else ""
    think = f" with a pause of {text.brief_time(loop.think_ns)}" if loop.think_ns and loop.think_ns >= 1000 else ""
    return f"Closed load{depth}{think}: {why}."


def cautions(profile: Profile) -> Iterator[str]:
    """What the profile does not show."""
    rejected = sum(each.rejected for each in profile.sources)
    if rejected:
        lines = sum(each.lines for each in profile.sources)
        yield f"Damaged lines that are missing from the profile: {text.whole(rejected)} of {text.whole(lines)}."
    if not profile.events:
        yield "The trace has no I/O: only calls and waits are shown."
        yield from _notes(profile)
        return
    if profile.events < FEW:
        yield f"Only {text.counted(profile.events, 'I/O')}: shares and patterns are rough."
    if any(each.op < 2 and (each.size or 0) > MOST_BYTES for each in profile.sizes):
        yield "Requests above 1 GiB are left out of sequentiality, working set and caching."
    if profile.timed < profile.events:
        yield f"{text.counted(profile.events - profile.timed, 'event')} without a time: rates leave them out."
    if profile.timed and profile.tick_ns is not None and profile.tick_ns > FINE_NS:
        yield f"Times are steps of {text.brief_time(profile.tick_ns)}: shorter windows are left out."
    if (moved := throughput(profile)) and moved > IMPLAUSIBLE_PER_S:
        yield f"{text.brief_throughput(moved)} are more than storage delivers: check the unit of the times."
    if not profile.with_latency:
        yield "The trace has no latencies."
    elif profile.with_latency < profile.events:
        yield f"{text.counted(profile.events - profile.with_latency, 'event')} of {profile.events:,} without a latency."
    if not profile.with_offset:
        yield "The trace has no offsets: sequentiality, working set and caching are unknown."
    under_way = concurrency(profile)
    if under_way is not None and not under_way.little_holds:
        yield (
            f"{text.brief_percent(under_way.edge_share)} of all latency lies after the last issue: check the unit of "
            "the latencies, or whether the trace was cut."
        )
    if under_way is not None and (under_way.overlap_share or 0) > 0.01 and profile.layers == ("db",):
        yield (
            f"{text.brief_percent(under_way.overlap_share or 0)} of the I/Os of a session overlap: check the unit of "
            "the latencies."
        )
    yield from _notes(profile)


def _notes(profile: Profile) -> Iterator[str]:
    for each in profile.sources:
        yield from (f"{each.path}: {note}" for note in each.notes)


def verdict(profile: Profile) -> str:
    """The paragraph, and whether the load was open or closed."""
    return f"{description(profile)} {loop_words(loop_of(profile))}"
