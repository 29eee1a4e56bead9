"""Two profiles beside each other: same count, same size, slower because ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iocast import text
from iocast.analyse.profiling.latency_difference import (
    BandDifference,
    CellDifference,
    ProfileDifference,
    profile_difference,
)
from iocast.model.codes import LatencyBandCode, WorkloadCode
from iocast.model.profiling.characteristics import OPS
from iocast.model.profiling.profile import Profile
from iocast.model.report import Report, Table
from iocast.model.results.profiles import (
    BandShare,
    ComparedOperation,
    ComparedWorkload,
    LatencyCounts,
    ProfileDifferences,
)
from iocast.report.profile.profile_sentences import description, pattern, typical_size
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.results.profile_differences import profile_differences

SAME = 0.1  # of a count or a mean, within which both are called the same
SAME_MIX = 0.05  # of the I/Os may be of other operations or sizes [J]
MOST_OF = 0.5  # of a difference, from which it is told as the reason [J]
WHERE: dict[LatencyBandCode, str] = {
    "memory": "below 64 µs (page cache or memory)",
    "cache": "from 64 µs to 1 ms (array cache or flash)",
    "storage": "from 1 ms to 100 ms (disk, or queueing)",
    "stalled": "above 100 ms (stalls)",
}
WORKLOADS: dict[WorkloadCode, str] = {
    "events": "I/Os",
    "share": "{op}s",
    "size": "{op}s: size",
    "pattern": "{op}s: pattern",
    "rate": "IOPS",
    "in_flight": "I/Os in flight",
    "sessions": "sessions",
}


def profile_comparison(first: Profile, other: Profile) -> Report:
    """What differs between two profiles, and why the one is slower."""
    difference = profile_difference(first, other)
    result = profile_differences(first, other, difference)
    parts = [section("differences", tuple(_described(first, other)), (_workloads(first, other, result),))]
    if difference.cells:
        parts.append(section("latency", tuple(_why(difference.cells[0])), _latencies(difference.cells[0], result)))
    return Report(
        title=f"A: {first.name} · B: {other.name}",
        verdict=comparison_verdict(difference),
        sections=tuple(parts),
        next_steps=(),
        kind="profile",
        result=result,
    )


def comparison_verdict(difference: ProfileDifference) -> str:
    """Counts, then sizes, then times, then why: the order in which they decide."""
    said = f"{_count(difference)}, {_sizes(difference)}"
    if not difference.cells:
        return f"{said}; no latencies of the same operation and size to compare."
    cell = difference.cells[0]
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


def _count(difference: ProfileDifference) -> str:
    ratio = difference.count_ratio
    if abs(ratio - 1) <= SAME:
        return "Same number of I/Os"
    return f"B has {text.number(ratio)} times as many I/Os as A"


def _sizes(difference: ProfileDifference) -> str:
    if difference.mix_distance <= SAME_MIX:
        return "same operations and sizes"
    return f"{text.brief_percent(difference.mix_distance)} of them of other operations or sizes"


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


def _workloads(first: Profile, other: Profile, result: ProfileDifferences) -> Table:
    words: dict[str, Callable[[ComparedWorkload], str]] = {
        "code": lambda row: WORKLOADS[row.code].format(op=row.op),
        "first": lambda row: _workload_text(
            first, row, (row.first_count, row.first_share, row.first_per_s, row.first_mean)
        ),
        "other": lambda row: _workload_text(
            other, row, (row.other_count, row.other_share, row.other_per_s, row.other_mean)
        ),
    }
    return result_table(ComparedWorkload, result.workloads, key="workloads", words=words)


def _workload_text(side: Profile, row: ComparedWorkload, figures: tuple[float | None, ...]) -> str:
    """Sizes and patterns of an operation are told in words."""
    if row.op is not None and row.code in ("size", "pattern"):
        return (typical_size if row.code == "size" else pattern)(side, OPS.index(row.op))
    forms = (text.whole, text.percent, text.rate, text.number)
    return next((form(value) for form, value in zip(forms, figures, strict=True) if value is not None), "")


def _latencies(cell: CellDifference, result: ProfileDifferences) -> tuple[Table, ...]:
    parts = f"{_name(cell)}: how much of the difference of the means each group makes, B less A."
    above = f"{_name(cell)}; blank: above all."
    words: dict[str, Callable[[BandShare], str]] = {"band": lambda row: WHERE[row.band]}
    return (
        result_table(ComparedOperation, result.compared_operations, key="compared_operations"),
        result_table(BandShare, result.reasons, key="reasons", words=words, notes=(parts,)),
        result_table(LatencyCounts, result.compared_latencies, key="compared_latencies", notes=(above,)),
    )
