"""Rows of a run that differ in one thing only; which parts of the target its rows have written, and with what data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from iocast.analyse.load_kind import bytes_of, data_bytes, region
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Payload, Unique

Marks = dict[str, object]  # everything that tells rows apart


def marks(record: PhaseRecord) -> Marks:
    """The workload of a row, its part of the target, and what it ran together with."""
    return {**asdict(record.phase.workload), "region": region(record), "together": record.phase.together}


def pairs(rows: Sequence[Marks], but: str = "") -> Iterator[tuple[int, int]]:
    """Positions of rows, the earlier first, that are alike in all but the field `but`, and differ in that.

    `but` is a field of the workload, "region", "together", or "" for rows that are alike in everything.
    """
    for later, other in enumerate(rows):
        for earlier, one in enumerate(rows[:later]):
            if all((one[field] == other[field]) != (field == but) for field in one):
                yield earlier, later


def groups(rows: Sequence[Marks]) -> list[list[int]]:
    """Positions of rows that are alike in everything, in order, each kind in a list."""
    grouped: list[list[int]] = []
    for at, row in enumerate(rows):
        alike = next((group for group in grouped if rows[group[0]] == row), None)
        if alike is None:
            grouped.append([at])
        else:
            alike.append(at)
    return grouped


def written_before(run: Run, record: PhaseRecord) -> bool:
    """True when an earlier phase of the run wrote to any part of what a row may touch, and none trimmed it since."""
    start, size = region(record)
    written = False
    for earlier in run.phases:
        if earlier is record or earlier.phase.name == record.phase.name:
            break
        begin, length = region(earlier)
        if earlier.phase.workload.writes and begin < start + size and start < begin + length:
            written = not earlier.phase.workload.trims
    return written


def left_before(run: Run, record: PhaseRecord) -> Payload:
    """What earlier phases of any kind left on the target, as far as it is not all unique data.

    Unique data takes the place of other data only when as much is written as may be read.
    """
    left: Payload = Unique()
    for earlier in run.phases:
        if earlier.phase.name == record.phase.name:
            break
        payload, written = earlier.phase.workload.payload, bytes_of(earlier.measurement, "write")
        if written and (not isinstance(payload, Unique) or written >= data_bytes(record)):
            left = payload
    return left
