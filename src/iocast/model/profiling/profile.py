"""Profile: what a trace of I/Os is like, from whatever tool it came; saved as profile.json beside its events."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.profiling.characteristics import Characteristics

VERSION = 1


class TraceSource(Struct, frozen=True):
    """A file that was read, and what became of its lines."""

    path: str
    format: str
    lines: int
    accepted: int
    ignored: int
    rejected: int
    events: int
    notes: tuple[str, ...] = ()
    figures: dict[str, int] = {}


class TableFile(Struct, frozen=True):
    """A trace of which a table of events was made; `ignored` and `rejected`: lines, by reason."""

    path: str
    format: str
    lines: int
    accepted: int
    ignored: dict[str, int]
    rejected: dict[str, int]
    events: int
    notes: tuple[str, ...]
    figures: dict[str, int]


class SizeCount(Struct, frozen=True):
    """Requests of one operation and size; `size` None is unknown."""

    op: int
    events: int
    bytes: int
    size: int | None = None


class TargetCount(Struct, frozen=True):
    """Requests of one operation on one target, and which bytes of it they touch. `name` None: the trace names none."""

    op: int
    events: int
    bytes: int
    target: int | None = None
    name: str | None = None
    first: int | None = None
    end: int | None = None


class FlagCount(Struct, frozen=True):
    """Requests of one operation with these flags (bits of docs/guide/traces.md)."""

    op: int
    flags: int
    events: int


class UseCount(Struct, frozen=True):
    """Blocks that were used so often."""

    uses: int
    blocks: int


class HotSpot(Struct, frozen=True):
    """A stretch of a target that many references go to."""

    offset: int
    bytes: int
    reads: int
    writes: int
    target: int | None = None
    name: str | None = None


class Footprint(Struct, frozen=True):
    """Which blocks were used, and how often."""

    block_bytes: int
    references: int
    blocks: int
    read_blocks: int
    written_blocks: int
    rewritten_blocks: int
    read_and_written_blocks: int
    uses: tuple[UseCount, ...]  # the most used first
    hot_spots: tuple[HotSpot, ...]


class Profile(Struct, frozen=True, kw_only=True):
    """A profile. Times are as in its events; unknown is None."""

    schema_version: int = VERSION
    name: str
    iocast_version: str
    sources: tuple[TraceSource, ...]
    events: int
    timed: int  # with a time of issue
    with_latency: int
    with_offset: int
    with_size: int
    failed: int
    start_ns: int | None
    end_ns: int | None
    clock: str | None
    epoch_ns: int | None
    tick_ns: int | None
    layers: tuple[str, ...]
    targets: int
    actors: int
    sessions: int  # actors, the cursors of a process taken as one
    sizes: tuple[SizeCount, ...]
    by_target: tuple[TargetCount, ...]
    flags: tuple[FlagCount, ...]
    target_names: dict[int, str]  # of those that are spoken of
    reference_bytes: int | None  # of a block; None: each request is one reference
    footprint: Footprint | None
    order: Characteristics
    cache_bytes: tuple[int, ...] = ()  # sizes of caches that were asked for

    @property
    def length_ns(self) -> int:
        """From the first to the last issue; 0 where no time is known."""
        return 0 if self.start_ns is None or self.end_ns is None else self.end_ns - self.start_ns
