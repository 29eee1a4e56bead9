"""What a generated load is held against: the two halves of the original, and a control without its structure."""

from __future__ import annotations

from pathlib import Path

from iocast.analyse.profiling.event_queries import EventTable
from iocast.analyse.profiling.measure_profile import measure_profile
from iocast.model.profiling.profile import Profile

MOST = 1_000_000  # events of a control: more tell nothing new
HALF = "COPY (SELECT * FROM events WHERE ts_ns {} {}) TO '{}' (FORMAT parquet, COMPRESSION zstd)"
# Exponential gaps, the mix of operations, one mean size, uniform places over all of the span.
CONTROL = """
COPY (
    SELECT (sum(-ln(1 - random())) OVER (ORDER BY n) * {gap})::BIGINT AS ts_ns, NULL::BIGINT AS lat_ns,
        NULL::BIGINT AS queue_ns, (CASE WHEN random() < {reads} THEN 0 ELSE 1 END)::UTINYINT AS op,
        floor(random() * {places})::BIGINT * {size} AS "offset", {size}::BIGINT AS size, 0::UINTEGER AS target,
        NULL::UINTEGER AS actor, 0::USMALLINT AS flags, 4::UTINYINT AS layer, NULL::SMALLINT AS err,
        0::UINTEGER AS source, n::UINTEGER AS src_line
    FROM (SELECT range AS n FROM range({events}))
) TO '{to}' (FORMAT parquet, COMPRESSION zstd)
"""


def halves(original: Profile, events: str, room: Path) -> tuple[Profile, Profile]:
    """The profiles of the first and the second half of the time of a trace."""
    middle = (original.start_ns or 0) + original.length_ns // 2
    with EventTable(events, room) as table:
        for name, sign in (("first", "<"), ("second", ">=")):
            table.rows(HALF.format(sign, middle, _quoted(room / f"{name}.parquet")))
    return _measured(original, room / "first.parquet"), _measured(original, room / "second.parquet")


def control(original: Profile, events: str, room: Path, seed: float = 0.37) -> Profile:
    """The profile of random arrivals of uniform requests with the rate, the mix and the mean size of a trace."""
    data = [each for each in original.sizes if each.op < 2 and each.size]
    count = sum(each.events for each in data)
    size = max(512, round(sum(each.bytes for each in data) / count / 512) * 512)
    span = max(((each.end or 0) - (each.first or 0) for each in original.by_target), default=size)
    to = room / "control.parquet"
    with EventTable(events, room) as table:
        table.rows(f"SELECT setseed({seed})")
        text = CONTROL.format(
            gap=original.length_ns / max(1, original.timed),
            reads=sum(each.events for each in data if each.op == 0) / count,
            places=max(1, span // size),
            size=size,
            events=min(MOST, original.timed),
            to=_quoted(to),
        )
        table.rows(text)
    return _measured(original, to)


def measured_alike(original: Profile, events: str, room: Path) -> Profile:
    """The profile of other events, with blocks of the original's size."""
    return measure_profile(events, "", original.iocast_version, reference_bytes=original.reference_bytes, spill=room)


def _measured(original: Profile, events: Path) -> Profile:
    return measured_alike(original, str(events), events.parent)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
