"""From a table of events to its profile: counts by SQL, what depends on order by the core."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from iocast.analyse.profiling.event_queries import (
    EXACT_REFERENCES,
    EventTable,
    TableFacts,
    footprint,
    references_of,
    table_facts,
)
from iocast.archive.file_names import SPILL
from iocast.archive.writing.private_rooms import private_room, temporary_room
from iocast.errors import AnalysisError
from iocast.model.codes import CountingEngine
from iocast.model.profiling.characteristics import ArrivalFacts, Characteristics
from iocast.model.profiling.profile import Profile, TableFile, TraceSource

COLUMNS = 960  # stretches of time that are told one by one
PAGES = (4096, 8192, 16384, 32768)  # sizes of database blocks: the most frequent one cuts requests
NOBODY = 0xFFFF_FFFF


def measure_profile(
    events: str,
    name: str,
    version: str,
    *,
    reference_bytes: int | None = 0,
    cache_bytes: Sequence[int] = (),
    spill: Path | None = None,
    may_lack_io: bool = False,
    engine: CountingEngine = "duckdb",
) -> Profile:
    """The profile of a table of events. Raises AnalysisError, for a table without events unless it `may_lack_io`.

    `reference_bytes`: of a block that comes again; 0 takes the page size that is most frequent, None takes each request
    as one reference to the place where it begins, as simulators of object caches do. `engine`: who counts.
    """
    with contextlib.ExitStack() as stack:
        held = temporary_room(SPILL) if spill is None else private_room(spill, SPILL)
        room = stack.enter_context(held).place
        table = stack.enter_context(_table(engine)(events, room))
        facts = table_facts(table, called=name, may_be_empty=may_lack_io)
        block = page_size(facts) if reference_bytes == 0 else reference_bytes
        references = facts.events if block is None else references_of(table, block)
        span = max(((each.end or 0) - (each.first or 0) for each in facts.by_target), default=0)
        used = footprint(table, block, span) if block is not None and references else None
        options = {
            "start_ns": facts.start_ns or 0,
            "end_ns": facts.end_ns or 0,
            "columns": COLUMNS,
            "spans": _spans(facts),
            "sessions_of": _sessions(table, facts),
            "references": {
                "block_bytes": block,
                "exact": references <= EXACT_REFERENCES,
                "cache_blocks": sorted({size // (block or 1) for size in cache_bytes} - {0}),
            },
        }
        order = _resolved(_characterise(table, options, room), table.footer.tick_ns)
        profile = _profile(table, facts, order, used, block, (name, version))
        return replace(profile, cache_bytes=tuple(cache_bytes))


def _table(engine: CountingEngine) -> type[EventTable]:
    if engine == "duckdb":
        return EventTable
    from iocast.analyse.profiling.spark_table import SparkTable

    return SparkTable


def _profile(
    table: EventTable, facts: TableFacts, order: Characteristics, used: Any, block: int | None, named: tuple[str, str]
) -> Profile:
    footer = table.footer
    spoken = {run.target for run in order.streams.longest} | {cell.target for cell in order.by_target}
    sessions = len(set(_sessions(table, facts))) if table.actor_names else facts.actors
    return Profile(
        name=named[0],
        iocast_version=named[1],
        sources=_sources(table),
        **{name: getattr(facts, name) for name in facts.__struct_fields__ if name not in ("actors",)},
        actors=facts.actors,
        sessions=min(sessions, facts.actors) if facts.actors else 0,
        clock=footer.clock,
        epoch_ns=footer.epoch_ns,
        tick_ns=footer.tick_ns,
        target_names={
            target: known
            for target in sorted(each for each in spoken if each is not None)
            if (known := table.name_of(target)) is not None
        },
        reference_bytes=block,
        footprint=used,
        order=order,
    )


def _sources(table: EventTable) -> tuple[TraceSource, ...]:
    """The traces that a table was made from."""
    return tuple(_source(each) for each in table.footer.files or ())


def _source(file: TableFile) -> TraceSource:
    return TraceSource(
        path=file.path,
        format=file.format,
        lines=file.lines,
        accepted=file.accepted,
        ignored=sum(file.ignored.values()),
        rejected=sum(file.rejected.values()),
        events=file.events,
        notes=file.notes,
        figures=file.figures,
    )


def page_size(facts: TableFacts) -> int:
    """The page size that most reads and writes have; 4 KiB where they have none."""
    pages = [each for each in facts.sizes if each.op < 2 and each.size in PAGES]
    most = max(pages, key=lambda each: each.events, default=None)
    return PAGES[0] if most is None or most.size is None else most.size


def _spans(facts: TableFacts) -> list[dict[str, int]]:
    """The targets, one after the other, as one line of bytes."""
    ends: dict[int, tuple[int, int]] = {}
    for each in facts.by_target:
        if each.op >= 2 or each.first is None or each.end is None:
            continue
        target = NOBODY if each.target is None else each.target
        low, high = ends.get(target, (each.first, each.end))
        ends[target] = (min(low, each.first), max(high, each.end))
    spans, base = [], 0
    for target, (first, end) in sorted(ends.items()):
        if end > first >= 0 and base + end - first < 1 << 62:
            spans.append({"target": target, "first": first, "end": end, "base": base})
            base += end - first
    return spans


def _sessions(table: EventTable, facts: TableFacts) -> list[int]:
    """The session of each actor: cursors of a process ("4711/7") belong to one, and those of a cut file ("7") too."""
    numbers: dict[str, int] = {}
    alone = facts.layers == ("db",) and len(table.footer.files or ()) == 1
    names = ("" if alone and "/" not in name else name.partition("/")[0] for name in table.actor_names)
    return [numbers.setdefault(name, len(numbers)) for name in names]


def _characterise(table: EventTable, options: dict[str, Any], room: Path) -> Characteristics:
    from iocast._core import CoreError, characterise_events

    path = table.path
    try:
        if not _ready(path):
            path = str(room / "in_order.parquet")
            table.sorted_copy(Path(path))
        text = characterise_events(path, msgspec.json.encode(options).decode())
    except CoreError as refusal:
        message, hint, _ = refusal.args
        raise AnalysisError(message, hint) from refusal
    return msgspec.json.decode(text, type=Characteristics)


def _resolved(order: Characteristics, tick_ns: int | None) -> Characteristics:
    """Without windows that are shorter than a step of the stamps: there, all I/Os of a step seem to come together."""

    def resolved(facts: ArrivalFacts | None) -> ArrivalFacts | None:
        if facts is None:
            return None
        peaks = tuple(each for each in facts.peaks if each.width_ns >= (tick_ns or 0))
        scales = tuple(each for each in facts.dispersion if each.width_ns >= (tick_ns or 0))
        return replace(facts, peaks=peaks, dispersion=scales)

    return replace(
        order,
        arrivals=resolved(order.arrivals),
        read_arrivals=resolved(order.read_arrivals),
        write_arrivals=resolved(order.write_arrivals),
    )


def _ready(path: str) -> bool:
    """Whether the core can read a table, and its events are in the order of time; tables of others are copied."""
    from iocast._core import CoreError, events_in_order

    try:
        return events_in_order(path)
    except CoreError:
        return False
