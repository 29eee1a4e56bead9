"""Counts over a table of events that do not depend on its order: SQL, which DuckDB, or any other engine, adds up.

Memory is bounded: what does not fit is spilled beside the profile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from iocast.archive.parquet import reason
from iocast.errors import AnalysisError
from iocast.model.profiling.profile import FlagCount, Footprint, HotSpot, SizeCount, TableFile, TargetCount, UseCount

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from iocast._core import Tables

MEMORY = "2GB"  # that DuckDB may take before it spills [J]
TARGETS = 64  # that are told one by one, the busiest
SIZES = 256
USES = 400  # groups of blocks that were used equally often; more are put together
SEGMENTS = 4096  # of the line of a target, among which hot spots are looked for
HOT_SPOTS = 16
LAYERS = ("db", "syscall", "nfs", "block_q", "block_d", "array")
# A request above 1 GiB is a fault of its trace, and in no count of places (event_rows.rs).
EXACT_REFERENCES = 20_000_000  # beyond, samples of blocks are followed (traces.md 0.3)

SUMMARY = """
SELECT count(*), count(ts_ns), count(lat_ns), count("offset"), count(size), count(*) FILTER (WHERE err > 0),
    min(ts_ns), max(ts_ns), count(DISTINCT target), count(DISTINCT actor),
    coalesce(bit_or((1 << layer::INTEGER)), 0)
FROM events
"""
BY_SIZE = """
SELECT op, size, count(*) AS n, coalesce(sum(size), 0)::BIGINT
FROM events GROUP BY op, size ORDER BY n DESC, op, size LIMIT ?
"""
BY_TARGET = """
SELECT target, op, count(*), coalesce(sum(size), 0)::BIGINT, min("offset"), max("offset" + size)
FROM events WHERE target IS NOT DISTINCT FROM NULL OR target IN (
    SELECT target FROM events GROUP BY target ORDER BY count(*) DESC, target LIMIT ?)
GROUP BY target, op ORDER BY count(*) DESC, target, op
"""
BY_FLAGS = "SELECT op, flags, count(*) FROM events GROUP BY op, flags ORDER BY op, count(*) DESC"
REFERENCES = """
SELECT coalesce(sum(("offset" + size - 1) // $bytes - "offset" // $bytes + 1), 0)::BIGINT
FROM events WHERE op < 2 AND "offset" >= 0 AND size BETWEEN 1 AND 1073741824
"""
BLOCKS = """
WITH used AS (
    SELECT target, op, unnest(range("offset" // $bytes, ("offset" + size - 1) // $bytes + 1)) AS block
    FROM events WHERE op < 2 AND "offset" >= 0 AND size BETWEEN 1 AND 1073741824 {only}
), counted AS (
    SELECT target, block, count(*) FILTER (WHERE op = 0) AS r, count(*) FILTER (WHERE op = 1) AS w
    FROM used GROUP BY target, block
)
SELECT r + w AS uses, count(*), count(*) FILTER (WHERE r > 0), count(*) FILTER (WHERE w > 0),
    count(*) FILTER (WHERE w > 1), count(*) FILTER (WHERE r > 0 AND w > 0)
FROM counted GROUP BY uses ORDER BY uses DESC
"""
HOT = """
SELECT target, "offset" // $bytes AS segment, count(*) FILTER (WHERE op = 0), count(*) FILTER (WHERE op = 1)
FROM events WHERE op < 2 AND "offset" >= 0 AND size BETWEEN 1 AND 1073741824
GROUP BY target, segment ORDER BY count(*) DESC, target, segment LIMIT $most
"""


class TableFacts(Struct, frozen=True):
    """What was counted of a table."""

    events: int
    timed: int
    with_latency: int
    with_offset: int
    with_size: int
    failed: int
    start_ns: int | None
    end_ns: int | None
    targets: int
    actors: int
    layers: tuple[str, ...]
    sizes: tuple[SizeCount, ...]
    by_target: tuple[TargetCount, ...]
    flags: tuple[FlagCount, ...]


class TableFooter(Struct, frozen=True):
    """What the footer of a table says beside its rows."""

    clock: str | None = None
    epoch_ns: int | None = None
    tick_ns: int | None = None
    targets: list[str] | None = None  # their names, by number
    actors: list[str] | None = None
    files: tuple[TableFile, ...] | None = None


class EventTable:
    """A table of events that is asked; `spill` is a folder for what does not fit into memory."""

    def __init__(self, path: str, spill: Path) -> None:
        import duckdb

        self.path = path
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": str(spill),
        }
        table = _opened(path)
        self._columns = table.columns()
        self.footer = _footer(path, table.facts())
        self._database: DuckDBPyConnection = duckdb.connect(config=config)
        self.target_names, self.actor_names = self.footer.targets or [], self.footer.actors or []

    def __enter__(self) -> EventTable:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the table."""
        self._database.close()

    def rows(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """The answer to a query over `events`. Raises AnalysisError."""
        return self._answer(query, parameters)

    def _answer(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """The answer of DuckDB."""
        import duckdb

        words = set(re.findall(r"\w+", query))
        named = [name for name in self._columns if name in words or "SELECT * FROM events" in query]
        try:
            if "events" in words:  # decoded anew for each query, and only what it names
                self._database.register("events", _opened(self.path, named or self._columns[:1]))
            return self._database.execute(query, parameters).fetchall()
        except duckdb.Error as error:
            raise unreadable(self.path, error) from error

    def sorted_copy(self, to: Path) -> None:
        """Writes the events in the order of time; those without one come last. Raises AnalysisError."""
        file = str(to).replace("'", "''")
        order = "SELECT * FROM events ORDER BY ts_ns NULLS LAST, source, src_line"
        self._answer(f"COPY ({order}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")

    def name_of(self, target: int | None) -> str | None:
        """The name of a target; None where the trace has none."""
        return None if target is None or target >= len(self.target_names) else self.target_names[target]


def table_facts(table: EventTable, *, called: str = "", may_be_empty: bool = False) -> TableFacts:
    """The counts of a table that people know as `called`.

    Raises AnalysisError for one without a row, unless it `may_be_empty`.
    """
    ((events, timed, latencies, offsets, sizes_known, failed, start, end, targets, actors, layers),) = table.rows(
        SUMMARY
    )
    if not events and not may_be_empty:
        raise AnalysisError(f"{called or table.path} holds no I/O", "capture or give a trace with at least one")
    sizes = tuple(SizeCount(op, n, total, size) for op, size, n, total in table.rows(BY_SIZE, [SIZES]))
    by_target = tuple(
        TargetCount(op, n, total, target, table.name_of(target), first, last)
        for target, op, n, total, first, last in table.rows(BY_TARGET, [TARGETS])
    )
    return TableFacts(
        events=events,
        timed=timed,
        with_latency=latencies,
        with_offset=offsets,
        with_size=sizes_known,
        failed=failed,
        start_ns=start,
        end_ns=end,
        targets=targets,
        actors=actors,
        layers=tuple(name for at, name in enumerate(LAYERS) if layers >> at & 1),
        sizes=sizes,
        by_target=by_target,
        flags=tuple(FlagCount(*row) for row in table.rows(BY_FLAGS)),
    )


def references_of(table: EventTable, block_bytes: int) -> int:
    """References of all reads and writes, cut into blocks."""
    ((references,),) = table.rows(REFERENCES, {"bytes": block_bytes})
    return int(references)


def footprint(
    table: EventTable, block_bytes: int, span_bytes: int, only: Sequence[tuple[int, int]] = (), unit_bytes: int = 512
) -> Footprint | None:
    """The blocks that were used; None where no place is known. `span_bytes`: of the largest target.

    `only`: by requests of these operations and sizes, rounded up to whole units.
    """
    units = f"(size + {unit_bytes - 1}) // {unit_bytes} * {unit_bytes}"
    pairs = " OR ".join(f"(op = {op} AND {units} = {size})" for op, size in only)  # Spark has no IN of pairs
    chosen = f"AND ({pairs})" if only else ""
    rows = table.rows(BLOCKS.format(only=chosen), {"bytes": block_bytes})
    if not rows:
        return None
    segment = max(block_bytes, 1 << max(0, (max(1, span_bytes) // SEGMENTS - 1).bit_length()))
    spots = table.rows(HOT, {"bytes": segment, "most": HOT_SPOTS})
    return Footprint(
        block_bytes=block_bytes,
        references=sum(row[0] * row[1] for row in rows),
        blocks=sum(row[1] for row in rows),
        read_blocks=sum(row[2] for row in rows),
        written_blocks=sum(row[3] for row in rows),
        rewritten_blocks=sum(row[4] for row in rows),
        read_and_written_blocks=sum(row[5] for row in rows),
        uses=tuple(UseCount(row[0], row[1]) for row in rows),
        hot_spots=tuple(
            HotSpot(at * segment, segment, reads, writes, target, table.name_of(target))
            for target, at, reads, writes in spots
        ),
    )


def _opened(path: str, columns: Sequence[str] | None = None) -> Tables:
    """The core's reading of a table, whoever made it. Raises AnalysisError."""
    from iocast._core import CoreError, Tables

    try:
        return Tables([path], columns)
    except CoreError as error:
        raise unreadable(path, error) from error


def _footer(path: str, facts: list[tuple[str, str]]) -> TableFooter:
    """What a table says of itself. Raises AnalysisError where it does not say so as iocast does."""
    fields = {key.removeprefix("iocast."): value for key, value in facts if key.startswith("iocast.")}
    try:
        return msgspec.convert({key: _plain(value) for key, value in fields.items()}, TableFooter)
    except msgspec.ValidationError as error:
        raise unreadable(path, ValueError("what its footer says of its traces is damaged")) from error


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def unreadable(path: str, error: Exception) -> AnalysisError:
    """The refusal of a table that an engine could not count."""
    return AnalysisError(
        f"{path} cannot be profiled: {reason(error)}", "give a trace, or an event table that iocast wrote"
    )
