"""Report: sections, tables and text that say what is to be told, not how it looks."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal[
    "text",  # words; the last text column of a table takes the room that is left and wraps
    "names",  # a tuple of words
    "load",  # (users, depth): "4", "4×16"
    "bytes",
    "bytes_per_s",
    "rate",  # per second
    "duration",  # ns
    "count",
    "strip",  # shares of the I/Os over the buckets of `LATENCY_EDGES_NS`
    "grade",
    "decimal",
]

# The buckets of a latency strip: up to each edge, and above the last one. Fine where flash drives live, coarse
# where only a stall gets.
LATENCY_EDGES_NS = (
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    1_000_000_000,
)


class Column(Struct, frozen=True):
    """A table column: `kind` tells the renderer how to format raw values (ns, bytes, per second).

    `spare` is 0 for a column that must stay; where room is short, the one with the highest goes first.
    A title may be cut into two lines with a line feed.
    """

    key: str
    title: str
    kind: Kind = "text"
    explain: str = ""
    spare: int = 0


Cell = str | float | int | tuple[float, ...] | tuple[str, ...] | None


class Row(Struct, frozen=True):
    """One table row: cells by column key; `void` rows are shown struck out with the reason in `note`.

    A `part` row says more about the row above it.
    """

    cells: dict[str, Cell]
    note: str = ""
    void: bool = False
    part: bool = False


class Table(Struct, frozen=True):
    """A table of raw values. `key` names it for machines; `notes` stand under it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    key: str = ""
    notes: tuple[str, ...] = ()


class Section(Struct, frozen=True):
    """A heading, paragraphs, tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


class Report(Struct, frozen=True):
    """A whole report: the verdict in a sentence first, the next steps last."""

    title: str
    verdict: str
    sections: tuple[Section, ...]
    next_steps: tuple[str, ...] = ()
