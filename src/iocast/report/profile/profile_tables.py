"""The tables of a profile, section by section: those that have anything to tell."""

from __future__ import annotations

from collections.abc import Callable

from iocast import text
from iocast.analyse.profiling.concurrency import concurrency
from iocast.model.codes import ConcurrencyCode, LikelyLayerCode
from iocast.model.profiling.profile import Profile
from iocast.model.report import Table
from iocast.model.results.profiles import (
    BlockReuse,
    BusiestBlocks,
    BusiestWindow,
    BusyStretch,
    CacheMisses,
    ConcurrencyFigure,
    EvenStretch,
    LatencyBucket,
    LatencyPeak,
    LongRun,
    OperationSize,
    ReadSource,
    Sequentiality,
    TargetOperation,
    TraceProfile,
    WindowDispersion,
    WorkingSetSize,
)
from iocast.report.profile.profile_sentences import actor_kind, scan_words
from iocast.report.result_tables import result_table, with_rows
from iocast.results.profiles import SOURCES_SHOWN, TARGETS_SHOWN

LAYERS: dict[LikelyLayerCode, str] = {
    "host_cache": "page cache or memory",
    "fast_local_flash": "local NVMe write buffer or Optane",
    "flash": "flash read",
    "array_cache": "array cache, or flash over a network",
    "busy_flash_or_cloud": "busy flash or a cloud volume",
    "fast_disk": "15k disk",
    "disk": "7.2k or 10k disk",
    "queueing": "queueing or throttling",
}
UNDER_WAY: dict[ConcurrencyCode, str] = {
    "mean": "I/Os in flight, mean",
    "p99": "at 99% of the time at most",
    "most": "at most",
    "gap_cv2": "cv² of the time between I/Os",
}


def operation_tables(profile: Profile, result: TraceProfile) -> tuple[Table, ...]:
    """Each operation and size."""
    notes = ("p99 is blank where too few I/Os lie beyond it.",) if profile.with_latency else ()
    words = {"size_bytes": _size}
    return with_rows(result_table(OperationSize, result.operations, key="operations", words=words, notes=notes))


def _size(row: OperationSize) -> str:
    """A size that an operation must have, and that the trace does not tell, is unknown."""
    if row.others:
        return "other sizes"
    if row.size_bytes is not None:
        return text.size(row.size_bytes)
    return "unknown" if row.op in ("read", "write") else ""


def arrival_tables(profile: Profile, result: TraceProfile) -> tuple[Table, ...]:
    """The busiest windows, dispersion over scales, concurrency and what a closed load needs."""
    dispersion = "Burstiness: variance over mean of the I/Os in a window"
    grows = "1: random arrivals; above: bursts; below: regular. It grows with the window where bursts last."
    said = {**UNDER_WAY, "sessions": actor_kind(profile)}
    return with_rows(
        result_table(BusiestWindow, result.peaks, key="peaks", title="Busiest windows"),
        result_table(WindowDispersion, result.dispersion, key="dispersion", title=dispersion, notes=(grows,)),
        result_table(
            ConcurrencyFigure,
            result.concurrency,
            key="concurrency",
            words={"code": lambda row: said[row.code]},
            notes=_littles_law(profile),
        ),
    )


def _littles_law(profile: Profile) -> tuple[str, ...]:
    in_flight = concurrency(profile)
    if in_flight is None:
        return ()
    holds = "holds" if in_flight.little_holds else "does not hold"
    after = f"{text.percent(in_flight.edge_share)} of the latency lies after the last issue"
    return (f"Little's law, rate x latency = I/Os in flight, {holds} ({after}).",)


def run_tables(profile: Profile, result: TraceProfile) -> tuple[Table, ...]:
    """Sequentiality, and as peers count it; the long runs."""
    words: dict[str, Callable[[LongRun], str]] = {"target": lambda run: scan_words(profile, run)}
    streams = profile.order.streams
    notes = () if streams.all_told else (f"Of the {len(streams.longest)} longest runs; there are more.",)
    return with_rows(
        result_table(Sequentiality, result.sequentiality, key="sequentiality"),
        result_table(LongRun, result.scans, key="scans", title="Scans", words=words, notes=notes),
    )


def place_tables(profile: Profile, result: TraceProfile) -> tuple[Table, ...]:
    """Where the I/Os go, and what comes again."""
    again = "Blocks that are used again"
    pairs = {"pair": lambda row: row.pair.replace("_", " ")}
    apart = "Times between two uses of a block, one directly after the other."
    return with_rows(
        result_table(BusiestBlocks, result.shares, key="shares", title="Share of the busiest blocks"),
        result_table(BusyStretch, result.hot_spots, key="hot_spots", title="Hot spots", words={"target": _target}),
        result_table(WorkingSetSize, result.working_sets, key="working_sets", title="Working set"),
        result_table(CacheMisses, result.caches, key="caches", title="Misses of a cache", notes=_how_counted(profile)),
        result_table(BlockReuse, result.pairs, key="pairs", title=again, words=pairs, notes=(apart,)),
    )


def _target(row: BusyStretch | TargetOperation) -> str:
    return row.target or "unnamed"


def _how_counted(profile: Profile) -> tuple[str, ...]:
    references, block = profile.order.references, profile.reference_bytes
    if references.all is None or block is None:
        return ()
    how = "exact" if references.exact else f"from 5 samples of {references.sample_blocks} blocks (SHARDS)"
    first = text.percent(references.all.first_share)
    spared = f"{first} are first references, which no cache of this trace spares."
    return (f"LRU over {text.size(block)} blocks, {how}. {spared}",)


def latency_tables(result: TraceProfile) -> tuple[Table, ...]:
    """The peaks of latency with the layer that each may come from, and the histogram of what takes most of the time."""
    blank = "" if all(row.layer for row in result.modes) else " Blank: near the resolution of the trace."
    notes = (f"The layer is a hypothesis from the time alone.{blank}",)
    words = {"layer": lambda row: LAYERS[row.layer] if row.layer else ""}
    title = "Peaks of the latency"
    return with_rows(
        result_table(LatencyPeak, result.modes, key="modes", title=title, words=words, notes=notes),
        result_table(LatencyBucket, result.latencies, key="latencies", title=_histogram_title(result)),
    )


def _histogram_title(result: TraceProfile) -> str:
    """Whose latencies the histogram has."""
    if not result.latencies:
        return ""
    first = result.latencies[0]
    size = f"{text.size(first.size_bytes)} " if first.size_bytes is not None else ""
    return f"Latencies of {size}{first.op}s"


def target_tables(profile: Profile, result: TraceProfile) -> tuple[Table, ...]:
    """Targets with their latency."""
    shown = {each.target for each in profile.by_target[:TARGETS_SHOWN] if each.target is not None}
    left = profile.targets - len(shown)
    notes = (f"{text.counted(left, 'target')} more.",) if left > 0 else ()
    words = {"target": _target}
    return with_rows(result_table(TargetOperation, result.targets, key="targets", words=words, notes=notes))


def phase_tables(result: TraceProfile) -> tuple[Table, ...]:
    """The stretches of about the same rate."""
    return with_rows(result_table(EvenStretch, result.phases, key="phases"))


def source_table(profile: Profile, result: TraceProfile) -> Table:
    """The files, and what became of their lines."""
    left = len(profile.sources) - SOURCES_SHOWN
    notes = (f"{text.counted(left, 'file')} more.",) if left > 0 else ()
    return result_table(ReadSource, result.sources, key="sources", notes=notes)
