"""The tables of a profile: operations and sizes, arrivals, sequentiality, locality, latency, targets, phases."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.profiling.concurrency import concurrency
from iocast.analyse.profiling.layer_bands import LayerCode, latency_modes
from iocast.analyse.profiling.scans import scans
from iocast.analyse.profiling.trace_phases import trace_phases
from iocast.analyse.profiling.use_shares import TOLD, share_curve, share_of_busiest
from iocast.analyse.statistics import published
from iocast.model.profiling.characteristics import OPS, LatencyCell
from iocast.model.profiling.profile import Profile
from iocast.model.report import Cell, Column, Row, Table
from iocast.report.profile.profile_sentences import actor_kind, scan_words

_GRID = {round(2 ** (at / 4)) for at in range(161)}  # the core's own sizes of caches; others were asked for
SIZES_SHOWN, TARGETS_SHOWN, SPOTS_SHOWN = 16, 12, 8
LAYERS: dict[LayerCode, str] = {
    "host_cache": "page cache or memory",
    "fast_local_flash": "local NVMe write buffer or Optane",
    "flash": "flash read",
    "array_cache": "array cache, or flash over a network",
    "busy_flash_or_cloud": "busy flash or a cloud volume",
    "fast_disk": "15k disk",
    "disk": "7.2k or 10k disk",
    "queueing": "queueing or throttling",
}
TIMES = (
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
)
OPERATIONS = (
    Column("op", "op", "code"),
    Column("size", "size", "text"),
    Column("events", "I/Os", "count"),
    Column("share", "share", "share"),
    Column("bytes_share", "of bytes", "share", spare=1),
    *TIMES,
)
PEAKS = (
    Column("window", "window", "duration"),
    Column("mean", "mean\nIOPS", "rate"),
    Column("most", "busiest\nIOPS", "rate"),
    Column("ratio", "busiest\nover mean", "ratio"),
    Column("p99", "p99 of\nwindows", "rate", spare=1),
    Column("throughput", "busiest\nMB/s", "bytes_per_s"),
    Column("empty", "empty", "share", spare=2),
)
DISPERSION = (
    Column("window", "window", "duration"),
    Column("index", "dispersion", "ratio", "variance over mean of the I/Os in a window: 1 random, above bursty"),
    Column("windows", "windows", "count"),
)
STREAMS = (
    Column("op", "op", "code"),
    Column("sequential", "sequential\nI/Os", "share", "in runs of two or more, several streams at once"),
    Column("bytes", "sequential\nbytes", "share"),
    Column("near", "with gaps\nto 64k", "share", spare=1),
    Column("naive", "after the\nlast I/O", "share", "as tools count that follow one stream a device"),
    Column("session", "after the\nsession's last", "share", spare=2),
    Column("random", "far from\nlast 32", "share", spare=2),
    Column("strided", "strided", "share", spare=3),
    Column("backwards", "backwards", "share", spare=3),
    Column("run", "I/Os in\na run", "decimal"),
)
TARGETS = (
    Column("target", "target"),
    Column("op", "op", "code"),
    Column("events", "I/Os", "count"),
    Column("share", "share", "share"),
    Column("span", "spans", "bytes", spare=1),
    *TIMES,
)
CACHE = (
    Column("cache", "cache of", "bytes"),
    Column("all", "misses", "share"),
    Column("reads", "read misses", "share"),
    Column("writes", "writes that\nreach storage", "share"),
    Column("half_width", "±", "share", "95% interval of the misses; blank: exact"),
)
SHARES = (Column("blocks", "busiest", "share"), Column("references", "gets", "share"), Column("size", "size", "bytes"))
SPOTS = (
    Column("target", "target"),
    Column("offset", "from", "bytes"),
    Column("bytes", "length", "bytes"),
    Column("share", "of I/Os", "share"),
    Column("read_share", "reads", "share"),
)
WORKING = (Column("window", "within", "duration"), Column("bytes", "working set", "bytes"))
PAIRS = (
    Column("pair", "pair", "text"),
    Column("share", "of repeats", "share"),
    Column("p50", "p50", "duration"),
    Column("p90", "p90", "duration"),
)
MODES = (
    Column("op", "op", "code"),
    Column("size", "size", "bytes"),
    Column("at", "peak at", "duration"),
    Column("share", "share", "share"),
    Column("layer", "may be", "text"),
)
PHASES = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("rate", "IOPS", "rate"),
    Column("reads", "reads", "share"),
    Column("throughput", "MB/s", "bytes_per_s"),
    Column("latency", "mean\nlatency", "duration"),
)
SCANS = (
    Column("scan", "run", "text"),
    Column("runs", "runs", "count"),
    Column("bytes", "bytes", "bytes"),
    Column("request", "I/O size", "bytes"),
    Column("duration", "lasts", "duration"),
    Column("period", "every", "duration"),
)
UNDER_WAY = (
    Column("what", "concurrency", "text"),
    Column("value", "value", "ratio"),
)


def times(cell: LatencyCell) -> dict[str, Cell]:
    """The columns of latency; blank where too little is known."""
    found = cell.latency
    if not found.total:
        return {}
    tail = published(found, 0.99)
    return {"mean": found.mean_ns, "p50": found.quantile_ns(0.5), "p99": tail, "max": float(found.max_ns)}


def operations(profile: Profile) -> Table:
    """Each operation and size, the most frequent first."""
    moved = sum(each.bytes for each in profile.sizes) or None
    cells = {(cell.op, cell.size): cell for cell in profile.order.by_size if not cell.others}
    rows = []
    for each in profile.sizes[:SIZES_SHOWN]:
        cell = cells.get((each.op, each.size))
        named = text.size(each.size) if each.size is not None else ("" if each.op > 1 else "unknown")
        shared: dict[str, Cell] = {
            "op": OPS[each.op],
            "size": named,
            "size_bytes": each.size,
            "events": each.events,
            "share": each.events / profile.events,
            "bytes_share": each.bytes / moved if moved and each.op < 2 else None,
        }
        rows.append(Row({**shared, **(times(cell) if cell else {})}))
    rest = profile.events - sum(each.events for each in profile.sizes[:SIZES_SHOWN])
    if rest:
        rows.append(Row({"op": "other", "size": "other sizes", "events": rest, "share": rest / profile.events}))
    notes = ("p99 is blank where too few I/Os lie beyond it.",) if profile.with_latency else ()
    return Table("", OPERATIONS, tuple(rows), key="operations", notes=notes)


def peaks(profile: Profile) -> Table | None:
    """The busiest windows."""
    arrivals = profile.order.arrivals
    if arrivals is None or not arrivals.peaks or arrivals.rate_per_s is None:
        return None
    # One whole window is no busiest one: the rest of the trace may be busier.
    told = [each for each in arrivals.peaks if each.windows > 1]
    rows = tuple(
        Row(
            {
                "window": each.width_ns,
                "mean": arrivals.rate_per_s,
                "most": each.most_per_s,
                "most_at_ns": each.most_at_ns,
                "ratio": each.most_per_s / arrivals.rate_per_s,
                "p99": None if each.p99_events is None else each.p99_events * 1e9 / each.width_ns,
                "throughput": each.most_bytes * 1e9 / each.width_ns if profile.with_size else None,
                "empty": each.empty / each.windows,
            }
        )
        for each in told
    )
    return Table("Busiest windows", PEAKS, rows, key="peaks") if rows else None


def dispersion(profile: Profile) -> Table | None:
    """Dispersion over scales: every third doubling."""
    arrivals = profile.order.arrivals
    if arrivals is None or not arrivals.dispersion:
        return None
    shown = arrivals.dispersion[::3]
    rows = tuple(Row({"window": each.width_ns, "index": each.index, "windows": each.windows}) for each in shown)
    notes = ("1: random arrivals; above: bursts; below: regular. It grows with the window where bursts last.",)
    return Table(
        "Burstiness: variance over mean of the I/Os in a window", DISPERSION, rows, key="dispersion", notes=notes
    )


def under_way(profile: Profile) -> Table | None:
    """Concurrency and what a closed load needs."""
    found = concurrency(profile)
    if found is None:
        return None
    rows = [
        Row({"what": "I/Os under way, mean", "value": found.mean, "code": "mean"}),
        Row({"what": "at 99% of the time at most", "value": found.p99, "code": "p99"}),
        Row({"what": "at most", "value": found.most, "code": "most"}),
    ]
    if profile.sessions:
        rows.append(Row({"what": actor_kind(profile), "value": profile.sessions, "code": "sessions"}))
    arrivals = profile.order.arrivals
    if arrivals is not None and arrivals.gap_cv2 is not None:
        rows.append(Row({"what": "cv² of the time between I/Os", "value": arrivals.gap_cv2, "code": "gap_cv2"}))
    holds = "holds" if found.little_holds else "does not hold"
    after = text.percent(found.edge_share)
    note = f"Little's law, rate x latency = I/Os under way, {holds} ({after} of the latency lies after the last issue)."
    return Table("", UNDER_WAY, tuple(rows), key="concurrency", notes=(note,))


def streams(profile: Profile) -> Table | None:
    """Sequentiality, and as peers count it."""
    rows = []
    for each in profile.order.streams.by_op:
        n = each.requests
        rows.append(
            Row(
                {
                    "op": OPS[each.op],
                    "sequential": each.sequential_requests / n,
                    "bytes": each.sequential_bytes / each.bytes,
                    "near": each.near_bytes / each.bytes,
                    "naive": each.after_the_last / n,
                    "session": each.after_the_last_of_session / n,
                    "random": each.random / n,
                    "strided": each.strided / n,
                    "backwards": each.backward_requests / n,
                    "run": each.sequential_requests / each.runs if each.runs else None,
                }
            )
        )
    return Table("", STREAMS, tuple(rows), key="sequentiality") if rows else None


def scan_table(profile: Profile) -> Table | None:
    """The long runs."""
    found = scans(profile)[:8]
    rows = tuple(
        Row(
            {
                "scan": scan_words(profile, each),
                "op": OPS[each.op],
                "runs": each.runs,
                "bytes": each.bytes,
                "request": each.request_bytes,
                "duration": each.duration_ns,
                "period": each.period_ns,
            }
        )
        for each in found
    )
    streams_told = profile.order.streams
    notes = () if streams_told.all_told else (f"Of the {len(streams_told.longest)} longest runs; there are more.",)
    return Table("Scans", SCANS, rows, key="scans", notes=notes) if rows else None


def targets(profile: Profile) -> Table | None:
    """Targets with their latency, the busiest first."""
    cells = {(cell.op, cell.target): cell for cell in profile.order.by_target}
    rows = []
    for each in profile.by_target[:TARGETS_SHOWN]:
        cell = cells.get((each.op, 0xFFFF_FFFF if each.target is None else each.target))
        span = each.end - each.first if each.end is not None and each.first is not None else None
        shared: dict[str, Cell] = {
            "target": text.shown(each.name) if each.name else "unnamed",
            "op": OPS[each.op],
            "events": each.events,
            "share": each.events / profile.events,
            "span": span,
        }
        rows.append(Row({**shared, **(times(cell) if cell else {})}))
    left = profile.targets - len({each.target for each in profile.by_target[:TARGETS_SHOWN] if each.target is not None})
    notes = (f"{text.counted(left, 'target')} more.",) if left > 0 else ()
    return Table("", TARGETS, tuple(rows), key="targets", notes=notes) if rows else None


def shares(profile: Profile) -> Table | None:
    """What the busiest blocks get."""
    found = profile.footprint
    if found is None:
        return None
    curve = share_curve(found)
    whole = found.blocks * found.block_bytes
    rows = tuple(
        Row({"blocks": part, "references": share_of_busiest(curve, part), "size": part * whole}) for part in TOLD
    )
    return Table("Share of the busiest blocks", SHARES, rows, key="shares")


def spots(profile: Profile) -> Table | None:
    """The stretches that most I/Os go to."""
    found = profile.footprint
    if found is None or not profile.with_offset:
        return None
    total = sum(each.events for each in profile.sizes if each.op < 2)
    rows = tuple(
        Row(
            {
                "target": text.shown(each.name) if each.name else "unnamed",
                "offset": each.offset,
                "bytes": each.bytes,
                "share": (each.reads + each.writes) / total,
                "read_share": each.reads / (each.reads + each.writes),
            }
        )
        for each in found.hot_spots[:SPOTS_SHOWN]
    )
    return Table("Hot spots", SPOTS, rows, key="hot_spots") if rows else None


def caches(profile: Profile) -> Table | None:
    """Misses of caches, each four times as large as the one before."""
    found = profile.order.references
    block, curve = profile.reference_bytes, found.all
    if curve is None or block is None:
        return None
    rows = []
    for at, size in enumerate(curve.cache_blocks):
        asked = size not in _GRID
        if not asked and (size & (size - 1) or size.bit_length() % 2 == 0 or size * block < 1 << 20):
            continue
        cells: dict[str, Cell] = {"cache": size * block, "all": curve.ratios[at]}
        cells["reads"] = found.reads.ratios[at] if found.reads else None
        cells["writes"] = found.write_back.ratios[at] if found.write_back else None
        cells["half_width"] = None if found.exact else (curve.high[at] - curve.low[at]) / 2
        rows.append(Row(cells))
    how = "exact" if found.exact else f"from 5 samples of {found.sample_blocks} blocks (SHARDS)"
    notes = (
        f"LRU over {text.size(block)} blocks, {how}. {text.percent(curve.first_share)} are first references, which no "
        "cache of this trace spares.",
    )
    return Table("Misses of a cache", CACHE, tuple(rows), key="caches", notes=notes) if rows else None


def working_sets(profile: Profile) -> Table | None:
    """The mean working set within windows of time."""
    block = profile.reference_bytes
    rows = tuple(
        Row({"window": each.window_ns, "bytes": each.blocks * block})
        for each in profile.order.references.working_sets
        if block is not None and each.blocks
    )
    return Table("Working set", WORKING, rows, key="working_sets") if rows else None


def pairs(profile: Profile) -> Table | None:
    """How long until a block comes again."""
    found = profile.order.references.pairs
    total = sum(each.references for each in found)
    rows = tuple(
        Row(
            {
                "pair": each.pair.replace("_", " "),
                "share": each.references / total,
                "p50": each.quantile_ns(0.5),
                "p90": each.quantile_ns(0.9),
            }
        )
        for each in found
    )
    notes = ("Times between two uses of a block, one directly after the other.",)
    return (
        Table("Blocks that are used again", PAIRS, rows, key="pairs", notes=notes)
        if rows and profile.length_ns
        else None
    )


def mode_table(profile: Profile) -> Table | None:
    """The peaks of latency with the layer that each may come from."""
    rows = tuple(
        Row(
            {
                "op": OPS[each.op],
                "size": each.size,
                "at": each.location_ns,
                "share": each.share,
                "layer": LAYERS[each.layer] if each.layer else "",
                "code": each.layer,
            }
        )
        for each in latency_modes(profile)
    )
    blank = " Blank: near the resolution of the trace." if not all(row.cells["layer"] for row in rows) else ""
    notes = (f"The layer is a hypothesis from the time alone.{blank}",)
    return Table("Peaks of the latency", MODES, rows, key="modes", notes=notes) if rows else None


def phases(profile: Profile) -> Table | None:
    """The stretches of about the same rate."""
    found = trace_phases(profile)
    rows = tuple(
        Row(
            {
                "start": each.start_ns,
                "end": each.end_ns,
                "rate": each.rate_per_s,
                "reads": each.read_share,
                "throughput": each.bytes_per_s if profile.with_size else None,
                "latency": each.latency_mean_ns,
            }
        )
        for each in found
    )
    return Table("", PHASES, rows, key="phases") if len(rows) > 1 else None


def all_tables(profile: Profile) -> Iterator[Table]:
    """All tables that are known."""
    makers = (operations, peaks, dispersion, under_way, streams, scan_table, shares, spots, working_sets, caches)
    for make in (*makers, pairs, mode_table, targets, phases):
        if (table := make(profile)) is not None:
            yield table
