"""Rows at their highest load that are as fast as rows of another curve where more load brings little.

Alone, such a row only shows that the load before it was too small. Beside the others it is seen to have reached what
holds them back: the same bytes, or, exactly, the same I/Os in a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.bound import DEVICE, RULE, left_out_words
from iocast.diagnose.thresholds import DOUBLING_GAINS
from iocast.model.codes import BoundCode
from iocast.model.finding import Bound, LeftOut
from iocast.text import brief_throughput, load, number

# What the others may be bound by, and how it is said of the row.
OPENS: dict[BoundCode, str] = {
    "device": DEVICE,
    "device_or_limit": "Bound by the device or a limit in front of it",
    "rate": "Rate-limited",
    "link": "Link-bound",
}
SAME_BYTES = 0.02  # apart: as much is moved [J]
LARGE_BYTES = 128 << 10  # an I/O: what such rows do is counted in bytes [J]
SAME_IOS = 0.005  # apart: rates of unlike I/Os are near each other by chance, but seldom so near [J]
HELD_BACK = 1.9  # times the IOPS for a doubling of the load: with more, nothing held the row back yet [J]
DOUBLING = "gain_per_doubling"


def as_full(facts: Facts, found: Mapping[str, Bound], out: Mapping[str, LeftOut]) -> dict[str, Bound]:
    """The same bounds, with those of rows that are seen to be as full as others."""
    judged = [row for row in facts.rows if row.name not in out and not row.record.phase.together]
    full = [row for row in judged if found[row.name].by in OPENS and not row.is_open_loop]
    full = [row for row in full if _reached(row, found[row.name])]
    told = {row.name: bound for row in judged for bound in _beside(row, full, found)}
    return {**found, **told}


def _reached(row: RowFacts, bound: Bound) -> bool:
    """False where the limit was met on the way to the next load only: such a row is not at it yet."""
    seen = bound.evidence
    return seen.get("rate_ratio", 1.0) < DOUBLING_GAINS or row.measurement.asked_depth >= seen.get("deeper", 0)


def _beside(row: RowFacts, full: list[RowFacts], found: Mapping[str, Bound]) -> Iterator[Bound]:
    """What a row at the end of its curve is bound by, where one of another kind shows it."""
    own = found[row.name]
    curve = row.curve
    if own.by != "not_shown" or curve is None or row.measurement.asked_depth < curve.loads[-1]:
        return
    if own.evidence.get(DOUBLING, 1.0) + 1 > HELD_BACK:
        return
    for other in full:
        words = _same(row, other) if other.kind != row.kind else ""
        if words:
            says = _says(row, other, found[other.name].by, words)
            yield replace(own, by=found[other.name].by, says=f"{says}{left_out_words(own.left_out)}")
            return


def _same(row: RowFacts, other: RowFacts) -> str:
    """What both do alike; "" for nothing. Small I/Os of one size move as much whenever they are as many."""
    did, does = row.measurement, other.measurement
    if _near(did.rate_per_s, does.rate_per_s, SAME_IOS):
        return f"it reaches {number(did.rate_per_s)} IOPS"
    large = min(_sizes(row), default=0) >= LARGE_BYTES
    if (large or _sizes(row) != _sizes(other)) and _near(did.bytes_per_s, does.bytes_per_s, SAME_BYTES):
        return f"it moves {brief_throughput(did.bytes_per_s)}"
    return ""


def _sizes(row: RowFacts) -> set[int]:
    return {item.size_bytes for item in row.workload.mix}


def _near(one: float, other: float, within: float) -> bool:
    return other > 0 and abs(one / other - 1) <= within


def _says(row: RowFacts, other: RowFacts, by: BoundCode, words: str) -> str:
    here = load(row.record.plan.users, row.record.plan.depth)
    return f"{OPENS[by]} at {here}: {words}, as {other.name} does, where a doubling of the load gains less than {RULE}."
