"""A profile becomes a result: operations, arrivals, runs, places, latencies, targets, phases, response times."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from msgspec import convert

from iocast import text
from iocast.analyse.profiling.concurrency import concurrency
from iocast.analyse.profiling.layer_bands import latency_modes
from iocast.analyse.profiling.response_accounting import ResponseAccounting
from iocast.analyse.profiling.scans import scans
from iocast.analyse.profiling.trace_phases import trace_phases
from iocast.analyse.profiling.use_shares import TOLD, share_curve, share_of_busiest
from iocast.analyse.statistics import published
from iocast.model.codes import ResponsePartCode
from iocast.model.profiling.characteristics import OPS, LatencyCell
from iocast.model.profiling.profile import Profile
from iocast.model.results.profiles import (
    BlockReuse,
    BusiestBlocks,
    BusiestWindow,
    BusyStretch,
    CacheMisses,
    ConcurrencyFigure,
    EvenStretch,
    EventWaits,
    LatencyBucket,
    LatencyPeak,
    LongRun,
    OperationSize,
    ReadSource,
    ResponsePart,
    Sequentiality,
    StatementTimes,
    TargetOperation,
    TraceProfile,
    WindowDispersion,
    WorkingSetSize,
)

SIZES_SHOWN, SCANS_SHOWN, TARGETS_SHOWN, SPOTS_SHOWN, SOURCES_SHOWN = 16, 8, 12, 8, 12
EVENTS_SHOWN = STATEMENTS_SHOWN = 12
LATENCY_BOUNDS_NS = tuple((1 << power) * 1000 for power in range(25))  # 1 µs to 16.8 s, as Oracle's tools have them
_GRID = {round(2 ** (at / 4)) for at in range(161)}  # the core's own sizes of caches; others were asked for
_UNNAMED = 0xFFFF_FFFF  # the target of cells of latencies that have none
_Times = tuple[float | None, float | None, float | None, float | None]  # mean, p50, p99, longest


def trace_profile(profile: Profile, accounting: ResponseAccounting | None = None) -> TraceProfile:
    """The result; `accounting` is that of the calls of a database."""
    return TraceProfile(
        operations=tuple(_operations(profile)) if profile.events else (),
        peaks=busiest_windows(profile),
        dispersion=tuple(_dispersion(profile)),
        concurrency=tuple(_concurrency(profile)),
        sequentiality=tuple(_sequentiality(profile)),
        scans=long_runs(profile)[:SCANS_SHOWN],
        shares=tuple(_shares(profile)),
        hot_spots=tuple(_hot_spots(profile)),
        working_sets=working_sets(profile),
        caches=tuple(_caches(profile)),
        pairs=tuple(_pairs(profile)) if profile.length_ns else (),
        modes=tuple(_modes(profile)),
        latencies=tuple(_latencies(profile)),
        targets=tuple(_targets(profile)),
        phases=_phases(profile),
        breakdown=tuple(_breakdown(accounting)) if accounting else (),
        wait_events=tuple(_wait_events(accounting)) if accounting else (),
        statements=tuple(_statements(accounting)) if accounting else (),
        sources=tuple(convert(each, ReadSource, from_attributes=True) for each in profile.sources[:SOURCES_SHOWN]),
    )


def _times(cell: LatencyCell | None) -> _Times:
    """None where too little is known."""
    if cell is None or not cell.latency.total:
        return None, None, None, None
    latency = cell.latency
    return latency.mean_ns, latency.quantile_ns(0.5), published(latency, 0.99), float(latency.max_ns)


def _named(name: str | None) -> str | None:
    return text.shown(name) if name else None


def _operations(profile: Profile) -> Iterator[OperationSize]:
    """Each operation and size, the most frequent first."""
    moved = sum(each.bytes for each in profile.sizes) or None
    cells = {(cell.op, cell.size): cell for cell in profile.order.by_size if not cell.others}
    for each in profile.sizes[:SIZES_SHOWN]:
        mean, half, tail, longest = _times(cells.get((each.op, each.size)))
        yield OperationSize(
            op=OPS[each.op],
            size_bytes=each.size,
            events=each.events,
            events_share=each.events / profile.events,
            bytes_share=each.bytes / moved if moved and each.op < 2 else None,
            mean_ns=mean,
            p50_ns=half,
            p99_ns=tail,
            max_ns=longest,
        )
    rest = profile.events - sum(each.events for each in profile.sizes[:SIZES_SHOWN])
    if rest:
        yield OperationSize(op="other", events=rest, events_share=rest / profile.events, others=True)


def busiest_windows(profile: Profile) -> tuple[BusiestWindow, ...]:
    """By width. One whole window is no busiest one: the rest of the trace may be busier."""
    arrivals = profile.order.arrivals
    mean = arrivals.rate_per_s if arrivals is not None else None
    if arrivals is None or mean is None:
        return ()
    return tuple(
        BusiestWindow(
            window_ns=each.width_ns,
            mean_per_s=mean,
            most_per_s=each.most_per_s,
            most_at_ns=each.most_at_ns,
            ratio=each.most_per_s / mean,
            p99_per_s=None if each.p99_events is None else each.p99_events * 1e9 / each.width_ns,
            throughput_bytes_per_s=each.most_bytes * 1e9 / each.width_ns if profile.with_size else None,
            empty_share=each.empty / each.windows,
        )
        for each in arrivals.peaks
        if each.windows > 1
    )


def _dispersion(profile: Profile) -> Iterator[WindowDispersion]:
    """Over scales: every third doubling."""
    arrivals = profile.order.arrivals
    for each in arrivals.dispersion[::3] if arrivals is not None else ():
        yield WindowDispersion(window_ns=each.width_ns, index=each.index, windows=each.windows)


def _concurrency(profile: Profile) -> Iterator[ConcurrencyFigure]:
    """Concurrency and what a closed load needs."""
    flight = concurrency(profile)
    if flight is None:
        return
    yield ConcurrencyFigure(code="mean", value=flight.mean)
    yield ConcurrencyFigure(code="p99", value=flight.p99)
    yield ConcurrencyFigure(code="most", value=flight.most)
    if profile.sessions:
        yield ConcurrencyFigure(code="sessions", value=profile.sessions)
    arrivals = profile.order.arrivals
    if arrivals is not None and arrivals.gap_cv2 is not None:
        yield ConcurrencyFigure(code="gap_cv2", value=arrivals.gap_cv2)


def _sequentiality(profile: Profile) -> Iterator[Sequentiality]:
    for each in profile.order.streams.by_op:
        n = each.requests
        yield Sequentiality(
            op=OPS[each.op],
            sequential_share=each.sequential_requests / n,
            bytes_share=each.sequential_bytes / each.bytes,
            near_share=each.near_bytes / each.bytes,
            naive_share=each.after_the_last / n,
            session_share=each.after_the_last_of_session / n,
            random_share=each.random / n,
            strided_share=each.strided / n,
            backwards_share=each.backward_requests / n,
            run=each.sequential_requests / each.runs if each.runs else None,
        )


def long_runs(profile: Profile) -> tuple[LongRun, ...]:
    """Table scans, backups, logs: those that moved most first."""
    return tuple(
        LongRun(
            target=_named(profile.target_names.get(each.target)),
            op=OPS[each.op],
            runs=each.runs,
            run_bytes=each.bytes,
            request_bytes=each.request_bytes,
            duration_ns=each.duration_ns,
            period_ns=each.period_ns,
            all_told=each.all_told,
        )
        for each in scans(profile)
    )


def _shares(profile: Profile) -> Iterator[BusiestBlocks]:
    """What the busiest blocks get."""
    footprint = profile.footprint
    if footprint is None:
        return
    curve, whole = share_curve(footprint), footprint.blocks * footprint.block_bytes
    for part in TOLD:
        references = share_of_busiest(curve, part)
        yield BusiestBlocks(blocks_share=part, references_share=references, size_bytes=part * whole)


def _hot_spots(profile: Profile) -> Iterator[BusyStretch]:
    footprint = profile.footprint
    if footprint is None or not profile.with_offset:
        return
    total = sum(each.events for each in profile.sizes if each.op < 2)
    for each in footprint.hot_spots[:SPOTS_SHOWN]:
        yield BusyStretch(
            target=_named(each.name),
            offset_bytes=each.offset,
            length_bytes=each.bytes,
            events_share=(each.reads + each.writes) / total,
            read_share=each.reads / (each.reads + each.writes),
        )


def working_sets(profile: Profile) -> tuple[WorkingSetSize, ...]:
    """Of each window; unknown where blocks have no size."""
    block = profile.reference_bytes
    return tuple(
        WorkingSetSize(window_ns=each.window_ns, working_set_bytes=each.blocks * block)
        for each in profile.order.references.working_sets
        if block is not None and each.blocks
    )


def _caches(profile: Profile) -> Iterator[CacheMisses]:
    """Each four times as large as the one before, and those that were asked for."""
    references = profile.order.references
    block, curve = profile.reference_bytes, references.all
    if curve is None or block is None:
        return
    asked_blocks = {size // block for size in profile.cache_bytes}
    for at, size in enumerate(curve.cache_blocks):
        is_asked = size in asked_blocks if asked_blocks else size not in _GRID
        if not is_asked and (size & (size - 1) or size.bit_length() % 2 == 0 or size * block < 1 << 20):
            continue
        yield CacheMisses(
            cache_bytes=size * block,
            all_share=curve.ratios[at],
            reads_share=references.reads.ratios[at] if references.reads else None,
            writes_share=references.write_back.ratios[at] if references.write_back else None,
            half_width_share=None if references.exact else (curve.high[at] - curve.low[at]) / 2,
        )


def _pairs(profile: Profile) -> Iterator[BlockReuse]:
    pairs = profile.order.references.pairs
    total = sum(each.references for each in pairs)
    for each in pairs:
        half, most = each.quantile_ns(0.5), each.quantile_ns(0.9)
        yield BlockReuse(pair=each.pair, share=each.references / total, p50_ns=half, p90_ns=most)


def _modes(profile: Profile) -> Iterator[LatencyPeak]:
    for each in latency_modes(profile):
        yield LatencyPeak(
            op=OPS[each.op], size_bytes=each.size, at_ns=each.location_ns, share=each.share, layer=each.layer
        )


def _latencies(profile: Profile) -> Iterator[LatencyBucket]:
    """Counts between powers of two of a microsecond, of the operation and size that takes most of the time."""
    cells = [cell for cell in profile.order.by_size if not cell.others and cell.latency.total]
    if not cells:
        return
    cell = max(cells, key=lambda cell: cell.latency.sum_ns)
    upto = [cell.latency.count_up_to(bound - 1) for bound in LATENCY_BOUNDS_NS]
    counts = [after - before for before, after in pairwise([0, *upto, cell.latency.total])]
    filled = [at for at, count in enumerate(counts) if count]
    for at in range(filled[0], filled[-1] + 1):
        yield LatencyBucket(
            op=OPS[cell.op],
            size_bytes=cell.size,
            upto_ns=LATENCY_BOUNDS_NS[at] if at < len(LATENCY_BOUNDS_NS) else None,
            events=counts[at],
            events_share=counts[at] / cell.latency.total,
        )


def _targets(profile: Profile) -> Iterator[TargetOperation]:
    """The busiest first."""
    cells = {(cell.op, cell.target): cell for cell in profile.order.by_target}
    for each in profile.by_target[:TARGETS_SHOWN]:
        mean, half, tail, longest = _times(cells.get((each.op, _UNNAMED if each.target is None else each.target)))
        yield TargetOperation(
            target=_named(each.name),
            op=OPS[each.op],
            events=each.events,
            events_share=each.events / profile.events,
            span_bytes=each.end - each.first if each.end is not None and each.first is not None else None,
            mean_ns=mean,
            p50_ns=half,
            p99_ns=tail,
            max_ns=longest,
        )


def _phases(profile: Profile) -> tuple[EvenStretch, ...]:
    """Several, or none: one says nothing that the trace as a whole does not."""
    stretches = tuple(
        EvenStretch(
            start_ns=each.start_ns,
            end_ns=each.end_ns,
            rate_per_s=each.rate_per_s,
            reads_share=each.read_share,
            throughput_bytes_per_s=each.bytes_per_s if profile.with_size else None,
            latency_ns=each.latency_mean_ns,
        )
        for each in trace_phases(profile)
    )
    return stretches if len(stretches) > 1 else ()


def response_parts(accounting: ResponseAccounting) -> tuple[tuple[ResponsePartCode, int], ...]:
    """All parts of the response time, in ns."""
    return (
        ("cpu", accounting.cpu_ns),
        ("inside_calls", accounting.waited_ns),
        ("unaccounted", accounting.unaccounted_ns),
        ("cut_off", accounting.cut_off_ns),
        ("between_calls", accounting.between_ns),
        ("idle", accounting.idle_ns),
    )


def _breakdown(accounting: ResponseAccounting) -> Iterator[ResponsePart]:
    whole = accounting.response_ns
    for code, time in response_parts(accounting):
        if time and whole:
            yield ResponsePart(part=code, time_ns=time, share=time / whole)


def _wait_events(accounting: ResponseAccounting) -> Iterator[EventWaits]:
    for each in accounting.events[:EVENTS_SHOWN]:
        total, mean = (each.total_ns, each.total_ns / each.known) if each.known else (None, None)
        yield EventWaits(event=each.event, waits=each.waits, total_ns=total, mean_ns=mean, most_ns=each.most_ns)


def _statements(accounting: ResponseAccounting) -> Iterator[StatementTimes]:
    for each in accounting.statements[:STATEMENTS_SHOWN]:
        yield StatementTimes(
            sql=each.sql or None,
            calls=each.calls,
            elapsed_ns=each.elapsed_ns,
            cpu_ns=each.cpu_ns,
            waited_ns=each.waited_ns,
            unaccounted_ns=each.unaccounted_ns,
        )
