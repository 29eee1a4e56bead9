"""Two profiles beside each other: same count, same size, slower because ..."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.profiling.concurrency import concurrency
from iocast.analyse.profiling.latency_difference import (
    STRIP_NS,
    BandCode,
    BandDifference,
    CellDifference,
    ProfileDifference,
    profile_difference,
    strip,
)
from iocast.model.profiling.characteristics import OPS
from iocast.model.profiling.profile import Profile
from iocast.model.report import Cell, Column, Report, Row, Table
from iocast.report.profile.profile_sentences import description, pattern, typical_size
from iocast.report.wording import section

SAME = 0.1  # of a count or a mean, within which both are called the same
SAME_MIX = 0.05  # of the I/Os may be of other operations or sizes [J]
MOST_OF = 0.5  # of a difference, from which it is told as the reason [J]
WHERE: dict[BandCode, str] = {
    "memory": "below 64 µs (page cache or memory)",
    "cache": "from 64 µs to 1 ms (array cache or flash)",
    "storage": "from 1 ms to 100 ms (disk, or queueing)",
    "stalled": "above 100 ms (stalls)",
}
CELLS = (
    Column("op", "op", "code"),
    Column("size", "size", "bytes"),
    Column("first_events", "I/Os A", "count"),
    Column("other_events", "I/Os B", "count"),
    Column("first_mean", "mean A", "duration"),
    Column("other_mean", "mean B", "duration"),
    Column("ratio", "B over A", "ratio"),
    Column("first_p50", "p50 A", "duration", spare=1),
    Column("other_p50", "p50 B", "duration", spare=1),
    Column("first_memory", "< 64µs A", "share"),
    Column("other_memory", "< 64µs B", "share"),
)
REASONS = (
    Column("band", "latencies", "text"),
    Column("first_share", "I/Os A", "share"),
    Column("other_share", "I/Os B", "share"),
    Column("by_share", "from other\nshares", "duration"),
    Column("by_time", "from other\ntimes", "duration"),
)
WORKLOADS = (
    Column("what", "workload", "text"),
    Column("first", "A", "text"),
    Column("other", "B", "text"),
)
HISTOGRAM = (
    Column("upto", "up to", "duration"),
    Column("first", "A", "count"),
    Column("other", "B", "count"),
)


def profile_comparison(first: Profile, other: Profile) -> Report:
    """What differs between two profiles, and why the one is slower."""
    found = profile_difference(first, other)
    parts = [section("differences", tuple(_described(first, other)), (_workloads(first, other),))]
    if found.cells:
        tables = [_cells(found), _reasons(found.cells[0]), _histogram(found.cells[0])]
        parts.append(section("latency", tuple(_why(found.cells[0])), tuple(tables)))
    return Report(
        title=f"A: {first.name} · B: {other.name}",
        verdict=comparison_verdict(found),
        sections=tuple(parts),
        next_steps=(),
        kind="profile",
    )


def comparison_verdict(found: ProfileDifference) -> str:
    """Counts, then sizes, then times, then why: the order in which they decide."""
    said = f"{_count(found)}, {_sizes(found)}"
    if not found.cells:
        return f"{said}; no latencies of the same operation and size to compare."
    cell = found.cells[0]
    name = _name(cell)
    means = f"{text.brief_time(cell.first.latency.mean_ns)} (A), {text.brief_time(cell.other.latency.mean_ns)} (B)"
    if abs(cell.ratio - 1) <= SAME:
        return f"{said}, same mean latency of {name}: {means}."
    slower = "slower" if cell.ratio > 1 else "faster"
    factor = max(cell.ratio, 1 / cell.ratio)
    return f"{said}; {name} are {text.number(factor)} times {slower} in B: {means}. {_reason(cell)}"


def _name(cell: CellDifference) -> str:
    size = f"{text.size(cell.size)} " if cell.size is not None else ""
    return f"{size}{OPS[cell.op]}s"


def _count(found: ProfileDifference) -> str:
    ratio = found.count_ratio
    if abs(ratio - 1) <= SAME:
        return "Same number of I/Os"
    return f"B has {text.number(ratio)} times as many I/Os as A"


def _sizes(found: ProfileDifference) -> str:
    if found.mix_distance <= SAME_MIX:
        return "same operations and sizes"
    return f"{text.brief_percent(found.mix_distance)} of them of other operations or sizes"


def _decisive(cell: CellDifference) -> BandDifference:
    """The band whose share changed most, in time of the mean."""
    same_way = [each for each in cell.bands if each.band != "storage"] or list(cell.bands)
    return max(same_way, key=lambda each: abs(each.other_share - each.first_share))


def _reason(cell: CellDifference) -> str:
    total = cell.difference_ns
    if abs(cell.by_share_ns) >= MOST_OF * abs(total) and cell.by_share_ns * total > 0:
        band = _decisive(cell)
        return (
            f"Mostly because {text.brief_percent(band.first_share)} (A) and {text.brief_percent(band.other_share)} (B) "
            f"of them take {WHERE[band.band]}."
        )
    longest = max(cell.bands, key=lambda each: abs(each.by_time_ns))
    said = f"Mostly because those {WHERE[longest.band]} take {'longer' if longest.by_time_ns > 0 else 'less time'}"
    memory = next(each for each in cell.bands if each.band == "memory")
    if abs(memory.other_share - memory.first_share) >= 0.01:
        said += (
            f"; {text.number(100 * memory.first_share)}% (A) and {text.number(100 * memory.other_share)}% (B) take "
            "below 64 µs, as from a cache in the host"
        )
    return f"{said}."


def _why(cell: CellDifference) -> Iterator[str]:
    share = text.duration(abs(cell.by_share_ns))
    times = text.duration(abs(cell.difference_ns - cell.by_share_ns))
    yield (
        f"{_name(cell)}: of the difference of {text.duration(abs(cell.difference_ns))}, {share} come of other shares "
        f"of fast and slow I/Os, {times} of longer or shorter times of both."
    )


def _described(first: Profile, other: Profile) -> Iterator[str]:
    yield f"A: {description(first)}"
    yield f"B: {description(other)}"


def _workloads(first: Profile, other: Profile) -> Table:
    rows = [Row({"what": "I/Os", "first": text.whole(first.events), "other": text.whole(other.events)})]
    for op in (0, 1):
        shares = [sum(each.events for each in side.sizes if each.op == op) / side.events for side in (first, other)]
        if not any(shares):
            continue
        name = f"{OPS[op]}s"
        rows.append(Row({"what": name, "first": text.percent(shares[0]), "other": text.percent(shares[1])}))
        rows.append(_pair(f"{name}: size", typical_size(first, op), typical_size(other, op)))
        rows.append(_pair(f"{name}: pattern", pattern(first, op), pattern(other, op)))
    rates = [side.order.arrivals.rate_per_s if side.order.arrivals else None for side in (first, other)]
    rows.append(_pair("IOPS", text.rate(rates[0]), text.rate(rates[1])))
    busy = [concurrency(side) for side in (first, other)]
    means = [text.number(each.mean) if each else "" for each in busy]
    rows.append(_pair("I/Os under way", means[0], means[1]))
    rows.append(_pair("sessions", text.whole(first.sessions or None), text.whole(other.sessions or None)))
    return Table("", WORKLOADS, tuple(row for row in rows if any(list(row.cells.values())[1:])), key="workloads")


def _pair(what: str, first: str, other: str) -> Row:
    return Row({"what": what, "first": first, "other": other})


def _cells(found: ProfileDifference) -> Table:
    rows = []
    for each in found.cells[:12]:
        one, two = each.first.latency, each.other.latency
        cells: dict[str, Cell] = {"op": OPS[each.op], "size": each.size, "ratio": each.ratio}
        cells |= {"first_events": each.first.events, "other_events": each.other.events}
        cells |= {"first_mean": one.mean_ns, "other_mean": two.mean_ns}
        cells |= {"first_p50": one.quantile_ns(0.5), "other_p50": two.quantile_ns(0.5)}
        cells |= {"first_memory": each.bands[0].first_share, "other_memory": each.bands[0].other_share}
        rows.append(Row(cells))
    return Table("", CELLS, tuple(rows), key="compared_operations")


def _reasons(cell: CellDifference) -> Table:
    rows = tuple(
        Row(
            {
                "band": WHERE[each.band],
                "code": each.band,
                "first_share": each.first_share,
                "other_share": each.other_share,
                "by_share": each.by_share_ns,
                "by_time": each.by_time_ns,
            }
        )
        for each in cell.bands
        if each.first_share or each.other_share
    )
    notes = (f"{_name(cell)}: how much of the difference of the means each group makes, B less A.",)
    return Table("", REASONS, rows, key="reasons", notes=notes)


def _histogram(cell: CellDifference) -> Table:
    edges: tuple[int | None, ...] = (*STRIP_NS, None)
    counts = zip(edges, strip(cell.first.latency), strip(cell.other.latency), strict=True)
    rows = tuple(Row({"upto": edge, "first": one, "other": two}) for edge, one, two in counts if one or two)
    return Table("", HISTOGRAM, rows, key="compared_latencies", notes=(f"{_name(cell)}; blank: above all.",))
